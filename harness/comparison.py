"""Two rows on the same items: the paired difference, its interval, a test, and what the test could have found.

What it is: pure functions of arrays (S seeds, I items). What it is not: a verdict on a gate, a reader of files.
One seed compares two checkpoints; only several seeds compare two methods, and the difference then clusters by seed.
"""

from dataclasses import dataclass
from enum import StrEnum
from itertools import product
from math import sqrt
from typing import Sequence

import numpy as np
from scipy import stats

from .errors import IncompleteError, InputError
from .seeds import derive
from .statistics import CONFIDENCE, Floats, Ints, TwoLevel, strata_members, two_level

ALPHA = 1 - CONFIDENCE
POWER = 0.8
FLIPS = 9999
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
    if not np.isfinite(gaps_SI).any():
        raise IncompleteError("no item was scored in both rows, so they cannot be compared; evaluate again")
    members = strata_members(strata_I, gaps_SI.shape[1])
    level = two_level(gaps_SI, members, pseudo=width)
    gaps_I = np.nanmean(gaps_SI[:, np.isfinite(gaps_SI).any(axis=0)], axis=0)
    if gaps_SI.shape[0] > 1:
        test, p = PairedTest.SEEDS, _t_test(level)
    elif len(members) == 1 and bool(np.isin(gaps_I, (-width, 0.0, width)).all()):
        test, p = PairedTest.MCNEMAR, mcnemar(int((gaps_I > 0).sum()), int((gaps_I < 0).sum()))
    else:
        test, p = PairedTest.SIGN_FLIP, sign_flip(gaps_SI[0], members, seed=seed)
    half = _critical(1 - ALPHA / 2, level.dof) * level.se
    return Difference(
        value=level.estimate, low=max(-width, level.estimate - half), high=min(width, level.estimate + half), p=p,
        p_holm=p, detectable=minimum_detectable(level, alpha=ALPHA / max(1, family)), n_items=gaps_I.size,
        n_seeds=gaps_SI.shape[0], n_better=int((gaps_I > 1e-12).sum()), n_worse=int((gaps_I < -1e-12).sum()), test=test,
    )  # fmt: skip


def mcnemar(better: int, worse: int) -> float:
    """Two-sided exact p of McNemar's test: the discordant pairs against a fair coin; 1 without any."""
    return float(stats.binomtest(better, better + worse, 0.5).pvalue) if better + worse else 1.0


def sign_flip(gaps_I: Floats, members: Sequence[Ints], *, seed: int = 0, flips: int = FLIPS) -> float:
    """Two-sided p of the macro mean of paired differences when each item's sign is a fair coin."""
    weighted = np.zeros_like(gaps_I)
    for index in members:
        scored = np.isfinite(gaps_I[index])
        weighted[index] = np.where(scored, gaps_I[index], 0.0) / (max(1, int(scored.sum())) * len(members))
    changed = weighted[weighted != 0.0]
    observed = abs(float(changed.sum())) * (1 - 1e-9)
    if changed.size <= EXHAUSTIVE:
        signs = np.array(list(product((-1.0, 1.0), repeat=changed.size)))
        return float((np.abs(signs @ changed) >= observed).mean()) if changed.size else 1.0
    rng = np.random.default_rng(derive(seed, "sign flip", gaps_I.size, flips))
    signs = rng.integers(0, 2, size=(flips, changed.size), dtype=np.int8) * np.int8(2) - np.int8(1)
    beyond = int((np.abs(signs.astype(np.float32) @ changed.astype(np.float32)) >= observed - 1e-7).sum())
    return (beyond + 1) / (flips + 1)


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down adjusted p-values (1979), in the order given."""
    order = sorted(range(len(p_values)), key=lambda position: p_values[position])
    adjusted, running = [0.0] * len(p_values), 0.0
    for rank, position in enumerate(order):
        running = max(running, min(1.0, (len(p_values) - rank) * p_values[position]))
        adjusted[position] = running
    return adjusted


def minimum_detectable(level: TwoLevel, *, alpha: float = ALPHA, power: float = POWER) -> float:
    """(t at 1 - alpha/2 + t at power) x standard error: the difference found with this power at this n and noise."""
    return (_critical(1 - alpha / 2, level.dof) + _critical(power, level.dof)) * level.se


def detectable_gap(n_items: int, discordance: float, *, alpha: float = ALPHA, power: float = POWER) -> float:
    """The same for planning: `n_items` binary pairs of which a share `discordance` differs."""
    if n_items < 1 or not 0 < discordance <= 1:
        raise InputError("a plan needs n_items >= 1 and a discordance in (0, 1]; estimate it from two runs")
    return minimum_detectable(TwoLevel(0.0, sqrt(discordance / n_items), n_items), alpha=alpha, power=power)


def _t_test(level: TwoLevel) -> float:
    if level.se == 0.0:
        return 1.0
    return float(2 * stats.t.sf(abs(level.estimate) / level.se, level.dof))


def _critical(quantile: float, dof: float) -> float:
    return float(stats.t.ppf(quantile, dof))
