"""What a program owes: a class with `reset` and `step`, and answers of the right shape, type, size and range.

Runs in the jailed interpreter. Every check names what was wrong and how to write it right; it looks at types only with
`type(...) is`, because a program's own classes may say anything of themselves.
"""

import inspect
import math
from typing import Any, Mapping

import msgspec

from .frames import INFO_DEPTH, too_deep
from .limits import ErrorKind, Limits
from .namespace import environment_class

EMPTY_INFO = msgspec.Raw(b"{}")
Wire = tuple[Any, ...]
"""A `Step` as it is written, see `frames.WireStep`."""

_encode = msgspec.json.Encoder().encode
_SIGNATURES: tuple[tuple[str, dict[str, object], tuple[object, ...], str], ...] = (
    ("reset", {"seed": 0}, (), "def reset(self, seed=None):"),
    ("step", {}, ("",), "def step(self, action):"),
)


class ContractError(Exception):
    """The program answered otherwise than it must; the message says how to write it right."""

    def __init__(self, message: str, kind: ErrorKind = ErrorKind.CONTRACT) -> None:
        super().__init__(message)
        self.kind = kind


def class_of(names: Mapping[str, Any]) -> str:
    """The name of the environment class among a module's names. Raises ContractError."""
    name = environment_class(names)
    if name is None:
        raise ContractError("no class whose name ends in Env is defined: write `class NameEnv:`")
    for method, named, positional, wanted in _SIGNATURES:
        function = getattr(names[name], method, None)
        if not callable(function):
            raise ContractError(f"{name} has no {method}: write `{wanted}`")
        try:
            inspect.signature(function).bind(None, *positional, **named)
        except (TypeError, ValueError):
            raise ContractError(f"the signature must be `{wanted}`") from None
    return name


def reset_answer(number: int, answer: Any, limits: Limits) -> Wire:
    """What `reset` returned, as it is written. Raises ContractError."""
    if type(answer) is not tuple or len(answer) != 2:
        raise ContractError(f"reset must return (observation, info), not {_shape(answer)}")
    return _checked(number, (answer[0], 0.0, False, False, answer[1]), limits)


def step_answer(number: int, answer: Any, limits: Limits) -> Wire:
    """What `step` returned, as it is written. Raises ContractError."""
    if type(answer) is not tuple or len(answer) != 5:
        raise ContractError(
            f"step must return (observation, reward, terminated, truncated, info), not {_shape(answer)}"
        )
    return _checked(number, answer, limits)


def _checked(number: int, answer: tuple[Any, ...], limits: Limits) -> Wire:
    text, reward, terminated, truncated, info = answer
    if type(text) is not str:
        raise ContractError(f"an observation must be a str, not {type(text).__name__}", ErrorKind.OBSERVATION)
    if len(text) > limits.obs_chars:
        too_long = f"an observation of {len(text)} characters is longer than {limits.obs_chars}"
        raise ContractError(too_long, ErrorKind.OBSERVATION)
    if not text.isascii():
        _encodable(text)
    if type(reward) is not float and type(reward) is not int:
        wrong = f"a reward must be an int or a float, not {type(reward).__name__}: write float(reward)"
        raise ContractError(wrong, ErrorKind.REWARD)
    if not -limits.abs_reward <= reward <= limits.abs_reward:
        raise ContractError(f"a reward must be a finite number within +-{limits.abs_reward:g}", ErrorKind.REWARD)
    if type(terminated) is not bool or type(truncated) is not bool:
        raise ContractError("terminated and truncated must be bool: write bool(...)")
    return (number, text, reward, terminated, truncated, _info(info, limits))


def _info(info: Any, limits: Limits) -> msgspec.Raw:
    if type(info) is not dict:
        raise ContractError(f"info must be a dict, not {type(info).__name__}", ErrorKind.INFO)
    if not info:
        return EMPTY_INFO
    try:
        raw = _encode(info)
    except (TypeError, ValueError, RecursionError, OverflowError):
        raise ContractError("info must hold plain JSON values", ErrorKind.INFO) from None
    if len(raw) > limits.info_bytes:
        raise ContractError(f"info of {len(raw)} bytes is larger than {limits.info_bytes}", ErrorKind.INFO)
    if too_deep(raw):
        raise ContractError(f"info is nested more than {INFO_DEPTH} levels deep", ErrorKind.INFO)
    if b"null" in raw and _infinite(info):
        raise ContractError("info must hold finite numbers; JSON has no NaN and no infinity", ErrorKind.INFO)
    return msgspec.Raw(raw)


def _infinite(value: Any) -> bool:
    """Whether a number in it is written as null. It is not deep: that was looked at before."""
    if type(value) is dict:
        return any(map(_infinite, value.values()))
    if type(value) in (list, tuple):
        return any(map(_infinite, value))
    return type(value) is float and not math.isfinite(value)


def _encodable(text: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise ContractError("an observation must not hold lone surrogates", ErrorKind.OBSERVATION) from None


def _shape(answer: Any) -> str:
    return f"{len(answer)} values" if type(answer) is tuple else type(answer).__name__
