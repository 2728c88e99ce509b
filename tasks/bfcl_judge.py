"""BFCL's executor and checker in jailed processes, one for each question, which plays the episode from its beginning.

    with BfclJudge(home) as judge:
        judge.execute(entry, [["cd(folder='a')"], ["ls()"]])      # what the last step's calls return
        judge.check(entry, turns)                                 # the official verdict

Only calls that `bfcl_calls` wrote go in. The server starts with the first question. Thread-safe.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from ..harness.sandbox import Policy, SandboxReport
from ..harness.sandbox.runner import Runner
from ..harness.sandbox.runs import CallResult, RunLimits
from ..harness.sidecar_home import SidecarHome
from ..harness.types import Outcome
from .bfcl_data import Entry

WORKER, FOLDER = "bfcl_worker", Path(__file__).parent / "jailed"
LIMITS = RunLimits(cpu_s=10.0, memory_mb=1024, value_bytes=4 << 20)
"""Of one question; most take some 20 milliseconds."""
Step = Sequence[str]
Turn = Sequence[Step]


@dataclass(frozen=True, kw_only=True, slots=True)
class Failure:
    """Why there is no answer: the calls' own doing (TIMEOUT, WRONG), or not (SCORER_ERROR)."""

    outcome: Outcome
    detail: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """The checker's word."""

    right: bool
    kind: str
    """Of the first difference: instance_state_mismatch, execution_response_mismatch, empty_turn_model_response."""
    turn: int
    """In which it lies; the number of turns when there is none."""


class BfclJudge:
    """One server of jailed processes."""

    def __init__(
        self, home: SidecarHome, policy: Policy | None = None, opened: Callable[[SandboxReport], None] | None = None,
        limits: RunLimits = LIMITS,
    ) -> None:  # fmt: skip
        """`opened` is told which layers of the sandbox hold, once, when the server starts."""
        self.home, self.policy, self.opened, self.limits = home, policy or Policy(), opened, limits
        self._lock = threading.Lock()
        self._runner: Runner | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def execute(self, entry: Entry, steps: Sequence[Step]) -> list[str] | Failure:
        """What the calls of the last step return after all steps before it."""
        result = self._call("execute", [entry.told, [list(step) for step in steps]])
        if result.ok and isinstance(result.value, list) and len(result.value) == len(steps[-1]):
            return [str(text) for text in result.value]
        return _failure(result)

    def check(self, entry: Entry, turns: Sequence[Turn]) -> Verdict | Failure:
        """Whether state and responses are those of the gold calls after each turn."""
        result = self._checked(entry, [[list(step) for step in turn] for turn in turns])
        if isinstance(result, Verdict) or result.outcome is Outcome.SCORER_ERROR:
            return result
        sound = self._checked(entry, [[list(turn)] if turn else [] for turn in entry.gold])
        if isinstance(sound, Verdict) and sound.right:
            return result
        return Failure(outcome=Outcome.SCORER_ERROR, detail=f"the gold calls fail too; {result.detail}")

    def close(self) -> None:
        """End the processes. Closing twice is fine; a later question starts them again."""
        with self._lock:
            if self._runner is not None:
                self._runner.close()
                self._runner = None

    def _checked(self, entry: Entry, turns: list[list[list[str]]]) -> Verdict | Failure:
        result = self._call("check", [entry.told, turns, [list(turn) for turn in entry.gold]])
        if result.ok and isinstance(result.value, dict):
            told = result.value
            return Verdict(right=told["valid"] is True, kind=str(told["kind"]), turn=int(told["turn"]))
        return _failure(result)

    def _call(self, function: str, arguments: list[object]) -> CallResult:
        return self._runner_for().call(f"{WORKER}:{function}", arguments, limits=self.limits)

    def _runner_for(self) -> Runner:
        with self._lock:
            if self._runner is None:
                path = (str(FOLDER), str(self.home.site_packages))
                self._runner = Runner(self.policy, preload=(WORKER,), path=path, warm=(f"{WORKER}:warm",))
                if self.opened is not None:
                    self.opened(self._runner.report)
            return self._runner


def _failure(result: CallResult) -> Failure:
    if result.ok:
        return Failure(outcome=Outcome.SCORER_ERROR, detail="the jailed worker answered with something else")
    detail = f"the calls ended as {result.kind}: {result.message}"
    if result.fault == "host":
        return Failure(outcome=Outcome.SCORER_ERROR, detail=detail)
    return Failure(outcome=Outcome.TIMEOUT if result.out_of_time else Outcome.WRONG, detail=detail)
