"""What a gate says of each benchmark: fail, pass or underpowered, at stated rates of error.

    fail           a drop is shown (one-sided paired test, Holm over all benchmarks) and is larger than the margin
    pass           the lower one-sided bound of the difference lies above minus the margin
    underpowered   neither: the items do not suffice for either sentence

At no change some benchmark fails by chance with a probability of at most alpha over all of them together; a benchmark
whose true drop is its margin passes with a probability of at most alpha. What it is: pure functions of item means. What
it is not: a reader of files, a judge of what may be paired (`pairing`).

Shapes: S runs under test, K runs of the reference, I items.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from math import ceil, sqrt
from typing import NamedTuple

import numpy as np
from scipy import stats

from ..comparison import holm, one_sided
from ..hierarchy import two_level
from ..means import Floats, Ints, macro_mean, strata_members
from ..planning import POWER, minimum_detectable
from .bound import lower_bound


class Verdict(StrEnum):
    """What is said of one benchmark."""

    PASS = "pass"
    FAIL = "fail"
    UNDERPOWERED = "underpowered"
    INCOMPLETE = "incomplete"
    """Asked for in the run, and not every sample of it was scored: there is no number."""
    MISSING = "missing"
    """The reference has it and the run does not."""


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """One benchmark's item means in [0, 1] on both sides; every item is scored in every run."""

    name: str
    run_SI: Floats
    reference_KI: Floats
    strata_I: tuple[str, ...] | None
    """Categories where the metric is the mean of their means, else None."""
    margin: float
    """The drop that is tolerated, as a share."""


@dataclass(frozen=True, kw_only=True)
class Decision:
    """The verdict on one benchmark with everything it rests on. Values are shares, never percent."""

    name: str
    verdict: Verdict
    margin: float
    reference: float
    value: float
    difference: float
    """Run minus reference."""
    low: float
    """The difference lies above this with confidence 1 - alpha."""
    p: float
    """One-sided, of no drop."""
    p_holm: float
    discordance: float
    """Share of items that changed (mean squared difference where samples repeat)."""
    n_items: int
    n_better: int
    n_worse: int
    n_runs: int
    n_references: int
    run_sd: float | None
    """Standard deviation of the value between runs of one side; None where there is one run on each."""
    detectable: float
    """The smallest true drop that fails four times in five."""
    needed: int | None
    """Items after which a verdict is expected at this noise; None where there is one, or where runs are what lacks."""


class Runs(NamedTuple):
    """What the spread between runs allows to say: the smaller of two truths counts, so it only adds caution."""

    sd: float
    se: float
    dof: int

    def p_drop(self, difference: float) -> float:
        """One-sided p of a drop by Student's t; a spread of 0 leaves the word to the items."""
        return float(stats.t.cdf(difference / self.se, self.dof)) if self.se else 0.0

    def half(self, quantile: float) -> float:
        """How far the one-sided bound lies from the estimate."""
        return float(stats.t.ppf(quantile, self.dof)) * self.se


def decide(evidence: Sequence[Evidence], alpha: float) -> list[Decision]:
    """The verdicts, in the order given; they are one family for Holm's correction."""
    first = [_measured(one, alpha, len(evidence)) for one in evidence]
    adjusted = holm([one.p for one in first])
    return [_judged(replace(one, p_holm=p), alpha, len(evidence)) for one, p in zip(first, adjusted, strict=True)]


def _measured(one: Evidence, alpha: float, family: int) -> Decision:
    members = strata_members(one.strata_I, one.run_SI.shape[1])
    gaps_I = one.run_SI.mean(axis=0) - one.reference_KI.mean(axis=0)
    items = one_sided(gaps_I[None], members, alpha=alpha)
    low, p = lower_bound(gaps_I, members, alpha), items.p_drop
    level = two_level(gaps_I[None], members, pseudo=1.0)
    found = minimum_detectable(level, alpha=2 * alpha / family)
    runs = between_runs(one.run_SI, one.reference_KI, members)
    if runs is not None:
        low, p = min(low, items.value - runs.half(1 - alpha)), max(p, runs.p_drop(items.value))
        found = max(found, runs.half(1 - alpha / family) + runs.half(POWER))
    return Decision(
        name=one.name, verdict=Verdict.UNDERPOWERED, margin=one.margin,
        reference=_mean_of(one.reference_KI, members), value=_mean_of(one.run_SI, members), difference=items.value,
        low=low, p=p, p_holm=p, discordance=items.discordance, n_items=gaps_I.size, n_better=int((gaps_I > 0).sum()),
        n_worse=int((gaps_I < 0).sum()), n_runs=one.run_SI.shape[0], n_references=one.reference_KI.shape[0],
        run_sd=None if runs is None else runs.sd, needed=None,
        detectable=min(1.0, max(found, one.margin + level.half(POWER))),
    )  # fmt: skip


def between_runs(run_SI: Floats, reference_KI: Floats, members: Sequence[Ints]) -> Runs | None:
    """Spread of the value between runs, pooled over both sides; None where no side has two runs."""
    sides = [np.array([macro_mean(row_I, members) for row_I in side]) for side in (run_SI, reference_KI)]
    dof = sum(side.size - 1 for side in sides)
    if dof == 0:
        return None
    sd = sqrt(sum(float(((side - side.mean()) ** 2).sum()) for side in sides) / dof)
    return Runs(sd, sd * sqrt(sum(1 / side.size for side in sides)), dof)


def _judged(one: Decision, alpha: float, family: int) -> Decision:
    if one.p_holm <= alpha and one.difference < -one.margin:
        return replace(one, verdict=Verdict.FAIL)
    if one.low > -one.margin:
        return replace(one, verdict=Verdict.PASS)
    return replace(one, needed=_needed(one, alpha, family))


def _needed(one: Decision, alpha: float, family: int) -> int | None:
    """Items after which this difference would be shown to be within the margin, or to be a drop beyond it."""
    if one.run_sd is not None or abs(one.difference + one.margin) < 1e-9:
        return None
    variance = max(0.0, one.discordance - one.difference**2)
    if one.difference < -one.margin:
        z = float(stats.norm.ppf(1 - alpha / family))
        return max(one.n_items + 1, ceil(variance * (z / one.difference) ** 2))
    # The bound lies root / sqrt(n) + rest / n below the estimate: noise, and what unseen rare drops may hide.
    gap, room = one.difference - one.low, one.difference + one.margin
    root = min(gap * sqrt(one.n_items), float(stats.norm.ppf(1 - alpha)) * sqrt(variance))
    rest = gap * one.n_items - root * sqrt(one.n_items)
    return max(one.n_items + 1, ceil(((root + sqrt(root**2 + 4 * rest * room)) / (2 * room)) ** 2))


def _mean_of(values_SI: Floats, members: Sequence[Ints]) -> float:
    return float(np.mean([macro_mean(row_I, members) for row_I in values_SI]))
