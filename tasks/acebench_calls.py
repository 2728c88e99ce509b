"""Reads `[Api(k='v'), ...]` in a model's message: names, and arguments that are literals. Nothing is evaluated.

A message is a call, a call that went wrong (`Malformed`, with a word why), or prose. What the names mean is the
world's to say.
"""

import ast
import re
import warnings
from dataclasses import dataclass

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


def _elements(text: str) -> list[ast.expr]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            body = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise Malformed("syntax") from None
    if not isinstance(body, ast.List):
        raise Malformed("no_list")
    return body.elts


def _call(node: ast.expr) -> Call:
    if not isinstance(node, ast.Call):
        raise Malformed("no_call")
    if not isinstance(node.func, ast.Name):
        raise Malformed("no_name")
    if node.args:
        raise Malformed("positional_argument")
    arguments: dict[str, object] = {}
    for keyword in node.keywords:
        if keyword.arg is None:
            raise Malformed("unpacked_argument")
        if keyword.arg in arguments:
            raise Malformed("repeated_argument")
        arguments[keyword.arg] = _literal(keyword.value)
    return Call(node.func.id, arguments)


def _literal(node: ast.expr) -> object:
    if isinstance(node, ast.Constant) and _plain(node.value):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        value = _literal(node.operand)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return -value
    if isinstance(node, ast.List | ast.Tuple):
        return [_literal(element) for element in node.elts]
    if isinstance(node, ast.Dict) and None not in node.keys:
        keys = [_literal(key) for key in node.keys if key is not None]
        if all(isinstance(key, str | int) for key in keys):
            return dict(zip(keys, map(_literal, node.values), strict=True))
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
