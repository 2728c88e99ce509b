"""Easy reasoning-gym tasks as environments of one turn: a program a task, with its items written into it.

For training on fixed environments and for suites of models that read English. The questions are reasoning-gym's own; an
answer is right when it is the same text but for case, spaces and a final point, so only tasks with one right wording
are here. This is not the benchmark on reasoning-gym (`reasoning_gym`), whose scorers and settings are the package's.

A fold splits the *texts*: two folds share no item, whatever their seeds.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module

from ..harness.errors import InputError, nearest
from ..harness.evaluate import Item
from ..harness.seeds import derive, text_id
from ..harness.types import Program

SKILLS = {
    "chain_sum": "Mathematical Reasoning",
    "products": "Mathematical Reasoning",
    "gcd": "Mathematical Reasoning",
    "letter_counting": "Pattern Recognition",
    "count_bits": "Pattern Recognition",
    "spell_backward": "Pattern Recognition",
}
MIXTURES: dict[str, dict[str, Mapping[str, int]]] = {
    "easy": {
        "chain_sum": {"min_terms": 2, "max_terms": 2, "min_digits": 1, "max_digits": 1},
        "products": {"min_terms": 2, "max_terms": 2, "min_digits": 1, "max_digits": 1},
        "gcd": {"min_value": 2, "max_value": 12},
        "letter_counting": {"min_words": 3, "max_words": 5},
        "count_bits": {"min_n": 1, "max_n": 31},
        "spell_backward": {"min_word_len": 3, "max_word_len": 4},
    },
}
"""Name of a mixture -> task of reasoning-gym -> its settings."""
TRIES = 60
"""Draws per wanted item before a task has too few."""
SOURCE = '''"""{task} of reasoning-gym as an environment of one turn; {count} items."""

ITEMS = {items}


def plain(text):
    return " ".join(text.lower().split()).rstrip(".")


class {name}Env:
    def reset(self, seed=None):
        self.question, self.answer = ITEMS[(seed or 0) % len(ITEMS)]
        return self.question, {{}}

    def step(self, action):
        right = plain(action) == plain(self.answer)
        return ("Right." if right else "Wrong."), float(right), True, False, {{}}
'''


@dataclass(frozen=True, kw_only=True, slots=True)
class Fold:
    """Part `index` of `parts` of all texts; different parts never share an item."""

    index: int
    parts: int

    def __post_init__(self) -> None:
        if not 0 <= self.index < self.parts:
            raise InputError(f"fold {self.index} of {self.parts} does not exist; give 0 <= index < parts.")


def programs(mixture: str, per_task: int, fold: Fold, seed: int = 0) -> list[Program]:
    """One program a task of the mixture, each with `per_task` different items of the fold, or with all there are.

    InputError for a mixture that is none, with the nearest name.
    """
    if mixture not in MIXTURES:
        raise InputError(f"no mixture {mixture!r}{nearest(mixture, MIXTURES)}; the mixtures are {', '.join(MIXTURES)}.")
    return [_program(task, per_task, fold, seed, settings) for task, settings in MIXTURES[mixture].items()]


def suite(mixture: str, per_task: int, fold: Fold, seed: int = 0) -> list[Item]:
    """The items of `programs`, one by one; their category is the task."""
    return [
        Item(id=f"{program.meta['task']}/{program.id}/{number}", category=str(program.meta["task"]), program=program,
             seed=number)
        for program in programs(mixture, per_task, fold, seed)
        for number in range(int(program.meta["items"]))
    ]  # fmt: skip


def _program(task: str, count: int, fold: Fold, seed: int, settings: Mapping[str, int]) -> Program:
    found = _items(task, count, fold, seed, settings)
    if not found:
        raise InputError(f"{task} has no item in fold {fold.index} of {fold.parts}; take fewer folds.")
    rows = "[\n" + "".join(f"    ({json.dumps(q)}, {json.dumps(a)}),\n" for q, a in found) + "]"
    name = "".join(word.capitalize() for word in task.split("_"))
    source = SOURCE.format(task=task, count=len(found), items=rows, name=name)
    return Program(
        id=text_id(source), source=source, skill=SKILLS[task], max_turns=1, meta={"task": task, "items": len(found)}
    )


def _items(task: str, count: int, fold: Fold, seed: int, settings: Mapping[str, int]) -> list[tuple[str, str]]:
    """(question, answer) pairs, fewer than `count` where the task has no more."""
    dataset = import_module("reasoning_gym").create_dataset(task, seed=0, size=1, **settings)
    found: dict[str, str] = {}
    for number in range(count * TRIES):
        if len(found) == count:
            break
        entry = dataset[derive(seed, "reasoning-gym program", task, number)]
        question, answer = str(entry["question"]).strip(), str(entry["answer"]).strip()
        if derive(0, "fold", question) % fold.parts == fold.index:
            found.setdefault(question, answer)
    return list(found.items())
