"""Reads `[Api(k='v'), ...]` in a model's message: names, and arguments that are literals. Nothing is evaluated.

A message is a call, a call that went wrong (`Malformed`, with a word why), or prose. What the names mean is the
world's to say.
"""

import re
from dataclasses import dataclass

from .call_text import CallNode, Constant, Node, Pairs, Several, read_text
from .call_tokens import NotPython

LONGEST = 20_000
"""Characters of a message that are looked at; a longer one is no call that anybody means."""
LARGEST = 2**53
"""Number that is still taken as one."""
_ATTEMPT = re.compile(r"\s*\[.*?\]|\s*\[\s*[A-Za-z_]\w*\s*\(", re.DOTALL)
_BARE = re.compile(r"\s*[A-Za-z_]\w*\s*\(.*\)\s*\Z", re.DOTALL)
_QUOTES = "'\""


class Malformed(ValueError):
    """A call that cannot be taken as one: `syntax`, `non_literal_argument`, `positional_argument`, ..."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call with literal arguments."""

    name: str
    arguments: dict[str, object]

    def __str__(self) -> str:
        return f"{self.name}({', '.join(f'{key}={value!r}' for key, value in self.arguments.items())})"


def attempted(message: str, bare: bool) -> bool:
    """Whether a message is meant as a call: it begins with a list; with `bare`, a naked call is one too."""
    return _ATTEMPT.match(message) is not None or (bare and _BARE.match(message) is not None)


def parse_calls(message: str, *, bare: bool = False, trailing: bool = False) -> list[Call]:
    """The calls of a message that is meant as one. Raises Malformed.

    With `bare` the brackets may be missing; with `trailing` words may follow the list.
    """
    text = message.strip()
    if len(text) > LONGEST:
        raise Malformed("too_long")
    if bare and not text.startswith("["):
        text = f"[{text}]"
    if trailing:
        text = text[: _list_end(text)]
    calls = [_call(node) for node in _elements(text)]
    if not calls:
        raise Malformed("no_call")
    return calls


def _elements(text: str) -> tuple[Node, ...]:
    try:
        body = read_text(text)
    except NotPython:
        raise Malformed("syntax") from None
    if not isinstance(body, Several) or not body.is_list:
        raise Malformed("no_list")
    return body.items


def _call(node: Node) -> Call:
    if not isinstance(node, CallNode):
        raise Malformed("no_call")
    if not node.function or "." in node.function:
        raise Malformed("no_name")
    if node.given:
        raise Malformed("positional_argument")
    arguments: dict[str, object] = {}
    for name, value in node.named:
        if name is None:
            raise Malformed("unpacked_argument")
        if name in arguments:
            raise Malformed("repeated_argument")
        arguments[name] = _literal(value)
    return Call(node.function, arguments)


def _literal(node: Node) -> object:
    if isinstance(node, Constant) and _plain(node.value):
        return node.value
    if isinstance(node, Several):
        return [_literal(item) for item in node.items]
    if isinstance(node, Pairs):
        read = [(_literal(key), _literal(value)) for key, value in node.pairs]
        if all(isinstance(key, str | int) for key, _ in read):
            return dict(read)
    raise Malformed("non_literal_argument")


def _plain(value: object) -> bool:
    """What the worlds can take: texts that can be sent on, numbers that can be reckoned with."""
    if isinstance(value, str):
        return not any("\ud800" <= character <= "\udfff" for character in value)
    return value is None or (isinstance(value, int | float) and -LARGEST <= value <= LARGEST)


def _list_end(text: str) -> int:
    """Where the list that the text begins with is closed, strings passed over; the whole length where it is not."""
    depth, position = 0, 0
    while position < len(text):
        mark = text[position]
        if mark in _QUOTES:
            position = _string_end(text, position)
            continue
        depth += (mark in "[({") - (mark in "])}")
        position += 1
        if depth == 0:
            return position
    return len(text)


def _string_end(text: str, start: int) -> int:
    position = start + 1
    while position < len(text) and text[position] != text[start]:
        position += 2 if text[position] == "\\" else 1
    return position + 1
