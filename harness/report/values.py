"""What a report is made of: the sides that are shown beside each other, each with what its runs left behind.

Plain values; they are read by `reading` and turned into the parts of a page by the other modules. No path to the data
of a benchmark and no problem text is among them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..comparing.columns import Subject

Row = dict[str, object]
"""One line as it lies on disk."""


@dataclass(frozen=True, kw_only=True)
class RunFiles:
    """What one run left beside its samples."""

    name: str
    """Path of the folder; of a packed run the file and its seed."""
    seed: int | None
    state: str
    """"finished", "not finished", or "packed copy"."""
    config: Mapping[str, object] = field(default_factory=dict)
    """Dotted keys of the resolved settings."""
    origins: Sequence[Mapping[str, object]] = ()
    """Entries of the provenance."""
    models: Mapping[str, object] = field(default_factory=dict)
    """Identities of the models of an evaluation."""
    metrics: Sequence[Row] = ()
    """One row a training step."""
    figures: Mapping[str, float | None] = field(default_factory=dict)
    """Numbers of the whole run, from its summary."""
    environments: Sequence[Row] = ()
    details: Mapping[str, Mapping[tuple[str, int], str]] = field(default_factory=dict)
    """Of an evaluation by benchmark and sample, the scorer's word where it said one."""
    lacks: tuple[str, ...] = ()
    """What a reader would look for and is not there, with the reason."""


@dataclass(frozen=True, kw_only=True)
class Side:
    """One of the things that are shown beside each other: a run, or the runs of a method over seeds."""

    label: str
    subject: Subject | None
    """Its samples; None while no run of it has any that may be scored."""
    runs: tuple[RunFiles, ...]
    gaps: tuple[str, ...] = ()
    """Why it is incomplete."""

    @property
    def alarms(self) -> tuple[str, ...]:
        """What a reader must know before any figure: what is incomplete, which sandbox was not safe."""
        columns = self.subject.columns.values() if self.subject else ()
        reasons = [column.reason for column in columns if column.reason]
        told = self.subject.notes if self.subject else ()
        others = [note for note in told if not any(reason in note for reason in reasons)]
        return tuple(dict.fromkeys((*self.gaps, *others)))

    @property
    def lacks(self) -> tuple[str, ...]:
        """What is not there, each reason once."""
        found: dict[str, list[str]] = {}
        for run in self.runs:
            for reason in run.lacks:
                found.setdefault(reason, []).append(run.name)
        every = len(self.runs)
        return tuple(
            reason if len(names) == every else f"{', '.join(names)}: {reason}" for reason, names in found.items()
        )
