"""The nano policy: an ordinary transformers Llama of about one million parameters, written from scratch.

Copying has to be there before anything else can be learned, and at this size plain training finds it only after
millions of tokens. So the initial weights hold an *induction circuit*: a head of the first layer looks at the
previous token (constant queries and keys, through the attention biases and the rotary angles), heads of the next
layers look where the current token stood before and copy what followed. Everything stays trainable, and the
checkpoint opens in transformers and vLLM like any other Llama.
"""

import torch
from torch import Tensor
from transformers import LlamaConfig, LlamaForCausalLM
from transformers.models.llama.modeling_llama import LlamaAttention

HIDDEN, LAYERS, HEADS, KV_HEADS, MLP = 128, 4, 4, 2, 384
HEAD = HIDDEN // HEADS
CONTEXT = 512
ROPE_THETA = 1e6
FAST, SLOW = 4, 5
"""Rotary pairs below FAST turn quickly enough to tell the previous position, from SLOW on slowly enough to leave a
content match alone.
"""
PREVIOUS_SHARPNESS = 6.5
MATCH_SHARPNESS = 2.4


def create(vocabulary: int, seed: int) -> LlamaForCausalLM:
    """A freshly initialised model with tied embeddings, float32."""
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=vocabulary,
        hidden_size=HIDDEN,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        num_key_value_heads=KV_HEADS,
        intermediate_size=MLP,
        max_position_embeddings=CONTEXT,
        rope_parameters={"rope_type": "default", "rope_theta": ROPE_THETA},
        attention_bias=True,
        tie_word_embeddings=True,
        pad_token_id=0,
        bos_token_id=None,
        eos_token_id=1,
    )
    model: LlamaForCausalLM = LlamaForCausalLM(config)  # type: ignore[no-untyped-call]
    with torch.no_grad():
        model.model.embed_tokens.weight.normal_(0.0, 0.1)
        model.model.embed_tokens.weight[0].zero_()
        _plant_induction(model)
    return model


def _plant_induction(model: LlamaForCausalLM) -> None:
    basis = torch.linalg.qr(torch.randn(HIDDEN, HIDDEN)).Q
    back = torch.linalg.qr(torch.randn(HIDDEN, HEAD)).Q
    """Residual directions (HIDDEN, HEAD) that carry the previous token's first HEAD coordinates."""
    layers = model.model.layers
    _previous_token_head(layers[0].self_attn, basis[:, :HEAD], back)
    for depth in (1, 2):
        for group in range(KV_HEADS):
            start = HEAD * (KV_HEADS * (depth - 1) + group)
            _induction_head(layers[depth].self_attn, group, basis[:, :HEAD], back, basis[:, start : start + HEAD])


def _rotary_angles() -> Tensor:
    return ROPE_THETA ** (-torch.arange(HEAD // 2) * 2.0 / HEAD)


def _previous_token_head(attention: LlamaAttention, read: Tensor, write: Tensor) -> None:
    """Head 0: score(distance) peaks at 1 whatever the tokens are."""
    angle = _rotary_angles()[:FAST]
    query, key = torch.zeros(HEAD), torch.zeros(HEAD)
    key[:FAST] = PREVIOUS_SHARPNESS
    query[:FAST] = PREVIOUS_SHARPNESS * torch.cos(angle)
    query[HEAD // 2 : HEAD // 2 + FAST] = -PREVIOUS_SHARPNESS * torch.sin(angle)
    for projection, bias in ((attention.q_proj, query), (attention.k_proj, key)):
        projection.weight[:HEAD].zero_()
        projection.bias[:HEAD] = bias
    attention.v_proj.weight[:HEAD] = read.T
    attention.o_proj.weight[:, :HEAD] = write * 0.1


def _induction_head(attention: LlamaAttention, group: int, read: Tensor, back: Tensor, copy: Tensor) -> None:
    """First head of a key-value group: attends to the token after an earlier copy of the current one, and copies it."""
    head, rows = group * (HEADS // KV_HEADS), slice(group * HEAD, (group + 1) * HEAD)
    slow = torch.zeros(HEAD)
    slow[SLOW : HEAD // 2] = MATCH_SHARPNESS
    slow[HEAD // 2 + SLOW :] = MATCH_SHARPNESS
    attention.q_proj.weight[head * HEAD : (head + 1) * HEAD] = slow[:, None] * read.T
    attention.k_proj.weight[rows] = slow[:, None] * back.T
    attention.v_proj.weight[rows] = copy.T
    attention.o_proj.weight[:, head * HEAD : (head + 1) * HEAD] = copy
