"""The intervals hold the truth as often as they say, on the whole grid of `bench coverage` and beyond its model."""

import numpy as np
import pytest
from scipy import stats

from spadework.harness.bench_coverage import Case, cases, covered, covered_seeds, exact_width
from spadework.harness.correlation import expected_correlation
from spadework.harness.intervals import binary_ends, binomial, clustered, wilson
from spadework.harness.statistics import score

GRID = [covered(case, draws=2000, seed=0) for case in cases()]


def test_the_grid_is_the_one_that_was_asked_for() -> None:
    assert len(GRID) == 135
    assert sum(one.case.two_sided for one in GRID) == 14


def test_coverage_is_never_under_93_percent() -> None:
    assert not [one for one in GRID if one.covered < 0.93]


def test_coverage_is_at_most_97_percent_where_independent_repeats_hold_ten_of_the_rarer_outcome() -> None:
    assert not [one for one in GRID if one.case.two_sided and one.covered > 0.97]


def test_the_mean_width_is_at_most_that_of_clopper_and_pearson_and_a_part() -> None:
    assert not [one for one in GRID if one.width > 1.15 * one.exact_width]


def test_a_broken_bound_is_named() -> None:
    good = GRID[0]
    assert not good.fault
    assert good._replace(covered=0.92).fault == "under 93%"
    assert good._replace(case=Case(30, 0.5, 1, 0.0), covered=0.98).fault == "over 97%"
    assert good._replace(width=1.2 * good.exact_width).fault == "wider than 1.15 x"


def test_the_width_of_clopper_and_pearson_is_that_of_scipy() -> None:
    ends = [stats.binomtest(k, 20).proportion_ci(method="exact") for k in range(21)]
    mean = sum(stats.binom.pmf(k, 20, 0.3) * (end.high - end.low) for k, end in enumerate(ends))
    assert exact_width(20, 0.3) == pytest.approx(mean)


def test_a_proportion_is_covered_at_every_rate_and_not_only_on_average() -> None:
    for n, least in ((15, 0.92), (30, 0.93), (198, 0.942), (1000, 0.944)):
        right = np.arange(n + 1)
        ends = np.array([binomial(k, n) for k in right])
        rates = np.linspace(0.005, 0.995, 331)[:, None]
        chance = stats.binom.pmf(right, n, rates)
        held = (chance * ((ends[:, 0] <= rates) & (rates <= ends[:, 1]))).sum(axis=1)
        assert held.min() >= least
        some = right[:: n // 15]
        exact = [stats.binomtest(k, n).proportion_ci(method="exact") for k in some]
        assert all(high - low <= 1.05 * (end.high - end.low) for (low, high), end in zip(ends[some], exact))


def test_three_right_samples_in_three_items_do_not_pass_for_independent() -> None:
    right = np.zeros((2, 198), dtype=np.int64)
    right[0, :2], right[1, :40] = 1, 1
    few, many = expected_correlation(right, np.full(198, 4))
    assert few > 2 * many
    assert many < 0.05


def test_repeats_that_agree_are_one_sample_and_repeats_that_do_not_are_many() -> None:
    n, repeats = 60, np.full(60, 8)
    alike = np.repeat([0, 8], 30)[None]
    mixed = np.tile([3, 4, 5], 20)[None]
    both = [binary_ends(right, repeats) for right in (alike, mixed)]
    width = [float((ends.high_B - ends.low_B)[0]) for ends in both]
    low, high = wilson(30, n)
    assert width[0] == pytest.approx(high - low, rel=0.05)
    low, high = wilson(240, 480)
    assert width[1] == pytest.approx(high - low, rel=0.1)


def test_an_item_with_fewer_scored_repeats_counts_as_an_item() -> None:
    values = np.array([[1.0, 1.0, np.nan, np.nan], [0.0, 0.0, 1.0, 1.0], [np.nan] * 4, [0.0, 0.0, 0.0, 1.0]])
    value, (low, high) = clustered(values)
    assert value == pytest.approx((1 + 0.5 + 0.25) / 3)
    assert 0 < low < value < high <= 1


@pytest.mark.parametrize("spread", [1.0, 2.0, 4.0])
def test_items_that_follow_no_beta_distribution_are_covered_too(spread: float) -> None:
    rng = np.random.default_rng(int(spread))
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    truth = float(stats.logistic.cdf(spread * nodes) @ weights / weights.sum())
    for n, repeats in ((15, 8), (100, 32)):
        chance = stats.logistic.cdf(spread * rng.standard_normal((1000, n)))
        ends = binary_ends(rng.binomial(repeats, chance), np.full(n, repeats))
        assert np.mean((ends.low_B <= truth) & (truth <= ends.high_B)) >= 0.93


def test_the_interval_of_part_scores_covers() -> None:
    rng = np.random.default_rng(7)
    held = 0
    for _ in range(600):
        _, (low, high) = clustered(rng.beta(0.4, 1.6, size=(30, 1)))
        held += low <= 0.2 <= high
    assert held / 600 >= 0.93


def test_the_interval_of_a_macro_mean_over_small_categories_covers() -> None:
    rng = np.random.default_rng(8)
    rates = np.repeat([0.05, 0.3, 0.6, 0.95], [5, 10, 20, 40])
    names = np.repeat(["a", "b", "c", "d"], [5, 10, 20, 40]).tolist()
    held = 0
    for _ in range(300):
        found = score((rng.random((1, 75, 4)) < rates[:, None]).astype(float), names)
        held += found.low <= 0.475 <= found.high
    assert held / 300 >= 0.93


@pytest.mark.parametrize(("seeds", "seed_sd"), [(2, 0.03), (3, 0.1), (5, 0.1), (5, 0.0)])
def test_the_interval_over_seeds_and_items_covers(seeds: int, seed_sd: float) -> None:
    share, _ = covered_seeds(seeds, 30, seed_sd, draws=150, seed=1)
    assert share >= 0.91
