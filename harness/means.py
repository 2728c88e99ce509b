"""The plainest part of the statistics: which items belong together, and unweighted means that leave out the unscored.

What it is: the shapes and the estimators everything else stands on. What it is not: an interval or a test.
Shapes: S seeds, I items, R repeats of an item. NaN marks a sample that was not scored.
"""

from typing import NamedTuple, Sequence

import numpy as np
from numpy.typing import NDArray

from .errors import IncompleteError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

CONFIDENCE = 0.95


class Interval(NamedTuple):
    """Both ends of a 95 % interval, in the unit of the value."""

    low: float
    high: float


def strata_members(strata_I: Sequence[str] | None, n_items: int) -> list[Ints]:
    """Indices of the items of each stratum, strata in sorted order; one stratum when None."""
    if n_items == 0:
        raise IncompleteError("an evaluation without items has no score; check the task's item list")
    if strata_I is None:
        return [np.arange(n_items)]
    names = np.asarray(strata_I)
    assert len(names) == n_items, "one stratum per item"
    return [np.flatnonzero(names == name) for name in sorted(set(strata_I))]


def item_means(values_SIR: Floats) -> Floats:
    """Means over repeats; NaN where no repeat of an item was scored."""
    scored = np.isfinite(values_SIR)
    totals = np.where(scored, values_SIR, 0.0).sum(axis=-1)
    n = scored.sum(axis=-1)
    return np.where(n > 0, totals / np.maximum(n, 1), np.nan)


def macro_mean(values_I: Floats, members: Sequence[Ints]) -> float:
    """Unweighted mean of the strata's means over scored items."""
    means = []
    for index in members:
        scored = values_I[index][np.isfinite(values_I[index])]
        if scored.size == 0:
            raise IncompleteError("no sample of a whole category was scored; evaluate it again")
        means.append(scored.mean())
    return float(np.mean(means))
