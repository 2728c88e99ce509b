"""Scores with intervals: pure functions of arrays, on numpy and scipy.

What it is: one value, its 95 % interval and the counts behind it, for binary outcomes and for bounded rewards, for one
evaluation or for many seeds. What it is not: a test of two runs (`comparison`), a reader of files (`answers`).

Shapes: S seeds, I items, R repeats of an item. NaN marks a sample that was not scored: it is outside every mean and the
`Score` says so. A stratum is a category; the value is the unweighted mean of the strata, and so is its interval.
"""

from dataclasses import dataclass, field
from typing import Sequence

import numpy as np

from .errors import IncompleteError, InputError
from .hierarchy import TwoLevel, bootstrap_means, hierarchical, two_level
from .intervals import binomial, clustered, combined, wilson
from .means import CONFIDENCE, Floats, Interval, Ints, item_means, macro_mean, strata_members

__all__ = (
    "CONFIDENCE", "Floats", "Interval", "Ints", "Score", "TwoLevel", "binomial", "bootstrap_means", "clustered",
    "hierarchical", "item_means", "macro_mean", "proportion", "score", "strata_members", "two_level",
    "wilson",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True, slots=True)
class Score:
    """A value that carries its evidence. Binary values lie in [0, 1] and are never percent here."""

    value: float
    low: float
    high: float
    n_items: int
    n_samples: int
    """Samples asked for, over all seeds and repeats."""
    n_scored: int
    n_seeds: int = 1
    seed_sd: float | None = None
    """Standard deviation of the value between seeds; None for one seed."""
    counts: dict[str, int] = field(default_factory=dict)
    """Samples per outcome code."""
    value_all: float | None = None
    """The value when each unscored sample counts as 0: shown beside `value` when the two differ."""

    @property
    def complete(self) -> bool:
        """False when a sample is missing from the denominator."""
        return self.n_scored == self.n_samples

    @property
    def completeness(self) -> str:
        """`n scored of n`, or an empty string when every sample was scored."""
        return "" if self.complete else f"{self.n_scored:,} scored of {self.n_samples:,}"


def proportion(successes: int, n: int) -> Score:
    """The share of `n` counted things (labels, valid programs) with its interval."""
    if not 0 <= successes <= n:
        raise InputError(f"{successes} of {n} is no share; give 0 <= successes <= n")
    low, high = binomial(successes, n)
    return Score(value=successes / n, low=low, high=high, n_items=n, n_samples=n, n_scored=n)


def score(
    values_SIR: Floats,
    strata_I: Sequence[str] | None = None,
    *,
    bounds: tuple[float, float] = (0.0, 1.0),
    counts: dict[str, int] | None = None,
    seed: int = 0,
) -> Score:
    """Mean over seeds of the unweighted mean over strata of the mean over items, with its interval.

    One seed: `clustered` per stratum, combined over strata. Many seeds: `hierarchical`, never narrower than the
    interval that takes the seeds for repeats of items.
    Raises IncompleteError when nothing, or nothing of one stratum, was scored.
    """
    zero, span = bounds[0], bounds[1] - bounds[0]
    unit_SIR = _unit_values(values_SIR, bounds)
    members = strata_members(strata_I, unit_SIR.shape[1])
    means_SI = item_means(unit_SIR)
    per_seed = np.array([macro_mean(row_I, members) for row_I in means_SI])
    value = float(per_seed.mean())
    low, high = _stratified_interval(np.moveaxis(unit_SIR, 0, -1), members)
    if len(per_seed) > 1:
        wide = hierarchical(means_SI, members, seed=seed)
        low, high = min(low, wide.low), max(high, wide.high)
    with_zeros = item_means(np.where(np.isfinite(unit_SIR), unit_SIR, -zero / span))
    value_all = float(np.mean([macro_mean(row_I, members) for row_I in with_zeros]))
    return Score(
        value=zero + span * value, low=zero + span * min(low, value), high=zero + span * max(high, value),
        n_items=unit_SIR.shape[1], n_samples=unit_SIR.size, n_scored=int(np.isfinite(unit_SIR).sum()),
        n_seeds=len(per_seed), seed_sd=span * float(per_seed.std(ddof=1)) if len(per_seed) > 1 else None,
        counts=dict(counts or {}), value_all=zero + span * value_all,
    )  # fmt: skip


def _unit_values(values_SIR: Floats, bounds: tuple[float, float]) -> Floats:
    """Values moved from their bounds to [0, 1]; refuses what lies outside, and raises when nothing was scored."""
    low, high = bounds
    unit_SIR = (np.asarray(values_SIR, dtype=np.float64) - low) / (high - low)
    if unit_SIR.ndim != 3:
        raise InputError(f"values have {unit_SIR.ndim} axes; give them as seeds x items x repeats")
    seen = unit_SIR[np.isfinite(unit_SIR)]
    if seen.size == 0:
        raise IncompleteError("not one sample was scored, so there is no score; evaluate again")
    if seen.min() < -1e-9 or seen.max() > 1 + 1e-9:
        raise InputError(f"a value lies outside [{low}, {high}]; scores are never percent here, divide by 100")
    return unit_SIR


def _stratified_interval(values_IQ: Floats, members: Sequence[Ints]) -> Interval:
    """Of the unweighted mean of the strata."""
    values_IQ = values_IQ.reshape(values_IQ.shape[0], -1)
    _, (low, high) = combined((1 / len(members), *clustered(values_IQ[index])) for index in members)
    return Interval(max(0.0, low), min(1.0, high))
