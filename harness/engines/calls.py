"""Tool calls in a model's own words: `<tool_call>` blocks of JSON, as Hermes, Qwen and many others write them.

The end of a call is found by reading its JSON, not by searching for the closing tag: an argument may hold that tag, or
a brace without its partner. What opens as a call and is none is a call all the same, with what was written as its
arguments; deciding that it is malformed is the benchmark's part. Other formats come through transformers' own parser.
"""

import re
from json import JSONDecoder
from typing import NamedTuple

OPEN, CLOSE = "<tool_call>", "</tool_call>"
THINK_OPEN, THINK_CLOSE = "<think>", "</think>"
_DECODER = JSONDecoder()
_NAME = re.compile(r'"name"\s*:\s*"([^"\\]+)"')
_SPACE = re.compile(r"\s*")


class Written(NamedTuple):
    """One call; `arguments` is its JSON as written, or the whole block where that is not a call's JSON."""

    name: str
    arguments: str


class Reply(NamedTuple):
    """A reply taken apart."""

    text: str
    """Everything outside the calls, thinking included."""
    calls: tuple[Written, ...]


def split_calls(reply: str) -> Reply:
    """The calls after the thinking, and the text around them. A block within the thinking calls nothing."""
    at = _after_thinking(reply)
    pieces, calls = [reply[:at]], []
    while (opened := reply.find(OPEN, at)) >= 0:
        pieces.append(reply[at:opened])
        call, at = _block(reply, opened + len(OPEN))
        calls.append(call)
    if not calls:
        return Reply(reply, ())
    return Reply("".join([*pieces, reply[at:]]).strip(), tuple(calls))


def _after_thinking(reply: str) -> int:
    closed = reply.rfind(THINK_CLOSE)
    if closed >= 0:
        return closed + len(THINK_CLOSE)
    return len(reply) if THINK_OPEN in reply else 0


def _block(reply: str, at: int) -> tuple[Written, int]:
    """The call that begins here and where the text goes on."""
    start = _skip(reply, at)
    try:
        call, end = _object(reply, start)
    except (ValueError, RecursionError):
        return _malformed(reply, at)
    after, closed, opened = _skip(reply, end), reply.find(CLOSE, end), reply.find(OPEN, end)
    if closed < 0 or 0 <= opened < closed:
        return call, end
    return (call, closed + len(CLOSE)) if after == closed else _malformed(reply, at)


def _malformed(reply: str, at: int) -> tuple[Written, int]:
    """Everything up to the closing tag, the next opening one or the end."""
    closed, opened = reply.find(CLOSE, at), reply.find(OPEN, at)
    if closed >= 0 and not 0 <= opened < closed:
        end, after = closed, closed + len(CLOSE)
    else:
        end = after = opened if opened >= 0 else len(reply)
    block = reply[at:end].strip()
    named = _NAME.search(block)
    return Written(named[1] if named else "", block), after


def _object(text: str, at: int) -> tuple[Written, int]:
    """A call's JSON object and its end. ValueError when there is none or it names no function."""
    whole, end = _DECODER.raw_decode(text, at)
    if not isinstance(whole, dict) or not isinstance(whole.get("name"), str):
        raise ValueError("no call")
    arguments = whole.get("arguments", {})
    if isinstance(arguments, str):
        return Written(whole["name"], arguments), end
    low, high = _spans(text, at).get("arguments", (0, 0))
    return Written(whole["name"], text[low:high] or "{}"), end


def _spans(text: str, at: int) -> dict[str, tuple[int, int]]:
    """Where the values of a valid JSON object stand, by key."""
    spans: dict[str, tuple[int, int]] = {}
    at = _skip(text, at + 1)
    while text[at] != "}":
        key, at = _DECODER.raw_decode(text, at)
        at = _skip(text, _skip(text, at) + 1)
        _, end = _DECODER.raw_decode(text, at)
        spans[key] = (at, end)
        at = _skip(text, end)
        at = _skip(text, at + 1) if text[at] == "," else at
    return spans


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at
