"""AIME 2025 and 2026: 30 problems each, an integer from 0 to 999, as an lm-eval task on any engine.

The problems are the MAA's and never leave memory: read from the user's file, or from the Hub at a pinned revision.
Answers are compared as integers (`math_answers`); a few that take algebra go to a jailed process (`math_judge`).
"""

import atexit
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from ..harness.benchmark import Benchmark, Due, Players, Preset, Sink, TaskItem
from ..harness.errors import InputError, nearest
from ..harness.seeds import text_id
from ..harness.types import Message, Outcome
from .hub_rows import Row, hub_rows
from .math_answers import EXTRACTIONS, gold_text, judge_extracted
from .math_judge import MathJudge
from .single_turn import Judged, Table, need, play

STEPS = "Please reason step by step, and put your final answer within \\boxed{}."
PROMPTS: dict[str, Callable[[str], str]] = {
    "boxed": lambda problem: f"{problem}\n{STEPS}",
    "boxed-integer": lambda problem: (
        f"Put your final answer within \\boxed{{}}.\nThe answer is an integer between 0 and 999 inclusive.\n\n{problem}"
    ),
}
"""SPADE's (its Qwen models' usual sentence), and MathArena's."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Year:
    """Where the problems of one year come from, and how they are known."""

    data_set: str
    revision: str
    files: frozenset[str] = frozenset()
    """sha256 of files that are known to be right."""
    golds: str = ""
    """sha256 of the answers in order of size, joined by commas: what any other file of the year must hold."""


YEARS = {
    2025: Year(
        data_set="math-ai/aime25", revision="563bb8404243c5f09de6ec262f2db674fe5bce9b",
        files=frozenset({"4213712e99507f03469175b1cbfb02cd7746c34b04f28e1ea62290626a582e5d"}),
        golds="460408c33930d5addc9bb99376164c27aaf2ee3462830bc758950af25ae6b419",
    ),
    2026: Year(data_set="math-ai/aime26", revision="79037aebdb6580008fb960d17cb21fd3099083e3"),
}  # fmt: skip
_QUESTION, _ANSWER = ("problem", "question", "prompt"), ("answer", "label", "gold")


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem in memory."""

    text: str = field(repr=False)
    answer: str


class Aime(Benchmark):
    """One year of the contest."""

    scorer_version = "1"
    closed = True
    packages = ("lm-eval", "math-verify", "sympy")

    def __init__(self, year: int) -> None:
        self.year = year
        self.name = f"aime_{year}"
        self._judge: MathJudge | None = None

    def load(self, preset: Preset, data: Path | None) -> list[TaskItem]:
        """See `Benchmark`. `data` is the file, or a folder that holds aime/aime_YEAR.jsonl or aime_YEAR.jsonl."""
        need("lm_eval", "math_verify")
        known(preset.prompt, PROMPTS, "prompt")
        known(preset.extraction, EXTRACTIONS, "extraction")
        year = YEARS[self.year]
        where, rows, checksum = self._rows(data)
        problems = [_problem(row, number, where) for number, row in enumerate(rows, start=1)]
        wanted = int(preset.slice.get("items", 30))
        if len({problem.text for problem in problems}) != wanted:
            raise InputError(f"{where} holds {len(problems)} problems, some twice, where {wanted} are wanted; mend it.")
        answers = sha256(",".join(sorted((one.answer for one in problems), key=int)).encode()).hexdigest()
        if year.golds and checksum not in year.files and answers != year.golds:
            raise InputError(
                f"{where} has sha256 {checksum}, and its answers are not those of AIME {self.year}; "
                f"take the file of {year.data_set} at {year.revision}."
            )
        return [_item(problem, self.name) for problem in problems]

    def unverified(self, preset: Preset, data: Path | None) -> str:
        """See `Benchmark`. The Hub's files are those of a pinned revision."""
        if data is None:
            return ""
        where, _, checksum = self._rows(data)
        year = YEARS[self.year]
        if checksum in year.files:
            return ""
        answers = "its answers are those of the contest" if year.golds else "of no file the checksum is known"
        return f"{Path(where).name} is not known ({answers})"

    def run(self, due: Sequence[Due], preset: Preset, players: Players, sink: Sink) -> None:
        """See `Benchmark`."""
        extract, prompt = EXTRACTIONS[preset.extraction], PROMPTS[preset.prompt]
        with MathJudge(players.sandbox, sink.sandboxed) as comparer:

            def judge(one: Due, said: str) -> Judged:
                extracted, how = extract(said)
                verdict = judge_extracted(extracted, _payload(one.item).answer, comparer, integers=True, how=how)
                return Judged(outcome=verdict.outcome, answer=verdict.extracted, detail=verdict.detail)

            table = Table(preset=preset, model=players.model, sink=sink)
            play(due, lambda one: prompt(_payload(one.item).text), judge, table)

    def rescore(self, item: TaskItem, answer: str | None, preset: Preset) -> tuple[Outcome, float | None]:
        """See `Benchmark`."""
        if self._judge is None:
            self._judge = MathJudge()
            atexit.register(self._judge.close)
        verdict = judge_extracted(answer, _payload(item).answer, self._judge, integers=True)
        judged = Judged(outcome=verdict.outcome, answer=answer)
        return judged.outcome, judged.score

    def gold_replies(self, item: TaskItem) -> list[Message]:
        """The answer in a box."""
        return [Message(role="assistant", content=self.says(_payload(item).answer))]

    def problem(self, item: TaskItem) -> str:
        """See `Benchmark`."""
        return _payload(item).text

    def _rows(self, data: Path | None) -> tuple[str, list[Row], str]:
        """Where the rows come from, the rows, and the checksum of their file."""
        name = f"aime_{self.year}.jsonl"
        if data is None:
            year = YEARS[self.year]
            remedy = f"give --data DIR with DIR/aime/{name}."
            return year.data_set, hub_rows(year.data_set, year.revision, remedy), ""
        places = (data,) if data.is_file() else (data / "aime" / name, data / name)
        path = next((place for place in places if place.is_file()), None)
        if path is None:
            raise InputError(f"no file {places[0]}; it holds one problem a line, with the keys problem and answer.")
        content = path.read_bytes()
        return str(path), _parsed(content, path), sha256(content).hexdigest()


def known(name: str, names: dict[str, Any], what: str) -> None:
    """Raises InputError with the nearest name for a word of a preset that is none."""
    if name not in names:
        raise InputError(f"no {what} {name!r}{nearest(name, names)}; the preset may say {', '.join(names)}.")


def _parsed(content: bytes, path: Path) -> list[Row]:
    rows = []
    for number, line in enumerate(content.split(b"\n"), start=1):
        try:
            row = json.loads(line) if line.strip() else None
        except ValueError:
            raise InputError(f"{path}, line {number}: no JSON object; take the file anew.") from None
        if row is not None:
            rows.append(row)
    return rows


def _problem(row: object, number: int, where: str) -> Problem:
    """A row of any of the usual shapes; a prompt that was prepared for SPADE loses the sentence that was added."""
    if isinstance(row, dict):
        text = next((row[key] for key in _QUESTION if key in row), None)
        if isinstance(text, list) and text and isinstance(text[-1], dict):
            text = text[-1].get("content")
        answer = gold_text(next((row[key] for key in _ANSWER if key in row), None))
        if isinstance(text, str) and text.strip() and answer is not None and answer.strip().isdecimal():
            while text.rstrip().endswith(STEPS):
                text = text.rstrip().removesuffix(STEPS)
            if text.strip() and int(answer) <= 999:
                return Problem(text.strip(), str(int(answer)))
    raise InputError(f"{where}, problem {number}: no text with an integer answer from 0 to 999; mend or replace it.")


def _item(problem: Problem, category: str) -> TaskItem:
    item = text_id(problem.text)
    return TaskItem(id=item, category=category, gold=text_id(f"{item}:{problem.answer}"), payload=problem)


def _payload(item: TaskItem) -> Problem:
    assert isinstance(item.payload, Problem)
    return item.payload


AIME_2025 = Aime(2025)
AIME_2026 = Aime(2026)
