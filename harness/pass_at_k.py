"""pass@k and pass^k: of k tries of an item one or all are right; unbiased from n >= k tries, with intervals.

What it is: pure functions of counts and of grids. What it is not: defined for more tries than there are; that is an
error and never 0 or 1.

Shapes: I items, R repeats; every sample is scored.
"""

from collections.abc import Callable, Sequence
from math import comb

import numpy as np

from .errors import InputError
from .means import Floats
from .statistics import Score, score

Estimator = Callable[[int, int, int], float]
"""(samples, right, k) of one item to the chance."""


def pass_at_k(samples: int, right: int, k: int) -> float:
    """Unbiased pass@k of one item, 1 - C(n-c, k) / C(n, k) (Chen et al. 2021, arXiv 2107.03374); k > n is an error."""
    _check(f"pass@{k}", samples, right, k)
    return 1.0 - comb(samples - right, k) / comb(samples, k)


def pass_hat_k(samples: int, right: int, k: int) -> float:
    """Unbiased pass^k of one item, C(c, k) / C(n, k) (Yao et al. 2024, arXiv 2406.12045); k > n is an error."""
    _check(f"pass^{k}", samples, right, k)
    return comb(right, k) / comb(samples, k)


def told(repeats: int) -> tuple[int, ...]:
    """The k for which a score tells both: 1 to 4, the powers of two, and all repeats."""
    few = {k for k in (1, 2, 3, 4) if k <= repeats}
    return tuple(sorted(few | {2**e for e in range(repeats.bit_length()) if 2**e <= repeats} | {repeats}))


def pass_score(right_IR: Floats, k: int, estimator: Estimator, strata_I: Sequence[str] | None = None) -> Score:
    """The mean of an estimator over items, weighed as the headline weighs them, with its interval."""
    if not np.isfinite(right_IR).all():
        raise InputError("an item lacks a scored sample, so its chance of k tries is not known; evaluate again")
    right_I = right_IR.sum(axis=1).astype(int)
    values_I = np.array([estimator(right_IR.shape[1], int(right), k) for right in right_I])
    return score(values_I[None, :, None], strata_I)


def _check(name: str, samples: int, right: int, k: int) -> None:
    if k < 1 or not 0 <= right <= samples:
        raise InputError(f"{name} of {right} right in {samples} is undefined; give k >= 1 and 0 <= right <= samples")
    if samples < k:
        raise InputError(f"{name} is undefined here: need {k} samples, have {samples}; draw more or lower k")
