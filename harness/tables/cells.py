"""From evidence to numbers: every cell with its interval, every row with its two paired comparisons.

What it is: pure functions of a `TableSpec` and an `Evidence`. What it is not: text (`panels`, `words`).
A cell that cannot be computed has a reason and no value; nothing here turns a lack into a number.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np
from scipy import stats

from ..comparison import Difference, holm, paired
from ..errors import IncompleteError, InputError
from ..statistics import CONFIDENCE, Floats, Score, item_means, score, wilson
from .runs import Evidence, Run
from .spec import MEASURED, ColumnSpec, RowSpec, TableSpec

BOUNDS: dict[str, tuple[float, float]] = {"right": (0.0, 1.0), "return": (-1.0, 1.0)}


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One figure in its natural unit: a share is in [0, 1], never percent."""

    column: ColumnSpec
    value: float | None = None
    low: float | None = None
    high: float | None = None
    score: Score | None = None
    """The evidence of a figure that was computed from items."""
    n_seeds: int = 0
    size: int | None = None
    """From how many things a metric of the summary was computed."""
    note: str = ""
    missing: bool = False
    """True when the figure should be there and is not (or only in part): the table is then incomplete."""
    paper: float | None = None
    """The paper's own figure, in the paper's unit (percent for scores)."""


@dataclass(frozen=True, kw_only=True)
class RowResult:
    """One method with its figures."""

    spec: RowSpec
    cells: dict[str, Cell]
    """By column id."""
    against: dict[str, Difference]
    """This row minus another, by the other's run name (subject and baseline); absent where it cannot be compared."""
    seeds: tuple[int, ...]
    corpora: tuple[str, ...]
    insecure: Mapping[int, tuple[str, ...]]
    """By seed, what the sandbox of a run lacked of the layers that must hold; runs whose sandbox held are absent."""


@dataclass(frozen=True, kw_only=True)
class TableResult:
    """A whole table in numbers."""

    spec: TableSpec
    rows: tuple[RowResult, ...]
    items: Mapping[str, int]
    """Items per held-out category."""
    repeats: Mapping[str, int]
    """Samples of an item per mode."""
    task_digest: str
    evidence_digest: str

    @property
    def gaps(self) -> list[str]:
        """Why the table is incomplete, one sentence part a row; empty when it is whole."""
        found = []
        for row in self.rows:
            reasons = dict.fromkeys(cell.note for cell in row.cells.values() if cell.missing)
            found += [f"{row.spec.run}: {reason}" for reason in reasons]
        return found

    @property
    def insecure(self) -> bool:
        """Whether a program could reach beyond the sandbox in any of the runs."""
        return any(row.insecure for row in self.rows)

    def row(self, run: str) -> RowResult:
        """The row of a run name."""
        return next(row for row in self.rows if row.spec.run == run)


Paper = Mapping[str, object]
"""The paper's tables as they lie in the file."""


def build(spec: TableSpec, evidence: Evidence, paper: Paper | None = None) -> TableResult:
    """All cells and comparisons. Raises InputError when the evidence does not fit the table."""
    wanted = set(spec.seeds) or {
        run.summary.seed for row in spec.rows if row.trained for run in evidence.runs.get(row.run, ())
    }
    rows = [_row(spec, row, evidence.runs.get(row.run, ()), wanted, paper) for row in spec.rows]
    for other in dict.fromkeys((spec.subject, spec.baseline)):
        rows = _compared(spec, rows, evidence, other)
    items: Counter[str] = Counter()
    repeats: dict[str, int] = {}
    for run in evidence.every_run():
        for key, answers in run.answers.items():
            items = items or Counter(answers.listed.categories)
            repeats.setdefault(key.partition(".")[2], answers.outcomes_IR.shape[1])
    if items.keys() - spec.categories.keys():
        extra = sorted(items.keys() - spec.categories.keys())
        raise InputError(f"the runs hold category {extra[0]!r}, which the table does not name; add it to [categories].")
    task = next((run.summary.task_digest for run in evidence.every_run()), "")
    return TableResult(
        spec=spec, rows=tuple(rows), items=dict(sorted(items.items())), repeats=repeats, task_digest=task,
        evidence_digest=evidence.digest if items else "",
    )  # fmt: skip


def _row(spec: TableSpec, row: RowSpec, runs: Sequence[Run], wanted: set[int], paper: Paper | None) -> RowResult:
    cells = {}
    for column in spec.columns:
        cell = _cell(column, row, runs)
        absent = len(wanted - {run.summary.seed for run in runs})
        if row.trained and runs and absent:
            cell = replace(cell, missing=True, note=cell.note or f"{len(runs)} of {len(runs) + absent} seeds")
        cells[column.id] = replace(cell, paper=paper_figure(paper, row, column.paper))
    corpora = sorted({run.summary.corpus_digest for run in runs if run.summary.corpus_digest})
    seeds = tuple(run.summary.seed for run in runs)
    insecure = {run.summary.seed: run.insecure for run in runs if run.insecure}
    return RowResult(spec=row, cells=cells, against={}, seeds=seeds, corpora=tuple(corpora), insecure=insecure)


def _cell(column: ColumnSpec, row: RowSpec, runs: Sequence[Run]) -> Cell:
    if not runs:
        return Cell(column=column, missing=True, note="no finished run")
    return _measured(column, row, runs) if column.kind in MEASURED else _metric(column, runs)


def _measured(column: ColumnSpec, row: RowSpec, runs: Sequence[Run]) -> Cell:
    """A figure of per-item outcomes: its interval covers seeds and items."""
    found = [a for run in runs if (a := run.answered(column.checkpoint, column.mode)) is not None]
    if not found:
        return Cell(column=column, missing=True, note=f"no {column.mode} records of the {column.checkpoint} checkpoint")
    picked = found[0].positions(column.category)
    if picked.size == 0:
        return Cell(column=column, missing=True, note=f"no item of category {column.category}")
    values_SIR = np.stack([(a.right_IR() if column.kind == "right" else a.rewards_IR)[picked] for a in found])
    if not row.trained:
        values_SIR = np.moveaxis(values_SIR, 0, -1).reshape(1, picked.size, -1)
    counts = sum((a.counts(column.category) for a in found), Counter[str]())
    strata = [found[0].listed.categories[position] for position in picked]
    try:
        result = score(values_SIR, strata, bounds=BOUNDS[column.kind], counts=dict(counts))
    except IncompleteError:
        scored = int(np.isfinite(values_SIR).sum())
        return Cell(column=column, missing=True, note=f"{scored:,} scored of {values_SIR.size:,}, a category has none")
    note = ""
    if not result.complete:
        note = f"{result.completeness}; {_rate(result, column)} if each unscored sample counts as 0"
    elif len(found) < len(runs):
        note = f"records of {len(found)} of {len(runs)} seeds"
    return Cell(
        column=column, value=result.value, low=result.low, high=result.high, score=result, n_seeds=len(found),
        note=note, missing=bool(note),
    )  # fmt: skip


def _rate(result: Score, column: ColumnSpec) -> str:
    assert result.value_all is not None
    return f"{100 * result.value_all:.1f} %" if column.kind == "right" else f"{result.value_all:.2f}"


def _metric(column: ColumnSpec, runs: Sequence[Run]) -> Cell:
    """A number of the summaries. None says that the row has no such thing, an absent key that it was not measured."""
    metrics = [run.summary.metrics for run in runs]
    values = [found[column.metric] for found in metrics if column.metric in found]
    if not values:
        return Cell(column=column, missing=True, note=f"the summary lacks {column.metric}")
    numbers = [value for value in values if value is not None]
    if not numbers:
        return Cell(column=column, note="does not apply")
    if column.kind == "share" and not all(0 <= number <= 1 for number in numbers):
        raise InputError(
            f"{column.metric} of {runs[0].summary.row} is {max(numbers)}; a share lies in [0, 1], not percent."
        )
    size_key = column.size or f"{column.metric}_n"
    sizes = [size for found in metrics if (size := found.get(size_key)) is not None]
    low, high = _metric_interval(column, numbers, sizes)
    partial = f"measured in {len(numbers)} of {len(runs)} seeds" if len(numbers) < len(runs) else ""
    return Cell(
        column=column, value=float(np.mean(numbers)), low=low, high=high, n_seeds=len(numbers), note=partial,
        missing=bool(partial), size=round(float(np.mean(sizes))) if sizes else None,
    )  # fmt: skip


def _metric_interval(
    column: ColumnSpec, numbers: Sequence[float], sizes: Sequence[float]
) -> tuple[float | None, float | None]:
    """Student's t over seeds; for a share whose size is known no narrower than Wilson on the pooled count."""
    low: float | None = None
    high: float | None = None
    mean = float(np.mean(numbers))
    if len(numbers) > 1:
        quantile = float(stats.t.ppf((1 + CONFIDENCE) / 2, len(numbers) - 1))
        half = quantile * float(np.std(numbers, ddof=1)) / sqrt(len(numbers))
        low, high = max(0.0, mean - half), mean + half
    if column.kind == "share" and len(sizes) == len(numbers) and sum(sizes) > 0:
        pooled = wilson(mean * sum(sizes), sum(sizes))
        low = pooled.low if low is None else min(low, pooled.low)
        high = pooled.high if high is None else max(high, pooled.high)
    if high is not None and column.kind in ("share", "ratio"):
        high = min(1.0, high)
    return low, high


def _compared(spec: TableSpec, rows: Sequence[RowResult], evidence: Evidence, other: str) -> list[RowResult]:
    """Every row minus the row `other` on the column `spec.compare`, Holm-corrected over the rows."""
    differences: dict[str, Difference] = {}
    runs = [row.spec for row in rows if row.spec.run != other and evidence.runs.get(row.spec.run)]
    for row in runs:
        difference = _difference(spec, row, spec.row(other), evidence, family=len(runs))
        if difference is not None:
            differences[row.run] = difference
    corrected = dict(zip(differences, holm([found.p for found in differences.values()]), strict=True))
    done = {run: replace(found, p_holm=corrected[run]) for run, found in differences.items()}
    return [
        replace(row, against={**row.against, other: done[row.spec.run]}) if row.spec.run in done else row
        for row in rows
    ]


def _difference(spec: TableSpec, row: RowSpec, other: RowSpec, evidence: Evidence, *, family: int) -> Difference | None:
    column = spec.column(spec.compare)
    first, second = (_by_seed(column, own, evidence) for own in (row, other))
    if row.trained and other.trained:
        shared = first.keys() & second.keys()
        first, second = ({seed: by[seed] for seed in sorted(shared)} for by in (first, second))
    if not first or not second:
        return None
    answers = next(a for run in evidence.runs[row.run] if (a := run.answered(column.checkpoint, column.mode)))
    strata = [answers.listed.categories[position] for position in answers.positions(column.category)]
    low, high = BOUNDS[column.kind]
    ours, theirs = (np.stack(list(by.values())) for by in (first, second))
    try:
        return paired(ours, theirs, strata, width=high - low, family=family)
    except IncompleteError:
        return None


def _by_seed(column: ColumnSpec, row: RowSpec, evidence: Evidence) -> dict[int, Floats]:
    """Item means by seed; one entry, over all its seeds, for a row that was not trained."""
    found: dict[int, Floats] = {}
    for run in evidence.runs.get(row.run, ()):
        answers = run.answered(column.checkpoint, column.mode)
        if answers is not None:
            values_IR = answers.right_IR() if column.kind == "right" else answers.rewards_IR
            found[run.summary.seed] = item_means(values_IR[answers.positions(column.category)])
    if found and not row.trained:
        return {0: item_means(np.stack(list(found.values()), axis=-1))}
    return found


def paper_figure(paper: Paper | None, row: RowSpec, column: str) -> float | None:
    """The paper's figure of a row in the first of its tables that has the column; None when it has none."""
    if paper is None or not column:
        return None
    for table, *names in filter(None, row.paper):
        here = paper.get(table)
        if not isinstance(here, dict) or column not in here.get("columns", []):
            continue
        found: object = here.get("rows")
        for name in names:
            found = found.get(name) if isinstance(found, dict) else None
        if not isinstance(found, list):
            raise InputError(
                f"the paper's {table} has no row {' / '.join(names)!r}; correct `paper` of row {row.run!r}."
            )
        value = found[here["columns"].index(column)]
        return None if value is None else float(value)
    return None
