"""pass@k and pass^k are unbiased for every k up to the number of tries, have intervals, and are an error beyond."""

from itertools import combinations

import numpy as np
import pytest

from spadework.harness.errors import InputError
from spadework.harness.pass_at_k import pass_at_k, pass_hat_k, pass_score, told


def test_both_are_the_mean_over_every_choice_of_k_tries() -> None:
    tries = [True, True, False, True, False, False, False]
    for k in range(1, 8):
        chosen = list(combinations(tries, k))
        assert pass_at_k(7, 3, k) == pytest.approx(np.mean([any(some) for some in chosen]))
        assert pass_hat_k(7, 3, k) == pytest.approx(np.mean([all(some) for some in chosen]))


def test_more_tries_than_there_are_is_an_error_with_both_numbers() -> None:
    """Case P051: pass@1 of 8 samples with 4 right is 0.5, and not 4 of 16."""
    assert pass_at_k(8, 4, 1) == 0.5
    for estimator in (pass_at_k, pass_hat_k):
        with pytest.raises(InputError, match="need 16 samples, have 8"):
            estimator(8, 4, 16)
        for right, k in ((9, 1), (-1, 1), (4, 0)):
            with pytest.raises(InputError, match="is undefined"):
                estimator(8, right, k)


def test_an_item_without_a_scored_sample_makes_the_score_undefined_and_not_zero() -> None:
    with pytest.raises(InputError, match="lacks a scored sample"):
        pass_score(np.array([[1.0, np.nan], [0.0, 1.0]]), 1, pass_at_k)


def test_the_k_that_are_told_are_small_ones_powers_of_two_and_all() -> None:
    assert told(1) == (1,)
    assert told(4) == (1, 2, 3, 4)
    assert told(12) == (1, 2, 3, 4, 8, 12)
    assert told(32) == (1, 2, 3, 4, 8, 16, 32)


def test_nothing_right_and_everything_right_have_an_interval() -> None:
    for estimator in (pass_at_k, pass_hat_k):
        none, every = pass_score(np.zeros((25, 8)), 4, estimator), pass_score(np.ones((25, 8)), 4, estimator)
        assert (none.value, none.low) == (0.0, 0.0) and none.high == pytest.approx(0.133, abs=1e-3)
        assert (every.value, every.high) == (1.0, 1.0) and every.low == pytest.approx(0.867, abs=1e-3)


def test_categories_weigh_as_the_headline_says() -> None:
    right_IR = np.array([[1.0, 1.0]] * 9 + [[0.0, 0.0]])
    assert pass_score(right_IR, 2, pass_at_k, ["a"] * 9 + ["b"]).value == 0.5


@pytest.mark.parametrize(("n", "k"), [(15, 2), (30, 4), (100, 8)])
def test_their_intervals_cover(n: int, k: int) -> None:
    rng = np.random.default_rng(n)
    grid = rng.beta(0.4, 0.9, size=200_000)
    truth = {pass_at_k: float(np.mean(1 - (1 - grid) ** k)), pass_hat_k: float(np.mean(grid**k))}
    held = dict.fromkeys(truth, 0)
    for _ in range(300):
        right_IR = (rng.random((n, 8)) < rng.beta(0.4, 0.9, size=(n, 1))).astype(float)
        for estimator, value in truth.items():
            found = pass_score(right_IR, k, estimator)
            held[estimator] += found.low <= value <= found.high
    assert min(held.values()) / 300 >= 0.92
