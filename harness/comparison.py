"""Two rows on the same items: the paired difference, its interval, a test, and what the test could have found.

What it is: pure functions of arrays (S seeds, I items). What it is not: a verdict on a gate, a reader of files; what a
comparison would need to find more is `planning`, whose functions are also reached from here.
One seed compares two checkpoints; only several seeds compare two methods, and the difference then clusters by seed.
"""

from dataclasses import dataclass
from enum import StrEnum
from itertools import product
from typing import Literal, NamedTuple, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from .errors import IncompleteError, InputError
from .hierarchy import two_level
from .means import Floats, Ints, strata_members
from .planning import (
    ALPHA,
    POWER,
    detectable_gap,
    mcnemar_power,
    minimum_detectable,
    needed_items,
    needed_seeds,
)
from .score_bounds import strata_bounds
from .seeds import derive

__all__ = (
    "ALPHA", "POWER", "Difference", "OneSided", "PairedTest", "Verdict", "detectable_gap", "holm", "mcnemar",
    "mcnemar_power", "minimum_detectable", "needed_items", "needed_seeds", "one_sided", "paired", "paired_bounds",
    "sign_flip",
)  # fmt: skip

FLIPS = 9999
MANY, MAGNITUDES = 4096, 256
"""More changed items than `MANY` are drawn by their magnitudes, where there are at most so many of these."""
EXHAUSTIVE = 13
"""Up to this many changed items every sign pattern is tried instead of a random `FLIPS`."""


class Verdict(StrEnum):
    """What the corrected test allows to say of the first row against the second."""

    BETTER = "better"
    WORSE = "worse"
    CANNOT_TELL = "cannot tell"


class PairedTest(StrEnum):
    """Which test was run; chosen by the data, never by its result."""

    MCNEMAR = "exact McNemar"
    SIGN_FLIP = "paired sign-flip permutation"
    SEEDS = "paired t clustered by seed"


@dataclass(frozen=True, kw_only=True, slots=True)
class Difference:
    """First minus second, in the unit of the values."""

    value: float
    low: float
    high: float
    p: float
    """Two-sided, before any correction."""
    p_holm: float
    """After Holm over the family of rows; equals `p` until `holm_over` is applied."""
    detectable: float
    """The smallest true difference that this comparison finds four times in five at its strictest Holm step."""
    n_items: int
    n_seeds: int
    n_better: int
    n_worse: int
    """Items on which the first row is better, worse (means over seeds)."""
    test: PairedTest

    @property
    def verdict(self) -> Verdict:
        """Better or worse only when the corrected p is below 5 %."""
        if self.p_holm >= ALPHA or self.value == 0:
            return Verdict.CANNOT_TELL
        return Verdict.BETTER if self.value > 0 else Verdict.WORSE


def paired(
    first_SI: Floats,
    second_SI: Floats,
    strata_I: Sequence[str] | None = None,
    *,
    width: float = 1.0,
    family: int = 1,
    seed: int = 0,
) -> Difference:
    """Compare two rows by item. Items unscored in either row are left out; `width` is the span of the value's bounds.

    A row of one seed against a row of many is repeated for each of them (a checkpoint that was not trained here).
    Binary values of one seed in one stratum: exact McNemar. Other values of one seed: sign flips of the items'
    differences, weighted as the mean weighs them. Many seeds: Student's t on `two_level`.
    """
    if first_SI.shape[1:] != second_SI.shape[1:]:
        raise InputError("two rows hold different items; compare them on the same item list")
    if 1 not in (first_SI.shape[0], second_SI.shape[0]) and first_SI.shape[0] != second_SI.shape[0]:
        raise InputError("two rows hold different seeds; compare them on the seeds they share")
    gaps_SI = first_SI - second_SI
    _refuse_empty(gaps_SI)
    members = strata_members(strata_I, gaps_SI.shape[1])
    level = two_level(gaps_SI, members, pseudo=width)
    gaps_I = _item_gaps(gaps_SI)
    test = _test_of(gaps_I, gaps_SI.shape[0], len(members), width)
    if test is PairedTest.SEEDS:
        p = min(1.0, 2 * level.tail(abs(level.estimate)))
    elif test is PairedTest.MCNEMAR:
        p = mcnemar(int((gaps_I > 0).sum()), int((gaps_I < 0).sum()))
    else:
        p = sign_flip(gaps_SI[0], members, seed=seed)
    low, high = paired_bounds(gaps_SI, members, 1 - ALPHA / 2, width=width)
    return Difference(
        value=level.estimate, low=low, high=high, p=p, p_holm=p,
        detectable=minimum_detectable(level, alpha=ALPHA / max(1, family)), n_items=gaps_I.size,
        n_seeds=gaps_SI.shape[0], n_better=int((gaps_I > 1e-12).sum()), n_worse=int((gaps_I < -1e-12).sum()), test=test,
    )  # fmt: skip


class OneSided(NamedTuple):
    """What a gate needs of one benchmark; first minus second, so that a drop is negative."""

    value: float
    p_drop: float
    """One-sided p against "no drop": small when the first row is worse than the second."""
    low: float
    """The difference lies above this with confidence 1 - alpha."""
    high: float
    """The difference lies below this with confidence 1 - alpha."""
    discordance: float
    """Share of the items on which the rows differ; for values that are not binary the mean squared difference, in
    units of the width: what `needed_items` asks for."""
    n_items: int
    test: PairedTest


def one_sided(
    gaps_SI: Floats, members: Sequence[Ints], *, alpha: float = ALPHA, width: float = 1.0, seed: int = 0
) -> OneSided:
    """Test of a drop and both one-sided bounds at level `alpha`; NaN marks an item that is not in both rows.

    The test is that of `paired`, one-sided: exact binomial on the items that changed, sign flips, or t over seeds. The
    bounds are those of `paired_bounds`. Raises IncompleteError where nothing, or nothing of one stratum, is in both.
    """
    _refuse_empty(gaps_SI)
    level = two_level(gaps_SI, members, pseudo=width)
    gaps_I = _item_gaps(gaps_SI)
    test = _test_of(gaps_I, gaps_SI.shape[0], len(members), width)
    if test is PairedTest.SEEDS:
        beyond = level.tail(abs(level.estimate))
        p = beyond if level.estimate <= 0 else 1 - beyond
    elif test is PairedTest.MCNEMAR:
        better, worse = int((gaps_I > 0).sum()), int((gaps_I < 0).sum())
        p = float(stats.binomtest(better, better + worse, 0.5, alternative="less").pvalue) if better + worse else 1.0
    else:
        p = sign_flip(gaps_SI[0], members, seed=seed, alternative="less")
    low, high = paired_bounds(gaps_SI, members, 1 - alpha, width=width)
    discordance = float(np.mean((gaps_I / width) ** 2))
    return OneSided(level.estimate, p, low, high, discordance, gaps_I.size, test)


def paired_bounds(
    gaps_SI: Floats, members: Sequence[Ints], quantile: float, *, width: float = 1.0
) -> tuple[float, float]:
    """Lower and upper one-sided bound of a paired difference, each with confidence `quantile`.

    Binary values of one seed in one stratum: Tango's score. Otherwise the wider, at each end, of the two-level half
    width with pseudo-items and of `strata_bounds`: the first is right for many small differences, the second for few
    large ones.
    """
    gaps_I = _item_gaps(gaps_SI)
    level = two_level(gaps_SI, members, pseudo=width)
    dof = float(max(1, sum(len(index) - 1 for index in members)))
    critical = float(stats.t.ppf(quantile, dof))
    mean_SI = np.full(gaps_SI.shape[1], np.nan)
    mean_SI[np.isfinite(gaps_SI).any(axis=0)] = gaps_I
    low, high = strata_bounds(mean_SI, members, critical, width)
    if _test_of(gaps_I, gaps_SI.shape[0], len(members), width) is not PairedTest.MCNEMAR:
        half = level.half(quantile)
        low, high = min(low, level.estimate - half), max(high, level.estimate + half)
    return max(-width, low), min(width, high)


def _refuse_empty(gaps_SI: Floats) -> None:
    if not np.isfinite(gaps_SI).any():
        raise IncompleteError("no item was scored in both rows, so they cannot be compared; evaluate again")


def _item_gaps(gaps_SI: Floats) -> Floats:
    """Means over seeds of the items that are in both rows."""
    return np.asarray(np.nanmean(gaps_SI[:, np.isfinite(gaps_SI).any(axis=0)], axis=0), dtype=np.float64)


def _test_of(gaps_I: Floats, n_seeds: int, n_strata: int, width: float) -> PairedTest:
    if n_seeds > 1:
        return PairedTest.SEEDS
    binary = n_strata == 1 and bool(np.isin(gaps_I, (-width, 0.0, width)).all())
    return PairedTest.MCNEMAR if binary else PairedTest.SIGN_FLIP


def mcnemar(better: int, worse: int) -> float:
    """Two-sided exact p of McNemar's test: the discordant pairs against a fair coin; 1 without any."""
    return float(stats.binomtest(better, better + worse, 0.5).pvalue) if better + worse else 1.0


def sign_flip(
    gaps_I: Floats,
    members: Sequence[Ints],
    *,
    seed: int = 0,
    flips: int = FLIPS,
    alternative: Literal["two-sided", "less"] = "two-sided",
) -> float:
    """p of the macro mean of paired differences when each item's sign is a fair coin; `less` looks for a drop only.

    That of scipy's `permutation_test` of paired samples, in a thirtieth of its time: a table and a gate make thousands.
    """
    weighted = np.zeros_like(gaps_I)
    for index in members:
        scored = np.isfinite(gaps_I[index])
        weighted[index] = np.where(scored, gaps_I[index], 0.0) / (max(1, int(scored.sum())) * len(members))
    changed = weighted[weighted != 0.0]
    if not changed.size:
        return 1.0
    total = float(changed.sum())
    observed = abs(total) if alternative == "two-sided" else -total
    size = np.abs if alternative == "two-sided" else np.negative
    if changed.size <= EXHAUSTIVE:
        signs = np.array(list(product((-1.0, 1.0), repeat=changed.size)))
        return float((size(signs @ changed) >= observed - 1e-9 * abs(total)).mean())
    rng = np.random.default_rng(derive(seed, "sign flip", gaps_I.size, flips))
    beyond = int((size(_flipped(changed, flips, rng)) >= observed - 1e-7).sum())
    return (beyond + 1) / (flips + 1)


def _flipped(changed: Floats, flips: int, rng: np.random.Generator) -> NDArray[np.floating]:
    """The sum under each draw of the signs.

    Of many items of few magnitudes only the number of positive signs of each magnitude is drawn, which has the same
    distribution; many items of many magnitudes are drawn in blocks, so that memory stays bounded.
    """
    if changed.size <= MANY:
        return _signed(changed, flips, rng)
    largest = float(np.abs(changed).max())
    sizes, counts = np.unique((np.abs(changed) / largest).round(9), return_counts=True)
    if sizes.size <= MAGNITUDES:
        positive = rng.binomial(counts, 0.5, size=(flips, sizes.size))
        return np.asarray((2 * positive - counts) @ (sizes * largest), dtype=np.float64)
    step = max(1, MANY * FLIPS // changed.size)
    return np.concatenate([_signed(changed, min(step, flips - at), rng) for at in range(0, flips, step)])


def _signed(changed: Floats, flips: int, rng: np.random.Generator) -> NDArray[np.floating]:
    signs = rng.integers(0, 2, size=(flips, changed.size), dtype=np.int8) * np.int8(2) - np.int8(1)
    return signs.astype(np.float32) @ changed.astype(np.float32)


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down adjusted p-values (1979), in the order given."""
    order = sorted(range(len(p_values)), key=lambda position: p_values[position])
    adjusted, running = [0.0] * len(p_values), 0.0
    for rank, position in enumerate(order):
        running = max(running, min(1.0, (len(p_values) - rank) * p_values[position]))
        adjusted[position] = running
    return adjusted
