"""The objective of the update, token by token. Pure tensor functions: no model, no optimiser, no state.

For a trained token with advantage A, three log-probs of it meet here, all at the temperature it was sampled with:

    rollout   what the sampler had when it drew the token, steps ago for a delayed designer sample
    old       what the trainer has at the start of the update; with one optimiser step this is `current`, detached
    current   what the trainer has now

    loss = sum_tokens weight * (w * -min(r A, clip(r, 1 - low, 1 + high) A) + kl * k3) / (sum of weights in the batch)
    r = exp(current - old),  w = clamp(exp(old - rollout), 0, cap) without gradient

The clip can bind only from the second step on the same batch; w corrects what the sampler computed differently and the
staleness of delayed samples. Sources: clip 0.2 / 0.28 and w as in arXiv 2608.19197 and its release, where w is taken
from the current log-prob, the same thing at one step a batch. Departing from the release, all tokens of a batch
weigh the same unless asked otherwise (`UpdateSettings.normalise`).

Shapes: M trained tokens of a micro-batch, D hidden size, V vocabulary.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

LOG_RATIO_BOUND = 20.0
"""Log-ratios are cut here before exp(), so that neither value nor gradient can overflow."""
KL_BOUND = 10.0
"""Largest k3 of one token, as released."""


class Scores(NamedTuple):
    """What the trainer thinks of the trained tokens."""

    logprob_M: Tensor
    entropy_M: Tensor
    """Entropy in nats of the distribution each token was drawn from; no gradient."""


class Objective(NamedTuple):
    """The parts of the loss for each token, before weights and normalisation."""

    loss_M: Tensor
    clipped_M: Tensor
    """1 where the clip took the gradient away."""
    importance_M: Tensor
    kl_M: Tensor


def score(
    hidden_MD: Tensor,
    head: Callable[[Tensor], Tensor],
    target_M: Tensor,
    temperature_M: Tensor,
    slice_size: int = 2**16,
) -> Scores:
    """Log-prob and entropy of each target at its own temperature, from the hidden states of trained positions only.

    Above `slice_size` tokens the logits are not kept for the backward pass but computed again, slice by slice.
    """
    if len(target_M) <= slice_size:
        return Scores(*_score(hidden_MD, head, target_M, temperature_M))
    cuts = [slice(i, i + slice_size) for i in range(0, len(target_M), slice_size)]
    parts = [
        checkpoint(_score, hidden_MD[cut], head, target_M[cut], temperature_M[cut], use_reentrant=False) for cut in cuts
    ]
    return Scores(torch.cat([part[0] for part in parts]), torch.cat([part[1] for part in parts]))


def _score(
    hidden_MD: Tensor, head: Callable[[Tensor], Tensor], target_M: Tensor, temperature_M: Tensor
) -> tuple[Tensor, Tensor]:
    logits_MV = head(hidden_MD).float() / temperature_M[:, None]
    logprobs_MV = functional.log_softmax(logits_MV, dim=-1)
    with torch.no_grad():
        entropy_M = -(logprobs_MV.exp() * logprobs_MV.clamp(min=-1e4)).sum(dim=-1)
    return logprobs_MV.gather(1, target_M[:, None])[:, 0], entropy_M


def importance_weights(old_M: Tensor, rollout_M: Tensor, cap: float) -> Tensor:
    """Truncated importance weights clamp(exp(old - rollout), 0, cap); no gradient flows through them."""
    return (old_M - rollout_M).detach().clamp(max=LOG_RATIO_BOUND).exp().clamp(max=cap)


def clipped_surrogate(ratio_M: Tensor, advantage_M: Tensor, low: float, high: float) -> tuple[Tensor, Tensor]:
    """-min(r A, clip(r) A), and 1 where the clipped branch is the smaller one."""
    free_M = ratio_M * advantage_M
    held_M = ratio_M.clamp(1 - low, 1 + high) * advantage_M
    return -torch.minimum(free_M, held_M), (held_M < free_M).float()


def k3(current_M: Tensor, reference_M: Tensor) -> Tensor:
    """Low-variance estimate exp(x) - 1 - x of KL(current || reference), with x = reference - current, cut at 10."""
    x_M = (reference_M - current_M).clamp(-LOG_RATIO_BOUND, LOG_RATIO_BOUND)
    return (x_M.exp() - 1 - x_M).clamp(max=KL_BOUND)


class Coefficients(NamedTuple):
    """The constants of the objective."""

    clip_low: float
    clip_high: float
    tis_max: float
    kl: float


def objective(
    current_M: Tensor,
    old_M: Tensor,
    rollout_M: Tensor,
    advantage_M: Tensor,
    reference_M: Tensor | None,
    use: Coefficients,
) -> Objective:
    """Loss of each token; the caller weights, sums and divides by the batch's own total."""
    ratio_M = (current_M - old_M.detach()).clamp(-LOG_RATIO_BOUND, LOG_RATIO_BOUND).exp()
    surrogate_M, clipped_M = clipped_surrogate(ratio_M, advantage_M, use.clip_low, use.clip_high)
    importance_M = importance_weights(old_M, rollout_M, use.tis_max)
    loss_M = importance_M * surrogate_M
    if reference_M is None:
        return Objective(loss_M, clipped_M, importance_M, torch.zeros_like(loss_M))
    kl_M = k3(current_M, reference_M)
    return Objective(loss_M + use.kl * kl_M, clipped_M, importance_M, kl_M)
