"""The run: what is due, in pieces, through the benchmark and into the records; then the scores, written last.

    plan -> (records that are there) -> due -> chunks -> Benchmark.run -> RecordSink -> scores.json

A kill at any moment loses the samples under way and nothing else: the same command plays what has no record. Samples
that the infrastructure failed are played again; a benchmark that breaks is a failed cell, and the next one runs.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ..benchmark import Benchmark, Due, Players, TaskItem
from ..errors import InputError
from ..progress import ProgressDisplay
from ..store import RunFolder
from ..types import Outcome
from .boundary import attempt
from .due import chunks, still_due
from .meter import Meter
from .records import Record
from .scores import TaskScore, task_score
from .settings import TaskSettings
from .sink import RecordSink, Rules, reopen
from .watch import Watch

CHUNK = 128
"""Samples handed to a benchmark at a time: the most that a kill can lose where its package tells results at the end."""
HOPELESS = 8
"""A chunk of so many samples that the infrastructure failed, all of them, ends its benchmark."""


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One benchmark of a run, its items in memory."""

    name: str
    benchmark: Benchmark
    settings: TaskSettings
    items: Sequence[TaskItem]


@dataclass(frozen=True, kw_only=True)
class Terms:
    """How a run goes about its work; none of it changes a score."""

    seed: int
    meter: Meter
    display: ProgressDisplay
    chunk: int = CHUNK
    keep_completions: bool = False


@dataclass(kw_only=True)
class Progress:
    """One cell under way."""

    cell: Cell
    records: list[Record]
    due: list[Due]
    reason: str = ""

    @property
    def missing(self) -> int:
        """Samples without a record."""
        return self.cell.settings.n_samples - len(self.records)


@dataclass(kw_only=True)
class Run:
    """The cells of a run folder, as far as they have come."""

    folder: RunFolder
    terms: Terms
    cells: Sequence[Cell]
    progress: dict[str, Progress] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for cell in self.cells:
            records = reopen(self.folder, cell.name)
            _refuse_mixture(self.folder, cell, records)
            done = {record.key for record in records}
            due = still_due(cell.name, cell.items, cell.settings.preset.repeats, self.terms.seed, done)
            self.progress[cell.name] = Progress(cell=cell, records=records, due=due)

    @property
    def n_samples(self) -> int:
        """Samples of the whole evaluation."""
        return sum(cell.settings.n_samples for cell in self.cells)

    @property
    def n_due(self) -> int:
        """Samples that are still to be played."""
        return sum(len(one.due) for one in self.progress.values())

    def play(self, players: Callable[[Cell], Players]) -> None:
        """Play everything that is due; a task whose players cannot be opened is a failed cell.

        Raises IncompleteError when the disk refuses.
        """
        self.folder.unfinish()
        for one in self.progress.values():
            if one.due:
                try:
                    cast = players(one.cell)
                except InputError as error:
                    one.reason = str(error)
                    continue
                with self.terms.meter.part(one.cell.name):
                    one.reason = play_cell(one, cast, self.folder, self.terms)

    def scores(self) -> list[TaskScore]:
        """As far as it has come."""
        return [
            task_score(name, one.cell.settings, one.cell.items, one.records, one.reason)
            for name, one in self.progress.items()
        ]


def _refuse_mixture(folder: RunFolder, cell: Cell, records: Sequence[Record]) -> None:
    others = sorted({record.scorer for record in records} - {cell.settings.scorer_version})
    if others:
        raise InputError(
            f"{folder.path} holds verdicts on {cell.name} by scorer {', '.join(others)}, this one is "
            f"{cell.settings.scorer_version}; `spadework score {folder.path}` gives all of them anew."
        )


def play_cell(one: Progress, players: Players, folder: RunFolder, terms: Terms) -> str:
    """Play one benchmark's samples; the reason why it broke off, or an empty text."""
    cell = one.cell
    watch = Watch(display=terms.display, task=cell.name, total=cell.settings.n_samples, done=len(one.records))
    watch.begin()

    def heard(record: Record) -> None:
        one.records.append(record)
        watch.heard(record)

    sink = RecordSink(folder=folder, rules=_rules(cell, terms), due=one.due, heard=heard)
    for chunk in chunks(one.due, terms.chunk):
        if terms.meter.exhausted:
            break
        before = len(one.records)
        reason = play_chunk(cell, chunk, players, sink) or _hopeless(one.records[before:])
        if reason:
            return reason
    return f"stopped by {terms.meter.exhausted}" if terms.meter.exhausted else ""


def play_chunk(cell: Cell, chunk: Sequence[Due], players: Players, sink: RecordSink) -> str:
    """Play some samples; the reason why that broke off, or an empty text. Raises what the sink could not bear."""

    def work() -> None:
        cell.benchmark.run(chunk, cell.settings.preset, players, sink)

    reason = attempt(work, closed=cell.settings.closed)
    if sink.failure is not None:
        raise sink.failure
    lost = len(sink.outstanding(chunk))
    return reason or (f"{lost} of {len(chunk)} samples never came back from {cell.name}" if lost else "")


def _rules(cell: Cell, terms: Terms) -> Rules:
    problem = (lambda due: cell.benchmark.problem(due.item)) if cell.settings.closed else None
    return Rules(
        name=cell.name, scorer=cell.settings.scorer_version, keep_completions=terms.keep_completions, problem=problem,
        out_of_means=lambda: bool(terms.meter.exhausted),
    )  # fmt: skip


def _hopeless(records: Sequence[Record]) -> str:
    if len(records) >= HOPELESS and all(record.outcome is Outcome.INFRA_ERROR for record in records):
        return f"{len(records)} samples in a row failed, the last one with: {records[-1].detail or 'no word why'}"
    return ""
