"""The policy's log-probs of trained tokens, as one module that Accelerate can wrap.

It runs the decoder without its head, keeps the hidden states of trained positions and applies the head to those only.
The head and the softmax run in the precision of the weights even under bf16 autocast: the importance weights compare
these log-probs with the sampler's, and eight bits of mantissa would show as a mismatch that is not there.
"""

from typing import Literal

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from ..harness.errors import InputError
from .batch import MicroBatch
from .loss import Scores, score

Precision = Literal["fp32", "bf16"]
HEAD_ELEMENTS = 2**26
"""Logits (tokens times vocabulary) kept for one backward pass at most."""


class TokenScorer(nn.Module):
    """`forward` gives the `Scores` of a micro-batch. Dropout is off: these are to be the sampler's log-probs."""

    def __init__(self, model: PreTrainedModel, precision: Precision) -> None:
        super().__init__()
        self.model = model
        self.eval()
        self.precision = precision
        self._require_plain_head()

    def forward(self, batch: MicroBatch) -> Scores:
        """Log-probs and entropies in the order of the batch's trained tokens."""
        device_type = batch.ids_BT.device.type
        with torch.autocast(device_type, dtype=torch.bfloat16, enabled=self.precision == "bf16"):
            hidden_BTD = self.model.base_model(input_ids=batch.ids_BT, use_cache=False).last_hidden_state
        hidden_MD = hidden_BTD.flatten(0, 1).index_select(0, batch.where_M)
        with torch.autocast(device_type, enabled=False):
            slice_size = max(1, HEAD_ELEMENTS // self.model.config.vocab_size)
            return score(hidden_MD, self._head, batch.target_M, batch.temperature_M, slice_size)

    def _head(self, hidden_MD: Tensor) -> Tensor:
        head = self.model.get_output_embeddings()  # type: ignore[no-untyped-call]
        logits: Tensor = head(hidden_MD.to(head.weight.dtype))
        return logits

    @torch.no_grad()
    def _require_plain_head(self) -> None:
        """Some families scale or cap their logits after the head; scoring them as done here would be wrong."""
        ids_BT = torch.zeros((1, 2), dtype=torch.long, device=self.model.device)
        whole = self.model(input_ids=ids_BT, use_cache=False).logits
        split = self._head(self.model.base_model(input_ids=ids_BT, use_cache=False).last_hidden_state)
        if not torch.allclose(whole.float(), split.float(), rtol=1e-3, atol=1e-3):
            raise InputError(
                f"{type(self.model).__name__} changes its logits after the output layer, unknown to the update; "
                "use a family without logit scaling or capping"
            )
