r"""Judges answers to mathematical questions: which span is the answer, and whether it equals the gold one.

Exact arithmetic decides first, both ways; only what needs algebra is left to a `Comparer` (math-verify in a jailed
process, see `math_judge`). The policy says more than the comparer where that one is known to be wrong: 12 % is 0.12 and
not 12, unless the question asks for an integer; rounding is by significant digits, never by an absolute distance, so
2^{-80} is not 2^{-79}; a tower of powers is wrong and is never computed. Pure.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from ..harness.boxed import last_box
from ..harness.types import Outcome
from .tex_numbers import TooLarge, Undefined, exact
from .tex_text import Tidied, repaired, tidied

LONGEST = 2_000
"""Characters of an answer that are looked at; a longer one is wrong."""
TOO_LARGE = "timeout: the answer is a number too large to compute"


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """What one answer is worth: right, wrong, no_answer, or scorer_error where the gold answer is at fault."""

    outcome: Outcome
    extracted: str | None
    detail: str = ""
    """Why, and what the policy did: "unboxed", "percent_normalised", "timeout: ..."."""


class Comparer(Protocol):
    """Compares two expressions in TeX by algebra."""

    def compare(self, gold: str, answer: str) -> tuple[Outcome, str]:
        """RIGHT, WRONG or SCORER_ERROR, and why. From any thread."""
        ...


class NoComparer:
    """Judges without algebra: what arithmetic cannot decide is a scorer error, never a guess."""

    def compare(self, gold: str, answer: str) -> tuple[Outcome, str]:
        """Always SCORER_ERROR."""
        return Outcome.SCORER_ERROR, "this answer needs algebra, and no comparer was given"


def judge(said: str, gold: object, comparer: Comparer, integers: bool = False) -> Verdict:
    """The verdict on what a model said (thinking removed). `integers`: the question asks for an integer."""
    extracted, how = final_answer(said)
    return judge_extracted(extracted, gold, comparer, integers, how)


def judge_extracted(
    extracted: str | None, gold: object, comparer: Comparer, integers: bool = False, how: str = ""
) -> Verdict:
    """The verdict on an answer that was extracted earlier."""
    wanted = gold_text(gold)
    if wanted is None:
        return Verdict(outcome=Outcome.SCORER_ERROR, extracted=extracted, detail="gold_unparsable")
    if extracted is None:
        return Verdict(outcome=Outcome.NO_ANSWER, extracted=None)
    if len(extracted) > LONGEST:
        outcome, why = Outcome.WRONG, f"longer than {LONGEST} characters"
    else:
        decided = _against_integer(extracted, wanted) if integers else _against_text(extracted, wanted)
        outcome, why = decided or comparer.compare(*(_for_algebra(tidied(text)) for text in (wanted, extracted)))
    return Verdict(outcome=outcome, extracted=extracted, detail="; ".join(filter(None, (how, why))))


def gold_text(gold: object) -> str | None:
    """The gold answer as text; None where it is none: empty, prose, or with control characters. `["41"]` is 41."""
    while isinstance(gold, list | tuple) and len(gold) == 1:
        gold = gold[0]
    if isinstance(gold, bool) or not isinstance(gold, str | int | float):
        return None
    text = str(gold).strip(" \r\n")
    box = last_box(text, framed=True)
    text = text if box is None else box
    prose = len(re.findall(r"[A-Za-z]{2,}", re.sub(r"\\[A-Za-z]+", " ", text))) > 2 and not re.search(r"\d", text)
    return None if not text or prose or re.search(r"[\x00-\x1f]", text) else text


def final_answer(said: str) -> tuple[str | None, str]:
    r"""The answer to which a text comes: its last box (\boxed or \fbox), else its last statement, else its last line.

    The second value says "unboxed" when there was no box. None when the text comes to nothing.
    """
    box, how = last_boxed(said)
    if box is not None:
        return box, how
    said = repaired(said)
    for start in [match.end() for match in _STATED.finditer(said)][: -_STATEMENTS - 1 : -1]:
        candidate = _trimmed(said[start : start + LONGEST].partition("\n")[0])
        if re.search(r"\d|\\[A-Za-z]+", candidate):
            return candidate, "unboxed"
    closing = _closing(said)
    return closing, "unboxed" if closing else ""


def last_boxed(said: str) -> tuple[str | None, str]:
    r"""The last balanced \boxed or \fbox that holds something, and nothing else."""
    return last_box(repaired(said), framed=True), ""


def last_plain_box(said: str) -> tuple[str | None, str]:
    r"""The last \boxed without an inner brace, as SPADE's offline suite reads it: misses `\boxed{\text{70}}`."""
    boxes = re.findall(r"\\boxed\{([^{}]+)\}", said)
    return (boxes[-1].strip() if boxes else None), ""


Extraction = Callable[[str], tuple[str | None, str]]
EXTRACTIONS: dict[str, Extraction] = {
    "answer": final_answer,
    "last-box": last_boxed,
    "last-plain-box": last_plain_box,
}

_STATEMENTS = 50
"""How many are looked at, from the last one."""
_STATED = re.compile(r"(?i)(?:\banswer\W{0,4}(?:is\b|:|=|\uff1a)|####)[ \t*:]*")
_REMARK = re.compile(r"\((?=[^()]*[A-Za-z]{2})[^()]*\)\s*[.*]*$")
_SEGMENT = re.compile(r"\$\$?([^$\n]+)\$\$?|\\\(([^\n]+?)\\\)|\\\[([^\n]+?)\\\]")
_NUMBER = re.compile(
    r"(?:^|(?<=[\s=:(*$]))[*]*\$?((?>-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:\s*\\?%|\^\\circ|\u00b0|/\d+)?))"
    r"(?=$|[\s.,;:!?)*$]|\\[)\]])(?!\s*(?:million|thousand|billion|hundred|trillion|dozen)\b)"
)


def _trimmed(stated: str) -> str:
    """A statement up to where its sentence ends."""
    segment = _SEGMENT.match(stated.lstrip())
    if segment:
        return _inside(segment)
    stated = re.split(r"(?<=[^\d\s])\.\s|(?<=\d)\.(?:\s|$)|\s(?:because|since|which|as|so|where)\s|</", stated)[0]
    stated = _REMARK.sub("", stated).strip(" *.")
    return _closing(stated) or stated if re.match(r"[A-Za-z]{2}", stated) else stated


def _inside(segment: re.Match[str]) -> str:
    """What stands between the signs of a formula, whichever they are."""
    return str(next(filter(None, segment.groups()))).strip()


def _closing(said: str) -> str | None:
    """The last formula, or else the last number, of the last sentence."""
    lines = said.strip()[-LONGEST:].splitlines()
    if not lines:
        return None
    line = _REMARK.sub("", lines[-1].strip()).strip()
    segments = list(_SEGMENT.finditer(line))
    if segments:
        return _inside(segments[-1])
    numbers = _NUMBER.findall(re.split(r"(?<=[.!?])\s+", line)[-1])
    return str(numbers[-1]) if numbers else None


def _against_integer(extracted: str, gold: str) -> tuple[Outcome, str] | None:
    """An integer, whatever its dress: zeros, commas, units, degrees, percent; None where it takes algebra."""
    answer = tidied(extracted)
    try:
        wanted, value = exact(tidied(gold).text), exact(_assigned(answer.text))
    except TooLarge:
        return Outcome.WRONG, TOO_LARGE
    except Undefined:
        return Outcome.WRONG, "undefined"
    if wanted is None:
        return Outcome.SCORER_ERROR, "gold_unparsable"
    if value is not None:
        return _equal(value == wanted, _dress(answer))
    if _several(answer.text):
        return Outcome.WRONG, "several values"
    if not re.search(r"\\[A-Za-z]+|\b\d*(?:pi|exp|log|ln|sqrt|sin|cos|tan)\b", answer.text):
        return Outcome.WRONG, "no number"
    return None


def _against_text(extracted: str, gold: str) -> tuple[Outcome, str] | None:
    """A general answer: the same text, or exact numbers; None where it takes algebra."""
    answer, wanted = tidied(extracted), tidied(gold)
    if _squeezed(answer) == _squeezed(wanted):
        return Outcome.RIGHT, ""
    try:
        theirs = exact(answer.text if "=" in wanted.text else _assigned(answer.text))
        ours = exact(wanted.text if "=" in answer.text else _assigned(wanted.text))
    except TooLarge:
        return Outcome.WRONG, TOO_LARGE
    except Undefined:
        return Outcome.WRONG, "undefined"
    if ours is None or theirs is None:
        return _listed(answer.text, wanted.text)
    if wanted.percent and not answer.percent:
        return _equal(theirs in (ours, ours / 100), "percent_normalised")
    theirs, ours = theirs / (100 if answer.percent else 1), ours / (100 if wanted.percent else 1)
    return _equal(theirs == ours or _rounded(answer.text, theirs, ours), _dress(answer))


def _listed(answer: str, wanted: str) -> tuple[Outcome, str] | None:
    r"""`\{2, 5\}` and `5, 2` are one set of numbers; pairs in parentheses are left to algebra."""
    parts = [[exact(part) for part in re.sub(r"^\\\{|\\\}$", "", text).split(",")] for text in (answer, wanted)]
    if any(None in part or len(part) < 2 for part in parts) or len(parts[0]) != len(parts[1]):
        return None
    return _equal(sorted(filter(None, parts[0])) == sorted(filter(None, parts[1])), "")


def _rounded(text: str, value: Fraction, gold: Fraction) -> bool:
    """A decimal of four digits or more that is the gold number rounded, where that one has no end."""
    decimals = re.fullmatch(r"-?0*(\d*)\.0*(\d+)", text)
    if decimals is None or len(decimals.group(1) + decimals.group(2)) < 4 or _ends(gold):
        return False
    return abs(value - gold) * Fraction(10) ** len(text.partition(".")[2]) * 2 <= 1


def _ends(gold: Fraction) -> bool:
    """Whether it is a decimal number with an end: its denominator has no prime factor but 2 and 5."""
    rest = gold.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    return rest == 1


def _assigned(text: str) -> str:
    """`m + n = 70` is 70; `6x + y + 9 = 0` stays what it is."""
    left, sign, right = text.rpartition("=")
    if not sign or re.search(r"[<>]|\\(?:le|ge|ne|neq|leq|geq|lt|gt)\b", left):
        return text
    named = re.fullmatch(r"[A-Za-z\\_{}() ]+\d?", left.strip())
    return right.strip() if named or not re.fullmatch(r"\s*0(?:\.0*)?\s*", right) else text


_SEVERAL = re.compile(r",(?!\d{3}(?!\d))|;|^\d+(?: \d+)+$|\\(?:pm|mp|lor|cup)\b|\b(?:or|and)\b")


def _several(text: str) -> bool:
    return _SEVERAL.search(text) is not None


def _squeezed(answer: Tidied) -> str:
    return re.sub(r"\s+", "", answer.text) + ("%" if answer.percent else "")


def _dress(answer: Tidied) -> str:
    return "percent_normalised" if answer.percent else ""


def _equal(equal: bool, note: str) -> tuple[Outcome, str]:
    return (Outcome.RIGHT, note) if equal else (Outcome.WRONG, "")


def _for_algebra(answer: Tidied) -> str:
    return f"\\frac{{{answer.text}}}{{100}}" if answer.percent else answer.text
