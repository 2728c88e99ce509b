"""Is what came out what was wanted? The comparisons of the official grader (lcb_runner at 28fef95), and a fairer one.

Pure functions of texts and JSON values. "official": lines are stripped and compared as texts, else as lists of exact
decimal numbers; values of functions by Python's equality. "corrected": numbers that are written with a point
may be missed by 1e-6, relatively or absolutely, as contests allow.
"""

import json
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from math import isclose
from typing import Any

TOLERANCE = 1e-6
Equal = Callable[[str, str], bool]
"""Of one line that was written and one that was wanted, which are not the same text."""


def same_output(written: str, wanted: str, tolerant: bool) -> bool:
    """Whether a program wrote what was wanted."""
    ours, theirs = _lines(written), _lines(wanted)
    equal = _near_line if tolerant else _equal_line
    return len(ours) == len(theirs) and all(a == b or equal(a, b) for a, b in zip(ours, theirs))


def same_value(value: Any, wanted: str, tolerant: bool) -> bool:
    """Whether a function returned what was wanted, which is JSON text."""
    expected = json.loads(wanted)
    return _near(value, expected) if tolerant else bool(value == expected)


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.strip().split("\n")]


def _equal_line(ours: str, theirs: str) -> bool:
    try:
        return [Decimal(word) for word in ours.split()] == [Decimal(word) for word in theirs.split()]
    except (InvalidOperation, ValueError):
        return False


def _near_line(ours: str, theirs: str) -> bool:
    written, wanted = ours.split(), theirs.split()
    return len(written) == len(wanted) and all(a == b or _near_word(a, b) for a, b in zip(written, wanted))


def _near_word(ours: str, theirs: str) -> bool:
    """Whole numbers must be equal, whatever their size; one with a point that is wanted may be missed by a little."""
    try:
        a, b = Decimal(ours), Decimal(theirs)
        if a == b:
            return True
        return "." in theirs and b.is_finite() and _close(float(a), float(b))
    except (InvalidOperation, ValueError, OverflowError):
        return False


def _near(value: Any, expected: Any) -> bool:
    if isinstance(expected, float) and isinstance(value, (int, float)) and not isinstance(value, bool):
        return _close(value, expected)
    if isinstance(expected, list) and isinstance(value, list):
        return len(value) == len(expected) and all(_near(a, b) for a, b in zip(value, expected))
    if isinstance(expected, dict) and isinstance(value, dict):
        return value.keys() == expected.keys() and all(_near(value[key], expected[key]) for key in expected)
    return bool(value == expected)


def _close(a: float, b: float) -> bool:
    try:
        return isclose(a, b, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    except OverflowError:
        return False
