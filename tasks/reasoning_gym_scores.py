"""Asks the package's scorers, in the jail, what an answer to an item of Reasoning-Gym is worth.

    with PackageScorer(policy) as scorer:
        scorer.judge("math/gcd", item, "12", guards=True)      # Partial: right, wrong or scorer_error, and the score

A sample is right when the score is 1; a part of it is the sample's score and nothing more. What an answer provokes
(an exception, a hang) is wrong where the package's own answer is scored well, else the scorer has failed. Thread-safe.
"""

import threading
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from ..harness.sandbox import Policy, SandboxReport, SandboxUnavailable
from ..harness.sandbox.runner import Runner
from ..harness.sandbox.runs import CallResult, RunLimits
from ..harness.types import Outcome
from .reasoning_gym_answers import TEXTS, guarded, same_number, unboxed
from .reasoning_gym_items import Made
from .single_turn import Judged

SCORER, FOLDER = "rg_scorer", Path(__file__).parent / "jailed"
LIMITS = RunLimits(cpu_s=10.0, memory_mb=2048)
"""Of one question to a scorer; most take some milliseconds."""
FULL = 1.0 - 1e-9
"""SPADE counts a win from here on."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Partial(Judged):
    """A verdict with the package's own score."""

    part: float = 0.0

    @property
    def score(self) -> float | None:
        """In [0, 1]; None for what has no score."""
        return self.part if self.outcome.scored else None


class PackageScorer:
    """A server of jailed processes with the package in them."""

    def __init__(self, policy: Policy | None = None, limits: RunLimits = LIMITS) -> None:
        """Raises SandboxUnavailable."""
        self._runner = Runner(
            policy, preload=(SCORER, "reasoning_gym"), path=(str(FOLDER),), warm=(f"{SCORER}:warm",)
        )  # fmt: skip
        self.workers, self.limits = self._runner.workers, limits
        self._sound: dict[str, bool] = {}
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def report(self) -> SandboxReport:
        """Which layers of the sandbox hold."""
        return self._runner.report

    def close(self) -> None:
        """End the processes."""
        self._runner.close()

    def judge(self, category: str, item: Made, answer: str | None, guards: bool) -> Partial:
        """The verdict on an answer that was extracted."""
        if answer is None:
            return Partial(outcome=Outcome.NO_ANSWER, answer=None)
        task = category.rpartition("/")[2]
        denied = guarded(task, answer, item.answer) if guards else None
        if denied is not None:
            return _verdict(answer, denied, "guard")
        found = self._asked(task, item, answer)
        if not guards or found.outcome is not Outcome.WRONG:
            return found
        inner = unboxed(answer)
        if inner is not None:
            again = self.judge(category, item, inner, guards)
            return Partial(outcome=again.outcome, answer=answer, detail=f"box, {again.detail}", part=again.part)
        if task in TEXTS and item.answer is not None and same_number(answer, item.answer):
            return _verdict(answer, 1.0, "numeric")
        return found

    def value(self, task: str, item: Made, answer: str | None) -> CallResult:
        """What the package says, or how it failed to. Raises SandboxUnavailable."""
        return self._runner.call(f"{SCORER}:score", [task, answer, item.entry], limits=self.limits)

    def _asked(self, task: str, item: Made, answer: str) -> Partial:
        try:
            result = self.value(task, item, answer)
            if result.ok:
                return _scored(answer, result.value)
            if result.fault == "host" or not self._is_sound(task, item):
                reason = f"the scorer ended as {result.kind}: {result.message}"
                return Partial(outcome=Outcome.SCORER_ERROR, answer=answer, detail=reason)
        except SandboxUnavailable as error:
            return Partial(outcome=Outcome.SCORER_ERROR, answer=answer, detail=str(error))
        return _verdict(answer, 0.0, f"the answer made the scorer end as {result.kind}")

    def _is_sound(self, task: str, item: Made) -> bool:
        """Whether the scorer comes to its end on the package's own answer, or on none where there is none."""
        with self._lock:
            known = self._sound.get(item.entry)
        if known is None:
            known = self.value(task, item, item.answer or "").ok
            with self._lock:
                self._sound[item.entry] = known
        return known


def _scored(answer: str, value: object) -> Partial:
    """A score that the process claims; anything but a number from 0 to 1 is none."""
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1:
        return _verdict(answer, float(value), "package")
    return Partial(outcome=Outcome.SCORER_ERROR, answer=answer, detail="the scorer gave no number from 0 to 1")


def _verdict(answer: str, part: float, stage: str) -> Partial:
    outcome = Outcome.RIGHT if part >= FULL else Outcome.WRONG
    return Partial(outcome=outcome, answer=answer, detail=stage, part=part)
