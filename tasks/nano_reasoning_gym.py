"""Easy reasoning-gym tasks in a compact rendering that a model of a few million parameters can read.

reasoning-gym 0.1.25 generates every item; only its wording is replaced, and an answer that is a list is acted one
element a turn. All numbers are 0 to 199, all words pass the caller's `usable`. The item seeds are hashed from (seed,
task, number), because neighbouring seeds of reasoning-gym share all but one item; a fold splits the *texts*, so that
two folds share no item whatever their seeds. Answers are compared as strings after strip: reasoning-gym's own scorers
forgive too much, and some evaluate the answer as code. This is not the benchmark on reasoning-gym itself.

| task | observation | right actions, one a turn |
|---|---|---|
| chain_sum | `sum 34 5` | `39` |
| gcd | `common 12 18` (greatest common divisor) | `6` |
| number_sorting | `take 7 3 9 low` (ascending), `take 7 3 9 high` (descending) | `3`, `7`, `9` |
| number_filtering | `take 7 3 9 above 5` or `below 5`: those that are, in their order | `7`, `9` |
| number_sequence | `count 4 7 10 13` (the next term) | `16` |
| word_sequence_reversal | `use ball tree lamp back` | `lamp`, `tree`, `ball` |
"""

from ast import literal_eval
from dataclasses import dataclass
from hashlib import sha256
from importlib import import_module
from math import gcd
from typing import Any, Callable, Mapping

from ..harness.errors import InputError
from ..harness.seeds import derive

LARGEST = 199
TRIES = 400
"""Draws per wanted item before the task is said to have too few."""
MIN_WORDS = 30
"""Fewer usable words than this make the reversal of words too small a task."""
RENDERING_WORDS = ("sum", "common", "take", "low", "high", "above", "below", "count", "use", "back")
"""Every word of the renderings that is not an item's own."""
REPLY = "next"


@dataclass(frozen=True, kw_only=True, slots=True)
class CompactItem:
    """One item: an environment that shows `observation` and wants the actions of `plan`, one a turn."""

    id: str
    """Task and the first 12 hex digits of the sha256 of the observation."""
    task: str
    observation: str
    plan: tuple[str, ...]
    """Right actions in order; the episode is won after the last and lost at the first other one."""
    reply: str
    """What is shown after a right action that is not the last."""

    def right(self, turn: int, action: str) -> bool:
        """Whether the action of this turn, counted from 0, is the right one: exact after strip."""
        return action.strip() == self.plan[turn]


Rendered = tuple[str, tuple[str, ...]]
"""Observation and plan."""
Entry = Mapping[str, Any]
"""An item as reasoning-gym made it: question, answer, metadata."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Task:
    config: Mapping[str, int]
    render: Callable[[Entry], Rendered | None]
    """None where the item does not fit the rendering."""


def items(
    n_per_task: int,
    seed: int,
    usable: Callable[[str], bool],
    fold: tuple[int, int] = (0, 1),
) -> list[CompactItem]:
    """`n_per_task` different items of every task, in the order of the table above.

    `fold` (i, k) keeps the items whose text hashes to part i of k: different parts never share an item.
    Raises `InputError` when the words or the fold leave a task with too few items.
    """
    if not 0 <= fold[0] < fold[1]:
        raise InputError(f"fold {fold[0]} of {fold[1]} does not exist: give (i, k) with 0 <= i < k.")
    return [item for name in TASKS for item in _items_of(name, n_per_task, seed, usable, fold)]


def _items_of(name: str, n: int, seed: int, usable: Callable[[str], bool], fold: tuple[int, int]) -> list[CompactItem]:
    task = TASKS[name]
    dataset = import_module("reasoning_gym").create_dataset(name, seed=0, **task.config)
    if name == "word_sequence_reversal":
        # its generator draws from the words of a book; here from those the model has a token for
        own = {word for word in dataset.words if word.isalpha() and word.islower() and usable(word)}
        dataset.words = sorted(own.difference(RENDERING_WORDS))
        if len(dataset.words) < MIN_WORDS:
            raise InputError(
                f"{name} has {len(dataset.words)} usable words, not {MIN_WORDS}: pass a larger vocabulary."
            )
    found: dict[str, CompactItem] = {}
    for number in range(n * TRIES):
        if len(found) == n:
            break
        rendered = task.render(dataset[derive(seed, name, number)])
        if rendered is not None and _part(content := _content(rendered[0]), fold[1]) == fold[0]:
            found.setdefault(content, _item(name, *rendered))
    if len(found) < n:
        raise InputError(f"{name} has only {len(found)} different items in this fold: ask for fewer than {n}.")
    return list(found.values())


def _item(task: str, observation: str, plan: tuple[str, ...]) -> CompactItem:
    digest = sha256(observation.encode()).hexdigest()[:12]
    return CompactItem(id=f"{task}/{digest}", task=task, observation=observation, plan=plan, reply=REPLY)


def _content(observation: str) -> str:
    """The same for items that differ in the order of their words only, such as `sum 3 5` and `sum 5 3`."""
    return " ".join(sorted(observation.split()))


def _part(content: str, parts: int) -> int:
    return derive(0, "fold", content) % parts


def _small(numbers: list[int]) -> bool:
    return all(0 <= number <= LARGEST for number in numbers)


def _whole(texts: list[str]) -> list[int]:
    """Whole numbers from reasoning-gym's texts such as `57.0`."""
    return [int(float(text)) for text in texts]


def _words(*parts: str | int) -> str:
    return " ".join(map(str, parts))


def _chain_sum(entry: Entry) -> Rendered | None:
    expression = entry["metadata"]["expression"].split(" + ")
    if "-" in entry["metadata"]["expression"] or not _small([int(entry["answer"])]):
        return None
    assert sum(map(int, expression)) == int(entry["answer"]), entry
    return _words("sum", *expression), (entry["answer"],)


def _gcd(entry: Entry) -> Rendered | None:
    numbers = entry["metadata"]["numbers"]
    if len(set(numbers)) < len(numbers) or entry["answer"] == "1":
        return None
    assert gcd(*numbers) == int(entry["answer"]), entry
    return _words("common", *numbers), (entry["answer"],)


def _number_sorting(entry: Entry) -> Rendered | None:
    numbers = _whole(entry["metadata"]["original_numbers"])
    if len(set(numbers)) < len(numbers) or not _small(numbers):
        return None
    falling = entry["metadata"]["direction"] == "descending"
    plan = sorted(numbers, reverse=falling)
    assert plan == _whole(literal_eval(entry["answer"])), entry
    return _words("take", *numbers, "high" if falling else "low"), tuple(map(str, plan))


def _number_filtering(entry: Entry) -> Rendered | None:
    facts = entry["metadata"]
    numbers, bound = _whole(facts["original_numbers"]), int(facts["filter_value"])
    kept = _whole(literal_eval(entry["answer"]))
    if len({*numbers, bound}) <= len(numbers) or not kept or not _small([*numbers, bound]):
        return None
    # no number equals the bound, so "remove the larger ones" is "keep those below"
    above = facts["operation"] in ("keep_larger", "remove_smaller")
    assert kept == [number for number in numbers if (number > bound) == above], entry
    return _words("take", *numbers, "above" if above else "below", bound), tuple(map(str, kept))


def _number_sequence(entry: Entry) -> Rendered | None:
    sequence = entry["metadata"]["sequence"]
    if not _small(sequence) or len(set(sequence)) < len(sequence):
        return None
    assert str(sequence[-1]) == entry["answer"], entry
    return _words("count", *sequence[:-1]), (entry["answer"],)


def _word_sequence_reversal(entry: Entry) -> Rendered | None:
    words = entry["metadata"]["words"]
    assert ", ".join(reversed(words)) == entry["answer"], entry
    return _words("use", *words, "back"), tuple(reversed(words))


_LIST = {"min_numbers": 3, "max_numbers": 5, "min_decimals": 0, "max_decimals": 0, "min_value": 0, "max_value": LARGEST}
TASKS: Mapping[str, _Task] = {
    "chain_sum": _Task(config={"max_terms": 2, "max_digits": 2}, render=_chain_sum),
    "gcd": _Task(config={"min_value": 2, "max_value": 60}, render=_gcd),
    "number_sorting": _Task(config=_LIST, render=_number_sorting),
    "number_filtering": _Task(config=_LIST, render=_number_filtering),
    "number_sequence": _Task(config={"max_terms": 5, "max_complexity": 1}, render=_number_sequence),
    "word_sequence_reversal": _Task(config={"max_words": 5}, render=_word_sequence_reversal),
}
"""reasoning-gym's name to its parameters and our rendering."""
