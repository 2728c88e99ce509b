"""Whether a text quotes another one: eight words in a row, whatever stands between them. Pure.

It guards the records of closed benchmarks: their problems may not reach the disk, not even through a model's answer.
"""

import re

WINDOW = 8
"""Words in a row that make a quotation."""
WORD = re.compile(r"[^\W_]+")


def windows(text: str) -> frozenset[str]:
    """Every run of eight words, in small letters; a shorter text is one window, no words are none."""
    words = [word.lower() for word in WORD.findall(text)]
    if not words:
        return frozenset()
    runs = range(max(1, len(words) - WINDOW + 1))
    return frozenset(" ".join(words[start : start + WINDOW]) for start in runs)


def quotes(text: str, known: frozenset[str]) -> bool:
    """Whether `text` holds one of the windows of another text."""
    return not known.isdisjoint(windows(text))
