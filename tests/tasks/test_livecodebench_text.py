"""Prompts of LiveCodeBench and the program in a reply, by each of the named rules."""

import pytest

from spadework.tasks.livecodebench_text import EXTRACTIONS, PROMPTS

ONE = "So:\n```python\nprint(1)\n```\nThis prints 1."
TWO = "First:\n```python\ndraft\n```\nBetter:\n```python\nprint(2)\n```\n"
OUTPUT_AFTER = "```python\nprint(3)\n```\nIt gives\n```\n3\n```\n"
UNCLOSED = "```python\nprint(4)\n"
STRAY_END = "def f():\n    return 7\n```"
NO_FENCE = "print(5)"
UNTAGGED = "```\nprint(6)\n```"
OPEN_AFTER_CLOSED = "```python\nprint(7)\n```\nand\n```python\nprint(8)\n"
NESTED_TEXT = "```python\ns = '''a'''\nprint(s)\n```"
EMPTY = "```python\n```"
JSON_AFTER = "```python\nprint(9)\n```\n```json\n{}\n```"

CASES = {
    "one": (ONE, "print(1)", "print(1)", "print(1)"),
    "two": (TWO, "print(2)", "print(2)", "print(2)"),
    "output after": (OUTPUT_AFTER, "3", "print(3)", "print(3)"),
    "unclosed": (UNCLOSED, None, UNCLOSED, "print(4)\n"),
    "stray end": (STRAY_END, None, STRAY_END, "def f():\n    return 7"),
    "no fence": (NO_FENCE, None, NO_FENCE, None),
    "untagged": (UNTAGGED, "print(6)", UNTAGGED, "print(6)"),
    "open after closed": (OPEN_AFTER_CLOSED, "and", "print(7)", "print(7)"),
    "quotes": (NESTED_TEXT, "s = '''a'''\nprint(s)", "s = '''a'''\nprint(s)", "s = '''a'''\nprint(s)"),
    "empty": (EMPTY, None, EMPTY, None),
    "json after": (JSON_AFTER, "{}", "print(9)", "print(9)"),
    "nothing": ("", None, None, None),
}


@pytest.mark.parametrize("name", CASES)
def test_a_reply_holds_the_program_that_the_rule_finds(name: str) -> None:
    """P103 (a stray closing fence empties the code): the last rule keeps what stands before it."""
    reply, *wanted = CASES[name]
    assert [EXTRACTIONS[rule](reply) for rule in ("last-fence", "last-python-fence", "last-code")] == wanted


def test_prompts_hold_question_and_starter_code() -> None:
    for prompt in PROMPTS.values():
        with_starter, with_stdin = prompt("How many?", "class Solution:"), prompt("How many?", "")
        assert "How many?" in with_starter[-1].content and "class Solution:" in with_starter[-1].content
        assert "Solution" not in with_stdin[-1].content
    system, user = PROMPTS["official"]("How many?", "")
    assert system.role == "system" and system.content.startswith("You are an expert Python programmer.")
    assert user.content.endswith("### Answer: (use the provided format with backticks)\n\n")
    (one,) = PROMPTS["official-one-message"]("How many?", "")
    assert one.content == f"{system.content}\n\n{user.content}"
