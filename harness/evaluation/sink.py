"""Where results go: one JSON line a sample, written whole the moment its result is known.

`RecordSink` is where a benchmark's results go. It takes each sample that is due once, holds a score to its range, keeps
closed texts off the disk, and remembers a disk that refused, whatever the benchmark's package does with the exception.
"""

import threading
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace

import msgspec

from .. import jsonl
from ..benchmark import Due, Scored
from ..errors import InputError, SpadeworkError
from ..sandbox import SandboxReport
from ..store import RECORDS, RETRIES, RunFolder
from ..types import Completion, Outcome
from .due import Key
from .quotes import windows
from .records import Record, read_records, silent, sound


def reopen(folder: RunFolder, name: str) -> list[Record]:
    """The samples that are done. Those that the infrastructure failed are taken out, so that they are played again."""
    rows = folder.read_records(name)
    records = read_records(rows, f"{folder.path / RECORDS / name}.jsonl")
    failed = [record for record in records if record.outcome is Outcome.INFRA_ERROR]
    if failed:
        lines = [{"benchmark": name, "item": r.item, "repeat": r.repeat, "detail": r.detail} for r in failed]
        jsonl.append(folder.path / RETRIES, lines)
        jsonl.keep(folder.path / RECORDS / f"{name}.jsonl", lambda row: row.get("outcome") != Outcome.INFRA_ERROR)
    return [record for record in records if record.outcome is not Outcome.INFRA_ERROR]


@dataclass(frozen=True, kw_only=True)
class Rules:
    """What holds for every sample of one benchmark."""

    name: str
    scorer: str
    keep_completions: bool = False
    problem: Callable[[Due], str] | None = None
    """The text that may not be quoted, for a closed benchmark."""
    out_of_means: Callable[[], bool] = lambda: False
    """True once a cap was reached: samples that fail from then on are not recorded and stay due."""


@dataclass(kw_only=True)
class RecordSink:
    """Implements `Sink` for one benchmark of one run. `heard` is told of every record, one at a time."""

    folder: RunFolder
    rules: Rules
    due: Sequence[Due]
    heard: Callable[[Record], None] = lambda record: None
    failure: SpadeworkError | None = None
    """A disk that refused, or a rule that a benchmark broke; the run ends with it."""
    dropped: int = 0
    _open: dict[Key, Due] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _report: SandboxReport | None = None

    def __post_init__(self) -> None:
        self._open = {(one.item.id, one.repeat): one for one in self.due}

    def put(self, scored: Scored, completions: Sequence[Completion]) -> None:
        """See `Sink`."""
        with self._lock:
            if self.failure is not None:
                raise self.failure
            try:
                self._put(scored, completions)
            except SpadeworkError as error:
                self.failure = error
                raise

    def sandboxed(self, report: SandboxReport) -> None:
        """See `Sink`."""
        with self._lock:
            if report != self._report:
                self.folder.sandboxed(report)
                self._report = report

    def outstanding(self, due: Collection[Due]) -> list[Due]:
        """Those of the samples that have not come."""
        return [one for one in due if (one.item.id, one.repeat) in self._open]

    def _put(self, scored: Scored, completions: Sequence[Completion]) -> None:
        due = self._open.pop((scored.item, scored.repeat), None)
        if due is None:
            raise InputError(f"{self.rules.name} gave sample {scored.item}/{scored.repeat} unasked or twice; mend it.")
        if scored.outcome is Outcome.INFRA_ERROR and self.rules.out_of_means():
            self.dropped += 1
            return
        verdict = sound(scored.outcome, scored.score)
        scored = replace(scored, outcome=verdict.outcome, score=verdict.score, detail=verdict.detail or scored.detail)
        record = self._record(due, scored)
        if self.rules.keep_completions and completions:
            kept = {"item": record.item, "repeat": record.repeat, "completions": list(completions)}
            self.folder.private(self.rules.name, [kept])
        self.folder.records(self.rules.name, [msgspec.structs.asdict(record)])
        self.heard(record)

    def _record(self, due: Due, scored: Scored) -> Record:
        if self.rules.problem is not None:
            scored = silent(scored, windows(self.rules.problem(due)))
        return Record(
            item=scored.item, category=scored.category, repeat=scored.repeat, outcome=scored.outcome,
            reward=scored.score, answer=scored.answer, gold=scored.gold, scorer=self.rules.scorer,
            detail=scored.detail, facts=dict(scored.facts),
        )  # fmt: skip
