"""Other people's error messages, made fit to be written down: short, in one line, without keys and prompts.

A server may repeat what it was sent. The texts of some benchmarks must not be stored, and a key never.
"""

import re
from typing import Iterable, Sequence

LONGEST = 300
_WINDOW = 4
"""So many words of a prompt in a row are recognised as the prompt."""
_WORD = re.compile(r"\w+")


def told(message: str, *, prompt: Iterable[str] = (), secrets: Sequence[str] = ()) -> str:
    """The message without secrets and without stretches of the prompt, in one line of at most `LONGEST` characters."""
    for secret in secrets:
        if secret:
            message = message.replace(secret, "***")
    message = _without(message[: 20 * LONGEST], _windows(prompt))
    line = " ".join(message.split())
    return line if len(line) <= LONGEST else line[: LONGEST - 3] + "..."


def _windows(texts: Iterable[str]) -> frozenset[tuple[str, ...]]:
    found: set[tuple[str, ...]] = set()
    for text in texts:
        words = [word.lower() for word in _WORD.findall(text)]
        found.update(tuple(words[at : at + _WINDOW]) for at in range(len(words) - _WINDOW + 1))
        if 0 < len(words) < _WINDOW and len(text) > 3 * _WINDOW:
            found.add(tuple(words))
    return frozenset(found)


def _without(message: str, windows: frozenset[tuple[str, ...]]) -> str:
    """The message with every run of words that stands in the prompt replaced by a mark."""
    places = list(_WORD.finditer(message))
    words = [match[0].lower() for match in places]
    hidden: set[int] = set()
    for size in {len(window) for window in windows}:
        for at in range(len(words) - size + 1):
            if tuple(words[at : at + size]) in windows:
                hidden.update(range(at, at + size))
    pieces, last = [], 0
    for at, match in enumerate(places):
        if at in hidden:
            if at - 1 not in hidden:
                pieces += [message[last : match.start()], "[prompt]"]
            last = match.end()
    return "".join([*pieces, message[last:]])
