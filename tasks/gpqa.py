"""GPQA-Diamond: 198 questions with four options, as an lm-eval task on any engine.

A question's options are shown in the order of the protocol; what is recorded is the letter and that order, as `C:2013`:
C was said, and the file's options 2, 0, 1, 3 were shown as A to D. Option 0 is the right one, so that the verdict can
be given again whatever order a later protocol takes. No text of the file leaves memory (`gpqa_data`).
"""

import os
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..harness.benchmark import Benchmark, Due, Players, Preset, Sink, TaskItem
from ..harness.errors import InputError
from ..harness.seeds import generator, text_id
from ..harness.types import Message, Outcome
from .aime import STEPS, known
from .gpqa_data import Row, doubt, read_rows
from .letters import POLICIES
from .single_turn import Judged, Table, need, play

LETTERS = "ABCD"
Order = tuple[int, ...]
"""Which option of the file is shown in which place; 0 is the right one."""


def _boxed_letter(question: str, options: Sequence[str]) -> str:
    shown = "\n".join(f"{letter}. {option}" for letter, option in zip(LETTERS, options))
    return (
        f"{question}\n\n{shown}\n\n{STEPS} Specifically, you should provide your final answer in the format "
        "\\boxed{LETTER} where LETTER is one of ABCD."
    )


def _general_reasoner(question: str, options: Sequence[str]) -> str:
    shown = "\n".join(f"{letter}: {option.strip()}" for letter, option in zip(LETTERS, options))
    return f"{question.strip()}\n\n{shown}\n\n{STEPS}\nPlease only provide the letter of the answer in the box."


def _answer_line(question: str, options: Sequence[str]) -> str:
    shown = "\n".join(f"{letter}) {option}" for letter, option in zip(LETTERS, options))
    return (
        "Answer the following multiple choice question. The last line of your response should be of the following "
        "format: 'Answer: $LETTER' (without quotes) where LETTER is one of ABCD. Think step by step before answering."
        f"\n\n{question}\n\n{shown}"
    )


PROMPTS: dict[str, Callable[[str, Sequence[str]], str]] = {
    "boxed-letter": _boxed_letter,
    "general-reasoner": _general_reasoner,
    "answer-line": _answer_line,
}
"""SPADE's offline suite; General-Reasoner's, which SPADE takes in the loop; OpenAI's simple-evals."""


def _by_item(ids: Sequence[str], repeats: int) -> list[list[Order]]:
    return [[tuple(generator(0, "options", item).sample(range(4), 4))] for item in ids]


def _one_stream(ids: Sequence[str], repeats: int) -> list[list[Order]]:
    source = random.Random(42)
    return [[_shuffled(source)] for _ in ids]


def _by_row(ids: Sequence[str], repeats: int) -> list[list[Order]]:
    return [[_shuffled(random.Random(42 + row))] for row in range(len(ids))]


def _by_repeat(ids: Sequence[str], repeats: int) -> list[list[Order]]:
    source = random.Random(0)
    passes = [[tuple(source.sample(range(4), 4)) for _ in ids] for _ in range(repeats)]
    return [list(orders) for orders in zip(*passes)]


def _shuffled(source: random.Random) -> Order:
    order = [0, 1, 2, 3]
    source.shuffle(order)
    return tuple(order)


ORDERS: dict[str, Callable[[Sequence[str], int], list[list[Order]]]] = {
    "item-hash": _by_item,
    "random-42-stream": _one_stream,
    "random-42-plus-row": _by_row,
    "random-0-stream-repeats": _by_repeat,
}
"""For all rows of the file, never of a part: one order a row, or one for each repeat."""


@dataclass(frozen=True, slots=True)
class Question:
    """One question in memory, with the orders in which its options are shown."""

    row: Row = field(repr=False)
    orders: tuple[Order, ...]

    def order(self, repeat: int) -> Order:
        """Of one sample."""
        return self.orders[repeat % len(self.orders)]


class Gpqa(Benchmark):
    """GPQA-Diamond. `environment` holds the zip's password."""

    name = "gpqa_diamond"
    scorer_version = "1"
    closed = True
    packages = ("lm-eval",)
    constant = "A"

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        self.environment = os.environ if environment is None else environment

    def load(self, preset: Preset, data: Path | None) -> list[TaskItem]:
        """See `Benchmark`. `data` is the authors' zip, a csv, or a folder that holds one (`gpqa_data.PLACES`)."""
        need("lm_eval")
        known(preset.prompt, PROMPTS, "prompt")
        known(preset.extraction, POLICIES, "extraction")
        order = str(preset.options.get("order", ""))
        known(order, ORDERS, "order of options")
        rows = read_rows(data, self.environment)
        ids = [text_id("\n".join((row.question, *row.options))) for row in rows]
        if len(set(ids)) != len(ids):
            raise InputError("a question stands twice in the file; take the authors' own.")
        orders = ORDERS[order](ids, preset.repeats)
        return [
            TaskItem(
                id=item, category=row.domain, gold=text_id(f"{item}:{row.options[0]}"),
                payload=Question(row, tuple(own)),
            )
            for item, row, own in zip(ids, rows, orders)
        ]  # fmt: skip

    def unverified(self, preset: Preset, data: Path | None) -> str:
        """See `Benchmark`."""
        return doubt(data, self.environment)

    def run(self, due: Sequence[Due], preset: Preset, players: Players, sink: Sink) -> None:
        """See `Benchmark`."""
        read, shape = POLICIES[preset.extraction], PROMPTS[preset.prompt]

        def prompt(one: Due) -> str:
            question = _payload(one.item)
            return shape(question.row.question, [question.row.options[place] for place in question.order(one.repeat)])

        def judge(one: Due, said: str) -> Judged:
            letter = read(said)
            order = _payload(one.item).order(one.repeat)
            return judged(None if letter is None else f"{letter}:{''.join(map(str, order))}")

        play(due, prompt, judge, Table(preset=preset, model=players.model, sink=sink))

    def rescore(self, item: TaskItem, answer: str | None, preset: Preset) -> tuple[Outcome, float | None]:
        """See `Benchmark`."""
        again = judged(answer)
        return again.outcome, again.score

    def gold_replies(self, item: TaskItem) -> list[Message]:
        """The right letter of the first repeat."""
        letter = LETTERS[_payload(item).order(0).index(0)]
        return [Message(role="assistant", content=self.says(letter))]

    def says(self, answer: str) -> str:
        """In a box and on a last line, so that it answers every prompt."""
        return f"\\boxed{{{answer}}}\nAnswer: {answer}"

    def problem(self, item: TaskItem) -> str:
        """See `Benchmark`."""
        row = _payload(item).row
        return "\n".join((row.question, *row.options))


def judged(answer: str | None) -> Judged:
    """The verdict on a letter and the order that was shown."""
    if answer is None:
        return Judged(outcome=Outcome.NO_ANSWER, answer=None)
    letter, _, order = answer.partition(":")
    if letter not in LETTERS or sorted(order) != list("0123"):
        return Judged(outcome=Outcome.SCORER_ERROR, answer=answer, detail="no letter with an order")
    right = order[LETTERS.index(letter)] == "0"
    return Judged(outcome=Outcome.RIGHT if right else Outcome.WRONG, answer=answer)


def _payload(item: TaskItem) -> Question:
    assert isinstance(item.payload, Question)
    return item.payload


GPQA_DIAMOND = Gpqa()
