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
FENCE = re.compile(r"^[ \t]*```[ \t]*(?:python3?|py)?[ \t]*\n(.*?)^[ \t]*```[ \t]*$", re.DOTALL | re.MULTILINE)
OPENING = re.compile(r"^[ \t]*```", re.MULTILINE)


def source_of(text: str, max_bytes: int = 64_000) -> str | Rejection:
    """The source in a completion: its last complete Python fence outside thoughts, else the whole text."""
    said = THOUGHT.sub("", text)
    if "</think>" in said:
        # A chat template may have opened the block inside the prompt.
        said = said.rpartition("</think>")[2]
    if "<think>" in said:
        return Rejection(reason=Reason.UNFINISHED_THOUGHT, detail="the text ends inside a <think> block")
    fences = FENCE.findall(said)
    if not fences and OPENING.search(said):
        return Rejection(reason=Reason.UNFINISHED_FENCE, detail="a code fence is opened and never closed")
    source = fences[-1] if fences else said
    if not source.strip():
        return Rejection(reason=Reason.EMPTY, detail="no source text")
    size = len(source.encode("utf-8", "surrogatepass"))
    if size > max_bytes:
        return Rejection(reason=Reason.TOO_LARGE, detail=f"{size} bytes of source, {max_bytes} are allowed")
    return source.strip("\n") + "\n" if fences else source
