"""What one subject was measured at, column by column: the common evidence of compare, check and report.

A column is one benchmark of an evaluation, or the held-out suite of a training run, over one seed or several. It keeps
every sample's outcome and reward and says under which protocol they came about. What it is not: a number, a file.

Shapes: S seeds, I items in sorted order, R samples of an item and seed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..answers import UNPLAYED, ItemList, Outcomes, counted, right, scored
from ..statistics import Floats

T = TypeVar("T", bound=np.generic)
Metric = Literal["right", "reward"]
Weigh = Literal["items", "categories"]
Texts = NDArray[np.object_]


@dataclass(frozen=True, kw_only=True)
class Stamp:
    """What must agree before two columns may be paired."""

    preset: str
    """The protocol's name, a star where something of it was changed, with the changed values behind it."""
    scorer: str
    task: str
    """Digest of the items the run was asked to play."""
    limit: int | None = None
    """The run was asked to play the first so many items only."""
    protocol: Mapping[str, object] = field(default_factory=dict)
    """What the preset says, key by key, since a name may mean something else in another version. Empty if unknown."""


@dataclass(frozen=True, kw_only=True)
class Column:
    """One benchmark of one subject."""

    name: str
    stamp: Stamp
    listed: ItemList
    golds: tuple[str, ...]
    """Hash of each item's gold answer; empty strings where the records hold none."""
    seeds: tuple[int, ...]
    outcomes_SIR: Outcomes
    """Positions in `answers.LEGEND`, or `UNPLAYED`."""
    rewards_SIR: Floats
    """NaN where unscored."""
    texts_SIR: Texts | None = None
    """The extracted answer of each sample, None where there was none; no array where the evidence holds no texts."""
    parts: tuple[str, ...] = ()
    """The whole category of each item, `group/part`, where categories have parts of their own; else empty."""
    weigh: Weigh = "items"
    bounds: tuple[float, float] = (0.0, 1.0)
    """Of the rewards."""
    reason: str = ""
    """Why the benchmark broke off, if it did."""

    def values_SIR(self, metric: Metric = "right") -> Floats:
        """1 where right and 0 where not, or the rewards; NaN where a sample is unscored or was not played."""
        if metric == "reward":
            return self.rewards_SIR
        return right(self.outcomes_SIR)

    def scored_SIR(self) -> NDArray[np.bool_]:
        """False where scorer or infrastructure failed and where nothing was played."""
        return scored(self.outcomes_SIR)

    @property
    def strata_I(self) -> tuple[str, ...] | None:
        """The category of each item where the metric is the mean of the categories' means, else None."""
        return self.listed.categories if self.weigh == "categories" else None

    @property
    def complete(self) -> bool:
        """Whether every sample that was asked for was scored, and the benchmark came to its end."""
        return not self.reason and bool(self.scored_SIR().all())

    def counts(self) -> dict[str, int]:
        """Samples per outcome code, in the order of the codes; samples without a record as `unplayed`."""
        return counted(self.outcomes_SIR)

    def only(self, keep_I: Sequence[int] | NDArray[np.int64]) -> "Column":
        """The same column with these items (positions, in order)."""
        own = self.listed
        listed = ItemList(
            items=tuple(own.items[i] for i in keep_I), categories=tuple(own.categories[i] for i in keep_I)
        )
        index = np.asarray(keep_I, dtype=np.int64)
        return replace(
            self, listed=listed, golds=tuple(self.golds[i] for i in keep_I), outcomes_SIR=self.outcomes_SIR[:, index],
            parts=tuple(self.parts[i] for i in keep_I) if self.parts else (), rewards_SIR=self.rewards_SIR[:, index],
            texts_SIR=None if self.texts_SIR is None else self.texts_SIR[:, index],
        )  # fmt: skip

    def of_seeds(self, seeds: Sequence[int]) -> "Column":
        """The same column with these of its seeds, in this order."""
        index = [self.seeds.index(seed) for seed in seeds]
        return replace(
            self, seeds=tuple(seeds), outcomes_SIR=self.outcomes_SIR[index], rewards_SIR=self.rewards_SIR[index],
            texts_SIR=None if self.texts_SIR is None else self.texts_SIR[index],
        )  # fmt: skip

    def as_repeats(self) -> "Column":
        """The same samples under one seed: what the seeds of a checkpoint that was not trained are."""
        size = self.outcomes_SIR.shape[1]
        return replace(
            self, seeds=self.seeds[:1], outcomes_SIR=np.moveaxis(self.outcomes_SIR, 0, -1).reshape(1, size, -1),
            rewards_SIR=np.moveaxis(self.rewards_SIR, 0, -1).reshape(1, size, -1),
            texts_SIR=None if self.texts_SIR is None else np.moveaxis(self.texts_SIR, 0, -1).reshape(1, size, -1),
        )  # fmt: skip

    def by_category(self) -> dict[str, "Column"]:
        """One column for each category, named `column/category`; each is then a mean over its items."""
        own = np.asarray(self.listed.categories)
        parts = {f"{self.name}/{name}": np.flatnonzero(own == name) for name in sorted(set(self.listed.categories))}
        return {name: replace(self.only(index), name=name, weigh="items") for name, index in parts.items()}


@dataclass(frozen=True, kw_only=True)
class Subject:
    """What stands on one side of a comparison: one run, or the runs of one method that differ in their seed."""

    label: str
    """As people named it on the command line, made short."""
    runs: tuple[str, ...]
    """Folders or files it was read from, in the order of the seeds."""
    kind: Literal["evaluation", "training"]
    columns: Mapping[str, Column]
    trained: bool = True
    """False for a checkpoint that was not trained here: its seeds are repeats."""
    notes: tuple[str, ...] = ()
    """What a reader must know: a sandbox that lacked a layer, a run that is not finished."""


def stacked(columns: Sequence[Column]) -> Column:
    """The columns of several seeds as one; they hold the same items (see `subjects`, which checks it)."""
    repeats = max(column.outcomes_SIR.shape[2] for column in columns)
    texts = [column.texts_SIR for column in columns]
    known = [text for text in texts if text is not None]
    return replace(
        columns[0], seeds=tuple(seed for column in columns for seed in column.seeds),
        outcomes_SIR=np.concatenate([_padded(column.outcomes_SIR, repeats, UNPLAYED) for column in columns]),
        rewards_SIR=np.concatenate([_padded(column.rewards_SIR, repeats, np.nan) for column in columns]),
        texts_SIR=np.concatenate([_padded(t, repeats, None) for t in known]) if len(known) == len(texts) else None,
        reason="; ".join(dict.fromkeys(c.reason for c in columns if c.reason)),
    )  # fmt: skip


def _padded(values_SIR: NDArray[T], repeats: int, filling: object) -> NDArray[T]:
    """With as many samples an item as the column that has most."""
    whole = np.full((*values_SIR.shape[:2], repeats), filling, dtype=values_SIR.dtype)
    whole[:, :, : values_SIR.shape[2]] = values_SIR
    return whole
