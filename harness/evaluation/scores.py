"""From records to scores: value, interval, counts of outcomes, n scored of n. Pure; records in, plain values out.

A sample that scorer or infrastructure failed, or that was never played, is outside the denominator, and the cell then
says so and is incomplete. Nothing unscored becomes a number: a cell without one has a reason instead.

Shapes as in `statistics`: S seeds (one here), I items, R repeats.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from ..benchmark import Preset, TaskItem
from ..errors import IncompleteError
from ..pass_at_k import Estimator, pass_at_k, pass_hat_k, pass_score, told
from ..statistics import Floats, Score, macro_mean, score, strata_members
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
    n_items: int
    """Items asked for; the repeats of one are clustered in the interval."""
    n_samples: int
    n_scored: int
    counts: dict[str, int]
    """Samples for each outcome."""
    reason: str = ""

    @property
    def complete(self) -> bool:
        """Whether every sample was scored."""
        return self.value is not None and self.n_scored == self.n_samples


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """A number with its 95 % interval."""

    value: float
    low: float
    high: float


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
    partial: Estimate | None = None
    """Mean of the scores themselves, where some samples earn a part; weighed as the headline is."""
    repeat_sd: float | None = None
    """Standard deviation of the value between repeats."""
    pass_at: dict[int, Estimate] = {}
    """By k, the chance that at least one of k tries is right, `pass@k`; only when every sample was scored."""
    pass_hat: dict[int, Estimate] = {}
    """By k, the chance that all of k tries are right, `pass^k`; only when every sample was scored."""
    facts: dict[str, float] = {}
    """Sums of the numbers in the records: tokens, turns, seconds."""
    failure: str = ""
    """What most of the samples without a score failed with."""

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
    strata = groups if preset.mean == "categories" else None
    overall = cell(right_IR, strata, _counts(records), reason)
    full = overall.complete and preset.repeats > 1
    return TaskScore(
        task=name, preset=preset, changed=settings.changed, scorer_version=settings.scorer_version,
        items=settings.items, n_items=settings.n_items, limit=settings.limit, unverified=settings.unverified,
        overall=overall, categories=_categories(preset, items, right_IR, records),
        partial=_partial(right_IR, reward_IR, strata), repeat_sd=_repeat_sd(right_IR, strata) if full else None,
        pass_at=_passes(right_IR, strata, pass_at_k, overall) if full else {},
        pass_hat=_passes(right_IR, strata, pass_hat_k, overall) if full else {},
        facts=_facts(records), failure=_failure(records),
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
            value=None, n_items=right_IR.shape[0], n_samples=n_samples, n_scored=n_scored, counts=dict(counts),
            reason=reason or str(error),
        )  # fmt: skip
    return Cell(
        value=found.value, low=found.low, high=found.high, value_all=found.value_all, n_items=found.n_items,
        n_samples=n_samples, n_scored=n_scored, counts=dict(counts), reason=reason,
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


def _failure(records: Sequence[Record]) -> str:
    """The commonest word of those that failed, the first of the alphabet among equals."""
    said = Counter(record.detail for record in records if not record.outcome.scored and record.detail)
    return min(said, key=lambda detail: (-said[detail], detail), default="")


def _partial(right_IR: Floats, reward_IR: Floats, strata: Sequence[str] | None) -> Estimate | None:
    """None where every score is 0 or 1 just as the outcome is, and where a whole category has none."""
    scored = np.isfinite(reward_IR)
    if not scored.any() or np.array_equal(right_IR[scored], reward_IR[scored]):
        return None
    try:
        return _estimate(score(reward_IR[None], strata))
    except IncompleteError:
        return None


def _repeat_sd(right_IR: Floats, strata: Sequence[str] | None) -> float:
    members = strata_members(strata, right_IR.shape[0])
    return float(np.std([macro_mean(column_I, members) for column_I in right_IR.T], ddof=1))


def _passes(
    right_IR: Floats, strata: Sequence[str] | None, estimator: Estimator, headline: Cell
) -> dict[int, Estimate]:
    """One try is the headline itself, with its interval."""
    found = {k: pass_score(right_IR, k, estimator, strata) for k in told(right_IR.shape[1]) if k > 1}
    return {1: _estimate(headline), **{k: _estimate(one) for k, one in found.items()}}


def _estimate(found: Score | Cell) -> Estimate:
    assert found.value is not None and found.low is not None and found.high is not None
    return Estimate(value=found.value, low=found.low, high=found.high)


def _facts(records: Sequence[Record]) -> dict[str, float]:
    sums: dict[str, float] = {}
    for record in records:
        for name, fact in record.facts.items():
            if isinstance(fact, int | float):
                sums[name] = sums.get(name, 0.0) + fact
    return sums
