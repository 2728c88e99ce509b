"""The items on which two subjects differ, with what both answered: a pure function of a pair.

Of an item with several samples the two that tell most are shown: the best of the better side, the worst of the other.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np

from ..answers import LEGEND
from ..statistics import Floats, item_means
from .columns import Column, Metric
from .pairing import Pair


@dataclass(frozen=True, kw_only=True)
class Side:
    """What one subject did on an item."""

    mean: float
    """Over its samples of the item that were scored."""
    n_samples: int
    outcome: str
    """Of the sample shown."""
    answer: str | None
    """Of the sample shown; None where nothing was extracted, or the evidence holds no answers."""


@dataclass(frozen=True, kw_only=True)
class Flip:
    """One item on which the two differ."""

    item: str
    category: str
    base: Side
    new: Side

    @property
    def better(self) -> bool:
        """Whether the new subject is the better one here."""
        return self.new.mean > self.base.mean


def flips(pair: Pair, metric: Metric, limit: int | None = None) -> list[Flip]:
    """The largest differences first, then by item; at most `limit`."""
    return list(islice(_flips(pair, metric), limit))


def _flips(pair: Pair, metric: Metric) -> Iterator[Flip]:
    base_SI, new_SI = pair.values_SI(metric)
    gaps_I = np.nan_to_num(item_means((new_SI - base_SI).T))
    changed = np.flatnonzero(np.abs(gaps_I) > 1e-12)
    order = changed[np.argsort(-np.abs(gaps_I[changed]).round(12), kind="stable")]
    base_SIR, new_SIR = pair.base.values_SIR(metric), pair.new.values_SIR(metric)
    listed = pair.base.listed
    for number in order.tolist():
        gain = bool(gaps_I[number] > 0)
        yield Flip(
            item=listed.items[number], category=listed.categories[number],
            base=_side(pair.base, base_SIR[:, number], number, best=not gain),
            new=_side(pair.new, new_SIR[:, number], number, best=gain),
        )  # fmt: skip


def _side(column: Column, values_SR: Floats, number: int, *, best: bool) -> Side:
    scored_SR = np.isfinite(values_SR)
    place = int(np.nanargmax(values_SR) if best else np.nanargmin(values_SR))
    text = None if column.texts_SIR is None else column.texts_SIR[:, number].ravel()[place]
    return Side(
        mean=float(values_SR[scored_SR].mean()), n_samples=int(scored_SR.sum()),
        outcome=LEGEND[int(column.outcomes_SIR[:, number].ravel()[place])], answer=text,
    )  # fmt: skip
