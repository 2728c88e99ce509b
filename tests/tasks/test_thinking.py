import pytest

from spadework.tasks.thinking import spoken


@pytest.mark.parametrize(
    ("text", "said", "said_where_the_template_opened_the_block"),
    [
        ("a", "a", None),
        ("<think>x</think>b", "b", "b"),
        ("<think>\\boxed{72} still thinking", None, None),
        ("x</think>b", "b", "b"),
        ("a<think>q</think>b", "ab", "b"),
        ("<think>a<think>b</think>c", "c", "c"),
        ("b<think>", None, None),
        ("<Thinking>x</thinking>b", "b", "b"),
        ("[THINK]x[/THINK]b", "b", "b"),
        ("", "", None),
    ],
)
def test_blocks_are_removed_and_an_unclosed_one_leaves_no_answer(
    text: str, said: str | None, said_where_the_template_opened_the_block: str | None
) -> None:
    """Reports L248, P023 and P028: a box in the block is never an answer, and a reply without tags is all answer."""
    assert spoken(text) == said
    assert spoken(text, opened=True) == said_where_the_template_opened_the_block
