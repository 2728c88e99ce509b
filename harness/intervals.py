"""Intervals of one seed: a proportion, and a mean of items of which each was tried once or often.

What it is: a binomial interval on the number of samples that the data are worth. What it is not: strata or seeds (those
are in `statistics` and `hierarchy`). Coverage over a grid of cases: `python -m spadework.harness.bench coverage`.

Shapes: B data sets, I items, Q repeats. NaN marks a sample that was not scored.
"""

from collections.abc import Iterable
from math import sqrt
from typing import NamedTuple

import numpy as np
from scipy import special

from .correlation import expected_correlation
from .errors import IncompleteError
from .means import CONFIDENCE, Floats, Interval, Ints, item_means

Z = float(special.ndtri((1 + CONFIDENCE) / 2))


def wilson(successes: float, n: float) -> Interval:
    """Wilson's score interval of a proportion (1927, JASA 22:209)."""
    if n <= 0:
        raise IncompleteError("a proportion of no samples is undefined; evaluate at least one item")
    low, high = _wilson(np.array([successes / n]), np.array([float(n)]), Z)
    return Interval(float(low[0]), float(high[0]))


def binomial(successes: float, n: float, critical: float = Z) -> Interval:
    """Interval of a proportion: at each end the wider of Wilson's and Jeffreys'. `n` may be an effective sample size.

    Both are near 95 % on average and fall far below it at some proportions, Wilson's below a few successes and
    Jeffreys' above; never both. Exact coverage over all proportions from .005 to .995 is 93.0 % or more at 30 items
    (Wilson's alone 84.8 %) and 94.2 % at 198. It is narrower than Clopper and Pearson's, save by 4 % at 0 and n of n.
    """
    if n <= 0:
        raise IncompleteError("a proportion of no samples is undefined; evaluate at least one item")
    low, high = binomial_ends(np.array([successes / n]), np.array([float(n)]), critical)
    return Interval(float(low[0]), float(high[0]))


def binomial_ends(values_B: Floats, sizes_B: Floats, critical: float = Z) -> tuple[Floats, Floats]:
    """The same for many proportions at once."""
    low_B, high_B = _wilson(values_B, sizes_B, critical)
    right_B, tail = values_B * sizes_B + 0.5, float(special.ndtr(-critical))
    wrong_B = sizes_B + 1 - right_B
    jeffreys_low_B = special.betaincinv(right_B, wrong_B, tail)
    jeffreys_high_B = special.betaincinv(right_B, wrong_B, 1 - tail)
    return np.minimum(low_B, jeffreys_low_B), np.maximum(high_B, jeffreys_high_B)


def _wilson(values_B: Floats, sizes_B: Floats, critical: float) -> tuple[Floats, Floats]:
    squared_B = critical * critical / sizes_B
    middle_B = (values_B + squared_B / 2) / (1 + squared_B)
    half_B = np.sqrt(squared_B * (values_B * (1 - values_B) + squared_B / 4)) / (1 + squared_B)
    low_B = np.where(values_B == 0, 0.0, np.maximum(0.0, middle_B - half_B))
    return low_B, np.where(values_B == 1, 1.0, np.minimum(1.0, middle_B + half_B))


class Ends(NamedTuple):
    """Values of B data sets with both ends of their intervals."""

    values_B: Floats
    low_B: Floats
    high_B: Floats


def combined(parts: Iterable[tuple[float, float, Interval]]) -> tuple[float, Interval]:
    """A weighted sum of independent values (weight, value, interval) by Zou and Donner (2008): each of its ends lies as
    far away as the root of the summed squared distances of theirs."""
    value, below, above = 0.0, 0.0, 0.0
    for weight, own, (low, high) in parts:
        value += weight * own
        below += (weight * (own - low)) ** 2
        above += (weight * (high - own)) ** 2
    return value, Interval(value - sqrt(below), value + sqrt(above))


def clustered(values_IQ: Floats) -> tuple[float, Interval]:
    """Mean of item means in [0, 1] and its interval; items are the clusters, an item without a score is left out."""
    values_IQ = values_IQ[np.isfinite(values_IQ).any(axis=1)]
    if values_IQ.size == 0:
        raise IncompleteError("no sample of a whole category was scored; evaluate it again")
    known_IQ = np.isfinite(values_IQ)
    if not np.isin(values_IQ[known_IQ], (0.0, 1.0)).all():
        return _fractional(item_means(values_IQ))
    right_I = np.where(known_IQ, values_IQ, 0.0).sum(axis=1).astype(np.int64)
    ends = binary_ends(right_I[None], known_IQ.sum(axis=1))
    return float(ends.values_B[0]), Interval(float(ends.low_B[0]), float(ends.high_B[0]))


def binary_ends(right_BI: Ints, repeats_I: Ints) -> Ends:
    """Intervals of binary outcomes: `right_BI` of `repeats_I` repeats of each item are right.

    Unrepeated: `binomial` on n items. Otherwise Wilson on n / (rho + (1 - rho) mean(1 / repeats)) samples, by the
    expected correlation rho of the repeats, or on the number that the variance between items gives (Korn and Graubard
    1998) where that is smaller. Where at most one item holds the rarer outcome nothing tells rho, and items count.
    """
    n = repeats_I.size
    means_BI = right_BI / repeats_I
    values_B = np.clip(means_BI.mean(axis=1), 0.0, 1.0)
    if bool((repeats_I == 1).all()):
        return Ends(values_B, *binomial_ends(values_B, np.full(values_B.size, float(n))))
    rho_B = expected_correlation(right_BI, repeats_I)
    sizes_B = n / (rho_B + (1 - rho_B) * float((1 / repeats_I).mean()))
    if n > 1:
        variance_B = means_BI.var(axis=1, ddof=1) / n
        seen_B = values_B * (1 - values_B) / np.maximum(variance_B, 1e-300)
        sizes_B = np.where(variance_B > 0, np.minimum(sizes_B, seen_B), sizes_B)
    rarer_BI = np.where(values_B[:, None] <= 0.5, right_BI > 0, right_BI < repeats_I)
    untold_B = rarer_BI.sum(axis=1) <= 1
    return Ends(values_B, *_wilson(values_B, np.where(untold_B, np.minimum(sizes_B, float(n)), sizes_B), Z))


def _fractional(means_I: Floats) -> tuple[float, Interval]:
    """Means of scores that may be anything in [0, 1].

    `binomial` on p(1-p) / variance samples with Student's t. Two pseudo-items at 0 and 1 stand in the variance, so
    that equal scores claim no certainty; at a mean of 0 or 1 it is the interval of so many items.
    """
    n, value = means_I.size, float(np.clip(means_I.mean(), 0.0, 1.0))
    if value in (0.0, 1.0) or n == 1:
        return value, binomial(value * n, n)
    variance = float(np.concatenate([means_I, (0.0, 1.0)]).var(ddof=1)) / n
    size = value * (1 - value) / variance
    return value, binomial(value * size, size, float(special.stdtrit(n - 1, (1 + CONFIDENCE) / 2)))
