"""Samples become micro-batches of tensors: length-sorted rows, right-padded, cut by a token budget.

Pure: values in, tensors out, the same order every time. Nothing here knows a model.

Rows are padded on the right and a decoder attends to the left only, so padding never reaches a trained position and no
attention mask is needed; a row ends with the input that predicts its last trained token. Bucketing was chosen over
packing rows with a block-diagonal mask by measurement: at 20-250 tokens and one million parameters it is 1.3-2 times
as fast on a CPU.

Shapes: B rows, T input positions, M trained tokens of a micro-batch.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..harness.errors import InputError, TrainingStopped
from ..harness.types import Sample, Trajectory

MAX_WASTE = 0.10
"""Largest share of padding in a micro-batch."""


class Skip(StrEnum):
    """Why an update took no step, or not all of its steps."""

    NO_SAMPLES = "no_samples"
    ALL_MASKED = "all_masked"
    """Samples came, and not one has a token the policy drew."""
    NO_SIGNAL = "no_signal"
    """Every advantage is zero and no KL is asked for: a step would only decay weights and follow old momentum."""
    BAD_GRADIENT = "bad_gradient"
    """Loss or gradient was NaN or infinite."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MicroBatch:
    """One forward and backward pass."""

    ids_BT: Tensor
    """Input token ids; padding is id 0 and never looked at."""
    where_M: Tensor
    """Flat positions (row * T + column) of the inputs that predict the trained tokens."""
    target_M: Tensor
    rollout_M: Tensor
    """The sampler's log-probs, stored when the tokens were drawn."""
    temperature_M: Tensor
    advantage_M: Tensor
    weight_M: Tensor
    """Share of a token in the numerator of the loss: 1, or 1 / (its sample's trained tokens)."""
    role_M: Tensor
    """Index into `Batch.roles`."""

    def to(self, device: torch.device) -> "MicroBatch":
        """The same batch on another device."""
        return MicroBatch(**{name: getattr(self, name).to(device) for name in self.__slots__})


@dataclass(frozen=True, kw_only=True, slots=True)
class Batch:
    """All of one update."""

    micro: tuple[MicroBatch, ...]
    roles: tuple[str, ...]
    tokens: dict[str, int]
    """Trained tokens by role."""
    samples: dict[str, int]
    """Samples with at least one trained token, by role."""
    masked_samples: int
    """Samples without a trained token: outside every numerator and denominator."""
    normaliser: float
    """Sum of all weights: what the sum over tokens is divided by, over the whole batch."""
    padding_share: float
    """Padded positions / all positions the model computes."""
    skip: Skip | None
    """Set when there is nothing to train on; `micro` is empty then."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Row:
    sample: Sample
    trained: np.ndarray[tuple[int], np.dtype[np.int64]]

    @property
    def length(self) -> int:
        return int(self.trained[-1])


def pack(samples: Sequence[Sample], *, budget: int, per_sample: bool = False, split_roles: bool = False) -> Batch:
    """Cut samples into micro-batches of at most `budget` positions (a longer sequence gets one of its own).

    `per_sample` gives each sample the same weight instead of each token. `split_roles` keeps roles in separate
    micro-batches. A greedy sample, or a number that is not finite, raises: neither can be trained on.
    """
    roles = tuple(sorted({sample.role for sample in samples}))
    rows = [row for sample in samples if (row := _row(sample)) is not None]
    order = sorted(range(len(rows)), key=lambda i: (split_roles and rows[i].sample.role, -rows[i].length, i))
    cuts = _cut([rows[i] for i in order], budget, split_roles)
    tokens = {role: sum(len(row.trained) for row in rows if row.sample.role == role) for role in roles}
    padded = sum(len(cut) * cut[0].length for cut in cuts)
    return Batch(
        micro=tuple(_tensors(cut, roles, per_sample) for cut in cuts),
        roles=roles,
        tokens=tokens,
        samples={role: sum(row.sample.role == role for row in rows) for role in roles},
        masked_samples=len(samples) - len(rows),
        normaliser=float(len(rows) if per_sample else sum(tokens.values())),
        padding_share=1 - sum(row.length for row in rows) / padded if padded else 0.0,
        skip=None if rows else Skip.ALL_MASKED if samples else Skip.NO_SAMPLES,
    )


def _row(sample: Sample) -> _Row | None:
    """The trained positions of a sample, or None when there are none."""
    trajectory = sample.trajectory
    trained = np.flatnonzero(np.asarray(trajectory.generated, dtype=bool))
    if not len(trained):
        return None
    _check(sample, trajectory, int(trained[0]))
    return _Row(sample=sample, trained=trained)


def _check(sample: Sample, trajectory: Trajectory, first: int) -> None:
    assert len(trajectory.ids) == len(trajectory.generated) == len(trajectory.logprobs), "lengths differ"
    assert first > 0, "the first token of a sequence has nothing that predicts it"
    if not trajectory.temperature > 0:
        raise InputError(
            f"group {sample.group!r} was sampled at temperature {trajectory.temperature}, which cannot be trained on; "
            "sample training episodes at a temperature above 0"
        )
    if not (math.isfinite(sample.advantage) and np.isfinite(trajectory.logprobs).all()):
        raise TrainingStopped(
            f"group {sample.group!r} holds an advantage or a log-prob that is not a finite number; look at its reward"
        )


def _cut(rows: Sequence[_Row], budget: int, split_roles: bool) -> list[list[_Row]]:
    """Greedy cuts of rows that are sorted longest first."""
    cuts: list[list[_Row]] = []
    real = 0
    for row in rows:
        if cuts and not (split_roles and cuts[-1][0].sample.role != row.sample.role):
            padded = (len(cuts[-1]) + 1) * cuts[-1][0].length
            if padded <= budget and real + row.length >= (1 - MAX_WASTE) * padded:
                cuts[-1].append(row)
                real += row.length
                continue
        cuts.append([row])
        real = row.length
    return cuts


def _tensors(rows: Sequence[_Row], roles: tuple[str, ...], per_sample: bool) -> MicroBatch:
    width = rows[0].length
    ids_BT = np.zeros((len(rows), width), dtype=np.int64)
    for i, row in enumerate(rows):
        ids_BT[i, : row.length] = row.sample.trajectory.ids[: row.length]
    counts = np.array([len(row.trained) for row in rows])

    def spread(values: Sequence[float], dtype: type = np.float32) -> Tensor:
        return torch.from_numpy(np.repeat(np.array(values, dtype=dtype), counts))

    def gather(name: str, dtype: type) -> Tensor:
        parts: list[np.ndarray[tuple[int], np.dtype[Any]]] = [
            np.array(getattr(row.sample.trajectory, name), dtype=dtype)[row.trained] for row in rows
        ]
        return torch.from_numpy(np.concatenate(parts))

    return MicroBatch(
        ids_BT=torch.from_numpy(ids_BT),
        where_M=torch.from_numpy(np.concatenate([row.trained - 1 + i * width for i, row in enumerate(rows)])),
        target_M=gather("ids", np.int64),
        rollout_M=gather("logprobs", np.float32),
        temperature_M=spread([row.sample.trajectory.temperature for row in rows]),
        advantage_M=spread([row.sample.advantage for row in rows]),
        weight_M=spread([1 / n if per_sample else 1.0 for n in counts]),
        role_M=spread([roles.index(row.sample.role) for row in rows], np.int64),
    )
