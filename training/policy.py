"""The trained policy: a language model, its optimiser and the update of the method, through Accelerate.

Not here: sampling (the engine reads the same weights), advantages, the files of a checkpoint (checkpoint.py).
"""

import copy
import hashlib
import math
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import torch
from accelerate import Accelerator
from torch import Tensor
from transformers import PreTrainedModel

from ..harness.errors import InputError, TrainingStopped
from ..harness.types import Sample
from .batch import Batch, MicroBatch, Skip, pack
from .loss import Coefficients, Scores, objective
from .ranks import Share, roles_of, share
from .scorer import TokenScorer
from .update_settings import UpdateSettings
from .update_stats import Tally, UpdateStats, no_step, report

MAX_BAD_IN_A_ROW = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class PolicyState:
    """Everything an interrupted run needs to go on with the very same numbers."""

    weights: dict[str, Tensor]
    """By parameter name; tied weights once."""
    optimizer: dict[str, Any]
    """AdamW's own state dict."""
    counters: dict[str, int]
    reference: str
    """sha256 of the reference's weights, "" without one."""


class _Anchor(NamedTuple):
    """What a micro-batch's log-probs are compared with, fixed over the epochs of an update."""

    old_M: Tensor
    reference_M: Tensor | None


class Policy:
    """Owns the model's training.

    In several processes (`accelerate launch`) each gives `update` the same samples and computes its part of them.
    """

    def __init__(
        self, model: PreTrainedModel, settings: UpdateSettings, accelerator: Accelerator | None = None
    ) -> None:
        self.settings = settings
        self.model = model
        self.updates = 0
        """Updates in which at least one optimiser step was taken."""
        self._bad_in_a_row = self._bad_total = 0
        # Autocast lives in the scorer: Accelerate's mixed precision is one global choice of a process.
        self._accelerator = accelerator or Accelerator(cpu=not torch.cuda.is_available())
        scorer = TokenScorer(model.to(self._accelerator.device), settings.precision)
        frozen = copy.deepcopy(scorer).requires_grad_(False) if settings.kl else None
        self._reference = frozen
        self._reference_digest = _digest(frozen.model) if frozen else ""
        self._scorer, self._optimizer = self._accelerator.prepare(scorer, _adamw(model, settings))
        self._parameters = [p for p in model.parameters() if p.requires_grad]

    def update(self, samples: Sequence[Sample]) -> UpdateStats:
        """`epochs` optimiser steps on the samples; a batch that cannot be trained on is skipped and says why.

        Raises TrainingStopped at the third update in a row whose loss or gradient is not finite.
        """
        batch = self._pack(samples)
        skip = batch.skip or (None if self.settings.kl or any(s.advantage for s in samples) else Skip.NO_SIGNAL)
        if skip:
            return no_step(batch, skip, self._bad_total)
        by_role = self.settings.role_grad_clip is not None
        part = share(batch, self._accelerator.process_index, self._accelerator.num_processes, by_role=by_role)
        epochs: list[Tally] = []
        norms: list[dict[str, float]] = []
        anchors: list[_Anchor] = []
        for _ in range(self.settings.epochs):
            tally, role_norms = self._accumulate(batch, part, anchors)
            self._gather(tally)
            epochs.append(tally)
            norms.append(role_norms | {"": self._clip(self.settings.max_grad_norm)})
            if not (tally.finite() and all(map(math.isfinite, norms[-1].values()))):
                skip = Skip.BAD_GRADIENT
                break
            self._optimizer.step()
        self._optimizer.zero_grad()
        stats = report(batch, epochs, norms, skip, with_kl=self._reference is not None)
        self._count(stats.steps, skip)
        return replace(stats, bad_gradients=self._bad_total)

    @torch.no_grad()
    def sampler_gap(self, samples: Sequence[Sample]) -> dict[str, float]:
        """Mean |trainer's log-prob - sampler's log-prob| over the trained tokens of each role."""
        batch = self._pack(samples)
        sums = torch.zeros(len(batch.roles), dtype=torch.float64)
        for micro in batch.micro:
            gap_M = (self._score(micro).logprob_M.cpu() - micro.rollout_M).abs().double()
            sums.index_add_(0, micro.role_M, gap_M)
        return {role: float(total) / n for role, total in zip(batch.roles, sums) if (n := batch.tokens[role])}

    def state(self, *, copied: bool = True) -> PolicyState:
        """What `restore` takes. Unless `copied` its tensors are the live ones, good until the next update."""
        weights, optimizer = _weights(self.model), self._optimizer.state_dict()
        counters = {"updates": self.updates, "bad_in_a_row": self._bad_in_a_row, "bad_total": self._bad_total}
        return PolicyState(
            weights={name: tensor.detach().clone() if copied else tensor for name, tensor in weights.items()},
            optimizer=copy.deepcopy(optimizer) if copied else optimizer,
            counters=counters,
            reference=self._reference_digest,
        )

    def restore(self, state: PolicyState) -> None:
        """Go on from `state`; the policy must have been made from the same initial model and settings."""
        if state.reference != self._reference_digest:
            raise InputError(
                "the saved run measures its KL from another initial policy; resume with the one it began with"
            )
        self.set_weights(state.weights)
        self._optimizer.load_state_dict(copy.deepcopy(state.optimizer))
        self.updates = state.counters["updates"]
        self._bad_in_a_row, self._bad_total = state.counters["bad_in_a_row"], state.counters["bad_total"]

    @torch.no_grad()
    def set_weights(self, weights: Mapping[str, Tensor]) -> None:
        """Weights alone, to look at an earlier step; optimiser and counters stay."""
        mine = _weights(self.model)
        if {k: v.shape for k, v in mine.items()} != {k: v.shape for k, v in weights.items()}:
            raise InputError("the saved weights are of another architecture; resume with the model the run began with")
        for name, tensor in mine.items():
            tensor.copy_(weights[name])

    def _pack(self, samples: Sequence[Sample]) -> Batch:
        return pack(
            samples,
            budget=self.settings.micro_batch_tokens,
            per_sample=self.settings.normalise == "sample",
            split_roles=self.settings.role_grad_clip is not None,
        )

    def _score(self, micro: MicroBatch) -> Scores:
        scores: Scores = self._scorer(micro.to(self._accelerator.device))
        return scores

    def _accumulate(self, batch: Batch, part: Share, anchors: list[_Anchor]) -> tuple[Tally, dict[str, float]]:
        """Gradients of one epoch; the first epoch fills `anchors`. Roles are clipped one by one when asked for."""
        tally = Tally(batch)
        # The gradients of the processes are averaged, and the normaliser is that of the whole batch.
        scale = self._accelerator.num_processes / batch.normaliser
        self._optimizer.zero_grad()
        if self.settings.role_grad_clip is None:
            self._backward(part, range(len(part.micro)), anchors, scale, tally)
            return tally, {}
        norms: dict[str, float] = {}
        held: list[Tensor] | None = None
        for index, role in enumerate(batch.roles):
            mine = [i for i, own in enumerate(roles_of(part)) if own == index]
            if not mine:
                continue
            self._backward(part, mine, anchors, scale, tally)
            norms[role] = self._clip(self.settings.role_grad_clip)
            held = self._add_gradients(held)
        for parameter, gradient in zip(self._parameters, held or []):
            parameter.grad = gradient
        return tally, norms

    def _backward(
        self, part: Share, which: Sequence[int], anchors: list[_Anchor], scale: float, tally: Tally
    ) -> None:
        """Add up the gradients of these micro-batches; the processes exchange them once, with the last."""
        use = Coefficients(self.settings.clip_low, self.settings.clip_high, self.settings.tis_max, self.settings.kl)
        for i in which:
            micro = part.micro[i].to(self._accelerator.device)
            with nullcontext() if i == which[-1] else self._accelerator.no_sync(self._scorer):
                scores: Scores = self._scorer(micro)
                if i == len(anchors):
                    anchors.append(_Anchor(scores.logprob_M.detach(), self._reference_logprobs(micro)))
                old_M, reference_M = anchors[i]
                terms = objective(scores.logprob_M, old_M, micro.rollout_M, micro.advantage_M, reference_M, use)
                self._accelerator.backward((terms.loss_M * micro.weight_M).sum() * scale)
            if part.counted[i]:
                tally.add(micro, scores, terms, self.settings.tis_max)

    def _gather(self, tally: Tally) -> None:
        """The figures of all processes in each of them."""
        together = self._accelerator
        if together.num_processes > 1:
            tally.gather(
                together.device,
                total=lambda value: together.reduce(value, "sum"),
                greatest=lambda value: together.gather(value[None]).max(),
            )

    def _reference_logprobs(self, micro: MicroBatch) -> Tensor | None:
        if self._reference is None:
            return None
        with torch.no_grad():
            scores: Scores = self._reference(micro)
        return scores.logprob_M

    def _add_gradients(self, held: list[Tensor] | None) -> list[Tensor]:
        mine = [torch.zeros_like(p) if p.grad is None else p.grad for p in self._parameters]
        self._optimizer.zero_grad()
        return mine if held is None else [a + b for a, b in zip(held, mine)]

    def _clip(self, limit: float) -> float:
        norm: Tensor = self._accelerator.clip_grad_norm_(self._parameters, limit)
        return float(norm)

    def _count(self, steps: int, skip: Skip | None) -> None:
        self.updates += steps > 0
        self._bad_total += skip is not None
        self._bad_in_a_row = self._bad_in_a_row + 1 if skip else 0
        if self._bad_in_a_row == MAX_BAD_IN_A_ROW:
            raise TrainingStopped(
                f"{MAX_BAD_IN_A_ROW} updates in a row had a loss or gradient that is not finite and were not applied;"
                " go on with a lower update.lr"
            )


def _adamw(model: PreTrainedModel, settings: UpdateSettings) -> torch.optim.AdamW:
    trained = [p for p in model.parameters() if p.requires_grad]
    groups = [
        {"params": [p for p in trained if p.ndim >= 2], "weight_decay": settings.weight_decay},
        {"params": [p for p in trained if p.ndim < 2], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW([g for g in groups if g["params"]], lr=settings.lr, betas=settings.betas, fused=True)


def _weights(model: PreTrainedModel) -> dict[str, Tensor]:
    return dict(model.named_parameters())


def _digest(model: PreTrainedModel) -> str:
    total = hashlib.sha256()
    for name, tensor in sorted(_weights(model).items()):
        total.update(name.encode())
        total.update(tensor.detach().cpu().contiguous().view(torch.uint8).numpy().tobytes())
    return total.hexdigest()
