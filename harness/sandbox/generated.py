"""Code that the standard library writes for a class is compiled once a worker, not once an execution of the module.

`dataclass` and `namedtuple` write source text and compile it; in "module" isolation a program is executed for every
instance, and its classes give the same text each time. Nothing that a program can see changes.
"""

import collections
import dataclasses
from functools import lru_cache
from types import CodeType
from typing import Any

REMEMBERED = 512
"""Texts; a program has a few for each of its classes."""


@lru_cache(REMEMBERED)
def _compiled(text: str, mode: str) -> CodeType:
    code: CodeType = compile(text, "<string>", mode, dont_inherit=True)
    return code


def _exec(text: str, globals: dict[str, Any] | None = None, locals: dict[str, Any] | None = None) -> None:
    exec(_compiled(text, "exec"), vars(dataclasses) if globals is None else globals, locals)


def _eval(text: str, globals: dict[str, Any] | None = None, locals: dict[str, Any] | None = None) -> Any:
    return eval(_compiled(text, "eval"), vars(collections) if globals is None else globals, locals)


def remember() -> None:
    """From now on. After the facades are made, so that they do not show the two names."""
    vars(dataclasses)["exec"] = _exec
    vars(collections)["eval"] = _eval
