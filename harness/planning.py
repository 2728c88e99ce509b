"""How much evidence a comparison needs: detectable differences, items and seeds for a difference of a given size.

What it is: pure functions from the noise of a comparison to a number of items or seeds. What it is not: a test.
"""

from math import ceil, sqrt

import numpy as np
from scipy import stats

from .errors import InputError
from .hierarchy import TwoLevel
from .means import CONFIDENCE

ALPHA = 1 - CONFIDENCE
POWER = 0.8
MOST_ITEMS = 10_000_000
MOST_SEEDS = 1000


def minimum_detectable(level: TwoLevel, *, alpha: float = ALPHA, power: float = POWER) -> float:
    """The difference found with this power at this n and noise: the half widths at 1 - alpha/2 and at `power`."""
    return level.half(1 - alpha / 2) + level.half(power)


def detectable_gap(n_items: int, discordance: float, *, alpha: float = ALPHA, power: float = POWER) -> float:
    """The same for planning: `n_items` binary pairs of which a share `discordance` differs."""
    if n_items < 1 or not 0 < discordance <= 1:
        raise InputError("a plan needs n_items >= 1 and a discordance in (0, 1]; estimate it from two runs")
    level = TwoLevel(0.0, 0.0, discordance / n_items, 0.0, 0.0, float(n_items))
    return minimum_detectable(level, alpha=alpha, power=power)


def mcnemar_power(
    n_items: int, difference: float, discordance: float, *, alpha: float = ALPHA, sides: int = 2
) -> float:
    """Exact probability that McNemar's exact test on `n_items` pairs finds `difference` with its right sign.

    `discordance` is the share of pairs that differ; the number of them is binomial, and so is the split of each number.
    """
    _check(difference, discordance)
    low, high = stats.binom.interval(1 - 1e-9, n_items, discordance)
    changed = np.arange(int(low), int(high) + 1)
    needed = stats.binom.isf(alpha / sides, changed, 0.5) + 1
    right = stats.binom.sf(needed - 1, changed, (discordance + abs(difference)) / (2 * discordance))
    return float((stats.binom.pmf(changed, n_items, discordance) * right).sum())


def needed_items(
    difference: float, discordance: float, *, alpha: float = ALPHA, power: float = POWER, sides: int = 2
) -> int:
    """Items after which McNemar's exact test finds a true `difference` with this power.

    `discordance` is the share of items on which the two rows differ; for values that are not binary give the mean of
    the squared differences, in units of the width of the value's bounds: the answer is then the normal approximation,
    a little on the safe side. Starts from Miettinen (1968) and adds items until the exact power is reached.
    """
    _check(difference, discordance)
    z, z_power = stats.norm.ppf(1 - alpha / sides), stats.norm.ppf(power)
    wanted = z * sqrt(discordance) + z_power * sqrt(discordance - difference**2)
    n = max(1, ceil((wanted / difference) ** 2))
    while n < MOST_ITEMS and mcnemar_power(n, difference, discordance, alpha=alpha, sides=sides) < power:
        n += max(1, n // 200)
    return n


def needed_seeds(level: TwoLevel, difference: float, *, alpha: float = ALPHA, power: float = POWER) -> int | None:
    """Seeds after which the test of `level`'s kind finds a true `difference` with this power, on the same items.

    None where no number of seeds is enough, because the items alone leave too much noise: then more items are needed.
    Needs a level of two seeds or more; with one nothing is known about the noise between seeds.
    """
    if not level.seed_dof:
        raise InputError("one seed says nothing about the noise between seeds; train a second one to plan for more")
    if not difference:
        raise InputError("a difference of 0 needs no number of seeds; give the difference that should be found")

    def short_of(n_seeds: int) -> bool:
        return minimum_detectable(level.of_seeds(n_seeds), alpha=alpha, power=power) > abs(difference)

    if short_of(MOST_SEEDS):
        return None
    low, high = 1, MOST_SEEDS
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if short_of(middle) else (low, middle)
    return high


def two_digits(count: int) -> int:
    """Two digits are all that a forecast is worth; rounded up."""
    unit = 10 ** max(0, len(str(count)) - 2)
    return int(-(-count // unit) * unit)


def _check(difference: float, discordance: float) -> None:
    if not 0 < abs(difference) <= discordance <= 1:
        raise InputError("a plan needs 0 < |difference| <= discordance <= 1: items that do not differ add nothing")
