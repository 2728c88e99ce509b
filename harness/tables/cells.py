"""From evidence to numbers: every cell with its interval, every row with its paired comparisons.

What it is: pure functions of a `TableSpec` and an `Evidence`. What it is not: text (`panels`, `words`).
A cell that cannot be computed has a reason and no value; nothing here turns a lack into a number.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from ..errors import InputError
from .measured import mean_cell, measured_cell
from .metrics import metric_cell
from .pairs import compared, ranked
from .papers import paper_cell
from .result import Cell, Paper, RowResult, TableResult
from .runs import Evidence, Run
from .spec import ColumnSpec, RowSpec, TableSpec


def build(spec: TableSpec, evidence: Evidence, paper: Paper | None = None, *, rank: bool = True) -> TableResult:
    """All cells and comparisons. Raises InputError when the evidence does not fit the table.

    `rank` also finds the best of each column and who is tied with it, the slowest part where there is one seed.
    """
    wanted = set(spec.seeds) or {
        run.summary.seed for row in spec.rows if row.trained for run in evidence.runs.get(row.run, ())
    }
    rows = [_row(spec, row, evidence, wanted, paper) for row in spec.rows]
    for other in dict.fromkeys((spec.subject, spec.baseline)):
        rows = compared(spec, rows, evidence, other)
    for column in spec.columns:
        if rank and column.measured:
            rows = ranked(spec, rows, evidence, column)
    items, repeats, protocols = _counted(evidence)
    held_out = next((run.summary.task_digest for run in evidence.every_run()), "")
    extra = sorted(items.keys() - spec.categories.keys() - protocols.keys())
    if extra:
        raise InputError(f"the runs hold category {extra[0]!r}, which the table does not name; add it to [categories].")
    return TableResult(
        spec=spec, rows=tuple(rows), items=items, repeats=repeats, protocols=protocols, task_digest=held_out,
        evidence_digest=evidence.digest if items else "",
    )  # fmt: skip


def _counted(evidence: Evidence) -> tuple[dict[str, int], dict[str, int], dict[str, str]]:
    """Items by category (by benchmark for evaluations), samples of an item, protocols in words."""
    items: dict[str, int] = {}
    repeats: dict[str, int] = {}
    protocols: dict[str, str] = {}
    for run in evidence.every_run():
        for key, answers in run.answers.items():
            protocol = run.protocols.get(key)
            name = key.partition(".")[2] if protocol is None else key
            repeats.setdefault(name, answers.outcomes_IR.shape[1])
            if protocol is not None:
                protocols.setdefault(key, protocol.words)
                items.setdefault(key, len(answers.listed.items))
            elif not items.keys() - protocols.keys():
                items |= Counter(answers.listed.categories)
    return dict(sorted(items.items())), repeats, protocols


def _row(spec: TableSpec, row: RowSpec, evidence: Evidence, wanted: set[int], paper: Paper | None) -> RowResult:
    runs = evidence.runs.get(row.run, ())
    cells = {}
    for column in spec.columns:
        cell = _cell(spec, column, row, runs)
        absent = len(wanted - {run.summary.seed for run in runs})
        if not runs:
            cell = replace(cell, note=evidence.absent.get(row.run, cell.note))
        elif row.trained and absent:
            cell = replace(cell, missing=True, note=cell.note or f"{len(runs)} of {len(runs) + absent} seeds")
        cells[column.id] = replace(cell, paper=paper_cell(paper, row, column))
    corpora = sorted({run.summary.corpus_digest for run in runs if run.summary.corpus_digest})
    return RowResult(
        spec=row, cells=cells, against={}, seeds=tuple(run.summary.seed for run in runs), corpora=tuple(corpora),
        runs={name: digest for run in runs for name, digest in run.digests.items()},
        insecure={run.summary.seed: run.insecure for run in runs if run.insecure},
    )  # fmt: skip


def _cell(spec: TableSpec, column: ColumnSpec, row: RowSpec, runs: Sequence[Run]) -> Cell:
    if not runs:
        return Cell(column=column, missing=True, note="no finished run")
    if column.mean_of:
        return mean_cell(spec, column, row, runs)
    return measured_cell(column, row, runs) if column.measured else metric_cell(column, runs)
