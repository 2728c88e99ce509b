"""What crosses the pipes: JSON with a four-byte length in front, checked against a schema on both sides; never pickle.

Standard library and msgspec only: the host and the jailed interpreter both load this file.
"""

import os
import struct
from typing import Any

import msgspec

from .limits import HOST_KINDS, EnvError, ErrorKind, Isolation, Limits, Step, error_of, failed

HEADER = struct.Struct("<I")
ORDER = struct.Struct("<cII")
"""The host to the fork server: a letter and two numbers, see forkserver.py."""
NUMBER = struct.Struct("<i")
"""The server's answers."""
FORK, WHY = b"f", b"w"
TEXT_EXPANSION = 6
"""JSON writes one character in at most six bytes."""
INFO_DEPTH = 32
"""Levels of lists and dicts within an info; deeper ones break whoever walks them by recursion, json.dumps for one."""


class LoadFrame(msgspec.Struct, array_like=True, tag="load"):
    """The program, once, before everything else."""

    source: str
    isolation: Isolation


class ResetFrame(msgspec.Struct, array_like=True, tag="reset"):
    """(instance, seed) pairs."""

    items: list[tuple[int, int]]


class StepFrame(msgspec.Struct, array_like=True, tag="step"):
    """(instance, action) pairs."""

    items: list[tuple[int, str]]


Frame = LoadFrame | ResetFrame | StepFrame


class WireStep(msgspec.Struct, array_like=True, forbid_unknown_fields=True):
    """A `Step` as it is written; `kind` is empty unless the instance failed."""

    instance: int
    observation: str
    reward: float
    terminated: bool
    truncated: bool
    info: msgspec.Raw
    kind: str = ""
    message: str = ""


class Reply(msgspec.Struct, array_like=True, forbid_unknown_fields=True):
    """A worker's answer to one frame; with a `kind` the whole worker is ending, whatever the steps say."""

    kind: str
    message: str
    steps: list[WireStep]


class ProtocolError(Exception):
    """Bytes that are not an answer."""


_reply_decoder = msgspec.json.Decoder(Reply)
_info_decoder = msgspec.json.Decoder(dict[str, Any])
NO_INFO = b"{}"
_UNDECODABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


def pack(payload: bytes) -> bytes:
    """A payload with its length in front."""
    return HEADER.pack(len(payload)) + payload


def read_exactly(descriptor: int, size: int) -> bytes:
    """`size` bytes of a blocking pipe; EOFError when it was closed before."""
    chunks: list[bytes] = []
    while size:
        chunk = os.read(descriptor, size)
        if not chunk:
            raise EOFError
        chunks.append(chunk)
        size -= len(chunk)
    return b"".join(chunks)


def read_frame(descriptor: int) -> bytes:
    """The next payload of a blocking pipe."""
    return read_exactly(descriptor, HEADER.unpack(read_exactly(descriptor, HEADER.size))[0])


def write_frame(descriptor: int, payload: bytes) -> None:
    """Write a payload to a blocking pipe."""
    view = memoryview(pack(payload))
    while view:
        view = view[os.write(descriptor, view) :]


def reply_bytes(items: int, limits: Limits) -> int:
    """The most bytes an honest answer to `items` calls can have."""
    one = TEXT_EXPANSION * (limits.obs_chars + limits.message_chars) + limits.info_bytes + 256
    return items * one + TEXT_EXPANSION * limits.message_chars + 256


def decode_reply(payload: bytes, expected: list[int], limits: Limits) -> tuple[EnvError | None, list[Step]]:
    """A worker's answer, checked field by field: (fatal error, None while it goes on; one step an expected instance).

    Raises ProtocolError for anything an honest worker would not write.
    """
    try:
        reply = _reply_decoder.decode(payload)
    except _UNDECODABLE as error:
        raise ProtocolError(f"undecodable answer: {error}") from None
    if reply.kind:
        fatal = error_of(kind_named(reply.kind), reply.message[: limits.message_chars])
        return fatal, []
    if [step.instance for step in reply.steps] != expected:
        raise ProtocolError("the answer names other instances than the question")
    return None, [_checked(step, limits) for step in reply.steps]


def kind_named(text: str) -> ErrorKind:
    """The kind a worker names. Raises ProtocolError for one that does not exist, or that it may not say."""
    try:
        kind = ErrorKind(text)
    except ValueError:
        raise ProtocolError("unknown kind of error") from None
    if kind in HOST_KINDS:
        raise ProtocolError("a worker cannot blame the host")
    return kind


def _checked(wire: WireStep, limits: Limits) -> Step:
    if wire.kind:
        return failed(wire.instance, kind_named(wire.kind), wire.message[: limits.message_chars])
    observation, reward, text = wire.observation, wire.reward, bytes(wire.info)
    if len(observation) > limits.obs_chars or not -limits.abs_reward <= reward <= limits.abs_reward:
        raise ProtocolError("an answer outside the limits")
    return Step(
        instance=wire.instance, observation=observation, reward=reward, terminated=wire.terminated,
        truncated=wire.truncated, info={} if text == NO_INFO else _info(text, limits),
    )  # fmt: skip


def _info(text: bytes, limits: Limits) -> dict[str, Any]:
    """The worker has checked its size too, but a program can take the worker's place."""
    if len(text) > limits.info_bytes:
        raise ProtocolError("an info outside the limits")
    try:
        info: dict[str, Any] = _info_decoder.decode(text)
    except _UNDECODABLE as error:
        raise ProtocolError(f"undecodable info: {error}") from None
    if len(text) > INFO_DEPTH and too_deep(text):
        raise ProtocolError("an info outside the limits")
    return info


def too_deep(text: bytes) -> bool:
    """Whether JSON is nested deeper than `INFO_DEPTH`. Seldom needs a second look."""
    if text.count(b"{") + text.count(b"[") <= INFO_DEPTH:
        return False
    try:
        return nested_too_deep(msgspec.json.decode(text))
    except RecursionError:
        return True


def nested_too_deep(value: object) -> bool:
    """Whether decoded JSON is nested deeper than `INFO_DEPTH`."""
    level: list[Any] = [value]
    for _ in range(INFO_DEPTH + 1):
        inner = [part.values() if type(part) is dict else part for part in level if type(part) in (dict, list)]
        level = [part for parts in inner for part in parts]
    return bool(level)
