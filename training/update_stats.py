"""What one update reports, and the running sums it is made from."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from .batch import Batch, MicroBatch, Skip
from .loss import Objective, Scores

PARTS = 6
"""Sums that a `Tally` keeps for each micro-batch."""


@dataclass(frozen=True, kw_only=True, slots=True)
class UpdateStats:
    """One update. A number that does not exist is None (or its role is missing), never 0.

    Loss, importance weights, KL, entropy and the sampler's gap are those of the policy as the update found it.
    Means are over trained tokens.
    """

    skipped: Skip | None
    steps: int
    """Optimiser steps taken."""
    tokens: dict[str, int]
    """Trained tokens by role; prompts, observations and masked samples are not in it."""
    samples: dict[str, int]
    """Samples with a trained token, by role."""
    masked_samples: int
    micro_batches: int
    padding_share: float
    loss: float | None = None
    grad_norm: float | None = None
    """Largest L2 norm of the steps, before clipping at `max_grad_norm` (after clipping by role, when that is on)."""
    role_grad_norms: dict[str, float | None] = field(default_factory=dict)
    """Largest norm of each role's own gradient, before clipping; only with `role_grad_clip`."""
    clip_share: float | None = None
    """Share of tokens whose gradient the clip took away, last epoch; 0 when there is one epoch."""
    tis_mean: float | None = None
    tis_max: float | None = None
    tis_capped_share: float | None = None
    kl: float | None = None
    """Mean k3 to the reference; None without a reference."""
    kl_only_tokens: int = 0
    """Tokens with advantage 0 that a KL term moves all the same."""
    entropy: float | None = None
    """Nats, at the sampling temperature."""
    sampler_gap: dict[str, float | None] = field(default_factory=dict)
    """Mean |log-prob of the trainer - log-prob of the sampler| by role: the canary of token and weight drift."""
    bad_gradients: int = 0
    """Updates of this policy so far that met a loss or gradient that was not finite."""


def known(value: float) -> float | None:
    """None in place of NaN and infinity: JSON has no such numbers, and nobody should average them."""
    return value if math.isfinite(value) else None


class Tally:
    """Sums over the micro-batches of one epoch, kept on the device until they are asked for.

    In several processes each adds its own, and `gather` makes them those of all.
    """

    def __init__(self, batch: Batch) -> None:
        self._batch = batch
        self._sums: list[Tensor] = []
        self._peaks: list[Tensor] = []
        self._gaps = torch.zeros(len(batch.roles), dtype=torch.float64)

    def gather(
        self, device: torch.device, total: Callable[[Tensor], Tensor], greatest: Callable[[Tensor], Tensor]
    ) -> None:
        """Take in what the other processes added; called by all of them. `total` and `greatest` are over processes."""
        zeros = torch.zeros(PARTS, dtype=torch.float64, device=device)
        own = torch.stack(self._sums).sum(0) if self._sums else zeros
        peak = torch.stack(self._peaks).max() if self._peaks else zeros.float()[0]
        self._sums = [total(own)]
        self._gaps = total(self._gaps.to(device)).cpu()
        self._peaks = [greatest(peak)]

    def add(self, micro: MicroBatch, scores: Scores, terms: Objective, cap: float) -> None:
        """Take in one micro-batch."""
        tis_M = terms.importance_M
        parts = (
            terms.loss_M * micro.weight_M,
            terms.clipped_M,
            tis_M,
            (tis_M >= cap).float(),
            terms.kl_M,
            scores.entropy_M,
        )
        self._sums.append(torch.stack([part.detach().double().sum() for part in parts]))
        self._peaks.append(tis_M.max())
        gap_M = (scores.logprob_M.detach() - micro.rollout_M).abs().double()
        self._gaps.index_add_(0, micro.role_M.cpu(), gap_M.cpu())

    @property
    def loss(self) -> float:
        """The normalised loss of the epoch."""
        return self._total()[0] / self._batch.normaliser

    @property
    def clip_share(self) -> float:
        """Share of tokens for which the clipped branch was taken."""
        return self._total()[1] / sum(self._batch.tokens.values())

    def means(self) -> dict[str, float | None]:
        """The means over tokens under the names `UpdateStats` gives them."""
        count = sum(self._batch.tokens.values())
        _, _, tis, capped, kl, entropy = (value / count for value in self._total())
        peak = float(torch.stack(self._peaks).max())
        found = {"tis_mean": tis, "tis_max": peak, "tis_capped_share": capped, "kl": kl, "entropy": entropy}
        return {name: known(value) for name, value in found.items()}

    def gaps(self) -> dict[str, float | None]:
        """Mean absolute difference to the sampler's log-probs, for the roles that have trained tokens."""
        tokens = self._batch.tokens
        return {
            role: known(float(gap) / tokens[role]) for role, gap in zip(self._batch.roles, self._gaps) if tokens[role]
        }

    def finite(self) -> bool:
        """False when the loss of the epoch is NaN or infinite."""
        return math.isfinite(self.loss)

    def _total(self) -> list[float]:
        values: list[float] = torch.stack(self._sums).sum(0).tolist()
        return values


def no_step(batch: Batch, skip: Skip, bad_gradients: int) -> UpdateStats:
    """The report of a batch that was not trained on."""
    return UpdateStats(
        skipped=skip,
        steps=0,
        tokens=batch.tokens,
        samples=batch.samples,
        masked_samples=batch.masked_samples,
        micro_batches=len(batch.micro),
        padding_share=batch.padding_share,
        bad_gradients=bad_gradients,
    )


def report(
    batch: Batch, epochs: Sequence[Tally], norms: Sequence[Mapping[str, float]], skip: Skip | None, *, with_kl: bool
) -> UpdateStats:
    """The report of a batch that was; `norms` holds an entry an epoch: "" for the whole, else a role."""
    means = epochs[0].means()
    silent = sum(int((micro.advantage_M == 0).sum()) for micro in batch.micro)
    return replace(
        no_step(batch, Skip.BAD_GRADIENT, 0),
        skipped=skip,
        steps=len(epochs) - (skip is not None),
        loss=known(epochs[0].loss),
        clip_share=known(epochs[-1].clip_share),
        tis_mean=means["tis_mean"],
        tis_max=means["tis_max"],
        tis_capped_share=means["tis_capped_share"],
        kl=means["kl"] if with_kl else None,
        kl_only_tokens=silent if with_kl else 0,
        entropy=means["entropy"],
        grad_norm=_largest(norms, ""),
        role_grad_norms={role: _largest(norms, role) for role in norms[0] if role},
        sampler_gap=epochs[0].gaps(),
    )


def _largest(norms: Sequence[Mapping[str, float]], name: str) -> float | None:
    values = [known(norm[name]) for norm in norms]
    return None if None in values else max(value for value in values if value is not None)
