"""The words of LiveCodeBench: what is asked, by named prompts, and which part of a reply is the program, by named rules.

Pure functions of texts, thinking removed before (`thinking.spoken`). A rule gives None where a reply holds no program.

| rule | program |
|---|---|
| last-fence | lcb_runner `extract_code`: what stands between the last two lines that hold three backticks |
| last-python-fence | SPADE's offline suite: the last block that is closed and begins with ```` ```python ````, else the whole reply |
| last-code | ours: the last closed block of Python, else the last closed block, else what follows a fence that is never closed, else what stands before a lone closing fence |
"""  # noqa: E501

import re
from collections.abc import Callable
from typing import NamedTuple

from ..harness.types import Message

SYSTEM = (
    "You are an expert Python programmer. You will be given a question (problem specification) and will generate a "
    "correct Python program that matches the specification and passes all tests."
)
WITH_STARTER = (
    "You will use the following starter code to write the solution to the problem and enclose your code within "
    "delimiters."
)
WITH_STDIN = (
    "Read the inputs from stdin solve the problem and write the answer to stdout (do not directly test on the sample "
    "inputs). Enclose your code within delimiters as follows. Ensure that when the python program runs, it reads the "
    "inputs, runs the algorithm and writes output to STDOUT."
)
FENCE = "```"
_SPADE_BLOCK = re.compile(r"```python\s*\n(.*?)\n```", re.DOTALL)
_PYTHON = frozenset({"python", "python3", "py", "py3"})

Prompt = Callable[[str, str], tuple[Message, ...]]
"""From the question and the starter code, which is empty for a program that reads standard input."""


def _question(question: str, starter: str) -> str:
    task, code = (WITH_STARTER, starter) if starter else (WITH_STDIN, "# YOUR CODE HERE")
    return (
        f"### Question:\n{question}\n\n### Format: {task}\n```python\n{code}\n```\n\n"
        "### Answer: (use the provided format with backticks)\n\n"
    )


def _official(question: str, starter: str) -> tuple[Message, ...]:
    return Message(role="system", content=SYSTEM), Message(role="user", content=_question(question, starter))


def _in_one(question: str, starter: str) -> tuple[Message, ...]:
    return (Message(role="user", content=f"{SYSTEM}\n\n{_question(question, starter)}"),)


def _spade_offline(question: str, starter: str) -> tuple[Message, ...]:
    parts = [question]
    if starter:
        parts.append(f"\nStarter code:\n```python\n{starter}\n```")
    parts.append("\nWrite the complete solution in a single ```python ... ``` block.")
    return (Message(role="user", content="\n".join(parts)),)


PROMPTS: dict[str, Prompt] = {
    "official": _official,
    "official-one-message": _in_one,
    "spade-offline": _spade_offline,
}
"""lcb_runner's for chat models; the same in one message, as SPADE asks in the loop; SPADE's offline suite."""


def between_last_fences(reply: str) -> str | None:
    """lcb_runner's rule. An odd number of fences leaves it with what stands between two blocks."""
    lines = reply.split("\n")
    fences = [number for number, line in enumerate(lines) if FENCE in line]
    if len(fences) < 2:
        return None
    return _program("\n".join(lines[fences[-2] + 1 : fences[-1]]))


def spade_block(reply: str) -> str | None:
    """SPADE's offline rule."""
    blocks = _SPADE_BLOCK.findall(reply)
    return _program(blocks[-1] if blocks else reply)


def last_code(reply: str) -> str | None:
    """Ours: an example of the output after the program is not the program, and a stray fence does not empty it."""
    blocks, loose = _blocks(reply)
    python = [block for block in blocks if block.language in _PYTHON]
    for block in (*reversed(python), *reversed([block for block in blocks if not block.language])):
        if block.code.strip():
            return block.code
    return None if loose is None else _program(loose)


class _Block(NamedTuple):
    """A fenced block that is closed."""

    language: str
    code: str


def _blocks(reply: str) -> tuple[list[_Block], str | None]:
    """The closed blocks in order, and the code of a fence that has no partner."""
    lines = reply.split("\n")
    blocks: list[_Block] = []
    opened, language, loose = -1, "", None
    for number, line in enumerate(lines):
        mark = line.strip()
        if not mark.startswith(FENCE):
            continue
        info = mark.lstrip("`").strip().lower()
        if opened >= 0 and not info:
            blocks.append(_Block(language, "\n".join(lines[opened + 1 : number])))
            opened = -1
        else:  # a fence with a language always opens, even where one was never closed
            opened, language = number, info.split(" ")[0]
    if opened >= 0:
        after = "\n".join(lines[opened + 1 :])
        alone = not blocks and not language and not after.strip()
        loose = "\n".join(lines[:opened]) if alone else after
    return blocks, loose


def _program(code: str) -> str | None:
    return code if code.strip() else None


EXTRACTIONS: dict[str, Callable[[str], str | None]] = {
    "last-fence": between_last_fences,
    "last-python-fence": spade_block,
    "last-code": last_code,
}
