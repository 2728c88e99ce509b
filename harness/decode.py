"""Incremental forward passes over a batch of ragged histories: logits now, one more token a row, again.

The port `Decoder` has two implementations: `decode_llama`, our own forward with a preallocated cache, and `decode_hub`,
which serves every other causal language model through its own forward. Neither draws tokens nor knows requests.
"""

from typing import Any, Callable, Protocol, Sequence

from torch import Tensor


class Decoder(Protocol):
    """One batch being decoded."""

    prefilled: int
    """Tokens of histories forwarded so far, padding included."""

    def open(self, histories: Sequence[Sequence[int]], cached: Sequence[Tensor | None]) -> Tensor:
        """Start with these histories, longest first; `cached` is what `cache` gave for a proper prefix, or None.

        Returns the logits (rows, vocabulary) of the next token.
        """
        ...

    def step(self, tokens: Tensor) -> Tensor:
        """Append one token a row; logits (rows, vocabulary) of the next.

        A row that has outgrown the model's positions may go on; its logits are finite and mean nothing.
        """
        ...

    def keep(self, rows: Tensor) -> None:
        """Drop every row but these (ascending indices)."""
        ...

    def cache(self, row: int, length: int) -> Tensor | None:
        """The cache of a row's first `length` tokens, for a later `open`; None when this decoder has none to give."""
        ...


def token_bytes(told: Callable[[str], Any], itemsize: int) -> int:
    """Bytes that one token of one row takes in the cache, from a configuration's keys; 0 where it does not say."""
    heads = told("num_attention_heads") or 0
    width = told("head_dim") or ((told("hidden_size") or 0) // heads if heads else 0)
    return 2 * int(told("num_hidden_layers") or 0) * int(told("num_key_value_heads") or heads) * int(width) * itemsize
