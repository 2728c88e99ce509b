r"""Tidies an answer as models write it: dress, spaces, units and lead-ins off, TeX shorthand written out.

`\(\mathbf{70}\)`, `70^\circ`, `\text{70}`, `$70$ square units`, `m + n = 70` all come out as `70`. Pure text; what the
result is worth is decided elsewhere (`tex_numbers`, `math_answers`).
"""

import re
from typing import NamedTuple

_UNICODE = str.maketrans(
    {
        **{chr(0xFF10 + digit): str(digit) for digit in range(10)},
        **dict.fromkeys("\u2212\u2013\u2014\u2012\uff0d\ufe63\u2010\u2011", "-"),
        **dict.fromkeys("\u00a0\u2009\u202f\u2007\u2002\u2003\u200a\u3000\t", " "),
        "\u00d7": "\\times ", "\u22c5": "\\cdot ", "\u00b7": "\\cdot ", "\u2219": "\\cdot ", "\u00f7": "\\div ",
        "\u2044": "/", "\u2215": "/", "\u00b0": "^\\circ ", "\u00ba": "^\\circ ", "\uff05": "%", "\u03c0": "\\pi ",
        "\u221e": "\\infty ", "\u221a": "\\sqrt", "\uff0c": ",", "\uff0e": ".", "\uff08": "(", "\uff09": ")",
        "\uff1d": "=", "\u00bd": "\\frac{1}{2}", "\u00bc": "\\frac{1}{4}", "\u00be": "\\frac{3}{4}", "\u200b": "",
        "\u2264": "\\le ", "\u2265": "\\ge ", "\u00b1": "\\pm ", "\u222a": "\\cup ", "\ufeff": "",
    }
)  # fmt: skip
_SUPERSCRIPTS = "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079"
_RAISED = re.compile(f"[\u207b]?[{_SUPERSCRIPTS}]+")
_ESCAPES = (
    (re.compile("\x0c(?=rac)"), r"\\f"),
    (re.compile("\x08(?=oxed|inom|f\\b)"), r"\\b"),
    (re.compile("\t(?=ext|frac|imes|heta)"), r"\\t"),
)
r"""`\frac` in a string whose writer forgot that Python reads `\f` as a form feed."""
_END = r"(?![A-Za-z])"
_SIZES = rf"\\(?:left|right|displaystyle|textstyle|limits|[bB]ig[lr]?){_END}"
_MATHS = re.compile(rf"\\[()\[\]!]|(?<!\\)\$|\*\*(?=\W|$)|(?<!\S)\*\*|{_SIZES}")
_SPACES = re.compile(rf"\\(?:[,;: ]|(?:q?quad|thinspace|enspace){_END})|~")
_WORDS = re.compile(r"\\(?:text(?:rm|bf|it|sf|normal|md|up)?|mbox|mathrm|operatorname\*?)\s*\{([^{}\\]*)\}")
_FONTS = "text(?:rm|bf|it|sf|normal)?|math(?:rm|bf|it|sf|tt|bb|cal)|boldsymbol|bm|boxed|fbox|mbox|bf|rm|it|underline"
_FONT = re.compile(rf"\\(?:{_FONTS}){_END}")
_SHORT = re.compile(r"\\(?:[dtc]?frac)\s*")
_ARGUMENT = re.compile(r"\s*(?:(\d)|([A-Za-z])|(\\[A-Za-z]+))")
_ROOT = re.compile(r"\\sqrt\s*(?:\(([^()]*)\)|(\d|[A-Za-z](?![A-Za-z])))")
_DEGREES = re.compile(r"\s*(?:\^\s*\{?\s*\\circ\s*\}?|\\degrees?(?![A-Za-z]))")
_PERCENT = re.compile(r"\s*\\?%\s*$|[\s\u27e6]*per\s?cent[\s\u27e7]*$")
_MODULUS = re.compile(r"\s*(?:\\pmod\s*\{\s*\d+\s*\}|\(\s*(?:\\bmod|\\mod|mod)\s*\d+\s*\))\s*$")
_UNIT = re.compile(r"(?<=[\d)}!%])[\s\u27e6]+[A-Za-z][A-Za-z /.\u27e6\u27e7'-]*(?:\^\{?-?\d\}?)?[\s\u27e6\u27e7.]*$")
_GROUPED = re.compile(r"-?\d{1,3}(?: \d{3})+(?:\.\d+)?")
_LEAD = re.compile(
    r"(?i)^[\u27e6\s]*(?:(?:so|thus|therefore)\s+)?(?:the\s+)?(?:final\s+)?answer(?:\s+is|\s*[:=])[\s:\u27e7]*"
)
_CURRENCY = re.compile(r"^(?:\\\$|[\u20ac\u00a3\u00a5]|USD\s)\s*")
NO_UNITS = frozenset(
    "or and not no none million thousand hundred billion trillion dozen sqrt root pi exp ln log sin cos tan cot sec "
    "csc arcsin arccos arctan sinh cosh tanh mod choose factorial plus minus times over divided squared cubed half "
    "halves third thirds quarter quarters infinity inf nan undefined about above below less more least most wrong "
    "incorrect impossible unknown".split()
)
"""Words after a number that change it or take it back; any other word is a unit or the things that are counted."""


class Tidied(NamedTuple):
    """The answer without its dress, and what was taken off that carries meaning."""

    text: str
    percent: bool
    units: bool


def repaired(text: str) -> str:
    r"""Control characters that were meant as TeX (`\x0crac` for `\frac`) as TeX again."""
    for pattern, meant in _ESCAPES:
        text = pattern.sub(meant, text)
    return text


def tidied(text: str) -> Tidied:
    """The text in one plain form. Linear but for nested braces; callers bound the length."""
    text = repaired(text).translate(_UNICODE)
    text = _RAISED.sub(lambda match: "^{" + _lowered(match.group()) + "}", text).replace("\n", " ")
    text = _SPACES.sub(" ", _MATHS.sub("", text).replace("\\$", "\\$ "))
    text = _WORDS.sub(_worded, text).replace("{,}", ",")
    text = _spelt_out(_FONT.sub("", text))
    text = _CURRENCY.sub("", _LEAD.sub("", text.strip()))
    text = re.sub(r"(?<=\d)\{(\d+)\}", _joined, text)
    return _measured(re.sub(r"\s+", " ", text).strip())


def _measured(text: str) -> Tidied:
    """Units, degrees, percent and a modulus off the end."""
    text = _MODULUS.sub("", text.rstrip("., "))
    bare = text if re.search(r"\\(?:sin|cos|tan)", text) else _DEGREES.sub("", text)
    percent = _PERCENT.search(bare) is not None
    bare = _without_unit(_PERCENT.sub("", bare))
    units = not percent and bare != text
    bare = bare.replace("\u27e6", " ").replace("\u27e7", " ").strip()
    while bare.startswith("{") and bare.endswith("}") and "{" not in bare[1:-1] and "}" not in bare[1:-1]:
        bare = bare[1:-1].strip()
    if _GROUPED.fullmatch(bare):
        bare = bare.replace(" ", "")
    return Tidied(bare.rstrip("., "), percent, units)


def _without_unit(text: str) -> str:
    r"""A single letter is a unit in `\text{}` and after a stroke; elsewhere it is a variable."""
    unit = _UNIT.search(text)
    if unit is None:
        return text
    words = re.findall(r"/?[A-Za-z]+", unit.group())
    lettered = "\u27e6" in unit.group() or all(len(word) > 1 for word in words)
    known = NO_UNITS.intersection(word.strip("/").lower() for word in words)
    return text[: unit.start()].rstrip() if lettered and not known and len(words) <= 5 else text


def _worded(match: re.Match[str]) -> str:
    """Words in `\\text{}` are marked as such; numbers and single letters in it are what they are."""
    inner = match.group(1)
    marked = re.search(r"[A-Za-z]", inner) and not re.search(r"\d", inner)
    single = len(inner.strip()) == 1 and match.group().startswith(("\\mathrm", "\\operatorname"))
    return f"\u27e6{inner}\u27e7" if marked and not single else " " + inner + " " if inner != inner.strip() else inner


def _lowered(raised: str) -> str:
    return "".join("-" if sign == "\u207b" else str(_SUPERSCRIPTS.index(sign)) for sign in raised)


def _joined(match: re.Match[str]) -> str:
    """`7{0}` is 70, as TeX prints it; not after a command or an exponent, where the braces are an argument."""
    before = re.split(r"[^\d]", match.string[: match.start()])[-1]
    lead = match.string[: match.start() - len(before)].rstrip()
    return match.group() if lead.endswith(("^", "_", "}")) or re.search(r"\\[A-Za-z]+$", lead) else match.group(1)


def _spelt_out(text: str) -> str:
    r"""`\frac12`, `\dfrac{1}2`, `\tfrac1{72}` as `\frac{1}{2}`; `\sqrt(3)` and `\sqrt3` as `\sqrt{3}`."""
    text = _ROOT.sub(lambda match: "\\sqrt{" + (match.group(1) or match.group(2) or "") + "}", text)
    pieces: list[str] = []
    position = 0
    for match in _SHORT.finditer(text):
        if match.start() < position:
            continue
        pieces.append(text[position : match.start()] + "\\frac")
        position = match.end()
        for _ in range(2):
            argument = _ARGUMENT.match(text, position)
            if argument is None:
                break
            pieces.append("{" + argument.group().strip() + "}")
            position = argument.end()
        else:
            continue
        if pieces[-1].endswith("\\frac"):
            position = _second(text, position, pieces)
    return "".join([*pieces, text[position:]])


def _second(text: str, position: int, pieces: list[str]) -> int:
    r"""`\frac{72}1`: the argument in braces is kept, a single sign after it gets its own. Returns where it ends."""
    group = re.compile(r"\s*(\{[^{}]*\})\s*(?=(\d|[A-Za-z])|)").match(text, position)
    if group is None:
        return position
    pieces.append(group.group(1))
    if not group.group(2):
        return group.end()
    pieces.append("{" + group.group(2) + "}")
    return group.end() + 1
