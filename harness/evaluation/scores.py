"""From records to scores: value, interval, counts of outcomes, n scored of n. Pure; records in, plain values out.

A sample that scorer or infrastructure failed, or that was never played, is outside the denominator, and the cell then
says so and is incomplete. Nothing unscored becomes a number: a cell without one has a reason instead.

Shapes as in `statistics`: S seeds (one here), I items, R repeats.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from math import comb
from typing import Literal

import msgspec
import numpy as np

from ..benchmark import Preset, TaskItem
from ..errors import IncompleteError
from ..statistics import Floats, Score, item_means, macro_mean, pass_at_k, score, strata_members
from ..types import Outcome
from .due import group_of
from .records import Record
from .settings import TaskSettings


class Cell(msgspec.Struct, frozen=True, kw_only=True):
    """A number with its evidence; `value` is None when there is none, and `reason` says why. Values lie in [0, 1]."""

    value: float | None
    low: float | None = None
    high: float | None = None
    value_all: float | None = None
    """When every unscored sample counts as not right."""
    n_samples: int
    n_scored: int
    counts: dict[str, int]
    """Samples for each outcome."""
    reason: str = ""

    @property
    def complete(self) -> bool:
        """Whether every sample was scored."""
        return self.value is not None and self.n_scored == self.n_samples


class TaskScore(msgspec.Struct, frozen=True, kw_only=True):
    """One benchmark's scores with everything they depend on."""

    task: str
    preset: Preset
    changed: tuple[str, ...]
    scorer_version: str
    items: str
    n_items: int
    limit: int | None
    unverified: str = ""
    """What of the data no digest vouches for."""
    overall: Cell
    categories: dict[str, Cell]
    partial: float | None = None
    """Mean of the scores themselves, where some samples earn a part."""
    repeat_sd: float | None = None
    """Standard deviation of the value between repeats."""
    pass_any: float | None = None
    """Share of items with a right sample among the repeats, `pass@k`; only when every sample was scored."""
    pass_all: float | None = None
    """Share of items with right samples only, `pass^k`."""
    facts: dict[str, float] = {}
    """Sums of the numbers in the records: tokens, turns, seconds."""

    @property
    def stamp(self) -> str:
        """The preset as people name it; a star where something was changed."""
        return self.preset.name + ("*" if self.changed else "")


def task_score(
    name: str, settings: TaskSettings, items: Sequence[TaskItem], records: Sequence[Record], reason: str = ""
) -> TaskScore:
    """The score of one benchmark. `reason` is why it broke off, if it did."""
    preset = settings.preset
    right_IR, reward_IR = grids(items, preset.repeats, records)
    groups = [group_of(item.category) for item in items]
    overall = cell(right_IR, groups if preset.mean == "categories" else None, _counts(records), reason)
    full = overall.complete and preset.repeats > 1
    return TaskScore(
        task=name, preset=preset, changed=settings.changed, scorer_version=settings.scorer_version,
        items=settings.items, n_items=settings.n_items, limit=settings.limit, unverified=settings.unverified,
        overall=overall, categories=_categories(preset, items, right_IR, records),
        partial=_partial(right_IR, reward_IR),
        repeat_sd=_repeat_sd(right_IR, groups if preset.mean == "categories" else None) if full else None,
        pass_any=_pass(right_IR, "any") if full else None, pass_all=_pass(right_IR, "all") if full else None,
        facts=_facts(records),
    )  # fmt: skip


def failed_score(name: str, settings: TaskSettings, reason: str) -> TaskScore:
    """The score of a benchmark of which nothing was played."""
    return task_score(name, settings, [], [], reason)


def grids(items: Sequence[TaskItem], repeats: int, records: Sequence[Record]) -> tuple[Floats, Floats]:
    """1 where right and 0 where not, and the scores themselves; NaN where a sample is unscored or missing."""
    rows = {item.id: number for number, item in enumerate(items)}
    right_IR = np.full((len(items), repeats), np.nan)
    reward_IR = np.full((len(items), repeats), np.nan)
    for record in records:
        if record.outcome.scored:
            place = rows[record.item], record.repeat
            right_IR[place] = record.outcome is Outcome.RIGHT
            reward_IR[place] = np.nan if record.reward is None else record.reward
    return right_IR, reward_IR


def cell(right_IR: Floats, strata: Sequence[str] | None, counts: Mapping[str, int], reason: str) -> Cell:
    """The number of a part of the samples."""
    n_samples, n_scored = right_IR.size, int(np.isfinite(right_IR).sum())
    try:
        found: Score = score(right_IR[None], strata)
    except IncompleteError as error:
        return Cell(
            value=None, n_samples=n_samples, n_scored=n_scored, counts=dict(counts), reason=reason or str(error)
        )
    return Cell(
        value=found.value, low=found.low, high=found.high, value_all=found.value_all, n_samples=n_samples,
        n_scored=n_scored, counts=dict(counts), reason=reason,
    )  # fmt: skip


def _categories(
    preset: Preset, items: Sequence[TaskItem], right_IR: Floats, records: Sequence[Record]
) -> dict[str, Cell]:
    """One cell a group of categories; none where there is one group."""
    members: dict[str, list[int]] = {}
    for number, item in enumerate(items):
        members.setdefault(group_of(item.category), []).append(number)
    if len(members) < 2:
        return {}
    by_group: dict[str, list[Record]] = {name: [] for name in members}
    for record in records:
        by_group[group_of(record.category)].append(record)
    cells = {}
    for name in sorted(members):
        parts = [items[number].category for number in members[name]]
        strata = parts if preset.mean == "categories" else None
        cells[name] = cell(right_IR[members[name]], strata, _counts(by_group[name]), "")
    return cells


def _counts(records: Sequence[Record]) -> dict[str, int]:
    counted = Counter(record.outcome for record in records)
    return {str(outcome): counted[outcome] for outcome in Outcome if counted[outcome]}


def _partial(right_IR: Floats, reward_IR: Floats) -> float | None:
    """None where every score is 0 or 1 just as the outcome is."""
    scored = np.isfinite(reward_IR)
    if not scored.any() or np.array_equal(right_IR[scored], reward_IR[scored]):
        return None
    return float(reward_IR[scored].mean())


def _repeat_sd(right_IR: Floats, strata: Sequence[str] | None) -> float:
    members = strata_members(strata, right_IR.shape[0])
    return float(np.std([macro_mean(column_I, members) for column_I in right_IR.T], ddof=1))


def _pass(right_IR: Floats, kind: Literal["any", "all"]) -> float:
    """Over all repeats of each item: k is their number."""
    n = right_IR.shape[1]
    right_I = (item_means(right_IR) * n).round().astype(int)
    if kind == "any":
        return float(np.mean([pass_at_k(n, int(right), n) for right in right_I]))
    return float(np.mean([comb(int(right), n) / comb(n, n) for right in right_I]))


def _facts(records: Sequence[Record]) -> dict[str, float]:
    sums: dict[str, float] = {}
    for record in records:
        for name, fact in record.facts.items():
            if isinstance(fact, int | float):
                sums[name] = sums.get(name, 0.0) + fact
    return sums
