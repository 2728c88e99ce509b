"""Incremental forward passes over a batch of ragged histories: logits now, one more token a row, again.

`LlamaDecoder` is our own forward for `LlamaForCausalLM` with a preallocated cache; `HubDecoder` goes through the
model's own forward and cache and serves every other causal language model. Neither draws tokens nor knows requests.

All rows end at the same column: shorter histories start further right. Rows stand longest first, so that attention
reads each block of rows from that block's first column on, and finished rows are dropped by copying the others.

Shape suffixes: L layers, B rows, S new tokens, T columns, H key-value heads, G query heads per key-value head,
D head width, C channels, V vocabulary.
"""

from typing import Any, NamedTuple, Protocol, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor
from transformers import LlamaForCausalLM, PreTrainedModel

_GROW = 64
"""Columns a cache is lengthened by."""
_GROUP = 32
"""Rows that share one attention call while decoding."""
_PREFILL_TOKENS = 4096
"""Tokens of one prefill call, padding included."""
_ROPE_TYPES = ("default", "linear", "llama3", "yarn")
"""Rotary variants whose angles do not depend on the length of the batch."""


class Place(NamedTuple):
    """Where a history's keys and values lie: columns `first` to `first + length` of one row."""

    cache_LXBHTD: Tensor
    row: int
    first: int
    length: int


class Decoder(Protocol):
    """One batch being decoded."""

    def open(self, histories: Sequence[Sequence[int]], cached: Sequence[Place | None]) -> Tensor:
        """Start with these histories, longest first, parts of which are cached; logits (B, V) of the next token."""
        ...

    def step(self, token_B: Tensor) -> Tensor:
        """Append one token a row; logits (B, V) of the next."""
        ...

    def keep(self, rows: Tensor) -> None:
        """Drop every row but these (ascending indices)."""
        ...

    def place(self, row: int, length: int) -> Place | None:
        """Where the first `length` tokens of a row are cached; None when this decoder keeps nothing between calls."""
        ...


def decoder_for(model: PreTrainedModel, pad_id: int) -> Decoder:
    """Our own forward where it is exact (plain Llama: no biases, fixed rotary angles), else the model's own."""
    config: Any = model.config
    plain = (
        type(model) is LlamaForCausalLM
        and not config.attention_bias
        and not config.mlp_bias
        and config.rope_parameters["rope_type"] in _ROPE_TYPES
    )
    return LlamaDecoder(model, pad_id) if plain else HubDecoder(model, pad_id)


class _Layer(NamedTuple):
    """One layer's weights, fused: norms folded into what follows, rotary halves interleaved, scale in the queries."""

    qkv: Tensor
    out: Tensor
    gate_up: Tensor
    down: Tensor


class LlamaDecoder:
    """Llama's forward in a dozen calls a layer. Weights are packed when it is made: make another after an update."""

    def __init__(self, model: PreTrainedModel, pad_id: int) -> None:
        self._pad_id = pad_id
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

        def paired(weight: Tensor) -> Tensor:
            return weight.view(-1, self._width, weight.shape[1])[:, interleaved].reshape(weight.shape)

        q, k, v = attention.q_proj.weight, attention.k_proj.weight, attention.v_proj.weight
        return _Layer(
            qkv=torch.cat([paired(q) * attention.scaling, paired(k), v]) * before,
            out=attention.o_proj.weight.detach().clone(),
            gate_up=torch.cat([mlp.gate_proj.weight, mlp.up_proj.weight]) * after,
            down=mlp.down_proj.weight.detach().clone(),
        )

    def open(self, histories: Sequence[Sequence[int]], cached: Sequence[Place | None]) -> Tensor:
        """See `Decoder`. A cached part may be the whole history but its last token."""
        end, rows = max(map(len, histories)), len(histories)
        device = self._embed.device
        self._cache = self._blank(rows, end + _GROW)
        self._end = end
        self._first_B = torch.tensor([end - len(history) for history in histories], device=device)
        for row, (history, place) in enumerate(zip(histories, cached)):
            if place is not None:
                first = end - len(history)
                known = place.cache_LXBHTD[:, :, place.row, :, place.first : place.first + place.length]
                self._cache[:, :, row, :, first : first + place.length] = known
        self._regroup()
        new = [len(history) - (place.length if place else 0) for history, place in zip(histories, cached)]
        logits = torch.empty(rows, self._head.shape[0], dtype=self._embed.dtype, device=device)
        for members, width in _prefill_batches(new):
            index = torch.tensor(members, device=device)
            logits[index] = self._prefill([histories[m] for m in members], index, width)
        return logits

    def _blank(self, rows: int, columns: int) -> Tensor:
        shape = (len(self._layers), 2, rows, self._heads, columns, self._width)
        return torch.zeros(shape, dtype=self._embed.dtype, device=self._embed.device)

    def _prefill(self, histories: Sequence[Sequence[int]], index: Tensor, width: int) -> Tensor:
        """Forward the last `width` tokens of each row (a few are known already where rows differ); last logits."""
        device, end = self._embed.device, self._end
        tail = [[self._pad_id] * (width - len(history)) + list(history[-width:]) for history in histories]
        first_B = self._first_B[index]
        column_S = torch.arange(end - width, end, device=device)
        left = int(first_B.min())
        column_T = torch.arange(left, end, device=device)
        visible = (column_T >= first_B[:, None, None]) & (column_T <= column_S[:, None])
        visible |= column_T == column_S[:, None]
        mask = visible[:, None].repeat(1, 1, self._group, 1)
        turn = self._turn[(column_S - first_B[:, None]).clamp_(min=0)][:, :, None]
        x = F.embedding(torch.tensor(tail, device=device), self._embed)
        for layer, cache in zip(self._layers, self._cache):
            q, k, v = self._project(x, layer.qkv, turn)
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
            self._move(torch.arange(len(token_B), device=self._embed.device), _GROW)
        at, end = self._end, self._end + 1
        turn = self._turn[at - self._first_B][:, None]
        x = F.embedding(token_B, self._embed)
        for layer, cache in zip(self._layers, self._cache):
            q, k, v = self._project(x, layer.qkv, turn)
            cache[0, :, :, at] = k
            cache[1, :, :, at] = v
            queries = _split(q, 1, (self._heads, self._group))
            mixed = torch.empty_like(queries)
            for rows, left, mask in self._groups:
                mixed[rows] = F.scaled_dot_product_attention(
                    queries[rows],
                    cache[0, rows, :, left:end],
                    cache[1, rows, :, left:end],
                    attn_mask=None if mask is None else mask[..., : end - left],
                    scale=1.0,
                )
            x = self._rest(x, mixed.flatten(1), layer)
        self._end = end
        return self._logits(x)

    def _project(self, x: Tensor, weight: Tensor, turn: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys (both turned) and values, each (..., heads, D)."""
        qkv = _split(F.linear(self._norm(x), weight), -1, (-1, self._width))
        turned = self._heads * (self._group + 1)
        pairs = torch.view_as_complex(_split(qkv[..., :turned, :].float(), -1, (-1, 2)))
        qk = torch.view_as_real(pairs * turn).flatten(-2).to(x.dtype)
        return qk[..., : -self._heads, :], qk[..., -self._heads :, :], qkv[..., turned:, :]

    def _norm(self, x: Tensor) -> Tensor:
        return F.rms_norm(x, x.shape[-1:], None, self._eps)

    def _rest(self, x: Tensor, mixed: Tensor, layer: _Layer) -> Tensor:
        """What follows attention in a layer."""
        x = x + F.linear(mixed, layer.out)
        gate, up = F.linear(self._norm(x), layer.gate_up).chunk(2, -1)
        return x + F.linear(self._act(gate) * up, layer.down)

    def _logits(self, x: Tensor) -> Tensor:
        return F.linear(self._norm(x), self._head)

    def keep(self, rows: Tensor) -> None:
        """See `Decoder`. Places handed out before stay valid: the old cache is left as it is."""
        self._move(rows, 0)

    def _move(self, rows: Tensor, more: int) -> None:
        """A new cache with these rows, without the columns none of them uses, and room for `more` columns."""
        left = int(self._first_B[rows].min())
        old = self._cache
        self._cache = self._blank(len(rows), old.shape[4] - left + more)
        self._cache[..., : self._end - left, :] = old[:, :, rows, :, left : self._end]
        self._end -= left
        self._first_B = self._first_B[rows] - left
        self._regroup()

    def _regroup(self) -> None:
        """Blocks of rows for attention: (rows, first column, additive mask (B, 1, 1, T) or None)."""
        first = self._first_B.tolist()
        self._groups: list[tuple[slice, int, Tensor | None]] = []
        low = 0
        while low < len(first):
            high = low + 1
            while high < len(first) and (high - low < _GROUP or first[high] == first[low]):
                high += 1
            left = first[low]
            mask = None
            if first[high - 1] != left:
                column_T = torch.arange(left, self._cache.shape[4], device=self._embed.device)
                hidden = column_T < self._first_B[low:high, None]
                mask = torch.zeros(hidden.shape, dtype=self._embed.dtype, device=self._embed.device)
                mask = mask.masked_fill_(hidden, float("-inf"))[:, None, None]
            self._groups.append((slice(low, high), left, mask))
            low = high

    def place(self, row: int, length: int) -> Place | None:
        """See `Decoder`."""
        return Place(self._cache, row, int(self._first_B[row]), length)


def _split(x: Tensor, dim: int, sizes: tuple[int, ...]) -> Tensor:
    split: Tensor = x.unflatten(dim, sizes)  # type: ignore[no-untyped-call]
    return split


def _prefill_batches(new: Sequence[int]) -> list[tuple[list[int], int]]:
    """Rows grouped by how many tokens they need, little padding and bounded work each: (rows, widest)."""
    batches: list[tuple[list[int], int]] = []
    for row in sorted(range(len(new)), key=lambda r: (-new[r], r)):
        if batches:
            members, width = batches[-1]
            if new[row] >= 0.8 * width - 4 and (len(members) + 1) * width <= _PREFILL_TOKENS:
                members.append(row)
                continue
        batches.append(([row], new[row]))
    return [(sorted(members), width) for members, width in batches]


class HubDecoder:
    """Any causal language model of transformers through its own forward and cache. Keeps nothing between calls."""

    def __init__(self, model: PreTrainedModel, pad_id: int) -> None:
        self._pad_id = pad_id
        self._model: Any = model
        self._device = model.device

    def open(self, histories: Sequence[Sequence[int]], cached: Sequence[Place | None]) -> Tensor:
        """See `Decoder`; the whole histories are forwarded."""
        width = max(map(len, histories))
        ids = torch.tensor([[self._pad_id] * (width - len(h)) + list(h) for h in histories], device=self._device)
        lengths = torch.tensor([len(h) for h in histories], device=self._device)
        self._mask = (torch.arange(width, device=self._device) >= width - lengths[:, None]).long()
        self._position_B = lengths - 1
        self._cache: Any = None
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

    def step(self, token_B: Tensor) -> Tensor:
        """See `Decoder`."""
        self._mask = F.pad(self._mask, (0, 1), value=1)
        self._position_B = self._position_B + 1
        return self._forward(token_B[:, None], self._position_B[:, None])

    def keep(self, rows: Tensor) -> None:
        """See `Decoder`."""
        self._mask, self._position_B = self._mask[rows], self._position_B[rows]
        self._cache.batch_select_indices(rows)

    def place(self, row: int, length: int) -> Place | None:
        """See `Decoder`."""
        return None
