"""From a completion's text to source."""

import pytest

from spadework.training.proposal import Reason, Rejection, source_of

CODE = "class AEnv:\n    pass\n"


def test_text_without_a_fence_is_the_source() -> None:
    assert source_of(CODE) == CODE


@pytest.mark.parametrize("label", ["python", "py", "", "python3"])
def test_a_fence_holds_the_source(label: str) -> None:
    assert source_of(f"Here it is:\n```{label}\n{CODE}```\nEnjoy.") == CODE


def test_the_last_complete_fence_counts() -> None:
    text = f"```python\ndraft = 1\n```\nBetter:\n```python\n{CODE}```\nand then\n```python\nunfinished"
    assert source_of(text) == CODE


def test_a_draft_inside_a_thought_is_not_the_source() -> None:
    """The released code takes the first fence, inside thoughts too."""
    thought = "<think>\n```python\ndraft = 1\n```\n</think>\n"
    assert source_of(f"{thought}```python\n{CODE}```") == CODE
    assert source_of(f"{thought}{CODE}") == "\n" + CODE
    assert source_of(f"```python\ndraft = 1\n```\n</think>\n```python\n{CODE}```") == CODE


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", Reason.EMPTY),
        (" \n", Reason.EMPTY),
        ("```python\n```", Reason.EMPTY),
        ("<think>hm</think>", Reason.EMPTY),
        ("<think>\n```python\nx = 1\n```", Reason.UNFINISHED_THOUGHT),
        ("```python\nx = 1\n", Reason.UNFINISHED_FENCE),
        ("x" * 70_000, Reason.TOO_LARGE),
        ("\u4e2d" * 30_000, Reason.TOO_LARGE),
    ],
)
def test_a_text_without_source_is_rejected_with_its_reason(text: str, reason: Reason) -> None:
    verdict = source_of(text)
    assert isinstance(verdict, Rejection) and verdict.reason is reason


def test_a_stray_closing_fence_keeps_the_code() -> None:
    """Report P103."""
    assert source_of(f"{CODE}```") == CODE


def test_fences_of_other_languages_are_passed_over() -> None:
    assert source_of(f'```json\n{{"a": 1}}\n```\nThen:\n```python\n{CODE}```\n```text\nbye\n```') == CODE


def test_source_that_does_not_parse_is_left_to_the_validator() -> None:
    assert source_of("def f(:") == "def f(:"
