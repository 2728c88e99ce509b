"""The forecast of what it would take: with so many items of the same kind, the difference is indeed detectable."""

import numpy as np
import pytest

from spadework.harness.comparing.needs import needs
from spadework.harness.comparison import Difference, detectable_gap, minimum_detectable, paired
from spadework.harness.hierarchy import two_level
from spadework.harness.means import Floats, strata_members
from spadework.harness.seeds import derive

SIZES = {"even": (120, 120), "uneven": (230, 10)}


def sides(case: str, seeds: int, width: float) -> tuple[Floats, Floats, tuple[str, ...]]:
    """Two rows of two categories that differ a little, and each item's category."""
    rng = np.random.default_rng(derive(5, case, seeds))
    strata = tuple(name for name, size in zip("ab", SIZES[case]) for _ in range(size))
    hardness = rng.random(len(strata))
    first, second = (
        width * (rng.random((seeds, len(strata))) < np.clip(hardness + lift, 0, 1)).astype(np.float64)
        for lift in (0.0, 0.02)
    )
    return first, second, strata


def found_in(first: Floats, second: Floats, strata: tuple[str, ...] | None, width: float) -> Difference:
    return paired(second, first, strata, width=width)


@pytest.mark.parametrize("case", SIZES)
@pytest.mark.parametrize("width", [1.0, 2.0])
def test_with_the_items_it_names_the_difference_is_detectable(case: str, width: float) -> None:
    first, second, strata = sides(case, 1, width)
    gaps, size = second - first, 0.05 * width
    wanted = needs(gaps, strata, found_in(first, second, strata, width), width=width, family=1, margin=size)
    assert wanted is not None and wanted.items is not None and wanted.seeds is None
    times = wanted.items // len(strata)
    assert times > 3
    more, members = np.tile(gaps, times), strata_members(strata * times, len(strata) * times)
    assert minimum_detectable(two_level(more, members, pseudo=width)) == pytest.approx(size, rel=0.1)


def test_unequal_categories_need_more_items_than_equal_ones() -> None:
    found = {}
    for case in SIZES:
        first, second, strata = sides(case, 1, 1.0)
        wanted = needs(
            second - first, strata, found_in(first, second, strata, 1.0), width=1.0, family=1, margin=0.05
        )
        assert wanted is not None and wanted.items is not None
        found[case] = wanted.items
    assert found["uneven"] > 3 * found["even"]


def test_one_list_of_right_and_wrong_items_needs_what_mcnemars_test_needs() -> None:
    first, second, _ = sides("even", 1, 1.0)
    wanted = needs(second - first, None, found_in(first, second, None, 1.0), width=1.0, family=1, margin=0.05)
    assert wanted is not None and wanted.items is not None
    discordance = float(np.mean((second - first) ** 2))
    assert detectable_gap(wanted.items, discordance) == pytest.approx(0.05, rel=0.1)


def test_more_rows_need_more_items_and_several_seeds_ask_for_seeds() -> None:
    first, second, strata = sides("even", 4, 1.0)
    difference = found_in(first, second, strata, 1.0)
    one, ten = (
        needs(second - first, strata, difference, width=1.0, family=family, margin=0.08) for family in (1, 10)
    )
    assert one is not None and ten is not None
    assert one.seeds is not None and ten.seeds is not None and 4 < one.seeds < ten.seeds
    assert one.more == one.seeds - 4
