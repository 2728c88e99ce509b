import pytest

from spadework.tasks.tex_text import repaired, tidied


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("\\(\\mathbf{70}\\)", "70"), ("$70$.", "70"), ("**70**", "70"), ("{{70}}", "{{70}}"), ("{70}", "70"),
        ("\\text{17}", "17"), ("7{0}", "70"), ("1{,}510", "1,510"), ("1\\,250", "1250"), ("8\\,21", "8 21"),
        ("\\frac12", "\\frac{1}{2}"), ("\\dfrac{72}1", "\\frac{72}{1}"), ("\\frac1{72}", "\\frac{1}{72}"),
        ("\\frac{1}{\\frac12}", "\\frac{1}{\\frac{1}{2}}"), ("5\\sqrt(3)", "5\\sqrt{3}"), ("10\u00b2", "10^{2}"),
        ("70^{\\circ}", "70"), ("70\u00b0", "70"), ("588 \\text{ square units}", "588"), ("70\\text{ cm}^2", "70"),
        ("9 ways", "9"), ("40 km/h", "40"), ("70 \\text{m}", "70"), ("\\$2,560.00", "2,560.00"), ("70 degrees", "70"),
        ("\\text{Answer: }70", "70"), ("70 \\pmod{1000}", "70"), ("\\boxed{279}", "279"), ("\u221270", "-70"),
    ],
)  # fmt: skip
def test_dress_and_units_come_off(text: str, plain: str) -> None:
    assert tidied(text).text == plain


@pytest.mark.parametrize(
    "text",
    ["70x", "70 m", "5.1 million", "7\\text{ million}", "5 sqrt(3)", "70 or 71", "x^{70}", "100\\pi", "70 is wrong"],
)
def test_what_changes_the_value_stays(text: str) -> None:
    left = tidied(text).text
    assert left.split()[1:] or left == text


@pytest.mark.parametrize("text", ["45\\%", "45 %", "45\\text{ percent}", "45 percent"])
def test_percent_is_taken_off_and_told(text: str) -> None:
    assert tidied(text)[:2] == ("45", True)


def test_a_form_feed_that_was_meant_as_tex_is_read_as_tex() -> None:
    """Report P014."""
    assert repaired("\x0crac35") == "\\frac35" and repaired("\x08oxed{7}") == "\\boxed{7}"
