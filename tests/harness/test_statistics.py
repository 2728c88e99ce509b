"""Known answers, published faults of others, and a seeded coverage check of the intervals."""

from math import sqrt

import numpy as np
import pytest
from scipy import stats

from spadework.harness.comparison import (
    PairedTest,
    Verdict,
    detectable_gap,
    holm,
    mcnemar,
    paired,
    sign_flip,
)
from spadework.harness.errors import IncompleteError, InputError
from spadework.harness.pass_at_k import pass_at_k
from spadework.harness.statistics import (
    Floats,
    clustered,
    hierarchical,
    proportion,
    score,
    strata_members,
    two_level,
    wilson,
)


def single(values: list[float]) -> Floats:
    return np.array(values, dtype=float).reshape(1, -1, 1)


def test_wilson_equals_scipy() -> None:
    for right, n in ((0, 25), (25, 25), (1, 7), (13, 16), (104, 198), (500, 1000)):
        theirs = stats.binomtest(right, n).proportion_ci(method="wilson")
        assert wilson(right, n) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


def test_no_right_of_25_and_25_of_25_have_an_honest_interval() -> None:
    none, every = score(single([0.0] * 25)), score(single([1.0] * 25))
    assert (none.value, none.low, round(none.high, 3)) == (0.0, 0.0, 0.133)
    assert (every.value, round(every.low, 3), every.high) == (1.0, 0.867, 1.0)


def test_repeats_of_the_same_answer_do_not_narrow_the_interval() -> None:
    once = score(single([0.0, 1.0] * 15))
    copied = score(np.repeat(single([0.0, 1.0] * 15), 32, axis=2))
    assert copied.high - copied.low > 0.95 * (once.high - once.low)


def test_unscored_samples_leave_the_denominator_and_both_rates_are_shown() -> None:
    found = score(single([1.0] * 3 + [0.0] * 4 + [np.nan] * 3))
    assert found.value == pytest.approx(3 / 7)
    assert found.value_all == pytest.approx(3 / 10)
    assert found.completeness == "7 scored of 10"
    assert not found.complete


def test_an_empty_evaluation_raises() -> None:
    with pytest.raises(IncompleteError):
        score(single([np.nan, np.nan]))
    with pytest.raises(IncompleteError):
        score(np.zeros((1, 0, 1)))
    with pytest.raises(IncompleteError):
        score(single([1.0, np.nan]), ["a", "b"])


def test_a_value_in_percent_is_refused() -> None:
    with pytest.raises(InputError, match="never percent"):
        score(single([45.2, 0.0]))


def test_the_interval_of_a_macro_mean_is_that_of_the_unweighted_mean() -> None:
    values = [1.0] * 5 + [0.0] * 5 + [1.0] * 900 + [0.0] * 100
    found = score(single(values), ["small"] * 10 + ["large"] * 1000)
    unweighted = 0.5 * sqrt(0.25 / 10 + 0.09 / 1000)
    assert found.value == pytest.approx(0.7)
    assert (found.high - found.low) / 2 == pytest.approx(1.96 * unweighted, rel=0.2)


def test_few_items_print_a_wide_interval() -> None:
    thirteen, fourteen = proportion(13, 16), proportion(14, 16)
    assert thirteen.high > fourteen.value > thirteen.value > fourteen.low
    assert thirteen.n_items == 16


def test_a_share_of_labels_has_its_interval() -> None:
    found = proportion(9, 35)
    assert found.low < 9 / 35 < found.high
    with pytest.raises(InputError):
        proportion(36, 35)


def test_pass_at_k_is_unbiased_and_undefined_is_an_error() -> None:
    assert pass_at_k(8, 4, 1) == pytest.approx(0.5)
    assert pass_at_k(16, 8, 1) == pytest.approx(0.5)
    assert pass_at_k(10, 3, 5) == pytest.approx(1 - stats.hypergeom(10, 3, 5).pmf(0))
    with pytest.raises(InputError, match="need 16 samples, have 8"):
        pass_at_k(8, 4, 16)


def test_rewards_in_their_bounds_keep_their_unit() -> None:
    rng = np.random.default_rng(3)
    rewards = rng.choice([-1.0, 0.0, 0.25, 1.0], size=(1, 400, 1))
    found = score(rewards, bounds=(-1.0, 1.0))
    half = stats.t.ppf(0.975, 399) * rewards.std(ddof=1) / 20
    assert found.value == pytest.approx(rewards.mean())
    assert (found.high - found.low) / 2 == pytest.approx(half, rel=0.02)


@pytest.mark.parametrize(
    ("n", "p", "repeats", "correlation"), [(30, 0.5, 1, 0.0), (30, 0.5, 4, 0.3), (198, 0.02, 4, 0.0)]
)
def test_intervals_of_one_seed_cover(n: int, p: float, repeats: int, correlation: float) -> None:
    rng = np.random.default_rng(n + repeats)
    hits, draws = 0, 400
    for _ in range(draws):
        spread = (1 - correlation) / correlation if correlation else 0.0
        chance = rng.beta(p * spread, (1 - p) * spread, size=n) if correlation else np.full(n, p)
        _, (low, high) = clustered((rng.random((n, repeats)) < chance[:, None]).astype(float))
        hits += low <= p <= high
    assert hits / draws >= 0.93


def simulate(rng: np.random.Generator, item_I: Floats, seeds: int, seed_sd: float) -> Floats:
    chance = np.clip(0.4 + item_I + rng.normal(0, seed_sd, size=(seeds, 1)), 0, 1)
    return (rng.random(chance.shape) < chance).astype(float)


def test_intervals_over_seeds_and_items_cover_and_the_paired_test_keeps_its_level() -> None:
    rng = np.random.default_rng(5)
    strata = ["a"] * 60 + ["b"] * 60
    covered, alarms, draws = 0, 0, 150
    for _ in range(draws):
        item_I = rng.normal(0, 0.2, size=120)
        first, second = simulate(rng, item_I, 5, 0.04), simulate(rng, item_I, 5, 0.04)
        found = score(first[:, :, None], strata)
        covered += found.low <= 0.4 <= found.high
        alarms += paired(first, second, strata).p < 0.05
    assert covered / draws >= 0.92
    assert alarms / draws <= 0.09


def test_many_seeds_are_wider_than_their_items_alone_when_seeds_differ() -> None:
    values = np.zeros((5, 200, 1))
    for row, right in enumerate((60, 80, 100, 120, 140)):
        values[row, :right] = 1.0
    found = score(values)
    half = stats.t.ppf(0.975, 4) * np.std([0.3, 0.4, 0.5, 0.6, 0.7], ddof=1) / sqrt(5)
    assert (found.high - found.low) / 2 > 0.8 * half
    assert found.n_seeds == 5
    assert found.seed_sd == pytest.approx(0.1581, abs=1e-3)


def test_all_wrong_in_every_seed_still_has_an_interval() -> None:
    found = score(np.zeros((5, 40, 1)))
    assert found.low == 0.0
    assert found.high == pytest.approx(wilson(0, 40).high)


def test_the_bootstrap_is_deterministic_in_its_seed() -> None:
    values = np.random.default_rng(0).random((4, 50))
    members = strata_members(None, 50)
    assert hierarchical(values, members, seed=1) == hierarchical(values, members, seed=1)
    assert hierarchical(values, members, seed=1) != hierarchical(values, members, seed=2)


def test_two_level_standard_error_without_seed_variance_is_that_of_the_items() -> None:
    values = np.tile(np.random.default_rng(0).random(80), (3, 1))
    level = two_level(values, strata_members(None, 80))
    assert level.se == pytest.approx(values[0].std(ddof=1) / sqrt(80))


def pair(better: int, worse: int, both: int, neither: int) -> tuple[Floats, Floats]:
    first = [1.0] * better + [0.0] * worse + [1.0] * both + [0.0] * neither
    second = [0.0] * better + [1.0] * worse + [1.0] * both + [0.0] * neither
    return np.array([first]), np.array([second])


def test_the_paired_test_sees_what_the_unpaired_test_does_not() -> None:
    first, second = pair(14, 3, 90, 93)
    table = [[int(row.sum()), int(200 - row.sum())] for row in (first, second)]
    found = paired(first, second)
    assert stats.fisher_exact(table).pvalue > 0.1
    assert found.p == pytest.approx(stats.binomtest(14, 17).pvalue)
    assert found.p < 0.02
    assert (found.test, found.verdict) == (PairedTest.MCNEMAR, Verdict.BETTER)
    assert (found.n_better, found.n_worse) == (14, 3)


def test_sign_flips_agree_with_mcnemar_when_items_weigh_the_same() -> None:
    gaps = np.array([1.0] * 20 + [-1.0] * 8 + [0.0] * 100)
    assert sign_flip(gaps, strata_members(None, 128)) == pytest.approx(mcnemar(20, 8), abs=0.01)
    few = np.array([1.0] * 8 + [-1.0] * 2)
    assert sign_flip(few, strata_members(None, 10)) == pytest.approx(mcnemar(8, 2))


def test_equal_rows_cannot_be_told_apart_and_claim_no_zero_width() -> None:
    first, _ = pair(0, 0, 30, 30)
    found = paired(first, first)
    assert (found.value, found.p, found.verdict) == (0.0, 1.0, Verdict.CANNOT_TELL)
    assert found.low < 0 < found.high
    assert found.detectable > 0


def test_one_checkpoint_is_compared_with_many_seeds_clustered_by_seed() -> None:
    rng = np.random.default_rng(2)
    base = (rng.random((1, 300)) < 0.3).astype(float)
    trained = np.maximum(base, (rng.random((5, 300)) < 0.2).astype(float))
    found = paired(trained, base, ["a"] * 150 + ["b"] * 150)
    assert (found.test, found.n_seeds, found.verdict) == (PairedTest.SEEDS, 5, Verdict.BETTER)
    with pytest.raises(InputError, match="different seeds"):
        paired(trained, trained[:3])


def test_holm_is_monotone_and_known() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []


def test_a_family_of_forty_comparisons_raises_the_bar_and_the_detectable_effect() -> None:
    first, second = pair(14, 3, 90, 93)
    alone, among_forty = paired(first, second), paired(first, second, family=40)
    assert among_forty.detectable > alone.detectable
    assert holm([alone.p] + [0.5] * 39)[0] > 0.05


def test_the_planned_gap_follows_the_normal_formula() -> None:
    planned = detectable_gap(1000, 0.2)
    assert planned == pytest.approx((1.96 + 0.8416) * sqrt(0.2 / 1000), rel=0.005)
