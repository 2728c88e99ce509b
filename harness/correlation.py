"""How alike the repeats of one item are: the correlation within items of binary outcomes, from few items.

What it is: the posterior mean of the correlation of a Beta-binomial model, on a grid. What it is not: an interval
(`intervals` makes one of it), or a model of anything but right and wrong.

The plain estimate (the variance between items over p(1-p)) fails where the rarer outcome is rare: three of 480 samples
right, each in another item, say little about the correlation, and the estimate takes them for independent. The
likelihood of every item's count knows how little they say, and the prior then speaks for caution.

Shapes: B data sets (one in use, thousands in a simulation), I items; G points of the grid.
"""

from functools import lru_cache

import numpy as np
from scipy import special

from .means import Floats, Ints

INDEPENDENT = 0.2
"""Prior probability that repeats are independent; the rest has the density 2 rho, which leans to identical repeats.
Chosen on the grid of `bench coverage`: exact coverage between 94 and 96.5 % where repeats tell the correlation."""
MEANS_G = special.betaincinv(0.5, 0.5, (np.arange(60) + 0.5) / 60)
"""Sixty equally likely values of the mean under Jeffreys' prior."""
CORRELATIONS_G = np.concatenate([[0.0], (np.arange(20) + 0.5) / 20])
PRIOR_G = np.concatenate([[INDEPENDENT], (1 - INDEPENDENT) * CORRELATIONS_G[1:] / CORRELATIONS_G[1:].sum()])


def expected_correlation(right_BI: Ints, repeats_I: Ints) -> Floats:
    """Posterior mean of the correlation between two repeats of an item; `right_BI` of `repeats_I` repeats are right."""
    log_BG = np.zeros((right_BI.shape[0], CORRELATIONS_G.size * MEANS_G.size))
    for repeats in np.unique(repeats_I):
        counts, place = np.unique(right_BI[:, repeats_I == repeats], return_inverse=True)
        place_BI = place.reshape(right_BI.shape[0], -1) + counts.size * np.arange(right_BI.shape[0])[:, None]
        items_BK = np.bincount(place_BI.ravel(), minlength=counts.size * right_BI.shape[0]).reshape(-1, counts.size)
        log_BG += items_BK @ np.stack([_log_chance(int(count), int(repeats)) for count in counts])
    weight_BG = np.exp(log_BG - log_BG.max(axis=1, keepdims=True))
    by_correlation = weight_BG.reshape(-1, CORRELATIONS_G.size, MEANS_G.size).sum(axis=2) * PRIOR_G
    return np.asarray(by_correlation @ CORRELATIONS_G / by_correlation.sum(axis=1), dtype=np.float64)


@lru_cache(maxsize=2048)
def _log_chance(right: int, repeats: int) -> Floats:
    """Log probability of one item's count at every point of the grid, up to the binomial coefficient."""
    independent_G = special.xlogy(right, MEANS_G) + special.xlog1py(repeats - right, -MEANS_G)
    size_G = (1 - CORRELATIONS_G[1:, None]) / CORRELATIONS_G[1:, None]
    a_G, b_G = MEANS_G * size_G, (1 - MEANS_G) * size_G
    beta_G = special.betaln(a_G + right, b_G + repeats - right) - special.betaln(a_G, b_G)
    return np.concatenate([independent_G, beta_G.ravel()])
