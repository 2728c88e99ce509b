"""What an episode of ACEBench-Agent is worth, from the agent's calls alone: they are played again in a fresh world.

The calls are the answer that is recorded, so that any scorer can judge them later.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from ..harness.types import Outcome
from .acebench_calls import Malformed
from .acebench_check import SCORERS, process_accuracy
from .acebench_episode import Extraction, Problem, read_calls
from .acebench_gold import mended, paths, written
from .acebench_world import FAILED, World


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """How it ended, and how far it came."""

    outcome: Outcome
    process_accuracy: float
    """Share of milestones; 1 where the end state is right. A fact beside the score, never the score."""
    calls: int
    malformed: int
    detail: str


def judged(problem: Problem, attempts: Sequence[str], extraction: Extraction, scorer: str) -> Verdict:
    """The verdict on the messages that were meant as calls."""
    world = World(problem.involved, problem.config)
    said: list[str] = []
    faults: list[str] = []
    last, ran = "", False
    strict = scorer == "upstream-faithful"
    for attempt in attempts:
        try:
            calls = read_calls(attempt, problem, extraction)
        except Malformed as fault:
            last = str(fault)
            faults.append(last)
            continue
        last = ""
        ran |= any(not str(answer).startswith(FAILED) for answer in world.execute(calls))
        said.append(attempt if strict else written(calls))
    expected = list(problem.expected) if strict else mended(problem.name, problem.expected)
    wrong = SCORERS[scorer](expected, world.state() if ran else [])
    milestones = problem.milestones if strict else _rewritten(problem)
    passed = process_accuracy(milestones, said, resume=not strict) if wrong else 1.0
    return Verdict(
        outcome=_outcome(wrong, attempts, last), process_accuracy=round(passed, 3), calls=len(said),
        malformed=len(faults), detail=f"malformed call: {last}" if wrong and last else wrong,
    )  # fmt: skip


def as_answer(attempts: Sequence[str]) -> str | None:
    """The calls as they are recorded; None where there are none."""
    return json.dumps(list(attempts), ensure_ascii=False) if attempts else None


def from_answer(answer: str | None) -> list[str]:
    """The calls that were recorded; a text of another form is one call."""
    try:
        read = json.loads(answer) if answer else []
    except ValueError:
        read = answer
    return [str(one) for one in read] if isinstance(read, list) else [str(answer)]


def _outcome(wrong: str, attempts: Sequence[str], last: str) -> Outcome:
    """`last` is the fault of the last attempt."""
    if not wrong:
        return Outcome.RIGHT
    if not attempts:
        return Outcome.NO_ANSWER
    return Outcome.MALFORMED_CALL if last else Outcome.WRONG


def _rewritten(problem: Problem) -> list[list[str]]:
    """Milestones written as our parser writes calls, so that quotes and spaces make no difference."""
    return [[written(one) for one in path] for path in paths(problem.milestones)]
