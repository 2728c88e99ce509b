"""From what a model wrote to calls with literal arguments, written anew as BFCL's executor takes them.

Nothing is evaluated here, and nothing that a model wrote is passed on as it stands. A reply is read as bfcl-eval reads
it, its faults are named beside that; what it would evaluate (`len('abc') + 1`, a call within a call) is undecodable.
`strict` refuses what bfcl-eval silently changes: positional arguments dropped, one of two equal names, `true` as text.
"""

import ast
import json
import keyword
import re
import warnings
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ..harness.types import ToolCall

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
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Decoded((), (NO_CALLS,))
    return Decoded((), tuple(faults)) if strict and faults else Decoded(tuple(calls), tuple(faults))


def gold_call(text: str, parameters: Mapping[str, Sequence[str]]) -> tuple[str, dict[str, object]]:
    """Name and arguments of a call in bfcl-eval's own answers, by the parameters' order where they are positional.

    Raises ValueError for one that is not literal.
    """
    node = ast.parse(text.strip(), mode="eval").body
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        raise ValueError(f"the gold call {text} is no call")
    order = parameters.get(node.func.id, ())
    arguments: dict[str, object] = {
        name: ast.literal_eval(value) for name, value in zip(order, node.args)
    }  # fmt: skip
    for argument in node.keywords:
        arguments[str(argument.arg)] = ast.literal_eval(argument.value)
    return node.func.id, arguments


def written_call(name: str, arguments: Mapping[str, object]) -> str:
    """A call as a model would write it in the prompting mode."""
    return f"{name}({', '.join(f'{key}={value!r}' for key, value in arguments.items())})"


def _written(name: str, arguments: Mapping[str, object]) -> str:
    sound = _NAME.fullmatch(name) and all(key.isidentifier() and not keyword.iskeyword(key) for key in arguments)
    return written_call(name, arguments) if sound else NO_NAME


def _nodes(text: str) -> list[ast.Call]:
    if len(text) > MOST_CHARACTERS:
        raise Undecodable(NO_CALLS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an odd escape in a string is the model's affair
        body = ast.parse(text, mode="eval").body
    parts = body.elts if isinstance(body, ast.List | ast.Tuple) else [body]
    calls = [part for part in parts if isinstance(part, ast.Call)]
    if len(calls) < len(parts):
        raise Undecodable(NO_CALLS)
    return calls


def _call(node: ast.Call, faults: list[str]) -> str:
    faults += [POSITIONAL] if node.args else []
    arguments: dict[str, object] = {}
    for argument in node.keywords:
        if argument.arg is None:
            raise Undecodable(UNPACKED)
        faults += [REPEATED] if argument.arg in arguments else []
        arguments[argument.arg] = _literal(argument.value, faults)
    text = _written(ast.unparse(node.func), arguments)
    faults += [ODD_NAME] if text == NO_NAME else []
    return text


def _literal(node: ast.expr | None, faults: list[str]) -> object:
    """The value of a literal, names as their own text. Raises Undecodable for whatever would have to be evaluated."""
    match node:
        case ast.Constant(value=value):
            return "..." if value is Ellipsis else value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() | complex() as number)):
            return -number
        case ast.List(elts=parts):
            return [_literal(part, faults) for part in parts]
        case ast.Tuple(elts=parts):
            return tuple(_literal(part, faults) for part in parts)
        case ast.Dict(keys=keys, values=parts):
            pairs = [(_literal(key, faults), _literal(part, faults)) for key, part in zip(keys, parts, strict=True)]
            if any(isinstance(key, list | dict | tuple) for key, _ in pairs):
                raise Undecodable(NON_LITERAL)
            return dict(pairs)
        case ast.Name(id=name):
            faults.append(BARE)
            return name
    raise Undecodable(NON_LITERAL)
