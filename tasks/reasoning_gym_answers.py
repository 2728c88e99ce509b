"""Reasoning-Gym's answers: where a reply holds one, and what the package's scorers get wrong about it.

Pure functions of texts, thinking removed before. Two scorers share them: "package-all-or-nothing" is the package's
verdict as SPADE counts it, and "guarded-all-or-nothing" is that behind these guards:

* an answer that is no number (`nan`, `inf`) is wrong: `complex_arithmetic` pays it in full (L231);
* `game_of_life_halting` pays any text, `coin_flip` pays `0`: both are compared with the answer here (L230, L232);
* the four scorers that evaluate an answer as Python are not given calls;
* a box around the answer is taken off, and where the package compares texts alone, numbers are compared as such (P060).

Which reward a partly right answer earns is the package's alone.
"""

import re
from collections.abc import Callable
from decimal import Decimal, InvalidOperation

from ..harness.boxed import last_box

_TAG = re.compile(r"<answer>\s*(.*?)\s*</answer>", re.DOTALL | re.IGNORECASE)
_PACKAGE_TAG = re.compile(r"<answer>\s?(.*?)\s?</answer>", re.DOTALL)
_NO_NUMBER = re.compile(r"[+-]?(?:nan|inf|infinity)", re.IGNORECASE)
_NO_NUMBER_INSIDE = re.compile(r"nan|inf", re.IGNORECASE)
EVALUATED = frozenset({"binary_matrix", "n_queens", "spiral_matrix", "string_insertion"})
"""Tasks whose scorers evaluate an answer as Python. None of their answers holds a round bracket, every call does."""
TEXTS = frozenset({
    "acre", "aiw", "arc_1d", "base_conversion", "basic_arithmetic", "bf", "binary_alternation", "caesar_cipher",
    "count_bits", "count_primes", "course_schedule", "gcd", "isomorphic_strings", "largest_island", "lcm",
    "leg_counting", "letter_counting", "list_functions", "mahjong_puzzle", "maze", "modulo_grid", "number_filtering",
    "number_sequence", "ransom_note", "rotate_matrix", "rotten_oranges", "simple_equations", "simple_geometry",
    "string_manipulation", "string_splitting", "string_synthesis", "syllogism", "word_sequence_reversal",
})  # fmt: skip
"""Tasks of the suite with the package's default scorer: equality of texts, else the share of an answer that is gold."""


def answer_tag_or_box(reply: str) -> str | None:
    """SPADE's: the last <answer>, in letters of any size, else the last box."""
    tags = _TAG.findall(reply)
    return (tags[-1].strip() if tags else last_box(reply)) or None


def answer_tag(reply: str) -> str | None:
    """The package's: the last <answer>."""
    tags = _PACKAGE_TAG.findall(reply)
    return (tags[-1].strip() if tags else None) or None


EXTRACTIONS: dict[str, Callable[[str], str | None]] = {
    "answer-tag-or-box": answer_tag_or_box,
    "answer-tag": answer_tag,
}


def guarded(task: str, answer: str, gold: str | None) -> float | None:
    """The score where the package is not to be asked; None where it is."""
    if answer == gold:
        return None
    if _NO_NUMBER.fullmatch(answer.strip()) or (task == "complex_arithmetic" and _NO_NUMBER_INSIDE.search(answer)):
        return 0.0
    if task == "game_of_life_halting":
        return float(answer.strip().lower() == str(gold).strip().lower())
    if task == "coin_flip":
        return float(same_number(answer, str(gold)))
    if task in EVALUATED and "(" in answer:
        return 0.0
    return None


def unboxed(answer: str) -> str | None:
    """What stands in the box within an answer; None where there is none."""
    return last_box(answer) if "\\boxed" in answer else None


def same_number(answer: str, gold: str) -> bool:
    """Whether both are the same finite number, however it is written."""
    try:
        given, wanted = Decimal(answer.strip()), Decimal(gold.strip())
        return given.is_finite() and wanted.is_finite() and given == wanted
    except (InvalidOperation, ValueError):
        return False
