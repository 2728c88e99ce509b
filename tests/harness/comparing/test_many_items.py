"""Comparisons of many items: the sign flips of tens of thousands of items are as those of a few, in bounded memory."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from spadework.harness import comparison
from spadework.harness.comparison import sign_flip

FLIPS = 9999
ITEMS = 12_000


def gaps(magnitudes: int) -> NDArray[np.float64]:
    """Differences of which more than `comparison.MANY` are none, with a p that is neither 0 nor 1."""
    rng = np.random.default_rng(3)
    sizes = np.arange(1, magnitudes + 1) / magnitudes
    signs = rng.choice([-1.0, 0.0, 1.0], p=[0.245, 0.5, 0.255], size=ITEMS)
    return np.asarray(signs * rng.choice(sizes, size=ITEMS), dtype=np.float64)


def normal_p(values: NDArray[np.float64], members: list[NDArray[np.int64]]) -> float:
    """By the central limit theorem, which so many items allow."""
    weighted = np.concatenate([values[index] / (index.size * len(members)) for index in members])
    return float(2 * stats.norm.sf(abs(weighted.sum()) / np.sqrt((weighted**2).sum())))


@pytest.mark.parametrize("magnitudes", [1, 8, 1000], ids=["one", "few", "many"])
def test_flips_of_many_items_give_the_p_of_the_central_limit(magnitudes: int) -> None:
    members = [np.arange(ITEMS // 4), np.arange(ITEMS // 4, ITEMS)]
    values = gaps(magnitudes)
    assert np.count_nonzero(values) > comparison.MANY
    expected = normal_p(values, members)
    assert 0.01 < expected < 0.99
    error = 4 * np.sqrt(expected * (1 - expected) / FLIPS) + 1 / FLIPS
    assert sign_flip(values, members, flips=FLIPS) == pytest.approx(expected, abs=error)


def test_a_drop_is_looked_for_on_its_own_side() -> None:
    members = [np.arange(ITEMS)]
    values = gaps(1)
    less, more = (sign_flip(side, members, flips=FLIPS, alternative="less") for side in (values, -values))
    assert less + more == pytest.approx(1.0, abs=0.03)
