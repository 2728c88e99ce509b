"""Compares answers by algebra in jailed processes that can be killed: the `Comparer` of `math_answers`.

    with MathJudge() as comparer:
        judge("\\boxed{\\log_2 1024}", "10", comparer, integers=True)

The server starts when the first answer needs it, which for integer answers is almost never. A comparison that hangs or
breaks is the answer's fault when the gold answer compares well with itself, and wrong; else it is a scorer error.
Thread-safe; nothing here uses signals.
"""

import re
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from ..harness.sandbox import Policy, SandboxReport, SandboxUnavailable
from ..harness.sandbox.runner import Runner
from ..harness.sandbox.runs import CallResult, RunLimits
from ..harness.types import Outcome

WORKER, FOLDER = "math_worker", Path(__file__).parent / "jailed"
LIMITS = RunLimits(cpu_s=5.0, memory_mb=2048)
"""Of one comparison; most take some milliseconds."""
_OURS = re.compile(r"^(ModuleNotFound|Import|FileNotFound|Permission)Error\b")
"""The jail, not the answer: something was not loaded before it shut."""


class MathJudge:
    """One server of jailed processes, started when it is first needed."""

    def __init__(
        self, policy: Policy | None = None, opened: Callable[[SandboxReport], None] | None = None,
        limits: RunLimits = LIMITS,
    ) -> None:  # fmt: skip
        """`opened` is told which layers of the sandbox hold, once, when the server starts."""
        self.policy, self.opened, self.limits = policy or Policy(), opened, limits
        self._lock = threading.Lock()
        self._runner: Runner | None = None
        self._sound: dict[str, bool] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def started(self) -> bool:
        """Whether any answer has needed algebra."""
        return self._runner is not None

    def compare(self, gold: str, answer: str) -> tuple[Outcome, str]:
        """RIGHT, WRONG or SCORER_ERROR, and why."""
        try:
            result = self._call(gold, answer)
        except SandboxUnavailable as error:
            return Outcome.SCORER_ERROR, str(error)
        if result.ok and isinstance(result.value, dict):
            found = result.value
            if not found.get("gold"):
                return Outcome.SCORER_ERROR, "gold_unparsable"
            if not found.get("answer"):
                return Outcome.WRONG, "no expression"
            return Outcome.RIGHT if found.get("equal") else Outcome.WRONG, ""
        if result.fault == "host" or _OURS.search(result.message) or not self._is_sound(gold):
            return Outcome.SCORER_ERROR, f"the comparison ended as {result.kind}: {result.message}"
        return Outcome.WRONG, f"{'timeout' if result.out_of_time else result.kind}: the answer cannot be compared"

    def official(self, gold: str, answer: str) -> tuple[Outcome, str]:
        """The verdict of math-verify alone, for protocols that are to repeat it."""
        try:
            result = self._runner_for().call(f"{WORKER}:official", [gold, answer], limits=self.limits)
        except SandboxUnavailable as error:
            return Outcome.SCORER_ERROR, str(error)
        if result.fault == "host":
            return Outcome.SCORER_ERROR, f"the comparison ended as {result.kind}: {result.message}"
        return Outcome.RIGHT if result.ok and result.value is True else Outcome.WRONG, str(result.kind or "")

    def close(self) -> None:
        """End the processes. Closing twice is fine; a later comparison starts them again."""
        with self._lock:
            if self._runner is not None:
                self._runner.close()
                self._runner = None

    def _is_sound(self, gold: str) -> bool:
        """Whether the gold answer equals itself; asked once for each."""
        if gold not in self._sound:
            alone = self._call(gold, gold)
            self._sound[gold] = alone.ok and isinstance(alone.value, dict) and bool(alone.value.get("equal"))
        return self._sound[gold]

    def _call(self, gold: str, answer: str) -> CallResult:
        return self._runner_for().call(f"{WORKER}:compare", [gold, answer], limits=self.limits)

    def _runner_for(self) -> Runner:
        with self._lock:
            if self._runner is None:
                self._runner = Runner(self.policy, preload=(WORKER,), path=(str(FOLDER),), warm=(f"{WORKER}:warm",))
                if self.opened is not None:
                    self.opened(self._runner.report)
            return self._runner
