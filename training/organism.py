"""What a scale brings along: a model with its dialect, its held-out suites, its parametric environments.

The loop knows nothing else of a scale. `ORGANISMS` of `harness.engines` names them as strings, resolved when a run
begins; the nano organism is the first, models from the Hub come behind the same port.
"""

from importlib import import_module
from pathlib import Path
from typing import Callable, Mapping, NamedTuple, Protocol, Sequence, cast

from transformers import PreTrainedModel

from ..harness.dialect import Dialect
from ..harness.engines.organisms import ORGANISMS, check_organism
from ..harness.errors import InputError
from ..harness.evaluate import Item
from ..harness.types import Program


class Gate(NamedTuple):
    """One condition a checkpoint has to meet."""

    value: float
    least: float

    @property
    def passed(self) -> bool:
        """True when the value is high enough."""
        return self.value >= self.least


class Organism(Protocol):
    """See the module."""

    def folder(self, checkpoint: str) -> Path:
        """Where a checkpoint lies. InputError with the nearest shipped name when there is none."""
        ...

    def dialect(self, checkpoint: str) -> Dialect:
        """Its prompt format alone."""
        ...

    def load(self, checkpoint: str) -> tuple[PreTrainedModel, Dialect]:
        """The model in float32 and its prompt format; `checkpoint` is a shipped name or a folder."""
        ...

    def gates(self, checkpoint: str) -> Mapping[str, Gate] | None:
        """What was measured of a checkpoint before any training on it; None when nothing was."""
        ...

    def test_suite(self, dialect: Dialect, share: float) -> Sequence[Item]:
        """Held-out items, never used to choose anything."""
        ...

    def validation_suite(self, dialect: Dialect, share: float) -> Sequence[Item]:
        """Items that choose the checkpoint; none of them is a test item."""
        ...

    def families(self, dialect: Dialect) -> Mapping[str, Callable[[int, int], Program]]:
        """Parametric environments for RLVE: name -> (level, seed) -> program."""
        ...


def resolve(name: str) -> Organism:
    """The organism of that name. InputError with the nearest one otherwise."""
    check_organism(name)
    module, _, attribute = ORGANISMS[name].partition(":")
    return cast(Organism, getattr(import_module(module), attribute)())


def gate_line(organism: Organism, checkpoint: str, required: bool) -> str:
    """The gates of a checkpoint in one line. InputError when they are required and missing or not passed."""
    gates = organism.gates(checkpoint)
    if gates is None:
        line = f"checkpoint {checkpoint}: no gates were measured"
    else:
        told = (f"{name} {gate.value:.2f} (at least {gate.least:.2f})" for name, gate in gates.items())
        line = f"checkpoint {checkpoint}: {', '.join(told)}"
    if required and not (gates and all(gate.passed for gate in gates.values())):
        raise InputError(f"{line}; train a better warm start, or set require_gates = false to go on all the same.")
    return line
