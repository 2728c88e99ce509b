"""Plans and one-sided bounds keep what they promise: power, level, and coverage, by exact sums and by simulation."""

from math import sqrt

import numpy as np
import pytest
from scipy import stats

from spadework.harness.comparison import (
    PairedTest,
    mcnemar,
    mcnemar_power,
    needed_items,
    needed_seeds,
    one_sided,
    paired,
    sign_flip,
)
from spadework.harness.errors import IncompleteError, InputError
from spadework.harness.hierarchy import two_level
from spadework.harness.means import Floats
from spadework.harness.score_bounds import score_bounds


def everything(n: int) -> list[np.ndarray[tuple[int], np.dtype[np.int64]]]:
    return [np.arange(n)]


def gaps(rng: np.random.Generator, draws: int, n: int, difference: float, discordance: float) -> Floats:
    up, down = (discordance + difference) / 2, (discordance - difference) / 2
    return rng.choice([1.0, 0.0, -1.0], p=[up, 1 - discordance, down], size=(draws, n))


def test_the_exact_power_of_mcnemar_is_that_of_simulated_runs() -> None:
    rng = np.random.default_rng(0)
    drawn = gaps(rng, 600, 300, 0.06, 0.2)
    found = [mcnemar(int((row > 0).sum()), int((row < 0).sum())) < 0.05 and row.sum() > 0 for row in drawn]
    assert mcnemar_power(300, 0.06, 0.2) == pytest.approx(np.mean(found), abs=0.05)


@pytest.mark.parametrize(("difference", "discordance"), [(0.05, 0.2), (-0.02, 0.1), (0.3, 0.4), (0.1, 0.1)])
def test_the_items_that_a_plan_asks_for_are_enough_and_not_far_too_many(difference: float, discordance: float) -> None:
    n = needed_items(difference, discordance)
    assert mcnemar_power(n, difference, discordance) >= 0.8
    assert mcnemar_power(int(0.85 * n) - 3, difference, discordance) < 0.8
    assert needed_items(difference, discordance, sides=1) < n < needed_items(difference, discordance, alpha=0.005)


def test_a_plan_without_sense_is_refused() -> None:
    for difference, discordance in ((0.0, 0.2), (0.3, 0.2), (0.3, 1.2)):
        with pytest.raises(InputError, match="a plan needs"):
            needed_items(difference, discordance)


def seeded_gaps(rng: np.random.Generator, seeds: int, items: int, mean: float, seed_sd: float) -> Floats:
    """Gaps of items that differ in their size, and of seeds that move all of them."""
    own = mean + rng.normal(0, 0.1, items) + rng.normal(0, seed_sd, (seeds, 1))
    return own + rng.normal(0, 0.3, (seeds, items))


def test_the_seeds_that_a_plan_asks_for_find_the_difference_four_times_in_five() -> None:
    rng = np.random.default_rng(1)
    pilots = [two_level(seeded_gaps(rng, 8, 100, 0.0, 0.06), everything(100)) for _ in range(20)]
    n = int(np.median([needed_seeds(level, 0.08) or 0 for level in pilots]))
    found = [two_level(seeded_gaps(rng, n, 100, 0.08, 0.06), everything(100)) for _ in range(300)]
    power = np.mean([2 * level.tail(level.estimate) < 0.05 for level in found])
    assert 4 <= n <= 12
    assert 0.7 <= power <= 0.95


def test_no_number_of_seeds_helps_where_the_items_are_too_few_and_one_seed_plans_nothing() -> None:
    rng = np.random.default_rng(2)
    level = two_level(rng.normal(0, 1, 20) + rng.normal(0, 0.1, (3, 20)), everything(20))
    assert needed_seeds(level, 0.1) is None
    assert needed_seeds(level, 2.0) is not None
    with pytest.raises(InputError, match="one seed says nothing"):
        needed_seeds(two_level(rng.normal(0, 1, (1, 20)), everything(20)), 0.1)


@pytest.mark.parametrize("seeds", [2, 3, 5])
def test_the_test_over_seeds_keeps_its_level_whatever_part_the_seeds_have(seeds: int) -> None:
    """Satterthwaite's degrees of freedom give 14 % here with two seeds and 8 % with three."""
    rng = np.random.default_rng(seeds)
    for seed_sd in (0.0, 0.03, 0.1):
        alarms = 0
        for _ in range(400):
            level = two_level(seeded_gaps(rng, seeds, 60, 0.0, seed_sd), everything(60))
            alarms += 2 * level.tail(abs(level.estimate)) < 0.05
        assert alarms / 400 <= 0.05 + 2.6 * sqrt(0.05 * 0.95 / 400)


def test_the_tail_of_a_level_is_where_its_half_width_ends() -> None:
    level = two_level(seeded_gaps(np.random.default_rng(3), 4, 50, 0.0, 0.05), everything(50))
    for quantile in (0.6, 0.975, 0.9999):
        assert level.tail(level.half(quantile)) == pytest.approx(1 - quantile)
    assert level.tail(0.0) == 0.5


def trinomial(n: int, difference: float, discordance: float) -> tuple[Floats, Floats, Floats]:
    """Every (better, worse) within eight standard deviations, and its probability."""
    most = min(n, int(n * discordance + 8 * sqrt(n * discordance)) + 10)
    better, worse = (grid.ravel() for grid in np.meshgrid(np.arange(most + 1), np.arange(most + 1)))
    up, down = (discordance + difference) / 2, (discordance - difference) / 2
    chance = stats.multinomial([n], [[up, down, 1 - discordance]])
    return better, worse, chance.pmf(np.stack([better, worse, n - better - worse], axis=1))


@pytest.mark.parametrize(
    ("n", "margin", "discordance"), [(30, 0.02, 0.1), (30, 0.05, 0.3), (100, 0.05, 0.05), (198, 0.02, 0.03)]
)
def test_a_true_drop_of_the_margin_passes_no_oftener_than_alpha_by_exact_sums(
    n: int, margin: float, discordance: float
) -> None:
    better, worse, chance = trinomial(n, -margin, discordance)
    likely = np.flatnonzero(chance > 1e-7)
    critical = float(stats.t.ppf(0.95, n - 1))
    passes = sum(chance[i] for i in likely if score_bounds(better[i], worse[i], n, critical)[0] > -margin)
    assert passes <= 0.05


def test_the_bounds_of_items_with_repeats_and_of_categories_cover() -> None:
    rng = np.random.default_rng(4)
    strata = [np.arange(0, 40), np.arange(40, 100)]
    missed = 0
    for _ in range(150):
        own = np.concatenate([np.full(40, 0.4), np.full(60, 0.6)])
        new = (rng.random((4, 100)) < own - 0.05).mean(axis=0)
        reference = (rng.random((4, 100)) < own).mean(axis=0)
        missed += one_sided((new - reference)[None], strata).low > -0.05
    assert missed / 150 <= 0.05 + 2.6 * sqrt(0.05 * 0.95 / 150)


def test_the_one_sided_test_is_exact_and_its_bounds_agree_with_it() -> None:
    row = np.array([1.0] * 3 + [-1.0] * 14 + [0.0] * 183)
    found = one_sided(row[None], everything(200))
    assert found.p_drop == pytest.approx(stats.binomtest(3, 17, alternative="less").pvalue)
    assert found.low < found.value < found.high < 0
    assert (found.discordance, found.n_items, found.test) == (pytest.approx(0.085), 200, PairedTest.MCNEMAR)
    better = one_sided(-row[None], everything(200))
    assert better.p_drop > 0.99
    assert (better.low, better.high) == pytest.approx((-found.high, -found.low))


def test_a_comparison_without_a_change_has_bounds_on_both_sides_and_shows_no_drop() -> None:
    found = one_sided(np.zeros((1, 30)), everything(30))
    assert found.low < -0.05 < 0.05 < found.high
    assert found.p_drop == 1.0
    with pytest.raises(IncompleteError):
        one_sided(np.full((1, 3), np.nan), everything(3))


def test_all_items_worse_by_the_same_small_step_claim_no_certainty() -> None:
    found = one_sided(np.full((1, 12), -0.25), everything(12))
    assert found.low < -0.3 < found.high < 0


def test_sign_flips_on_both_sides_agree_with_scipy() -> None:
    few = np.random.default_rng(5).normal(0.3, 1, 10)
    for alternative in ("two-sided", "less"):
        theirs = stats.permutation_test(
            (few,), np.mean, permutation_type="samples", vectorized=True, n_resamples=np.inf, alternative=alternative
        )
        assert sign_flip(few, everything(10), alternative=alternative) == pytest.approx(theirs.pvalue)  # type: ignore[arg-type]


def test_over_seeds_the_one_sided_p_is_half_the_two_sided_one() -> None:
    rng = np.random.default_rng(6)
    first, second = rng.random((3, 80)), rng.random((3, 80)) + 0.05
    both, one = paired(first, second), one_sided(first - second, everything(80))
    assert both.value < 0
    assert both.p == pytest.approx(2 * one.p_drop)
