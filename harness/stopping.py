"""Texts that end a completion: where the first of them stands, and which tokens reach up to it. Values only.

A stop text is no part of the completion's text; the tokens that spell it are part of its ids, as a stop token is. It
knows no engine: one that draws a few tokens too many cuts here and gives the same completion.
"""

from typing import Callable, NamedTuple, Sequence

Decode = Callable[[Sequence[int]], str]


class Cut(NamedTuple):
    """A completion that ends at a stop text."""

    length: int
    """Ids up to and including the one that completes the stop text."""
    text: str
    """What stands before it."""


def first_stop(text: str, stops: Sequence[str]) -> int | None:
    """Where the earliest of the stop texts begins, None when there is none. An empty stop text stops nothing."""
    found = [at for stop in stops if stop and (at := text.find(stop)) >= 0]
    return min(found, default=None)


def cut(ids: Sequence[int], stops: Sequence[str], decode: Decode) -> Cut | None:
    """The completion up to the first stop text, None when it holds none."""
    if not stops or first_stop(decode(ids), stops) is None:
        return None
    low, high = 0, len(ids)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if first_stop(decode(ids[:middle]), stops) is not None else (middle, high)
    text = decode(ids[:high])
    return Cut(high, text[: first_stop(text, stops)])
