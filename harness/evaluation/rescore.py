"""`spadework score RUN`: verdicts again, from the answers that are stored; no model, no completion.

All verdicts of a task come from one scorer version: either every record is given anew or none. What changed is printed
and stays in `rescored.jsonl`. Samples that never came to a verdict (cut off, refused, failed) stay as they are.
"""

from argparse import Namespace
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from .. import jsonl
from ..benchmark import TaskItem
from ..console import Terminal
from ..errors import ExitCode, InputError
from ..store import CONFIG, RECORDS, RESCORED, RunFolder, find_run, read_document
from ..types import Outcome
from .boundary import attempt
from .due import items_digest, picked
from .evaluate import write_scores
from .plan import by_task
from .records import Record, read_records, sound
from .registry import resolve
from .report import Scores, print_scores, read_scores
from .run import Cell
from .scores import task_score
from .settings import EvaluationSettings, from_document

NEVER_JUDGED = (Outcome.INFRA_ERROR, Outcome.TRUNCATED, Outcome.REFUSED, Outcome.CONTEXT_OVERFLOW)
EXAMPLES = 5


@dataclass(frozen=True, kw_only=True)
class Rescored:
    """One task's records before and after."""

    cell: Cell
    before: list[Record]
    after: list[Record]

    @property
    def changes(self) -> list[tuple[Record, Record]]:
        """Records whose verdict or score is another one."""
        pairs = zip(self.before, self.after, strict=True)
        return [(a, b) for a, b in pairs if (a.outcome, a.reward) != (b.outcome, b.reward)]


def score_command(arguments: Namespace) -> ExitCode:
    """Score `arguments.run` again; with `arguments.dry_run` only say what would change."""
    run = find_run(arguments.run)
    settings = from_document(read_document(run / CONFIG), str(run))
    cells = reload(settings, arguments.data)
    with RunFolder(run, settings) as folder:
        done = [rescored(folder, cell) for cell in cells]
        for one in done:
            print(told(one, settings.tasks[one.cell.name].scorer_version))
        if arguments.dry_run:
            return ExitCode.OK
        scores = write(folder, settings, done)
    print_scores(scores, Terminal())
    return ExitCode.OK if scores.complete else ExitCode.INCOMPLETE


def reload(settings: EvaluationSettings, data: Sequence[str]) -> list[Cell]:
    """The run's tasks with their items. Raises InputError when the data are not those that were played."""
    folders = by_task(data, settings.tasks)
    cells = []
    for name, task in settings.tasks.items():
        benchmark = resolve(task.reference).benchmark
        folder = folders.get(name, folders.get(""))
        items = picked(benchmark.load(task.preset, Path(folder) if folder else None), task.limit)
        if items_digest(items) != task.items:
            digests = f"digest {items_digest(items)}, then {task.items}"
            raise InputError(f"the items of {name} are not those that were played ({digests}); give --data of then.")
        newer = msgspec.structs.replace(task, scorer_version=benchmark.scorer_version)
        cells.append(Cell(name=name, benchmark=benchmark, settings=newer, items=items))
    return cells


def rescored(folder: RunFolder, cell: Cell) -> Rescored:
    """Every record of a task with the verdict of today's scorer."""
    before = read_records(folder.read_records(cell.name), f"{folder.path / RECORDS / cell.name}.jsonl")
    items = {item.id: item for item in cell.items}
    after = [judged(cell, items[record.item], record) for record in before]
    return Rescored(cell=cell, before=before, after=after)


def judged(cell: Cell, item: TaskItem, record: Record) -> Record:
    """A record with the verdict of today's scorer on its answer; without an answer, the old one."""
    stamped = msgspec.structs.replace(record, scorer=cell.settings.scorer_version)
    if record.answer is None or record.outcome in NEVER_JUDGED:
        return stamped
    verdicts: list[tuple[Outcome, float | None]] = []
    broken = attempt(
        lambda: verdicts.append(cell.benchmark.rescore(item, record.answer, cell.settings.preset)),
        closed=cell.settings.closed,
    )
    outcome, score, detail = sound(*(verdicts[0] if verdicts else (Outcome.SCORER_ERROR, None)))
    return msgspec.structs.replace(stamped, outcome=outcome, reward=score, detail=broken or detail or record.detail)


def told(one: Rescored, version: str) -> str:
    """What scoring again changed, for people."""
    name, newer = one.cell.name, one.cell.settings.scorer_version
    scorer = f"scorer {version}" if version == newer else f"scorer {version} -> {newer}"
    kinds = Counter(f"{a.outcome} -> {b.outcome}" for a, b in one.changes)
    words = ", ".join(f"{kind} {count:,}" for kind, count in sorted(kinds.items()))
    some = "".join(f"\n  {a.item}/{a.repeat}: {a.outcome} -> {b.outcome}" for a, b in one.changes[:EXAMPLES])
    changed = f"{len(one.changes):,} of {len(one.before):,} verdicts changed"
    return f"{name}: {scorer}, {changed}{f' ({words})' if words else ''}{some}"


def write(folder: RunFolder, settings: EvaluationSettings, done: Sequence[Rescored]) -> Scores:
    """Records, settings and scores anew. A kill in between leaves a run that this verb makes whole."""
    old = read_scores(folder.path)
    reasons = {task.task: task.overall.reason for task in old.tasks} if old is not None else {}
    folder.unfinish()
    for one in done:
        jsonl.append(folder.path / RESCORED, [_change(one.cell.name, a, b) for a, b in one.changes])
        rows = [msgspec.structs.asdict(record) for record in one.after]
        jsonl.replace(folder.path / RECORDS / f"{one.cell.name}.jsonl", rows)
    newer = msgspec.structs.replace(settings, tasks={one.cell.name: one.cell.settings for one in done})
    folder.reconfigure(newer)
    tasks = [
        task_score(one.cell.name, one.cell.settings, one.cell.items, one.after, reasons.get(one.cell.name, ""))
        for one in done
    ]
    return write_scores(folder, newer, tasks)


def _change(name: str, before: Record, after: Record) -> dict[str, object]:
    return {
        "benchmark": name, "item": before.item, "repeat": before.repeat, "scorer": [before.scorer, after.scorer],
        "outcome": [before.outcome, after.outcome], "reward": [before.reward, after.reward],
    }  # fmt: skip
