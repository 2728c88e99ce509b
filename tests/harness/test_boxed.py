from typing import Any, Callable

import pytest

from spadework.harness.boxed import box_spans, last_box


def official_action(text: str) -> str:
    box = last_box(text)
    return text.strip() if box is None else "\\boxed{" + box + "}"


def test_boxes_are_read_as_the_official_parser_reads_them_but_the_last_one_counts(vector: Callable[[str], Any]) -> None:
    case = vector("parse_action_boxed")
    ours = dict(zip(case["inputs"], map(official_action, case["inputs"]), strict=True))
    deviations = {
        "first \\boxed{1} then \\boxed{2}": "\\boxed{2}",
        "try \\boxed{a} and \\boxed{\\text{b}}": "\\boxed{\\text{b}}",
    }
    assert ours == dict(zip(case["inputs"], case["expected"], strict=True)) | deviations


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("", None),
        ("\\boxed{}", None),
        ("\\boxed{1} \\boxed{ }", "1"),
        ("\\boxed{1} and \\boxed{2", "1"),
        ("\\boxed{ \\boxed{3}", "3"),
        ("\\boxed{a {b} \\{ c}", "a {b} \\{ c"),
        ("\\boxed{{1},{2}}", "{1},{2}"),
        ("} } \\boxed {x} {", "x"),
        ("\\boxed{{}}", None),
        ("\\\\boxed{x}", None),
        ("boxed{x} \\fbox{y}", None),
    ],
)
def test_only_a_balanced_box_with_something_in_it_is_a_box(text: str, content: str | None) -> None:
    assert last_box(text) == content


def test_fifty_thousand_open_boxes_are_no_box_and_as_many_nested_braces_are_one() -> None:
    assert last_box("\\boxed{" * 50_000) is None
    assert last_box("\\boxed{" + "{" * 50_000 + "}" * 50_000 + "}") is not None


def test_an_fbox_is_a_box_where_the_caller_says_so() -> None:
    assert last_box("\\boxed{1} then \\fbox{7}", framed=True) == "7"
    assert last_box("\\boxed{\\fbox{7}}", framed=True) == "7"


def test_spans_stand_in_the_order_of_their_starts_and_leave_out_what_is_never_closed() -> None:
    text = "\\boxed{a \\boxed{b}} \\boxed{c"
    assert [text[start:end] for start, end in box_spans(text)] == ["a \\boxed{b}", "b"]
