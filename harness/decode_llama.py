"""Decoding `LlamaForCausalLM` with our own forward: a preallocated cache, about twenty kernel calls a layer and token.

All rows end at the same column: shorter histories start further right. Rows stand longest first, so that attention
reads each block of rows from that block's first column on. Finished rows are dropped by copying the others.

Shape suffixes: L layers, X keys and values, B rows, S new tokens, T columns, H key-value heads, G query heads per
key-value head, D head width, N rows times H, V vocabulary.
"""

from typing import Any, Mapping, NamedTuple, Sequence

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor
from transformers import LlamaForCausalLM, PreTrainedModel

_GROW = 64
"""Columns a cache is lengthened by."""
_BLOCK = 32
"""Rows of unequal lengths that share one attention call."""
_PREFILL_TOKENS = 2048
"""Tokens of one prefill call, padding included."""
_ROPE_TYPES = ("default", "linear", "llama3", "yarn")
"""Rotary variants whose angles do not depend on the length of the batch."""


def serves(model: PreTrainedModel) -> bool:
    """Whether this forward is exact for the model: plain Llama (attention biases or none) with fixed rotary angles."""
    config: Any = model.config
    if type(model) is not LlamaForCausalLM or config.mlp_bias:
        return False
    return config.rope_parameters["rope_type"] in _ROPE_TYPES


class _Layer(NamedTuple):
    """One layer's weights, fused: norms folded into what follows, rotary halves interleaved, scale in the queries."""

    qkv: Tensor
    qkv_bias: Tensor | None
    out: Tensor
    out_bias: Tensor | None
    gate_up: Tensor
    down: Tensor


class LlamaDecoder:
    """See the module. Weights are packed when it is made: make another after an update."""

    def __init__(self, model: PreTrainedModel, pad_id: int) -> None:
        self._pad_id = pad_id
        self.prefilled = 0
        config: Any = model.config
        inner: Any = model.model
        self._heads: int = config.num_key_value_heads
        self._group: int = config.num_attention_heads // config.num_key_value_heads
        self._width: int = inner.layers[0].self_attn.head_dim
        self._eps: float = config.rms_norm_eps
        self._act = inner.layers[0].mlp.act_fn
        with torch.no_grad():
            self._layers = [self._pack(layer) for layer in inner.layers]
            self._embed: Tensor = inner.embed_tokens.weight.detach()
            self._head: Tensor = (model.lm_head.weight * inner.norm.weight).detach()
            positions = torch.arange(config.max_position_embeddings, device=self._embed.device)[None]
            cos, sin = inner.rotary_emb(torch.zeros(1, device=self._embed.device), positions)
            half = self._width // 2
            self._turn = torch.complex(cos[0, :, :half].float(), sin[0, :, :half].float())

    def _pack(self, layer: Any) -> _Layer:
        attention, mlp = layer.self_attn, layer.mlp
        before, after = layer.input_layernorm.weight, layer.post_attention_layernorm.weight
        half = self._width // 2
        interleaved = torch.arange(self._width, device=before.device).view(2, half).T.reshape(-1)

        def paired(rows: Tensor) -> Tensor:
            return _split(rows, 0, (-1, self._width))[:, interleaved].flatten(0, 1)

        def fused(name: str) -> Tensor:
            q, k, v = (getattr(part, name) for part in (attention.q_proj, attention.k_proj, attention.v_proj))
            return torch.cat([paired(q) * attention.scaling, paired(k), v])

        biased = attention.q_proj.bias is not None
        return _Layer(
            qkv=fused("weight") * before,
            qkv_bias=fused("bias") if biased else None,
            out=attention.o_proj.weight.detach().clone(),
            out_bias=attention.o_proj.bias.detach().clone() if biased else None,
            gate_up=torch.cat([mlp.gate_proj.weight, mlp.up_proj.weight]) * after,
            down=mlp.down_proj.weight.detach().clone(),
        )

    def open(self, histories: Sequence[Sequence[int]], cached: Sequence[Tensor | None]) -> Tensor:
        """See `Decoder`. A cached part is (L, X, H, T, D)."""
        end, rows = max(map(len, histories)), len(histories)
        device = self._embed.device
        self._cache = self._reserve(rows, end + _GROW)
        self._cache[..., : end - min(map(len, histories)), :] = 0.0
        self._end = end
        self._first_B = torch.tensor([end - len(history) for history in histories], device=device)
        for row, part in enumerate(cached):
            if part is not None:
                first = end - len(histories[row])
                self._cache[:, :, row, :, first : first + part.shape[3]] = part
        self._regroup()
        known = [0 if part is None else part.shape[3] for part in cached]
        same = _twins(histories, known)
        new = {row: len(histories[row]) - known[row] for row in range(rows) if same[row] == row}
        logits = torch.empty(rows, self._head.shape[0], dtype=self._embed.dtype, device=device)
        for members, width in _prefill_batches(new):
            index = torch.tensor(members, device=device)
            logits[index] = self._prefill([histories[m] for m in members], index, width)
        for row, twin in enumerate(same):
            if row != twin:
                first = end - len(histories[row])
                self._cache[:, :, row, :, first:end] = self._cache[:, :, twin, :, first:end]
        return logits[same]

    def _reserve(self, rows: int, columns: int) -> Tensor:
        """An uninitialised cache. Columns that only some rows use are zeroed by `open`: a hidden NaN is still a NaN."""
        shape = (len(self._layers), 2, rows, self._heads, columns, self._width)
        return torch.empty(shape, dtype=self._embed.dtype, device=self._embed.device)

    def _prefill(self, histories: Sequence[Sequence[int]], index: Tensor, width: int) -> Tensor:
        """Forward the last `width` tokens of each row (a few are known already where rows differ); last logits."""
        device, end = self._embed.device, self._end
        self.prefilled += width * len(histories)
        tail = [[self._pad_id] * (width - len(history)) + list(history[-width:]) for history in histories]
        first_B = self._first_B[index]
        column_S = torch.arange(end - width, end, device=device)
        left = int(first_B.min())
        column_T = torch.arange(left, end, device=device)
        visible = (column_T >= first_B[:, None, None]) & (column_T <= column_S[:, None])
        visible |= column_T == column_S[:, None]
        mask = visible[:, None].repeat(1, 1, self._group, 1)
        turn = self._turn[(column_S - first_B[:, None]).clamp_(min=0)][:, :, None]
        x = F.embedding(torch.from_numpy(np.array(tail, dtype=np.int64)).to(device), self._embed)
        for layer, cache in zip(self._layers, self._cache):
            q, k, v = self._project(x, layer, turn)
            cache[0, index, :, end - width : end] = k.transpose(1, 2)
            cache[1, index, :, end - width : end] = v.transpose(1, 2)
            queries = _split(q, 2, (self._heads, self._group)).permute(0, 2, 3, 1, 4).flatten(2, 3)
            keys, values = cache[0, index, :, left:end], cache[1, index, :, left:end]
            mixed = F.scaled_dot_product_attention(queries, keys, values, attn_mask=mask, scale=1.0)
            mixed = _split(mixed, 2, (self._group, width)).permute(0, 3, 1, 2, 4).flatten(2)
            x = self._rest(x, mixed, layer)
        return self._logits(x[:, -1])

    def step(self, token_B: Tensor) -> Tensor:
        """See `Decoder`."""
        if self._end == self._cache.shape[4]:
            self._move(list(range(len(token_B))))
        at, end = self._end, self._end + 1
        turn = self._turn[(at - self._first_B).clamp_(max=len(self._turn) - 1)][:, None]
        x = F.embedding(token_B, self._embed)
        for layer, cache in zip(self._layers, self._cache):
            q, k, v = self._project(x, layer, turn)
            cache[0, :, :, at] = k
            cache[1, :, :, at] = v
            mixed = self._attend(_split(q, 1, (self._heads, self._group)).flatten(0, 1), cache[:, :, :, :end])
            x = self._rest(x, mixed.view(len(x), -1), layer)
        self._end = end
        return self._logits(x)

    def _attend(self, query_NGD: Tensor, cache_XBHTD: Tensor) -> Tensor:
        """One query a row over all its columns, block by block; N is B times H."""
        key_NTD, value_NTD = cache_XBHTD.flatten(1, 2)
        mixed_NGD = torch.empty_like(query_NGD)
        for rows, left, hidden in self._blocks:
            score_NGT = torch.bmm(query_NGD[rows], key_NTD[rows, left:].transpose(1, 2))
            if hidden is not None:
                score_NGT[:, :, : hidden.shape[2]] += hidden
            weight_NGT = score_NGT.softmax(-1, dtype=torch.float32).to(value_NTD.dtype)
            torch.bmm(weight_NGT, value_NTD[rows, left:], out=mixed_NGD[rows])
        return mixed_NGD

    def _project(self, x: Tensor, layer: _Layer, turn: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys (both turned) and values, each (..., heads, D)."""
        qkv = _split(F.linear(self._norm(x), layer.qkv, layer.qkv_bias), -1, (-1, self._width))
        turned = self._heads * (self._group + 1)
        pairs = torch.view_as_complex(_split(qkv[..., :turned, :].float(), -1, (-1, 2)))
        qk = torch.view_as_real(pairs * turn).flatten(-2).to(x.dtype)
        return qk[..., : -self._heads, :], qk[..., -self._heads :, :], qkv[..., turned:, :]

    def _norm(self, x: Tensor) -> Tensor:
        return F.rms_norm(x, x.shape[-1:], None, self._eps)

    def _rest(self, x: Tensor, mixed: Tensor, layer: _Layer) -> Tensor:
        """What follows attention in a layer."""
        x = x + F.linear(mixed, layer.out, layer.out_bias)
        gate, up = F.linear(self._norm(x), layer.gate_up).chunk(2, -1)
        return x + F.linear(self._act(gate) * up, layer.down)

    def _logits(self, x: Tensor) -> Tensor:
        return F.linear(self._norm(x), self._head)

    def keep(self, rows: Tensor) -> None:
        """See `Decoder`."""
        self._move(rows.tolist())

    def _move(self, rows: list[int]) -> None:
        """A new cache with these rows, without the columns none of them uses, and room for more."""
        old, low = self._cache, 0
        first_B = self._first_B[rows]
        left = int(first_B.min())
        self._cache = self._reserve(len(rows), self._end - left + _GROW)
        while low < len(rows):
            high = low + 1
            while high < len(rows) and rows[high] - rows[low] == high - low:
                high += 1
            self._cache[:, :, low:high, :, : self._end - left] = old[
                :, :, rows[low] : rows[high - 1] + 1, :, left : self._end
            ]
            low = high
        self._end -= left
        self._first_B = first_B - left
        self._regroup()

    def _regroup(self) -> None:
        """Cut the rows into blocks for `_attend`: (rows times H, first column, mask of the columns some rows lack)."""
        first, heads = self._first_B.tolist(), self._heads
        self._blocks: list[tuple[slice, int, Tensor | None]] = []
        low = 0
        while low < len(first):
            high = low + 1
            while high < len(first) and (high - low < _BLOCK or first[high] == first[low]):
                high += 1
            left, spread = first[low], first[high - 1] - first[low]
            hidden = None
            if spread:
                column_T = torch.arange(left, left + spread, device=self._embed.device)
                lacking = column_T < self._first_B[low:high, None]
                hidden = torch.zeros(lacking.shape, dtype=self._embed.dtype, device=self._embed.device)
                hidden = hidden.masked_fill_(lacking, float("-inf")).repeat_interleave(heads, 0)[:, None]
            self._blocks.append((slice(low * heads, high * heads), left, hidden))
            low = high

    def cache(self, row: int, length: int) -> Tensor | None:
        """See `Decoder`. A copy, so that it does not keep the rest of the batch in memory."""
        first = int(self._first_B[row])
        return self._cache[:, :, row, :, first : first + length].clone(memory_format=torch.contiguous_format)


def _split(x: Tensor, dim: int, sizes: tuple[int, ...]) -> Tensor:
    split: Tensor = x.unflatten(dim, sizes)  # type: ignore[no-untyped-call]
    return split


def _twins(histories: Sequence[Sequence[int]], known: Sequence[int]) -> list[int]:
    """For each row the first row with the same history of which nothing is cached: its own index where it is alone."""
    leaders: dict[tuple[int, ...], int] = {}
    return [
        row if cached else leaders.setdefault(tuple(history), row)
        for row, (history, cached) in enumerate(zip(histories, known))
    ]


def _prefill_batches(new: Mapping[int, int]) -> list[tuple[list[int], int]]:
    """Rows grouped by how many tokens they need, little padding and bounded work each: (rows, widest)."""
    batches: list[tuple[list[int], int]] = []
    for row, count in sorted(new.items(), key=lambda item: (-item[1], item[0])):
        if batches:
            members, width = batches[-1]
            if count >= 0.8 * width - 4 and (len(members) + 1) * width <= _PREFILL_TOKENS:
                members.append(row)
                continue
        batches.append(([row], count))
    return batches
