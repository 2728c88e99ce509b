"""LiveCodeBench: programs for contest problems, as an inspect-ai task on any engine, judged in the sandbox.

The score is pass@1, the mean over samples; categories are the difficulties. Problems are read from the user's files and
their text stays in memory: what is recorded is the program that was extracted, unless it quotes the problem, and
inspect's log holds hashes, programs and verdicts. Three sets are called v6, so a preset names files and dates.

| scorer | |
|---|---|
| official | the verdicts of lcb_runner at 28fef95, with the faults of its stand-ins for streams, its one process |
| corrected | ordinary Python, a new `Solution` for each test, a tolerance for numbers with a point |
"""

import atexit
import logging
from collections.abc import Sequence
from pathlib import Path

from ..harness.benchmark import Benchmark, Due, Players, Preset, Sink, TaskItem
from ..harness.seeds import text_id
from ..harness.types import Message, Outcome
from .aime import known
from .inspect_turn import Turn, play
from .livecodebench_data import Problem, read_problems, read_solution, unverified
from .livecodebench_tests import Grader, terms_of
from .livecodebench_text import EXTRACTIONS, PROMPTS
from .single_turn import Judged, need

LOG = logging.getLogger(__name__)


class LiveCodeBench(Benchmark):
    """Code generation."""

    name = "livecodebench"
    scorer_version = "1"
    closed = True
    packages = ("inspect-ai", "numpy")
    constant = "print(0)"

    def __init__(self) -> None:
        self._grader: Grader | None = None

    def load(self, preset: Preset, data: Path | None) -> list[TaskItem]:
        """See `Benchmark`. `data` is the folder with the official files, or one file of that format."""
        need("inspect_ai")
        known(preset.prompt, PROMPTS, "prompt")
        known(preset.extraction, EXTRACTIONS, "extraction")
        terms_of(preset)
        problems = read_problems(data, preset.slice)
        described = ", ".join(f"{name} {value}" for name, value in preset.slice.items() if name != "items")
        wanted = preset.slice.get("items", len(problems))
        note = "" if wanted == len(problems) else f", where the preset speaks of {wanted}"
        LOG.info("livecodebench: %d items (%s)%s", len(problems), described, note)
        return [_item(problem) for problem in problems]

    def unverified(self, preset: Preset, data: Path | None) -> str:
        """See `Benchmark`."""
        return unverified(data, preset.slice)

    def run(self, due: Sequence[Due], preset: Preset, players: Players, sink: Sink) -> None:
        """See `Benchmark`."""
        extract, prompt, terms = EXTRACTIONS[preset.extraction], PROMPTS[preset.prompt], terms_of(preset)
        with Grader(players.sandbox, sink.sandboxed) as grader:

            def judge(one: Due, said: str) -> Judged:
                return grader.grade(_payload(one.item), extract(said), terms)

            turn = Turn(
                prompt=lambda one: prompt(_payload(one.item).question, _payload(one.item).starter), judge=judge,
                workers=grader.workers, version=self.scorer_version, problem=lambda one: self.problem(one.item),
            )  # fmt: skip
            play(due, turn, preset, players, sink)

    def rescore(self, item: TaskItem, answer: str | None, preset: Preset) -> tuple[Outcome, float | None]:
        """See `Benchmark`."""
        if self._grader is None:
            self._grader = Grader()
            atexit.register(self._grader.close)
        judged = self._grader.grade(_payload(item), answer, terms_of(preset))
        return judged.outcome, judged.score

    def gold_replies(self, item: TaskItem) -> list[Message]:
        """The program of `solutions.jsonl` beside the problems (`{"question_id", "code"}` a line): official files have
        none, so without it nothing is known to be right."""
        code = read_solution(_payload(item))
        return [] if code is None else [Message(role="assistant", content=self.says(code))]

    def says(self, answer: str) -> str:
        """A program in a fence, as every prompt asks for it."""
        return f"```python\n{answer}\n```"

    def problem(self, item: TaskItem) -> str:
        """See `Benchmark`. Starter code belongs to every answer and is no quotation."""
        return _payload(item).question


def _item(problem: Problem) -> TaskItem:
    item = text_id("\0".join((problem.number, problem.question, problem.starter)))
    return TaskItem(id=item, category=problem.difficulty, gold=text_id(problem.tests_digest), payload=problem)


def _payload(item: TaskItem) -> Problem:
    assert isinstance(item.payload, Problem)
    return item.payload


LIVECODEBENCH = LiveCodeBench()
