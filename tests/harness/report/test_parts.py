"""The parts of a report as values: axes, curves, samples, texts within a budget, settings that differ."""

import math

import numpy as np
import pytest

from spadework.harness.answers import UNPLAYED, ItemList
from spadework.harness.comparing.columns import Column, Stamp
from spadework.harness.jsonl import Row
from spadework.harness.report.curves import POINTS, Panel, panels
from spadework.harness.report.drawing import axis, line, smoothed
from spadework.harness.report.numbers import amount, percent
from spadework.harness.report.page import embedded
from spadework.harness.report.questions import QUESTIONS, distinct_pairs, rows_of
from spadework.harness.report.samples import Texts, fitting, side_data, size
from spadework.harness.report.settings import config_settings, origin_settings
from spadework.harness.report.values import RunFiles, Side


def side(label: str, *metrics: list[Row], config: dict[str, object] | None = None) -> Side:
    runs = [RunFiles(name=f"{label}/{n}", seed=n, state="finished", metrics=m) for n, m in enumerate(metrics)]
    runs = runs or [RunFiles(name=label, seed=0, state="finished", config=config or {})]
    return Side(label=label, subject=None, runs=tuple(runs))


def column_of(items: tuple[str, ...], outcomes: list[list[list[int]]], rewards: list[list[list[float]]]) -> Column:
    return Column(
        name="sums", stamp=Stamp(preset="p", scorer="1", task="t"), seeds=tuple(range(len(outcomes))),
        listed=ItemList(items=items, categories=("",) * len(items)), golds=("",) * len(items),
        outcomes_SIR=np.array(outcomes, dtype=np.uint8), rewards_SIR=np.array(rewards),
    )  # fmt: skip


def panel(title: str, *sides: Side) -> Panel:
    (found,) = [one for one in panels(QUESTIONS, sides, rows_of) if one.question.title == title]
    return found


def test_an_axis_holds_its_values_between_round_ticks() -> None:
    found = axis([0.13, 0.87])
    assert found.ticks == (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
    assert found.place(0.0) == 0 and found.place(1.0) == 100 and found.place(0.5) == 50


@pytest.mark.parametrize("value", [0.0, 1.0, -3.0, 1e-7, 1e9])
def test_an_axis_of_one_value_has_room_on_both_sides(value: float) -> None:
    found = axis([value, value])
    assert found.low < value < found.high and 2 <= len(found.ticks) <= 8


def test_ticks_of_steps_are_whole_numbers() -> None:
    assert all(tick == int(tick) for tick in axis([0, 3], whole=True).ticks)


def test_a_line_starts_at_the_bottom_left_of_its_plot() -> None:
    assert line([(0, 0), (10, 1)], axis([0, 10]), axis([0, 1])) == "0,100 100,0"


def test_smoothing_keeps_the_number_of_points_and_a_constant() -> None:
    assert smoothed([2.0] * 9, 3) == [2.0] * 9
    assert smoothed([0.0, 3.0, 6.0], 1) == [1.5, 3.0, 4.5]


def test_a_curve_is_the_mean_over_runs_with_the_band_from_lowest_to_highest() -> None:
    first: list[Row] = [{"step": s, "return": 0.2} for s in range(3)]
    second: list[Row] = [{"step": s, "return": 0.6} for s in range(2)]
    (curve,) = panel("Return", side("a", first, second)).curves
    assert [tuple(point) for point in curve.points] == [(0, 0.4, 0.2, 0.6), (1, 0.4, 0.2, 0.6), (2, 0.2, 0.2, 0.2)]
    assert curve.band and curve.n_runs == 2


def test_a_step_without_a_finite_number_has_no_point() -> None:
    rows: list[Row] = [
        {"step": 0, "entropy": 1.0}, {"step": 1, "entropy": None}, {"step": 2}, {"step": 3, "entropy": math.nan},
        {"step": 4, "entropy": math.inf}, {"step": 5, "entropy": True}, {"step": 6, "entropy": 0.5},
    ]  # fmt: skip
    (curve,) = panel("Entropy", side("a", rows)).curves
    assert [point.step for point in curve.points] == [0, 6]


def test_what_a_side_did_not_measure_is_said() -> None:
    found = panel("Regret", side("a", [{"step": 0, "regret": 0.1}]), side("b", [{"step": 0, "return": 1.0}]))
    assert found.absent == ("b",) and "a from 0.1" in found.words
    assert not panels(QUESTIONS, [side("a", [])], rows_of)


def test_a_long_run_is_thinned_and_keeps_its_mean() -> None:
    rows: list[Row] = [{"step": s, "return": float(s % 2)} for s in range(10_000)]
    (curve,) = panel("Return", side("a", rows)).curves
    assert len(curve.points) <= POINTS
    assert sum(point.mean for point in curve.points) / len(curve.points) == pytest.approx(0.5, abs=0.02)


def test_diversity_counts_distinct_pairs_of_tokens() -> None:
    assert distinct_pairs(["a b c", "a b c"]) == 0.5
    assert distinct_pairs(["a"]) is None


def test_validity_is_undefined_where_nothing_was_proposed() -> None:
    rows: list[Row] = [{"step": 0, "proposed": 0, "valid": 0}, {"step": 1, "proposed": 4, "valid": 3}]
    (curve,) = panel("Validity", side("a", rows)).curves
    assert [point.mean for point in curve.points] == [0.75]


@pytest.mark.parametrize(
    ("lengths", "budget", "limit"), [([5, 5], 10, None), ([1, 100, 100], 41, 20), ([10, 10], 1, 0), ([], 0, None)]
)
def test_texts_are_cut_at_the_largest_length_that_fits(lengths: list[int], budget: int, limit: int | None) -> None:
    assert fitting(lengths, budget) == limit
    if limit is not None:
        assert sum(min(length, limit) for length in lengths) <= budget


def test_a_cut_text_says_how_long_it_was_and_equal_texts_are_kept_once() -> None:
    texts = Texts()
    assert [texts.place(text) for text in ("x" * 50, None, "y", "x" * 50)] == [0, -1, 1, 0]
    found, any_cut = texts.within(29)
    assert any_cut and found == ["x" * 25 + " … [cut, 50 characters]", "y"]
    assert texts.within(1000) == (["x" * 50, "y"], False)


def test_the_size_of_a_text_is_that_in_the_page() -> None:
    for text in ("plain", "Ω \n\t\"", "</script>&amp;\x00"):
        assert size(text) == len(embedded(text).encode())


def test_samples_stand_item_by_item_with_a_place_for_items_of_the_other_side() -> None:
    column = column_of(("b", "c"), [[[0], [1]], [[0], [UNPLAYED]]], [[[1.0], [0.5]], [[1.0], [np.nan]]])
    data = side_data(column, ["a", "b", "c"], Texts())
    assert data["outcomes"] == "..aab." and data["palette"] == [0.5, 1.0] and data["rewards"] == [-1, -1, 1, 1, 0, -1]
    assert "answers" not in data


def test_rewards_that_say_no_more_than_the_outcome_are_left_out() -> None:
    assert "rewards" not in side_data(column_of(("b",), [[[0, 1]]], [[[1.0, 0.0]]]), ["b"], Texts())


def test_settings_that_differ_stand_apart_from_those_that_agree() -> None:
    sides = side("a", config={"x": 1, "same": "s"}), side("b", config={"x": 2, "same": "s", "y": None})
    found = config_settings(sides)
    assert {one.key: one.values for one in found.differing} == {"x": ("1", "2"), "y": ("–", "null")}
    assert [one.key for one in found.equal] == ["same"]


def test_a_run_in_several_sittings_shows_each_of_its_origins() -> None:
    run = RunFiles(name="a", seed=0, state="finished", origins=[{"commit": "1"}, {"commit": "2"}])
    (found,) = origin_settings([Side(label="a", subject=None, runs=(run,))]).equal
    assert found.values == ("1 | 2",)


def test_data_in_the_page_holds_no_character_that_markup_begins_or_ends_with() -> None:
    assert not set("<>&") & set(embedded({"a": "</script><!-- & -->"}))


def test_numbers_read_as_people_write_them() -> None:
    assert [percent(0.1234), *map(amount, (1234567.0, -0.00012, 0.5))] == ["12.3", "1,234,567", "−0.00012", "0.5"]
