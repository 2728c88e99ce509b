"""What users of other harnesses reported of their statistics, each with its right value; the case ids are theirs."""

import numpy as np
import pytest
from scipy import stats

from spadework.harness.comparison import Verdict, holm, one_sided, paired
from spadework.harness.means import Floats
from spadework.harness.statistics import proportion, score


def rerun(rng: np.random.Generator, chance_I: Floats) -> Floats:
    return (rng.random(chance_I.size) < chance_I).astype(float)


def alarms(n: int, p: float, margin: float, *, runs: int = 300) -> float:
    """How often a re-run of an unchanged model fails: a drop is shown and the estimate is below minus the margin."""
    rng = np.random.default_rng(n)
    failed = 0
    for _ in range(runs):
        chance_I = rng.beta(2 * p, 2 * (1 - p), size=n)
        found = one_sided((rerun(rng, chance_I) - rerun(rng, chance_I))[None], [np.arange(n)])
        failed += found.p_drop < 0.05 and found.value < -margin
    return failed / runs


def test_a_share_of_faults_of_the_simulator_has_an_interval() -> None:
    """Case P094: nine of 35 failed runs."""
    found = proportion(9, 35)
    assert (found.low, found.high) == pytest.approx((0.137, 0.421), abs=0.005)


def test_a_table_of_five_methods_and_eight_suites_has_intervals_effects_and_corrected_p_values() -> None:
    """Case P199: 40 comparisons of equal methods; uncorrected some would be significant."""
    rng = np.random.default_rng(1)
    chance_I = rng.beta(1, 1, size=150)
    cells = [paired(rerun(rng, chance_I)[None], rerun(rng, chance_I)[None], family=40) for _ in range(40)]
    assert all(one.low < one.value < one.high and one.detectable > 0 for one in cells)
    adjusted = holm([one.p for one in cells])
    assert min(adjusted) > 0.05 and min(one.p for one in cells) < min(adjusted)


def test_no_right_and_all_right_of_25() -> None:
    """Case P200: not 0.0 +- 0.0."""
    none, every = score(np.zeros((1, 25, 1))), score(np.ones((1, 25, 1)))
    assert (none.low, none.high, every.low, every.high) == pytest.approx((0, 0.133, 0.867, 1), abs=5e-4)


def test_the_error_of_an_unweighted_mean_is_not_that_of_the_pooled_items() -> None:
    """Case P202: subtasks of 10 items at .5 and 1,000 at .9: the mean is .7, its error half the small one's."""
    values = np.array([1.0] * 5 + [0.0] * 5 + [1.0] * 900 + [0.0] * 100)
    found = score(values[None, :, None], ["small"] * 10 + ["large"] * 1000)
    half = 1.96 * 0.5 * np.sqrt(0.25 / 10 + 0.09 / 1000)
    assert found.value == pytest.approx(0.7)
    assert (found.high - found.low) / 2 == pytest.approx(half, rel=0.2)
    assert (found.high - found.low) / 2 > 5 * 1.96 * np.sqrt(0.896 * 0.104 / 1010)


def test_ranks_within_the_noise_are_not_told_apart() -> None:
    """Case P206: .91 and .90 of 180 items, on the same items."""
    first, second = np.zeros((1, 180)), np.zeros((1, 180))
    first[0, :164], second[0, 8:170] = 1, 1
    found = paired(first, second)
    assert (found.n_better, found.n_worse) == (8, 6)
    assert found.verdict is Verdict.CANNOT_TELL and found.low < 0 < found.high


def test_both_rates_stand_beside_each_other_when_samples_failed() -> None:
    """Case P208: 3 right, 4 wrong, 3 errors."""
    found = score(np.array([1.0] * 3 + [0.0] * 4 + [np.nan] * 3).reshape(1, 10, 1))
    assert (found.value, found.value_all) == pytest.approx((3 / 7, 3 / 10))
    assert found.completeness == "7 scored of 10"


@pytest.mark.parametrize(("n", "p", "threshold"), [(200, 0.944, 0.935), (198, 0.74, 0.70)])
def test_a_paired_gate_keeps_its_rate_of_false_alarms_where_a_threshold_does_not(
    n: int, p: float, threshold: float
) -> None:
    """Cases P212 and P215: a threshold inside the noise fails a clean run once in ten or oftener."""
    assert stats.binom.cdf(np.ceil(threshold * n) - 1, n, p) > 0.09
    assert alarms(n, p, margin=p - threshold) <= 0.05 + 2.6 * np.sqrt(0.05 * 0.95 / 300)


def test_what_a_gate_can_say_follows_the_items_it_has() -> None:
    """Case P214: of clean runs 1,319 items show nearly all to be within 5 points, and 50 items hardly any."""
    rng = np.random.default_rng(2)
    for n, least, most in ((1319, 0.9, 1.0), (50, 0.0, 0.3)):
        passed = 0
        for _ in range(60):
            chance_I = rng.choice([0.1, 0.9], size=n)
            gaps_I = rerun(rng, chance_I) - rerun(rng, chance_I)
            passed += one_sided(gaps_I[None], [np.arange(n)]).low > -0.05
        assert least <= passed / 60 <= most


def test_the_spread_between_seeds_of_the_same_command_is_told() -> None:
    """Case P216: three runs of one command that differ."""
    values = np.zeros((3, 100, 1))
    for row, right in enumerate((72, 74, 76)):
        values[row, :right] = 1
    found = score(values)
    assert found.seed_sd == pytest.approx(0.02) and found.n_seeds == 3
    assert found.low < 0.72 < 0.76 < found.high


def test_every_sample_of_a_last_batch_that_is_not_full_counts() -> None:
    """Case P218: seven samples in batches of four are seven."""
    batches = np.array_split(np.array([1.0, 0, 1, 1, 0, 0, 1]), [4])
    found = score(np.concatenate(batches)[None, :, None])
    assert (found.n_samples, found.n_scored, found.value) == (7, 7, pytest.approx(4 / 7))
