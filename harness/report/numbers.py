"""Numbers as text for people: one way in the whole report. Pure."""

import math
import re

from ..numbers import MINUS

EXPONENT = re.compile(r"e([+-])0*(\d)")


def percent(share: float, digits: int = 1) -> str:
    """A share in percent, without the sign."""
    return _minus(f"{100 * share:.{digits}f}")


def amount(value: float) -> str:
    """A whole number with separators; a fraction with three digits that count."""
    if not math.isfinite(value):
        return "–"
    if float(value).is_integer() and abs(value) < 1e15:
        return _minus(f"{int(value):,}")
    if abs(value) >= 1000:
        return _minus(f"{value:,.0f}")
    return _minus(EXPONENT.sub(r"e\1\2", f"{value:.3g}"))


def _minus(text: str) -> str:
    return text.replace("-", MINUS)
