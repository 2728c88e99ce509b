"""One batch on several processes: who computes which micro-batches, and sums over all of them. No model lives here.

Every process packs the same samples into the same micro-batches, takes its own, and knows the totals of the whole batch
without asking: so the gradient is that of one process, whatever the number of processes and of micro-batches. Each does
the same number of passes, role by role, because gradients are exchanged in between: who has fewer computes one again
that weighs nothing.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import torch

from .batch import Batch, MicroBatch


class Share(NamedTuple):
    """What one process computes of a batch, in order."""

    micro: tuple[MicroBatch, ...]
    counted: tuple[bool, ...]
    """False: a filler, outside every sum; its weights are 0."""


def share(batch: Batch, rank: int, ranks: int, *, by_role: bool = False) -> Share:
    """The part of process `rank` of `ranks`. `by_role` deals each role's micro-batches apart (they hold one role each).

    The largest are dealt first, there and back, so that the parts are of about the same size.
    """
    groups: list[list[MicroBatch]] = [list(batch.micro)]
    if by_role:
        groups = [[one for one in batch.micro if int(one.role_M[0]) == role] for role in range(len(batch.roles))]
    mine: list[MicroBatch] = []
    counted: list[bool] = []
    for group in filter(None, groups):
        order = sorted(range(len(group)), key=lambda index: (-group[index].ids_BT.numel(), index))
        own = [group[index] for place, index in enumerate(order) if _dealt_to(place, ranks) == rank]
        wanted = -(-len(group) // ranks)
        fillers = [_weightless(group[order[-1]])] * (wanted - len(own))
        mine += [*own, *fillers]
        counted += [True] * len(own) + [False] * len(fillers)
    return Share(tuple(mine), tuple(counted))


def roles_of(part: Share) -> Sequence[int]:
    """The role of each micro-batch, where they hold one each."""
    return [int(one.role_M[0]) for one in part.micro]


def _dealt_to(place: int, ranks: int) -> int:
    turn, seat = divmod(place, ranks)
    return seat if turn % 2 == 0 else ranks - 1 - seat


def _weightless(micro: MicroBatch) -> MicroBatch:
    return replace(micro, weight_M=torch.zeros_like(micro.weight_M))
