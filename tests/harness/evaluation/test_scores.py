"""The denominator: the model's failures stay in it, those of scorer and infrastructure do not, and the cell says so."""

from collections.abc import Sequence

import msgspec
import pytest

from spadework.harness.benchmark import Preset, TaskItem
from spadework.harness.evaluation.records import Record
from spadework.harness.evaluation.report import remarks
from spadework.harness.evaluation.scores import TaskScore, failed_score, task_score
from spadework.harness.evaluation.settings import TaskSettings
from spadework.harness.pass_at_k import pass_at_k
from spadework.harness.types import Outcome, Sampling


def scored(
    outcomes: Sequence[Sequence[Outcome | None]], categories: Sequence[str] | None = None, *, mean: str = "items"
) -> TaskScore:
    """The score of items with these outcomes, one a repeat; None for a sample that was never played."""
    names = categories or ["all"] * len(outcomes)
    preset = Preset(
        benchmark="b", name="p", source="s", sampling=Sampling(), repeats=len(outcomes[0]), slice={"items": 99},
        mean=mean,  # type: ignore[arg-type]
    )  # fmt: skip
    settings = TaskSettings(
        reference="m:o", preset=preset, scorer_version="1", closed=False, limit=None, n_items=len(outcomes), items="d"
    )
    items = [TaskItem(id=f"i{n}", category=name, gold="g", payload=None) for n, name in enumerate(names)]
    records = [
        Record(
            item=item.id, category=item.category, repeat=repeat, outcome=outcome, answer=None, gold="g", scorer="1",
            reward=float(outcome is Outcome.RIGHT) if outcome.scored else None, facts={"tokens": 2},
        )
        for item, row in zip(items, outcomes, strict=True)
        for repeat, outcome in enumerate(row)
        if outcome is not None
    ]  # fmt: skip
    return task_score("b", settings, items, records)


R, W = Outcome.RIGHT, Outcome.WRONG


@pytest.mark.parametrize(
    "outcome", [one for one in Outcome if one.scored and one is not R], ids=lambda outcome: str(outcome)
)
def test_the_models_own_failures_stay_in_the_denominator_as_not_right(outcome: Outcome) -> None:
    cell = scored([[R], [outcome], [outcome], [R]]).overall
    assert cell.value == 0.5 and cell.complete and cell.counts == {"right": 2, str(outcome): 2}


@pytest.mark.parametrize("outcome", [Outcome.SCORER_ERROR, Outcome.INFRA_ERROR, None])
def test_what_is_nobodys_answer_is_outside_it_and_the_cell_is_incomplete(outcome: Outcome | None) -> None:
    """Case P208: 3 right, 4 wrong, 3 errors are 3/7, with 3/10 beside it."""
    found = scored([[R]] * 3 + [[W]] * 4 + [[outcome]] * 3)
    cell = found.overall
    assert cell.value == pytest.approx(3 / 7) and cell.value_all == pytest.approx(3 / 10)
    assert (cell.n_scored, cell.n_samples, cell.complete) == (7, 10, False)
    assert "7 scored of 10" in remarks(found) and "30.0 with the others as not right" in remarks(found)


def test_a_task_without_a_scored_sample_has_a_reason_and_no_number() -> None:
    found = scored([[Outcome.INFRA_ERROR], [Outcome.SCORER_ERROR]])
    assert found.overall.value is None and "not one sample" in found.overall.reason
    settings = TaskSettings(
        reference="m:o", preset=found.preset, scorer_version="1", closed=False, limit=None, n_items=2, items="d"
    )
    assert failed_score("b", settings, "the server is down").overall.reason == "the server is down"


def test_the_headline_is_the_mean_over_items_or_over_categories_as_the_preset_says() -> None:
    """Case P202: the interval is that of the mean which is printed."""
    outcomes = [[R]] * 9 + [[W]] + [[R]] + [[W]]
    names = ["big"] * 10 + ["small"] * 2
    by_items, by_categories = scored(outcomes, names), scored(outcomes, names, mean="categories")
    assert by_items.overall.value == pytest.approx(10 / 12) and by_categories.overall.value == pytest.approx(0.7)
    assert by_items.categories["big"].value == by_categories.categories["big"].value == pytest.approx(0.9)
    low, high = by_categories.overall.low, by_categories.overall.high
    assert low is not None and high is not None and low < 0.7 < high and high - low > 0.4


def test_a_group_of_categories_is_the_mean_of_its_parts() -> None:
    outcomes = [[R]] * 4 + [[W]] + [[R]] * 2
    names = ["math/gcd"] * 4 + ["math/lcm"] + ["logic/aiw"] * 2
    found = scored(outcomes, names, mean="categories")
    assert set(found.categories) == {"math", "logic"} and found.categories["math"].value == 0.5


def test_intervals_at_the_boundary_are_not_of_width_zero() -> None:
    """Case P200: 25 zeros are [0, .133], 25 ones are [.867, 1]."""
    nothing, everything = scored([[W]] * 25).overall, scored([[R]] * 25).overall
    assert (nothing.low, nothing.high) == pytest.approx((0.0, 0.133), abs=1e-3)
    assert (everything.low, everything.high) == pytest.approx((0.867, 1.0), abs=1e-3)


def test_repeats_do_not_halve_the_score_and_pass_at_k_is_told_apart() -> None:
    """Case P051: pass@1 of 8 samples with 4 right is 0.5."""
    found = scored([[R, W] * 4, [R] * 8])
    assert found.overall.value == 0.75 and found.overall.n_samples == 16
    assert (found.pass_at[8].value, found.pass_hat[8].value) == (1.0, 0.5) and found.repeat_sd is not None
    assert not scored([[R], [W]]).pass_at
    assert not scored([[R, None], [W, W]]).pass_at


def test_pass_at_k_stands_in_the_scores_for_small_k_powers_of_two_and_all_repeats() -> None:
    found = scored([[R, W, W, W, R, W], [R] * 6, [W] * 6])
    assert list(found.pass_at) == list(found.pass_hat) == [1, 2, 3, 4, 6]
    assert found.pass_at[2].value == pytest.approx((pass_at_k(6, 2, 2) + 1) / 3)
    assert found.pass_hat[2].value == pytest.approx((1 / 15 + 1) / 3)
    one = found.pass_at[1]
    assert (one.value, one.low, one.high) == (found.overall.value, found.overall.low, found.overall.high)
    assert all(each.low < each.value < each.high for each in (*found.pass_at.values(), *found.pass_hat.values()))
    again = msgspec.json.decode(msgspec.json.encode(found), type=TaskScore)
    assert again == found
    words = remarks(found)
    assert "pass@2 53.3 (" in words and "pass^6 33.3 (" in words and "standard deviation between repeats" in words


def test_partial_scores_weigh_as_the_headline_does() -> None:
    """Case P202, for scores that are a part: 9 items of one category do not outweigh the one of another."""
    preset = scored([[R]] * 10, ["big"] * 9 + ["small"], mean="categories").preset
    settings = TaskSettings(
        reference="m:o", preset=preset, scorer_version="1", closed=False, limit=None, n_items=10, items="d"
    )
    items = [TaskItem(id=f"i{n}", category="big" if n < 9 else "small", gold="g", payload=None) for n in range(10)]
    records = [
        Record(item=one.id, category=one.category, repeat=0, outcome=W, answer=None, gold="g", scorer="1", reward=part)
        for one, part in zip(items, [0.2] * 9 + [0.8])
    ]
    partial = task_score("b", settings, items, records).partial
    assert partial is not None and partial.value == pytest.approx(0.5) and partial.low < 0.5 < partial.high


def test_the_number_of_items_and_what_was_changed_stand_beside_the_score() -> None:
    found = scored([[R], [W]])
    assert "2 of 99 items" in remarks(found) and found.facts == {"tokens": 4.0}
