"""A designer's completion: its text to source, or a typed rejection.

Text handling only: model text is parsed as Python nowhere but in a sandbox worker.
"""

import re
from dataclasses import dataclass
from enum import StrEnum


class Reason(StrEnum):
    """Why a proposal was rejected: the first group here, the second by the validator."""

    EMPTY = "empty"
    UNFINISHED_THOUGHT = "unfinished_thought"
    """A <think> block that never closes: whatever follows is a draft."""
    UNFINISHED_FENCE = "unfinished_fence"
    TOO_LARGE = "too_large"

    DOES_NOT_LOAD = "does_not_load"
    """Syntax, a forbidden import, or an error while the module is executed."""
    CONTRACT = "contract"
    RAISES = "raises"
    """`reset` or `step` raised, on ordinary or on odd actions."""
    TOO_SLOW = "too_slow"
    """Out of CPU time, memory or patience."""
    REWARD_RANGE = "reward_range"
    NO_TERMINATION = "no_termination"
    NONDETERMINISTIC = "nondeterministic"
    ONE_INSTANCE = "one_instance"
    """Every seed shows the same first observation."""
    FREE_WIN = "free_win"
    """A player that does nothing sensible wins most instances."""
    HOST = "host"
    """The sandbox failed, twice: nobody's fault, and no verdict on the program."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Rejection:
    """A proposal that becomes no environment. `detail` may quote the program and is for people."""

    reason: Reason
    detail: str


THOUGHT = re.compile(r"<think>.*?</think>", re.DOTALL)


PYTHON = frozenset({"", "python", "python3", "py"})


def source_of(text: str, max_bytes: int = 64_000) -> str | Rejection:
    """The source in a completion: its last complete Python fence outside thoughts, else the whole text."""
    said = THOUGHT.sub("", text)
    if "</think>" in said:
        # A chat template may have opened the block inside the prompt.
        said = said.rpartition("</think>")[2]
    if "<think>" in said:
        return Rejection(reason=Reason.UNFINISHED_THOUGHT, detail="the text ends inside a <think> block")
    blocks, unfinished = fenced(said)
    if not blocks and unfinished:
        return Rejection(reason=Reason.UNFINISHED_FENCE, detail="a code fence is opened and never closed")
    source = blocks[-1] if blocks else said
    if not source.strip():
        return Rejection(reason=Reason.EMPTY, detail="no source text")
    size = len(source.encode("utf-8", "surrogatepass"))
    if size > max_bytes:
        return Rejection(reason=Reason.TOO_LARGE, detail=f"{size} bytes of source, {max_bytes} are allowed")
    return source


def fenced(text: str) -> tuple[list[str], bool]:
    """(the complete Python fences, whether a fence stays open). A lone fence at the very end closes the whole text."""
    blocks: list[str] = []
    label, inside = "", list[str]()
    opened = False
    before: list[str] = []
    for line in text.splitlines(keepends=True):
        mark = line.strip()
        if not mark.startswith("```"):
            (inside if opened else before).append(line)
        elif not opened:
            opened, label, inside = True, mark[3:].strip().lower(), []
        elif mark == "```":
            opened = False
            if label in PYTHON:
                blocks.append("".join(inside))
        else:
            inside.append(line)
    if opened and not label and not blocks and not "".join(inside).strip():
        return ["".join(before)], False
    return blocks, opened
