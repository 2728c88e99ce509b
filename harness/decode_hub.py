"""Decoding any causal language model of transformers through its own forward and cache.

Correct and slower than `decode_llama`: rows are padded to the longest, and nothing is kept between calls, so that
every turn of an episode forwards its whole history.
"""

from typing import Any, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor
from transformers import PreTrainedModel


class HubDecoder:
    """See the module."""

    def __init__(self, model: PreTrainedModel, pad_id: int) -> None:
        self._pad_id = pad_id
        self._model: Any = model
        self.prefilled = 0
        self._last = self._model.config.get_text_config().max_position_embeddings - 1
        self._device = model.device

    def open(self, histories: Sequence[Sequence[int]], cached: Sequence[Tensor | None]) -> Tensor:
        """See `Decoder`; the whole histories are forwarded."""
        width = max(map(len, histories))
        ids = torch.tensor([[self._pad_id] * (width - len(h)) + list(h) for h in histories], device=self._device)
        lengths = torch.tensor([len(h) for h in histories], device=self._device)
        self._mask = (torch.arange(width, device=self._device) >= width - lengths[:, None]).long()
        self._position_B = lengths - 1
        self._cache: Any = None
        self.prefilled += ids.numel()
        return self._forward(ids, (self._mask.cumsum(1) - 1).clamp_(min=0))

    def _forward(self, ids: Tensor, positions: Tensor) -> Tensor:
        out = self._model(
            input_ids=ids,
            attention_mask=self._mask,
            position_ids=positions,
            past_key_values=self._cache,
            use_cache=True,
            logits_to_keep=1,
        )
        self._cache = out.past_key_values
        logits: Tensor = out.logits[:, -1]
        return logits

    def step(self, tokens: Tensor) -> Tensor:
        """See `Decoder`."""
        self._mask = F.pad(self._mask, (0, 1), value=1)
        self._position_B = (self._position_B + 1).clamp_(max=self._last)
        return self._forward(tokens[:, None], self._position_B[:, None])

    def keep(self, rows: Tensor) -> None:
        """See `Decoder`."""
        self._mask, self._position_B = self._mask[rows], self._position_B[rows]
        self._cache.batch_select_indices(rows)

    def cache(self, row: int, length: int) -> Tensor | None:
        """See `Decoder`."""
        return None
