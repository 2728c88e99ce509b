"""From what a model wrote to calls with literal arguments, written anew as BFCL's executor takes them.

Nothing is evaluated here, and nothing that a model wrote is passed on as it stands. A reply is read as bfcl-eval reads
it, its faults are named beside that; what it would evaluate (`len('abc') + 1`, a call within a call) is undecodable.
`strict` refuses what bfcl-eval silently changes: positional arguments dropped, one of two equal names, `true` as text.
"""

import json
import keyword
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ..harness.types import ToolCall
from .call_text import CallNode, Constant, Name, Node, Pairs, Several, read_text

NO_NAME = "_not_a_name()"
"""Stands for a call whose name, or the name of whose argument, is none; its result is an error."""
MOST_CHARACTERS = 200_000
NON_LITERAL, POSITIONAL, REPEATED, BARE, UNPACKED, NOT_JSON, NOT_OBJECT, ODD_NAME, NO_CALLS = (
    "non_literal_argument", "positional_argument", "repeated_argument", "bare_name", "unpacked_argument", "not_json",
    "arguments_no_object", "odd_name", "no_calls",
)  # fmt: skip
_NAME = re.compile(r"[A-Za-z_][\w.]*", re.ASCII)


class Decoded(NamedTuple):
    """One reply: its calls, empty where the turn ends with it, and what is wrong with it."""

    calls: tuple[str, ...]
    faults: tuple[str, ...] = ()
    made: tuple[ToolCall, ...] = ()
    """In the function-calling mode, the model's own for each of `calls`."""


class Undecodable(ValueError):
    """Text that is no list of calls; its text is the fault's name."""


def from_tool_calls(calls: Sequence[ToolCall]) -> Decoded:
    """The function-calling mode. A call that is no JSON is left out, as bfcl-eval does; arguments that are no object
    make the whole reply undecodable.
    """
    written, made, faults = [], [], []
    for call in calls:
        try:
            arguments = json.loads(call.arguments or "{}")
            arguments = json.loads(arguments) if isinstance(arguments, str) else arguments
        except (ValueError, RecursionError):
            faults.append(NOT_JSON)
            continue
        if not isinstance(arguments, dict):
            return Decoded((), (*faults, NOT_OBJECT))
        text = _written(call.name, arguments)
        faults += [ODD_NAME] if text == NO_NAME else []
        written.append(text)
        made.append(call)
    return Decoded(tuple(written), tuple(faults), tuple(made))


def from_text(text: str, *, strict: bool = False) -> Decoded:
    """The prompting mode: `[f(a=1), g(b='x')]`, thinking removed."""
    text = text.strip("`\n ")
    text = text if text.startswith("[") else f"[{text}"
    text = text if text.endswith("]") else f"{text}]"
    faults: list[str] = []
    try:
        calls = [_call(node, faults) for node in _nodes(text.strip().strip("'"))]
    except Undecodable as error:
        return Decoded((), (*faults, str(error)))
    except ValueError:
        return Decoded((), (NO_CALLS,))
    return Decoded((), tuple(faults)) if strict and faults else Decoded(tuple(calls), tuple(faults))


def gold_call(text: str, parameters: Mapping[str, Sequence[str]]) -> tuple[str, dict[str, object]]:
    """Name and arguments of a call in bfcl-eval's own answers, by the parameters' order where they are positional.

    Raises ValueError for one that is not literal.
    """
    node = read_text(text.strip())
    if not isinstance(node, CallNode) or not node.function.isidentifier():
        raise ValueError(f"the gold call {text} is no call")
    faults: list[str] = []
    given = zip(parameters.get(node.function, ()), node.given)
    arguments = {str(name): _literal(value, faults) for name, value in [*given, *node.named]}
    if faults:
        raise ValueError(f"the gold call {text} is not literal")
    return node.function, arguments


def written_call(name: str, arguments: Mapping[str, object]) -> str:
    """A call as a model would write it in the prompting mode."""
    return f"{name}({', '.join(f'{key}={value!r}' for key, value in arguments.items())})"


def _written(name: str, arguments: Mapping[str, object]) -> str:
    sound = _NAME.fullmatch(name) and all(key.isidentifier() and not keyword.iskeyword(key) for key in arguments)
    return written_call(name, arguments) if sound else NO_NAME


def _nodes(text: str) -> list[CallNode]:
    if len(text) > MOST_CHARACTERS:
        raise Undecodable(NO_CALLS)
    body = read_text(text)
    parts = body.items if isinstance(body, Several) else (body,)
    calls = [part for part in parts if isinstance(part, CallNode)]
    if len(calls) < len(parts):
        raise Undecodable(NO_CALLS)
    return calls


def _call(node: CallNode, faults: list[str]) -> str:
    faults += [POSITIONAL] if node.given else []
    arguments: dict[str, object] = {}
    for name, value in node.named:
        if name is None:
            raise Undecodable(UNPACKED)
        faults += [REPEATED] if name in arguments else []
        arguments[name] = _literal(value, faults)
    text = _written(node.function, arguments)
    faults += [ODD_NAME] if text == NO_NAME else []
    return text


def _literal(node: Node, faults: list[str]) -> object:
    """The value of a literal, names as their own text. Raises Undecodable for whatever would have to be evaluated."""
    match node:
        case Constant(value=value):
            return "..." if value is Ellipsis else value
        case Several(items=items, is_list=is_list):
            values = [_literal(item, faults) for item in items]
            return values if is_list else tuple(values)
        case Pairs(pairs=pairs):
            read = [(_literal(key, faults), _literal(value, faults)) for key, value in pairs]
            if any(isinstance(key, list | dict | tuple) for key, _ in read):
                raise Undecodable(NON_LITERAL)
            return dict(read)
        case Name(text=text):
            faults.append(BARE)
            return text
    raise Undecodable(NON_LITERAL)
