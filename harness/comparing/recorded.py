"""The columns of an evaluation, from its run folder: one for each benchmark that left a record.

It reads lines at the speed of the decoder and names file and line of whatever is damaged. `private/` is never opened.
What it is not: a judge of whether the run is finished; a column that lacks samples says so in its `reason`.
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np

from ..answers import CODES, UNPLAYED, ItemList, Outcomes
from ..answers import scored as scored_of
from ..config import flatten
from ..errors import InputError
from ..evaluation.due import group_of
from ..evaluation.records import Record
from ..evaluation.settings import EvaluationSettings, TaskSettings
from ..lines import decoded
from ..statistics import Floats
from ..store import RECORDS, SCORES
from .columns import Column, Stamp, Texts

DAMAGED = "remove that line and give the command that began the run again"
UNPLAYED_KEYS = ("source", "expect.", "benchmark", "name")
"""Keys of a preset that say nothing of how it is played."""


def read_columns(run: Path, settings: EvaluationSettings) -> dict[str, Column]:
    """By benchmark; those without any record are left out."""
    reasons = why_broken_off(run / SCORES)
    columns = {}
    for name in settings.tasks:
        path = run / RECORDS / f"{name}.jsonl"
        if records := _records(path):
            columns[name] = _column(name, settings, records, path, reasons.get(name, ""))
    return columns


class _Overall(msgspec.Struct, frozen=True):
    reason: str = ""


class _Task(msgspec.Struct, frozen=True):
    task: str
    overall: _Overall


class _Scores(msgspec.Struct, frozen=True):
    """Of `scores.json` only why a benchmark broke off, so that those of other versions can be read too."""

    tasks: list[_Task]


def why_broken_off(path: Path) -> dict[str, str]:
    """By benchmark; none while the run is not finished."""
    if not path.is_file():
        return {}
    try:
        return {one.task: one.overall.reason for one in msgspec.json.decode(path.read_bytes(), type=_Scores).tasks}
    except msgspec.DecodeError as error:
        raise InputError(f"{path} is damaged ({error}); make it again with `spadework score`.") from None


def _records(path: Path) -> list[Record]:
    """Every whole line; a torn last one is what a kill leaves, and is ignored."""
    if not path.is_file():
        return []
    return decoded(path.read_bytes(), Record, path, DAMAGED)


class _Samples(NamedTuple):
    """Records as arrays, in the order of the items and their repeats (Q: flat)."""

    outcomes_Q: Outcomes
    rewards_Q: Floats
    texts_Q: Texts


def _column(name: str, settings: EvaluationSettings, records: Sequence[Record], path: Path, reason: str) -> Column:
    task = settings.tasks[name]
    first = {record.item: record for record in records}
    if others := {record.scorer for record in records} - {task.scorer_version}:
        raise InputError(
            f"{path} holds verdicts of scorer {', '.join(sorted(others))}, the run's is {task.scorer_version}; "
            "score the run again with `spadework score`."
        )
    # Items without any record cannot be named; those samples are counted by the score, and the column is incomplete.
    items = tuple(sorted(first))
    if not reason and len(items) < task.n_items:
        reason = f"{len(items):,} of {task.n_items:,} items were played"
    samples = _samples(items, task, records, path)
    shape = 1, len(items), task.preset.repeats
    return Column(
        name=name, stamp=_stamp(task), golds=tuple(first[item].gold for item in items), seeds=(settings.seed,),
        listed=ItemList(items=items, categories=tuple(group_of(first[item].category) for item in items)),
        outcomes_SIR=samples.outcomes_Q.reshape(shape), rewards_SIR=samples.rewards_Q.reshape(shape),
        texts_SIR=samples.texts_Q.reshape(shape), weigh=task.preset.mean, reason=reason,
        parts=tuple(first[item].category for item in items),
    )  # fmt: skip


def _stamp(task: TaskSettings) -> Stamp:
    says = flatten(msgspec.to_builtins(task.preset))
    changed = ", ".join(f"{key}={says.get(key)}" for key in task.changed)
    return Stamp(
        preset=task.preset.name + (f"*({changed})" if changed else ""), scorer=task.scorer_version, task=task.items,
        limit=task.limit, protocol={key: value for key, value in says.items() if not key.startswith(UNPLAYED_KEYS)},
    )  # fmt: skip


def _samples(items: Sequence[str], task: TaskSettings, records: Sequence[Record], path: Path) -> _Samples:
    """Raises InputError, naming the line, for a sample that is not of this evaluation, is there twice, or was scored
    without a number."""
    repeats = task.preset.repeats
    places = {item: number * repeats for number, item in enumerate(items)}
    outcomes = np.array([CODES[record.outcome] for record in records], dtype=np.uint8)
    rewards = np.array([np.nan if record.reward is None else record.reward for record in records], dtype=np.float64)
    repeat = np.array([record.repeat for record in records])
    scored = scored_of(outcomes)
    bad = scored & ~((rewards >= 0) & (rewards <= 1))
    foreign = (repeat < 0) | (repeat >= repeats)
    if (bad | foreign).any():
        number = int(np.flatnonzero(bad | foreign)[0])
        one = records[number]
        why = f"{one.outcome} with the reward {one.reward}, which is no number in [0, 1]"
        if foreign[number]:
            why = f"there is no repeat {one.repeat} in this evaluation"
        raise InputError(f"{path}, line {number + 1}: {why}; score the run again with `spadework score`.")
    index = np.array([places[record.item] for record in records]) + repeat
    if np.unique(index).size < index.size:
        (key, count), *_ = Counter(record.key for record in records).most_common(1)
        raise InputError(f"{path}: sample {key} stands there {count} times; remove the doubles by hand.")
    size = len(items) * repeats
    samples = _Samples(np.full(size, UNPLAYED, np.uint8), np.full(size, np.nan), np.full(size, None, np.object_))
    samples.outcomes_Q[index] = outcomes
    samples.rewards_Q[index] = np.where(scored, rewards, np.nan)
    samples.texts_Q[index] = [record.answer for record in records]
    return samples
