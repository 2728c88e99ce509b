"""Answers to Reasoning-Gym: where they stand in a reply, and the guards before the package's scorers."""

import pytest

from spadework.tasks.reasoning_gym_answers import EXTRACTIONS, TEXTS, guarded, same_number, unboxed
from spadework.tasks.reasoning_gym_items import suite

REPLIES = {
    # name: (reply, SPADE's rule, the package's)
    "a tag": ("so <answer>12</answer>.", "12", "12"),
    "the last tag": ("<answer>1</answer> no, <answer> 2 </answer>", "2", "2"),
    "lines": ("<answer>\n1 2\n3 4\n</answer>", "1 2\n3 4", "1 2\n3 4"),
    "large letters": ("<ANSWER>5</ANSWER>", "5", None),
    "a box": ("so \\boxed{7}", "7", None),
    "a tag before a box": ("<answer>3</answer> \\boxed{4}", "3", "3"),
    "an empty tag": ("<answer></answer> \\boxed{4}", None, None),
    "an open tag": ("<answer>3", None, None),
    "nothing": ("I do not know.", None, None),
}


@pytest.mark.parametrize("name", REPLIES)
def test_a_reply_holds_an_answer_where_the_rule_looks(name: str) -> None:
    reply, *wanted = REPLIES[name]
    assert [EXTRACTIONS[rule](reply) for rule in ("answer-tag-or-box", "answer-tag")] == wanted


@pytest.mark.parametrize(
    ("task", "answer", "gold", "score"),
    [
        ("game_of_life_halting", "True", "False", 0.0),
        ("game_of_life_halting", "banana", "True", 0.0),
        ("game_of_life_halting", "false", "False", 1.0),
        ("complex_arithmetic", "nan", "1 + 2i", 0.0),
        ("complex_arithmetic", "NaN", "1 + 2i", 0.0),
        ("complex_arithmetic", "nan + nani", "1 + 2i", 0.0),
        ("complex_arithmetic", "inf", "1 + 2i", 0.0),
        ("coin_flip", "0", "0.203125", 0.0),
        ("coin_flip", "0.5", "0.203125", 0.0),
        ("coin_flip", "1e999", "0.203125", 0.0),
        ("coin_flip", "0.2031250", "0.203125", 1.0),
        ("gcd", "inf", "12", 0.0),
        ("spiral_matrix", "__import__('os').getpid()", "1 2 3", 0.0),
        ("n_queens", "print(1)", None, 0.0),
        ("spiral_matrix", "[1, 2, 3]", "1 2 3", None),
        ("gcd", "12", "12", None),
        ("gcd", "13", "12", None),
        ("string_insertion", "nan", "nan", None),
    ],
)
def test_a_guard_decides_or_leaves_it_to_the_package(
    task: str, answer: str, gold: str | None, score: float | None
) -> None:  # fmt: skip
    """L230, L231, L232, L234: answers that the package pays for nothing, or breaks on."""
    assert guarded(task, answer, gold) == score


@pytest.mark.parametrize(
    ("answer", "gold", "same"),
    [
        ("3.0", "3", True), ("3\n", "3", True), ("03", "3", True), ("35", "3", False), ("nan", "nan", False),
        ("three", "3", False), ("1e0", "1", True), ("0x10", "16", False), ("", "3", False), ("-0", "0", True),
    ],
)  # fmt: skip
def test_numbers_are_compared_as_numbers(answer: str, gold: str, same: bool) -> None:
    """P060: `3.0` earns a third of gold `3` in the package, and `35` a half."""
    assert same_number(answer, gold) is same


def test_a_box_around_an_answer_comes_off() -> None:
    assert unboxed("\\boxed{3}") == "3" and unboxed("3") is None and unboxed("\\boxed{") is None


def test_the_tasks_that_compare_texts_are_those_without_a_scorer_of_their_own() -> None:
    """P061: an explicit list, equal to what the package says."""
    pytest.importorskip("reasoning_gym")
    from reasoning_gym.dataset import ProceduralDataset
    from reasoning_gym.factory import DATASETS

    default = {task for task in suite() if DATASETS[task][0].score_answer is ProceduralDataset.score_answer}
    assert default == TEXTS
