"""What runs in the jail: math-verify on one pair of answers, with checks where it is known to be wrong.

It reads boxes only, so that no text is graded by a number somewhere in it, and it believes no equality of numbers that
their values deny (math-verify compares to an absolute distance: 2^{-80} equals 2^{-79} there). Imported and warmed up
by `math_judge`; it needs the packages math-verify and sympy, and knows no limits of its own.
"""

import importlib
import pkgutil
import re
from typing import Any

import sympy
from math_verify import LatexExtractionConfig, parse, verify

_BOX = [LatexExtractionConfig(boxed_match_priority=0, try_extract_without_anchor=False)]
_FUNCTIONS = re.compile(r"(?<![A-Za-z\\])(sin|cos|tan|cot|sec|csc|arcsin|arccos|arctan|log|ln|exp|sqrt)\s*\(")
_DIGITS = 30
_PARTS = (
    "calculus", "concrete", "core", "functions", "integrals", "logic", "matrices", "ntheory", "polys", "series",
    "sets", "simplify", "solvers", "tensor", "utilities",
)  # fmt: skip
"""Of sympy: what expressions of contest mathematics may reach."""


def compare(gold: str, answer: str) -> dict[str, bool]:
    """Whether each side is an expression, and whether they are equal; `answer` may be written as a program would."""
    wanted, given = _expressions(gold), _expressions(answer)
    if wanted and not given:
        given = _expressions(as_tex(answer))
    equal = _equal(wanted, given) or _equal(wanted, _expressions(as_tex(answer)))
    return {"gold": bool(wanted) and _equal(wanted, wanted), "answer": bool(given), "equal": equal}


def official(gold: str, answer: str | None) -> bool:
    """The verdict of math-verify alone on two texts put into boxes, as SPADE's suite calls it."""
    pair = [parse(f"\\boxed{{{text}}}", parsing_timeout=None) for text in (gold, answer)]
    return bool(verify(*pair, timeout_seconds=None))


def warm() -> None:
    """Use once, before the jail shuts, what sympy and its parser import or read only when it is used."""
    pairs = (
        ("\\frac{7\\pi}{6}", "7pi/6"), ("e^{9}-1", "-1 + exp(9)"), ("14-2i", "14.0 + -2.0i"), ("\\{2,5\\}", "5, 2"),
        ("(0, 8.5)", "0 < x < 8.5"), ("\\sqrt{50}", "5\\sqrt{2}"), ("10", "\\log_2 1024"), ("x^2+2x+1", "(x+1)^2"),
        ("2x-5y+7=0", "6x+y+9=0"), ("\\begin{pmatrix}1\\\\2\\end{pmatrix}", "\\begin{pmatrix}1\\\\3\\end{pmatrix}"),
        ("\\sin^2 x+\\cos^2 x", "1"), ("\\int_0^1 x dx", "\\frac{1}{2}"), ("\\sum_{n=1}^{10} n", "55"),
        ("[1,2) \\cup (3,\\infty)", "x"), ("\\frac{1}{3}", "0.333333"), ("5!", "\\binom{9}{2}"),
        ("|x|", "\\lfloor x \\rfloor"),
        ("y = 3", "\\text{no}"), ("\\tan 1", "\\arctan 1"), ("2^{\\sqrt{2}}", "\\ln 3"), ("\\infty", "-\\infty"),
    )  # fmt: skip
    for part in _PARTS:
        package = importlib.import_module(f"sympy.{part}")
        for module in pkgutil.walk_packages(getattr(package, "__path__", ()), f"sympy.{part}."):
            if not {"tests", "benchmarks"}.intersection(module.name.split(".")):
                importlib.import_module(module.name)
    for gold, answer in pairs:
        compare(gold, answer)
        official(gold, answer)


def as_tex(text: str) -> str:
    """An expression in a program's or a calculator's notation as TeX: `7pi/6`, `exp(9)`, `2*x**2`, `sqrt(3)`."""
    text = re.sub(r"(?<![A-Za-z\\])(\d*)\s*pi(?![A-Za-z])", r"\1\\pi ", text).replace("**", "^")
    text = re.sub(r"\^\(([^()]*)\)", r"^{\1}", text).replace("*", " \\cdot ")
    while (match := _FUNCTIONS.search(text)) is not None:
        end = _closing(text, match.end())
        inner, rest = text[match.end() : end], text[end + 1 :]
        shape = {"exp": "e^{%s}", "sqrt": "\\sqrt{%s}"}.get(match.group(1), f"\\{match.group(1)}(%s)")
        text = text[: match.start()] + shape.replace("%s", inner) + rest
    return re.sub(r"\+\s*-", "-", text)


def _closing(text: str, start: int) -> int:
    depth = 1
    for position in range(start, len(text)):
        depth += (text[position] == "(") - (text[position] == ")")
        if depth == 0:
            return position
    return len(text)


def _expressions(text: str) -> list[Any]:
    """What math-verify reads in the text; empty where it reads no expression at all."""
    found = parse(f"\\boxed{{{text}}}", extraction_config=_BOX, parsing_timeout=None)
    return [one for one in found if not isinstance(one, str)]


def _equal(wanted: list[Any], given: list[Any]) -> bool:
    if not wanted or not given:
        return False
    same = verify(wanted, given, timeout_seconds=None, allow_set_relation_comp=True)
    if not (same or _difference_is_nothing(wanted[0], given[0])):
        return False
    return all(_same_size(one, other) for one in wanted for other in given)


def _difference_is_nothing(one: Any, other: Any) -> bool:
    """math-verify compares no single variable with an expression: x is 2x - x all the same."""
    plain = isinstance(one, sympy.Expr) and isinstance(other, sympy.Expr)
    return plain and bool(one.free_symbols | other.free_symbols) and sympy.simplify(one - other) == 0


def _same_size(one: Any, other: Any) -> bool:
    """Two numbers must agree in their leading digits too: five where one was written as a decimal, else twelve."""
    numbers = [_number(side) for side in (one, other)]
    if None in numbers:
        return True
    decimal = any(side.has(sympy.Float) for side in (one, other))
    distance, size = abs(numbers[0] - numbers[1]), max(map(abs, numbers))
    return bool(distance <= size * (1e-5 if decimal else 1e-12))


def _number(side: Any) -> Any:
    """The value of a closed expression, of the right side of `x = 70` too; None for anything else."""
    if isinstance(side, sympy.Eq) and side.lhs.is_Symbol:
        side = side.rhs
    if not isinstance(side, sympy.Expr) or side.free_symbols:
        return None
    value = side.doit().evalf(_DIGITS)
    return value if value.is_number and value.is_finite else None
