"""What crosses the pipes of a run: one question, one answer, as JSON that both sides check; see frames.py.

Standard library and msgspec only: the host and the jailed interpreter both load this file.
"""

import json
import math
from dataclasses import dataclass
from typing import NoReturn

import msgspec

from .frames import TEXT_EXPANSION, ProtocolError, kind_named, nested_too_deep
from .limits import ErrorKind
from .runs import RunLimits


class ScriptFrame(msgspec.Struct, array_like=True, tag="script"):
    """Run a program. The answer repeats `token`: it is a fence (a program could find it in its memory), not a wall."""

    token: str
    source: str
    stdin: bytes
    limits: RunLimits


class CallFrame(msgspec.Struct, array_like=True, tag="call"):
    """Call a function; `arguments` is the JSON text of [positional, named]."""

    token: str
    function: str
    arguments: str
    limits: RunLimits


class LookFrame(msgspec.Struct, array_like=True, tag="look"):
    """Is there such a function? Nothing that a model wrote is in the process that answers this."""

    token: str
    function: str
    limits: RunLimits


RunFrame = ScriptFrame | CallFrame | LookFrame


class WireEnd(msgspec.Struct, array_like=True, forbid_unknown_fields=True):
    """How it ended, as it is written; `kind` is empty when it came to its end, `value` is JSON text."""

    token: str
    kind: str
    message: str
    exit_code: int | None
    stdout: bytes
    stderr: bytes
    truncated: bool
    value: str


class Unknown(msgspec.Struct):
    """The part of a function's name that is not there, and what there is instead."""

    what: str
    known: list[str]


@dataclass(frozen=True, kw_only=True, slots=True)
class End:
    """A checked answer."""

    kind: ErrorKind | None
    message: str
    exit_code: int | None
    stdout: str
    stderr: str
    truncated: bool
    value: object


_end_decoder = msgspec.json.Decoder(WireEnd)
DAMAGED = (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ValueError)


def end_bytes(limits: RunLimits) -> int:
    """The most bytes an honest answer can have."""
    written = 4 * (limits.stdout_bytes + limits.stderr_bytes) // 3
    return written + TEXT_EXPANSION * (limits.message_chars + limits.value_bytes) + 512


def decode_end(payload: bytes, token: str, limits: RunLimits) -> End:
    """A worker's answer, checked field by field. Raises ProtocolError for anything an honest one would not write."""
    try:
        wire = _end_decoder.decode(payload)
    except DAMAGED as error:
        raise ProtocolError(f"undecodable answer: {error}") from None
    if wire.token != token:
        raise ProtocolError("the answer is not to the question")
    beyond = len(wire.stdout) > limits.stdout_bytes or len(wire.stderr) > limits.stderr_bytes
    if beyond or not 0 <= (wire.exit_code or 0) <= 255 or len(wire.value) > limits.value_bytes:
        raise ProtocolError("an answer outside the limits")
    return End(
        kind=kind_named(wire.kind) if wire.kind else None, message=wire.message[: limits.message_chars],
        exit_code=wire.exit_code, stdout=wire.stdout.decode("utf-8", "replace"),
        stderr=wire.stderr.decode("utf-8", "replace"), truncated=wire.truncated, value=decode_value(wire.value),
    )  # fmt: skip


def decode_value(text: str) -> object:
    """JSON that may hold lone surrogates, as answers of models do. Raises ProtocolError."""
    try:
        value: object = json.loads(text, parse_constant=_refuse, parse_float=_finite)
    except DAMAGED as error:
        raise ProtocolError(f"undecodable value: {error}") from None
    if nested_too_deep(value):
        raise ProtocolError("a value nested too deep")
    return value


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:20]} is not finite")
    return number
