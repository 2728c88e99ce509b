"""What the designer remembers of earlier windows, as a value: `insert` gives a new memory, drawing changes nothing."""

from dataclasses import dataclass, replace
from typing import Iterable, Literal

import msgspec

from ..harness.dialect import MemoryExample
from ..harness.errors import InputError
from ..harness.seeds import generator

POSITIVE = (0.15, 0.85)
"""Win rates of a positive example, bounds included."""
TOO_HARD, TOO_EASY = 0.1, 0.9
"""A negative example lies below the first or above the second."""

Kind = Literal["positive", "too_easy", "too_hard"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Remembered:
    """One environment as it was measured in the step it was born in."""

    id: str
    """The program's id; the same text is shown once."""
    skill: str
    source: str
    """The whole text, so that a negative example says what it was."""
    win_rate: float
    """Share of plays without the hint that returned more than 0, in that first step."""
    regret: float | None
    """Unfloored; None where no pair was scored."""

    @property
    def kind(self) -> Kind | None:
        """None between the bands: neither an example to follow nor one to avoid."""
        if self.win_rate > TOO_EASY:
            return "too_easy"
        if self.win_rate < TOO_HARD:
            return "too_hard"
        return "positive" if POSITIVE[0] <= self.win_rate <= POSITIVE[1] else None


@dataclass(frozen=True, kw_only=True, slots=True)
class EnvironmentMemory:
    """The last `capacity` environments, oldest first out."""

    capacity: int = 200
    records: tuple[Remembered, ...] = ()

    def __post_init__(self) -> None:
        if self.capacity < 1:
            raise InputError(f"memory: capacity is {self.capacity}; set 1 or more, or switch the memory off.")

    def insert(self, records: Iterable[Remembered]) -> "EnvironmentMemory":
        """The memory with these behind the others and the oldest beyond the capacity gone."""
        return replace(self, records=(*self.records, *records)[-self.capacity :])

    def examples(self, skill: str, n_positive: int = 2, *, seed: int) -> tuple[MemoryExample, ...]:
        """Up to `n_positive` positives and one negative of that skill, the same for the same seed.

        Positives: the max(3 n, 10) best by regret (a regret nobody measured comes last, and is shown as 0), of which
        `n_positive` are drawn. Negative: one drawn from those that were too easy or too hard.
        """
        known = {record.id: record for record in self.records if record.skill == skill}
        positives = [record for record in known.values() if record.kind == "positive"]
        positives.sort(key=lambda record: (record.regret is not None, record.regret or 0.0), reverse=True)
        best = positives[: max(3 * n_positive, 10)]
        negatives = [record for record in known.values() if record.kind in ("too_easy", "too_hard")]
        draw = generator(seed, "memory", skill)
        chosen = draw.sample(best, min(n_positive, len(best))) + draw.sample(negatives, min(1, len(negatives)))
        return tuple(_example(record) for record in chosen)

    def state(self) -> object:
        """Plain JSON values; `memory_from` reads them."""
        return msgspec.to_builtins(self)


def memory_from(state: object) -> EnvironmentMemory:
    """The memory that `state()` described."""
    return msgspec.convert(state, EnvironmentMemory)


def _example(record: Remembered) -> MemoryExample:
    assert record.kind is not None
    return MemoryExample(kind=record.kind, source=record.source, win_rate=record.win_rate, regret=record.regret or 0.0)
