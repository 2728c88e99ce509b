from fractions import Fraction

import pytest

from spadework.tasks.tex_numbers import TooLarge, Undefined, exact


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1,250", 1250), ("1,234,567.5", Fraction(2469135, 2)), ("072", 72), ("72.0", 72), ("72.", 72), (".5", 0.5),
        ("1/2", 0.5), ("\\frac{1}{2}", 0.5), ("\\frac{140}{2}", 70), ("3\\frac{1}{2}", 3.5), ("2\\frac{140}{2}", 140),
        ("2(35)", 70), ("-2^2", -4), ("2^-2", 0.25), ("2^{10}", 1024), ("2**10", 1024), ("2^2^3", 256), ("10^2", 100),
        ("1.5 \\times 10^3", 1500), ("1e2", 100), ("5!", 120), ("\\binom{5}{2}", 10), ("\\sqrt{4900}", 70), ("0^0", 1),
        ("4^{1/2}", 2), ("3 \\cdot (2+1)", 9), ("{70}", 70), ("--2", 2), ("(-1)^{9999999999}", -1),
    ],
)  # fmt: skip
def test_arithmetic_is_exact(text: str, value: float | Fraction) -> None:
    assert exact(text) == value


@pytest.mark.parametrize(
    "text",
    ["", "x", "16, 17", "12,34", "1,2345", "(1,250)", "7 0", "\\sqrt{2}", "5+", "((1", "1ex", "2\\pi", "nan", "=", "+"],
)
def test_what_is_no_plain_arithmetic_is_left_alone(text: str) -> None:
    assert exact(text) is None


@pytest.mark.parametrize(
    "text",
    ["9^{9^{9^{9}}}", "2^{100000}", "1e99999", "100000!", "9" * 30_000, "\\binom{99999}{5}", "2^{15000}*2^{15000}"],
)
def test_a_number_that_nobody_computes_is_refused_at_once(text: str) -> None:
    """Report P018."""
    with pytest.raises(TooLarge):
        exact(text)


@pytest.mark.parametrize("text", ["1/0", "\\frac{1}{1-1}", "0^{-1}", "(-4)^{1/2}"])
def test_a_division_by_zero_has_no_value(text: str) -> None:
    with pytest.raises(Undefined):
        exact(text)


@pytest.mark.parametrize("piece", ["(", "2^", "1+", "-", "\\frac{", "!", "{"])
def test_long_junk_ends_quickly(piece: str) -> None:
    assert exact(piece * 5_000 + "1") in (None, 5_001, 1)
