"""Incremental forward passes over a batch of ragged histories: logits now, one more token a row, again.

The port `Decoder` has two implementations: `decode_llama`, our own forward with a preallocated cache, and `decode_hub`,
which serves every other causal language model through its own forward. Neither draws tokens nor knows requests.
"""

from typing import NamedTuple, Protocol, Sequence

from torch import Tensor


class Place(NamedTuple):
    """Where a history's keys and values lie: columns `first` to `first + length` of one row (see `decode_llama`)."""

    cache: Tensor
    row: int
    first: int
    length: int


class Decoder(Protocol):
    """One batch being decoded."""

    def open(self, histories: Sequence[Sequence[int]], cached: Sequence[Place | None]) -> Tensor:
        """Start with these histories, longest first, parts of which are cached.

        Returns the logits (rows, vocabulary) of the next token.
        """
        ...

    def step(self, tokens: Tensor) -> Tensor:
        """Append one token a row; logits (rows, vocabulary) of the next."""
        ...

    def keep(self, rows: Tensor) -> None:
        """Drop every row but these (ascending indices)."""
        ...

    def place(self, row: int, length: int) -> Place | None:
        """Where the first `length` tokens of a row are cached; None when this decoder keeps nothing between calls."""
        ...
