"""Reads the letter of a multiple-choice answer (A to D), by named policies: ours and those of the peers.

Pure functions of what the model said, thinking removed (`thinking.spoken`). "letter" is ours; the others give the
verdicts of the extractors they are named after, faults included, so that their protocols can be repeated and each
difference can be listed. Which letter is right is not known here.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

from ..harness.boxed import box_spans, last_box

_SPACE = r"\\(?:quad|qquad)\b|\\[,;:! ]|~"
_FORMAT = (
    r"\\(?:text(?:bf|it|rm|sf|tt|normal)?|math(?:rm|bf|it|sf|tt|cal)|boldsymbol|operatorname|boxed|fbox|mbox|bf|rm|it)\b"
    r"|\\(?:displaystyle|left|right|large|Large|bigl?|bigr?)\b|\\[()\[\]]|[${}*_`\"'\u201c\u201d\u2018\u2019]"
)
_DRESS = re.compile(f"({_SPACE})|{_FORMAT}")
"""What only shapes the text: group 1 is space, the rest is nothing."""
_OPENING = r"[(\[]?\s*"
_END = r"(?![A-Za-z0-9\\^/(\[+*<>|-]|\s*=)"
"""A letter that goes on as a word, a formula or a sum names no option."""
_LEAD = r"(?:(?:the\s+)?(?:final\s+|correct\s+|best\s+)?(?:answer|option|choice|letter)\s*(?:is\b)?\s*[:\uff1a]?\s*)?"
_IN_BOX = re.compile(f"(?i:{_LEAD}){_OPENING}([A-Da-d]){_END}")
_SECOND = re.compile(r"\s*[)\]]?\s*(?:,|/|&|\band\b|\bor\b|\+)\s*[(\[]?\s*[A-D]\b")
_OPTIONS = re.compile(r"(?<![A-Za-z\\])[A-D](?![A-Za-z])")
_STATEMENT = re.compile(
    r"(?i)\b(?:answer|option|choice)s?\s*(?:\bis\b|\bwould be\b|\bmust be\b|:|=|\uff1a)\s*:?\s*"
    rf"(?:(?:indeed|therefore|clearly|simply|most likely)\s+)?{_LEAD}{_OPENING}([A-D]){_END}"
)
_VERDICT = re.compile(
    r"\b(?:[Oo]ption|[Cc]hoice|[Aa]nswer)\s*[(\[]?([A-D])[)\]]?\s+is\s+(?:indeed\s+|therefore\s+)?(?:the\s+)?"
    r"(?:correct|right|best)\b|[(\[]?\b([A-D])[)\]]?\s+is\s+(?:indeed\s+|therefore\s+)?the\s+(?:correct|right|best)\s+"
    r"(?:answer|option|choice)\b"
)
_ARTICLE = re.compile(r"\s+(?!(?:because|since|as|is|due|given|for|with|based|by|and|or|but)\b)[a-z]")
"""What follows an `A` that is the English article: a lower-case word which does not continue a verdict."""
_BARE = re.compile(r"[(\[]?([A-D])[)\]]?[.:]?|[(\[]([a-d])[)\]]\.?")
_LISTED = re.compile(r"^\s*[(\[]?([A-D])[)\].:]\s")
_PEER_WRAPPER = re.compile(r"\\(?:text|mathrm|mathbf|mathit|bf|rm|textbf|textrm)\s*")
_LONGEST_BOX = 400


class _Found(NamedTuple):
    """A place where the text commits itself: the letter, or None where it names several."""

    at: int
    letter: str | None


def robust(text: str) -> str | None:
    r"""The letter to which the text commits itself last, in a box, a statement or a closing line; else None.

    `\boxed{\text{C}}`, `\boxed{(C)}`, `\boxed{C: 2.4 eV}`, `Answer: (C)` and `{"answer": "C"}` are C. A word is not its
    first letter (`\boxed{Carbon}`), and several letters are no answer (`\boxed{both A and C}`). A box that holds a
    value beside the letter's own box is not looked at.
    """
    box = next((found for found in map(_in_box, *_boxes(text)) if found), None)
    found = [*([box] if box else []), *_statements(text)]
    return max(found, key=lambda place: place.at).letter if found else _closing_letter(text)


def _boxes(text: str) -> tuple[list[int], list[str]]:
    """Starts and contents of the boxes, the last one first."""
    spans = [span for span in reversed(box_spans(text, framed=True)) if span[1] - span[0] <= _LONGEST_BOX]
    return [start for start, _ in spans], [text[start:end] for start, end in spans]


def _in_box(at: int, content: str) -> _Found | None:
    """What a box commits to: a letter, several (no answer), or nothing where it holds a value or a word."""
    plain = _undressed(content)[0].strip()
    match = _IN_BOX.match(plain)
    if match:
        several = _SECOND.match(plain, match.end())
        return None if _is_article(plain, match) else _Found(at, None if several else match.group(1).upper())
    return _Found(at, None) if len(set(_OPTIONS.findall(plain))) > 1 else None


def _statements(text: str) -> list[_Found]:
    """`Answer: C`, `the answer is (C)`, `"answer": "C"`, `option C is correct`, with their formatting taken off."""
    plain, places = _undressed(text)
    found = []
    for match in _STATEMENT.finditer(plain):
        if not _is_article(plain, match):
            several = _SECOND.match(plain, match.end())
            found.append(_Found(places[match.start()], None if several else match.group(1).upper()))
    for match in _VERDICT.finditer(plain):
        found.append(_Found(places[match.start()], match.group(1) or match.group(2)))
    return found


def _closing_letter(text: str) -> str | None:
    """`C`, `(C)`, `**C**` as the last line; `C) 2.4 eV` too, where it is the only line of that shape."""
    lines = _undressed(text)[0].strip().splitlines()
    bare = _BARE.fullmatch(lines[-1].strip()) if lines else None
    if bare:
        return (bare.group(1) or bare.group(2)).upper()
    listed = [match.group(1) for match in map(_LISTED.match, lines) if match]
    return listed[0] if len(listed) == 1 and _LISTED.match(lines[-1]) else None


def _is_article(plain: str, match: re.Match[str]) -> bool:
    """Whether the letter is the word `a`, or a small letter that goes on as a sentence."""
    letter = match.group(1)
    if letter.islower():
        return bool(re.match(r"\s*[a-z]", plain[match.end() : match.end() + 20]))
    return letter == "A" and bool(_ARTICLE.match(plain, match.end()))


def _undressed(text: str) -> tuple[str, list[int]]:
    """The text without formatting, and for each of its characters the place in the original."""
    characters: list[str] = []
    places: list[int] = []
    position = 0
    for match in _DRESS.finditer(text):
        characters.append(text[position : match.start()])
        places.extend(range(position, match.start()))
        if match.group(1):
            characters.append(" ")
            places.append(match.start())
        position = match.end()
    return "".join([*characters, text[position:]]), [*places, *range(position, len(text))]


def spade_offline(text: str) -> str | None:
    """SPADE's offline suite: the last box that holds one capital letter alone, else the first `answer is X`."""
    boxes = re.findall(r"\\boxed\{([A-D])\}", text)
    if boxes:
        return str(boxes[-1])
    match = re.search(r"(?i)(?:answer is|answer:)\s*([a-d])\b", text)
    return match.group(1).upper() if match else None


def spade_inloop(text: str) -> str | None:
    """SPADE's in-loop environment: the first letter A to D of any case in the last box, even inside a word."""
    return _first_letter(_PEER_WRAPPER.sub("", last_box(text) or "").replace("{", "").replace("}", ""))


def spade_json(text: str) -> str | None:
    """SPADE's model-card variant: the last `answer: X`, quoted or not, else the first letter in the last box."""
    found = re.findall(r"(?i)[\"']?answer[\"']?\s*:\s*[\"']?\s*([a-d])\b", text)
    return found[-1].upper() if found else _first_letter(last_box(text) or "")


def spade_scieval(text: str) -> str | None:
    """SPADE's simple-evals variant: the last `Answer: X`, else the first letter in the last box."""
    found = _OPENAI.findall(text)
    return found[-1].upper() if found else _first_letter(last_box(text) or "")


def simple_evals(text: str) -> str | None:
    """OpenAI's and NVIDIA's simple-evals: the first `Answer: X`."""
    match = _OPENAI.search(text)
    return match.group(1).upper() if match else None


_OPENAI = re.compile(r"(?i)answer[ \t]*:[ \t]*\$?([a-d])\$?")


def _first_letter(text: str) -> str | None:
    match = re.search(r"[A-Da-d]", text)
    return match.group().upper() if match else None


POLICIES: dict[str, Callable[[str], str | None]] = {
    "letter": robust,
    "spade-offline": spade_offline,
    "spade-inloop": spade_inloop,
    "spade-json": spade_json,
    "spade-scieval": spade_scieval,
    "first-answer-line": simple_evals,
}
