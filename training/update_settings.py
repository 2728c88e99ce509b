"""The settings of one policy update; data only, so that recipes can be read without torch."""

from typing import Literal

import msgspec

from ..harness.errors import InputError


class UpdateSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One update of the policy. The defaults are the paper's (arXiv 2608.19197) and its release's."""

    lr: float = 1e-6
    """Learning rate of AdamW, constant."""
    betas: tuple[float, float] = (0.9, 0.98)
    """Decay of AdamW's two running means."""
    weight_decay: float = 0.1
    """On matrices only; norms and biases do not decay."""
    max_grad_norm: float = 1.0
    """L2 norm at which the gradient of a step is clipped."""
    role_grad_clip: float | None = None
    """L2 norm at which the gradient of each role is clipped before they are added: without it a designer batch with
    large advantages crowds out the agent. Off in the paper."""
    clip_low: float = 0.2
    clip_high: float = 0.28
    """The ratio of new to old probability is clipped to [1 - clip_low, 1 + clip_high]."""
    tis_max: float = 2.0
    """Cap of the importance weight between sampler and trainer."""
    kl: float = 0.0
    """Coefficient of the k3 KL to the initial policy; above 0 a frozen copy of it is kept."""
    epochs: int = 1
    """Optimiser steps on the same batch; the clip can bind from the second on."""
    normalise: Literal["token", "sample"] = "token"
    """Every trained token of the whole batch weighs the same, or every sample does (as in the release)."""
    micro_batch_tokens: int = 8192
    """Positions of one forward pass, padding included. On a CPU 1024 to 2048 is fastest."""
    precision: Literal["fp32", "bf16"] = "fp32"
    """"bf16" runs the decoder under autocast; weights, head and optimiser stay as they are. On a CPU load the
    model with eager attention then: the backward pass of PyTorch's fused bf16 attention is slow there."""

    def __post_init__(self) -> None:
        """Refuse values that have no meaning."""
        positive = ("lr", "max_grad_norm", "tis_max", "epochs", "micro_batch_tokens")
        for name in (*positive, *(["role_grad_clip"] if self.role_grad_clip is not None else [])):
            if not getattr(self, name) > 0:
                raise InputError(f"update.{name} is {getattr(self, name)}; set it above 0")
        for name in ("clip_low", "clip_high", "kl", "weight_decay"):
            if not getattr(self, name) >= 0:
                raise InputError(f"update.{name} is {getattr(self, name)}; set it to 0 or more")
        if not all(0 <= beta < 1 for beta in self.betas):
            raise InputError(f"update.betas is {list(self.betas)}; set both to 0 or more and below 1")
