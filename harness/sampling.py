"""Drawing tokens from logits: per-row settings, and noise that is a pure function of (seed, position).

One uniform number per token goes through the inverse of the cumulative distribution in vocabulary order, so a draw
depends on nothing but the row's own logits, settings, seed and position. It is not a general logits-processor chain:
temperature, top-k and top-p are all there is.

Shape suffixes: B rows, N positions, V vocabulary.
"""

from dataclasses import dataclass
from typing import Sequence

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from .types import Sampling

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def _mix(x: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """The finaliser of splitmix64 (Steele, Lea & Flood 2014)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def uniforms(seeds: Sequence[int], first: Sequence[int], count: int) -> Tensor:
    """Uniform float64 in [0, 1), shape (rows, count): entry [b, n] is a hash of (seeds[b], first[b] + n)."""
    seed_B = np.array([seed & 0xFFFFFFFFFFFFFFFF for seed in seeds], dtype=np.uint64)
    position_BN = np.array(first, dtype=np.uint64)[:, None] + np.arange(1, count + 1, dtype=np.uint64)
    hashed_BN = _mix(_mix(seed_B + _GOLDEN)[:, None] + position_BN * _GOLDEN)
    return torch.from_numpy((hashed_BN >> np.uint64(11)).astype(np.float64) * 2.0**-53)


@dataclass(frozen=True, kw_only=True, slots=True)
class Rules:
    """The sampling settings of a batch as tensors. `select` keeps some rows; the flags skip work no row asks for."""

    temperature_B1: Tensor
    greedy_B: Tensor
    top_k_B1: Tensor
    top_p_B1: Tensor
    stop_BN: Tensor
    """Stop ids, padded with -1."""
    plain: bool
    greedy: bool
    sampled: bool
    truncated: bool

    @staticmethod
    def of(settings: Sequence[Sampling], device: torch.device) -> "Rules":
        """Temperature 0 becomes temperature 1 and a mark; top_k 0 becomes no limit."""
        width = max(1, *(len(s.stop) for s in settings))
        stops = [[*s.stop, *[-1] * (width - len(s.stop))] for s in settings]
        sampled = [s for s in settings if s.temperature > 0]
        return Rules(
            temperature_B1=_column([s.temperature or 1.0 for s in settings], np.float32).to(device),
            greedy_B=_column([s.temperature == 0 for s in settings], np.bool_).squeeze(1).to(device),
            top_k_B1=_column([s.top_k or 2**31 for s in settings], np.int64).to(device),
            top_p_B1=_column([s.top_p for s in settings], np.float32).to(device),
            stop_BN=torch.from_numpy(np.array(stops, dtype=np.int64)).to(device),
            plain=all(s.temperature in (0, 1) for s in settings),
            greedy=len(sampled) < len(settings),
            sampled=bool(sampled),
            truncated=any(s.top_p < 1 or s.top_k > 0 for s in sampled),
        )

    def select(self, rows: Tensor) -> "Rules":
        """The same rules for the rows with these indices."""
        return Rules(
            temperature_B1=self.temperature_B1[rows],
            greedy_B=self.greedy_B[rows],
            top_k_B1=self.top_k_B1[rows],
            top_p_B1=self.top_p_B1[rows],
            stop_BN=self.stop_BN[rows],
            plain=self.plain,
            greedy=self.greedy,
            sampled=self.sampled,
            truncated=self.truncated,
        )

    def stops(self, token_B: Tensor) -> Tensor:
        """Which rows drew one of their stop ids."""
        return (self.stop_BN == token_B[:, None]).any(1)


def _column(values: Sequence[float], kind: type[np.generic]) -> Tensor:
    return torch.from_numpy(np.array(values, dtype=kind)[:, None])


def draw(logits_BV: Tensor, rules: Rules, noise_B: Tensor) -> tuple[Tensor, Tensor]:
    """One token a row and its log-prob (float32) at the sampling temperature before truncation.

    Greedy rows take the first largest logit; their log-prob is that of temperature 1. Ties at a truncation's edge go to
    the smaller id.
    """
    scaled_BV = logits_BV.float() if rules.plain else logits_BV.float() / rules.temperature_B1
    weight_BV = scaled_BV.softmax(1)
    if rules.sampled:
        token_B = _inverse_cdf(_truncate(weight_BV, rules) if rules.truncated else weight_BV, noise_B)
        if rules.greedy:
            token_B = torch.where(rules.greedy_B, scaled_BV.argmax(1), token_B)
    else:
        token_B = scaled_BV.argmax(1)
    return token_B, weight_BV.gather(1, token_B[:, None]).squeeze(1).log_()


def _truncate(weight_BV: Tensor, rules: Rules) -> Tensor:
    """Probabilities with everything outside top-k, then outside the nucleus of what is left, set to 0."""
    sorted_BV, order_BV = weight_BV.sort(dim=1, descending=True, stable=True)
    rank_V = torch.arange(sorted_BV.shape[1], device=sorted_BV.device)
    sorted_BV = sorted_BV.masked_fill(rank_V >= rules.top_k_B1, 0.0)
    cumulated_BV = sorted_BV.cumsum(1)
    before_BV = cumulated_BV - sorted_BV
    outside_BV = (before_BV >= rules.top_p_B1 * cumulated_BV[:, -1:]) & (rules.top_p_B1 < 1) & (rank_V > 0)
    return torch.zeros_like(weight_BV).scatter_(1, order_BV, sorted_BV.masked_fill(outside_BV, 0.0))


def _inverse_cdf(weight_BV: Tensor, noise_B: Tensor) -> Tensor:
    """The first id whose cumulated weight exceeds noise times the total: an id of weight 0 is never drawn."""
    cdf_BV = weight_BV.cumsum(1)
    total_B = cdf_BV[:, -1]
    target_B = torch.minimum((total_B * noise_B).to(cdf_BV.dtype), total_B.nextafter(torch.zeros_like(total_B)))
    return torch.searchsorted(cdf_BV, target_B[:, None], right=True).squeeze(1).clamp_(max=cdf_BV.shape[1] - 1)
