"""The exceptions this house raises, and the exit codes of its command.

    SpadeworkError
    ├── InputError        what a user wrote is wrong: one sentence with the remedy (exit 2)
    ├── CannotTell        the evidence does not suffice for a verdict (exit 3)
    ├── IncompleteError   a cell could not be computed (exit 4)
    ├── VerdictFailed     something was checked before the work and must not be used (exit 1)
    └── TrainingStopped   a run stopped by its own rule, state saved (exit 1)

`assert` is for what we broke, these classes for everything else.
"""

from difflib import get_close_matches
from enum import IntEnum
from typing import Iterable


class ExitCode(IntEnum):
    """One meaning for every verb."""

    OK = 0
    VERDICT_FAIL = 1
    WRONG_INPUT = 2
    CANNOT_TELL = 3
    INCOMPLETE = 4
    INTERRUPTED = 130


class SpadeworkError(Exception):
    """Base of everything we raise on purpose."""

    exit_code = ExitCode.VERDICT_FAIL


class InputError(SpadeworkError):
    """A wrong key, path or file. The message is one sentence that ends with the remedy."""

    exit_code = ExitCode.WRONG_INPUT


class CannotTell(SpadeworkError):
    """The data do not allow a verdict."""

    exit_code = ExitCode.CANNOT_TELL


class IncompleteError(SpadeworkError):
    """Something that should have been measured was not."""

    exit_code = ExitCode.INCOMPLETE


class VerdictFailed(SpadeworkError):
    """A check that goes before the work has failed, so the work was not begun."""


class TrainingStopped(SpadeworkError):
    """A run ended itself (for example three windows without a valid program)."""


def nearest(name: str, known: Iterable[str]) -> str:
    """` (did you mean 'x'?)`, or an empty string when nothing is near."""
    matches = get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f" (did you mean {matches[0]!r}?)" if matches else ""
