"""Runs what a model wrote on the tests of a problem, in the jail, and says how that ended.

    with Grader(policy) as grader:
        grader.grade(problem, code, terms)        # Judged: right, wrong, timeout, or scorer_error with the reason

All tests must pass; the first that does not ends it. Each test has its own time, so twenty tests of two seconds are
fine (P104). What the program does to itself (an exception, its memory, its time) is its writer's failure; a sandbox
that dies, twice, is a scorer error and no verdict (P105). Thread-safe.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from ..harness.benchmark import Preset
from ..harness.errors import InputError, nearest
from ..harness.sandbox import Policy, SandboxReport, SandboxUnavailable
from ..harness.sandbox.runner import Runner
from ..harness.sandbox.runs import CallResult, Ended, RunLimits
from ..harness.types import Outcome
from .livecodebench_data import Problem, Test, read_tests
from .livecodebench_verdict import same_output, same_value
from .single_turn import Judged

DRIVER, FOLDER = "contest", Path(__file__).parent / "jailed"
SCORERS = ("official", "corrected")
TEST_SECONDS, MEMORY_MB = 6.0, 4096
"""The official grader's time for a test, and the memory that its comment speaks of; it sets no limit itself."""
GRACE_S = 0.5
"""Of the wall clock, for a program that sleeps: forking it is not its own time."""
ROOM = 4
"""A right output, or value, is at most so many times as long as the wanted one."""
LEAST_BYTES = 8 << 20


@dataclass(frozen=True, kw_only=True, slots=True)
class Terms:
    """By which rules programs are run and judged."""

    scorer: str = "official"
    """"official" repeats lcb_runner's verdicts, "corrected" runs a program as Python would (see jailed/contest.py)."""
    test_seconds: float = TEST_SECONDS
    memory_mb: int = MEMORY_MB

    @property
    def corrected(self) -> bool:
        """Whether the official grader's faults are left out."""
        return self.scorer == "corrected"

    def limits(self, tests: Sequence[Test]) -> RunLimits:
        """Of one run on these tests."""
        largest = max((len(test.wanted) for test in tests), default=0)
        total = sum(len(test.wanted) for test in tests)
        fed = max((len(test.given) for test in tests), default=0)
        return RunLimits(
            cpu_s=self.test_seconds, wall_s=self.test_seconds + GRACE_S,
            memory_mb=max(self.memory_mb, (6 * fed >> 20) + 64),
            stdout_bytes=max(LEAST_BYTES, ROOM * largest), value_bytes=max(LEAST_BYTES, ROOM * total),
        )  # fmt: skip


def terms_of(preset: Preset) -> Terms:
    """What a preset says. Raises InputError for a scorer that there is not, and for a time that is none."""
    if preset.scorer not in SCORERS:
        raise InputError(
            f"no scorer {preset.scorer!r}{nearest(preset.scorer, SCORERS)}; the preset may say {', '.join(SCORERS)}."
        )
    seconds = float(preset.options.get("test_seconds", TEST_SECONDS))
    memory = int(preset.options.get("memory_mb", MEMORY_MB))
    if seconds <= 0 or memory <= 0:
        raise InputError("test_seconds and memory_mb are numbers above 0; correct the preset.")
    return Terms(scorer=preset.scorer, test_seconds=seconds, memory_mb=memory)


class Grader:
    """A server of jailed processes. `opened` is told which layers of the sandbox hold."""

    def __init__(self, policy: Policy | None = None, opened: Callable[[SandboxReport], None] | None = None) -> None:
        """Raises SandboxUnavailable."""
        self._runner = Runner(
            policy, preload=(DRIVER, "numpy"), path=(str(FOLDER),), warm=(f"{DRIVER}:warm",)
        )  # fmt: skip
        self.workers = self._runner.workers
        if opened is not None:
            opened(self._runner.report)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the processes."""
        self._runner.close()

    def grade(self, problem: Problem, code: str | None, terms: Terms) -> Judged:
        """The verdict on a program, or a function, that was extracted."""
        if code is None:
            return Judged(outcome=Outcome.NO_ANSWER, answer=None, detail="no program in the reply")
        tests = read_tests(problem)
        if problem.function:
            outcome, detail = self._functional(problem.function, code, tests, terms)
        else:
            outcome, detail = self._program(code, tests, terms)
        return Judged(outcome=outcome, answer=code, detail=detail)

    def _program(self, code: str, tests: Sequence[Test], terms: Terms) -> tuple[Outcome, str]:
        way = "ordinary" if terms.corrected else "official"
        source = f"import {DRIVER}\n{DRIVER}.{way}({code!r})"
        for number, test in enumerate(tests, start=1):
            try:
                result = self._runner.run_python(source, test.given, terms.limits([test]))
            except SandboxUnavailable as error:
                return Outcome.SCORER_ERROR, str(error)
            if result.kind is not None:
                return fault(result, f"test {number} of {len(tests)}")
            if not same_output(result.stdout, test.wanted, terms.corrected):
                return Outcome.WRONG, f"wrong output, test {number} of {len(tests)}"
        return Outcome.RIGHT, ""

    def _functional(self, name: str, code: str, tests: Sequence[Test], terms: Terms) -> tuple[Outcome, str]:
        """All tests in one process when that is quick enough, else each in its own: a test's time is its own."""
        together = self._call(name, code, tests, terms)
        if together is None or not together.out_of_time:
            return self._compared(together, tests, terms)
        for number, test in enumerate(tests, start=1):
            outcome, detail = self._compared(self._call(name, code, [test], terms), [test], terms)
            if outcome is not Outcome.RIGHT:
                return outcome, f"{detail}, alone, test {number} of {len(tests)}"
        return Outcome.RIGHT, ""

    def _call(self, name: str, code: str, tests: Sequence[Test], terms: Terms) -> CallResult | None:
        """None where there is no sandbox any more."""
        arguments = [code, name, [test.given for test in tests], terms.corrected]
        try:
            return self._runner.call(f"{DRIVER}:call", arguments, limits=terms.limits(tests))
        except SandboxUnavailable:
            return None

    def _compared(self, result: CallResult | None, tests: Sequence[Test], terms: Terms) -> tuple[Outcome, str]:
        if result is None:
            return Outcome.SCORER_ERROR, "the sandbox does not start again"
        if result.kind is not None:
            return fault(result, "a call")
        values = result.value
        if not isinstance(values, list) or len(values) != len(tests):
            return Outcome.WRONG, "the process returned something else than its values"
        for number, (value, test) in enumerate(zip(values, tests), start=1):
            if not same_value(value, test.wanted, terms.corrected):
                return Outcome.WRONG, f"wrong value, test {number} of {len(tests)}"
        return Outcome.RIGHT, ""


def fault(result: Ended, where: str) -> tuple[Outcome, str]:
    """Whose failure it is that a run did not come to its end. The program's own words are not repeated."""
    if result.fault == "host":
        return Outcome.SCORER_ERROR, f"the sandbox failed, {result.kind}, {where}: {result.message}"
    outcome = Outcome.TIMEOUT if result.out_of_time else Outcome.WRONG
    return outcome, f"{result.kind}, {where}"
