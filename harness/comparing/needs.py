"""How much more evidence a comparison that cannot tell would need: a pure function of the pair and its difference.

Planned for the difference that was seen, or for one that the user cares about, at the strictest step of Holm's
correction and with a power of four in five. It is a forecast from the noise of these items and seeds, no promise.
"""

from dataclasses import dataclass
from math import ceil

import numpy as np

from ..comparison import ALPHA, Difference, needed_items, needed_seeds
from ..statistics import Floats, item_means, strata_members, two_level

SMALLEST = 1e-12
"""A difference below this is none, and no number of items would tell it."""


@dataclass(frozen=True, kw_only=True)
class Needs:
    """What would be enough, four times in five."""

    size: float
    """The true difference that is to be told."""
    of_margin: bool
    """Whether the user named it; else it is the difference that was seen."""
    items: int | None
    """Items in all, None where more seeds are the answer."""
    seeds: int | None
    """Seeds in all, None where items are the answer: with one seed nothing is known about the noise between seeds, and
    with several it may be that no number of them is enough on these items (then it takes more of both)."""
    more: int
    """Of either; 0 where what there is should have been enough."""


def needs(
    gaps_SI: Floats, strata_I: tuple[str, ...] | None, difference: Difference, *, width: float, family: int,
    margin: float | None = None,
) -> Needs | None:  # fmt: skip
    """None where no difference was seen and none was named. `gaps_SI` are the paired differences, NaN where a side is
    unscored."""
    size = abs(difference.value) if margin is None else margin
    if size < SMALLEST:
        return None
    alpha, named = ALPHA / max(1, family), margin is not None
    if difference.n_seeds > 1:
        members = strata_members(strata_I, gaps_SI.shape[1])
        seeds = needed_seeds(two_level(gaps_SI, members, pseudo=width), size, alpha=alpha)
        if seeds is not None:
            more = max(0, seeds - difference.n_seeds)
            return Needs(size=size, of_margin=named, items=None, seeds=seeds, more=more)
    share, uneven = _discordance(gaps_SI, strata_I, width)
    items = ceil(uneven * needed_items(size / width, max(share, size / width), alpha=alpha))
    return Needs(size=size, of_margin=named, items=items, seeds=None, more=max(0, items - difference.n_items))


def _discordance(gaps_SI: Floats, strata_I: tuple[str, ...] | None, width: float) -> tuple[float, float]:
    """Mean squared difference of an item in units of the width, as the mean over strata weighs it; and how many times
    more items a mean of unequal strata needs than one over items."""
    gaps_I = item_means(gaps_SI.T)
    scored_I = np.isfinite(gaps_I)
    squares_I = (gaps_I / width) ** 2
    members = [index[scored_I[index]] for index in strata_members(strata_I, gaps_SI.shape[1])]
    weights = np.array([1.0 / index.size for index in members])
    means = np.array([squares_I[index].mean() for index in members])
    uneven = float(scored_I.sum() * weights.sum() / len(members) ** 2)
    return float((weights * means).sum() / weights.sum()), uneven
