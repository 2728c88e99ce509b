"""Differences and probabilities as people read them: one way for tables, comparisons, gates and reports. Pure."""

MINUS = "\u2212"


def signed(value: float, *, percent: bool) -> str:
    """A difference with its sign: one decimal in percentage points, two otherwise."""
    text = f"{100 * value:+.1f}" if percent else f"{value:+.2f}"
    return text.replace("-", MINUS) if float(text) else text.lstrip("+-")


def p_text(p: float) -> str:
    """`< .001`, or `= .012`."""
    return "< .001" if p < 0.001 else f"= {p:.3f}".replace("0.", ".", 1)
