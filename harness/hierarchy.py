"""Seeds as a level of their own: the variance of a mean over seeds x items, and intervals that keep their level.

What it is: the two-level variance, Howe's half width on it, and a hierarchical bootstrap whose size it sets. What it is
not: a test of two rows (`comparison`), an interval of one seed (`intervals`).

Shapes: S seeds, I items; B bootstrap replicates. NaN marks what was not scored.
"""

from functools import lru_cache
from math import sqrt
from typing import NamedTuple, Sequence

import numpy as np
from scipy import optimize, special, stats

from .means import CONFIDENCE, Floats, Interval, Ints, macro_mean
from .seeds import derive

DRAWS = 2000
"""Replicates of the hierarchical bootstrap."""


class TwoLevel(NamedTuple):
    """A mean over seeds and items (both random, crossed) and the parts of its variance.

    The variance is `seeds` + `items` - `shared`: the noise of one seed on one item stands in both estimates and is
    counted once. With one seed nothing is known about seeds and their part is 0.
    """

    estimate: float
    seeds: float
    """Variance of the mean between seeds, over S; it holds `shared`."""
    items: float
    """Variance of the mean between items, over I; it holds `shared`."""
    shared: float
    """Variance of the mean from the interaction of seed and item."""
    seed_dof: float
    """Seeds - 1; 0 where there is one seed."""
    item_dof: float

    @property
    def se(self) -> float:
        """Standard error of the estimate."""
        return sqrt(max(self.seeds + self.items - self.shared, self.seeds, self.items))

    def half(self, quantile: float) -> float:
        """How far the one-sided bound at `quantile` lies from the estimate, by Howe (1974, JASA 69:789).

        Each part keeps Student's t of its own degrees of freedom: sqrt(t_S^2 V_S + t_I^2 V_I). Satterthwaite's pooled
        degrees of freedom raise 14 % false alarms with two seeds and 8 % with three, because a variance of few seeds
        that comes out small by chance also claims many degrees of freedom; Howe's half width stays below 5 %.
        """
        t_items = float(special.stdtrit(self.item_dof, quantile))
        floor = t_items * sqrt(self.items)
        if not self.seed_dof:
            return floor
        t_seeds = float(special.stdtrit(self.seed_dof, quantile))
        return max(floor, sqrt(t_seeds**2 * self.seeds + t_items**2 * max(0.0, self.items - self.shared)))

    def tail(self, distance: float) -> float:
        """One-sided p of an estimate that lies `distance` >= 0 from the hypothesis: where `half` reaches it."""
        if distance <= 0 or self.se == 0.0:
            return 0.5
        if not self.seed_dof:
            return float(special.stdtr(self.item_dof, -distance / self.se))
        if self.half(1 - TINY) <= distance:
            return TINY
        return float(optimize.brentq(lambda p: self.half(1 - p) - distance, TINY, 0.5))

    def of_seeds(self, n_seeds: int) -> "TwoLevel":
        """What the variance would be with this many seeds on the same items; the items' own part stays."""
        share = (self.seed_dof + 1) / n_seeds
        own = max(0.0, self.items - self.shared)
        return self._replace(
            seeds=self.seeds * share, shared=self.shared * share, items=own + self.shared * share,
            seed_dof=float(n_seeds - 1),
        )  # fmt: skip


TINY = 1e-12
"""The smallest p that `tail` tells apart."""


def two_level(values_SI: Floats, members: Sequence[Ints], pseudo: float = 0.0) -> TwoLevel:
    """Variance of the macro mean from seeds, plus from items, less the interaction that both contain.

    `pseudo` > 0 adds to each stratum two pseudo-items at +-pseudo/sqrt(2) (Agresti and Min 2005 for paired binary data,
    pseudo 1), so that a sample without any disagreement does not claim a variance of zero.
    """
    n_seeds = values_SI.shape[0]
    per_seed = np.array([macro_mean(row_I, members) for row_I in values_SI])
    items, shared, item_dof = 0.0, 0.0, 0.0
    for index in members:
        block_SI = values_SI[:, index]
        block_SI = block_SI[:, np.isfinite(block_SI).any(axis=0)]
        means_I = np.nanmean(block_SI, axis=0)
        n = means_I.size + (2 if pseudo else 0)
        spread = float((means_I**2).sum()) + pseudo**2 - float(means_I.sum()) ** 2 / n
        weight = 1.0 / len(members) ** 2
        items += weight * spread / max(1, n - 1) / n
        item_dof += max(1, n - 1)
        if n_seeds > 1 and means_I.size > 1:
            rest_SI = block_SI - np.nanmean(block_SI, axis=1, keepdims=True) - means_I + np.nanmean(block_SI)
            mean_square = float(np.nansum(rest_SI**2)) / ((n_seeds - 1) * (means_I.size - 1))
            shared += weight * mean_square / (n_seeds * means_I.size)
    seeds = float(per_seed.var(ddof=1)) / n_seeds if n_seeds > 1 else 0.0
    return TwoLevel(float(per_seed.mean()), seeds, items, shared, float(n_seeds - 1), item_dof)


def hierarchical(values_SI: Floats, members: Sequence[Ints], *, seed: int = 0, draws: int = DRAWS) -> Interval:
    """Bootstrap over seeds x items (both resampled, crossed) of a macro mean of values in [0, 1].

    A percentile interval of five seeds is too narrow. So the bootstrap gives the *shape* of the interval and
    `two_level` its *size*: deviations are scaled by Howe's half width / (z x own). Deterministic in `seed`.
    """
    level = two_level(values_SI, members)
    replicates = bootstrap_means(values_SI, members, seed=seed, draws=draws)
    own = float(replicates.std())
    if own == 0.0 or level.se == 0.0:
        return Interval(level.estimate, level.estimate)
    tail = (1 - CONFIDENCE) / 2
    scale = level.half(1 - tail) / (float(stats.norm.ppf(1 - tail)) * own)
    low, high = level.estimate + scale * (np.quantile(replicates, [tail, 1 - tail]) - level.estimate)
    return Interval(max(0.0, float(low)), min(1.0, float(high)))


def bootstrap_means(values_SI: Floats, members: Sequence[Ints], *, seed: int, draws: int) -> Floats:
    """Macro means of `draws` resamples: seeds drawn once a replicate, items drawn within each stratum."""
    n_seeds = values_SI.shape[0]
    seeds_BS = _resample_weights(seed, "seeds", n_seeds, draws) / n_seeds
    totals_BS = np.zeros((draws, n_seeds))
    for number, index in enumerate(members):
        block_SI = values_SI[:, index]
        weights_BI = _resample_weights(seed, f"items/{number}", len(index), draws)
        known_SI = np.isfinite(block_SI)
        sums_BS = weights_BI @ np.where(known_SI, block_SI, 0.0).T
        n_BS = np.asarray(float(len(index)) if known_SI.all() else weights_BI @ known_SI.T.astype(np.float64))
        totals_BS += np.where(n_BS > 0, sums_BS / np.maximum(n_BS, 1.0), np.nanmean(block_SI)) / len(members)
    return np.asarray((seeds_BS * totals_BS).sum(axis=1), dtype=np.float64)


@lru_cache(maxsize=12)
def _resample_weights(seed: int, purpose: str, n: int, draws: int) -> Floats:
    """How often each of `n` things is drawn in each of `draws` resamples with replacement; shape (draws, n)."""
    rng = np.random.default_rng(derive(seed, "bootstrap", purpose, n, draws))
    picks = rng.integers(0, n, size=(draws, n)) + n * np.arange(draws)[:, None]
    return np.bincount(picks.ravel(), minlength=draws * n).reshape(draws, n).astype(np.float64)
