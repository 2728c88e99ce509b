"""Cells that are computed from the outcomes of items: one benchmark or suite, or the mean of several."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from math import sqrt

import numpy as np
from scipy import stats

from ..errors import IncompleteError
from ..intervals import combined
from ..statistics import CONFIDENCE, Interval, Score, item_means, macro_mean, score, strata_members
from .result import Cell
from .runs import Run
from .spec import ColumnSpec, RowSpec, TableSpec
from .values import BOUNDS, Values, all_values, leaves, short_digest


def measured_cell(column: ColumnSpec, row: RowSpec, runs: Sequence[Run]) -> Cell:
    """A figure of per-item outcomes: its interval covers seeds and items."""
    found = all_values(column, runs)
    if not found:
        return Cell(column=column, missing=True, note=_absent(column, runs))
    if not found[0].items:
        return Cell(column=column, missing=True, note=f"no item of category {column.category}")
    values_SIR = np.stack([values.values_IR for values in found])
    if not row.trained:
        values_SIR = np.moveaxis(values_SIR, 0, -1).reshape(1, len(found[0].items), -1)
    counts = sum((values.counts for values in found), Counter[str]())
    used = tuple(values.name for values in found)
    blank = Cell(
        column=column, runs=used,
        evidence=short_digest([f"{name} {values.digest}" for name, values in zip(used, found, strict=True)]),
    )  # fmt: skip
    try:
        result = score(values_SIR, found[0].strata, bounds=BOUNDS[column.kind], counts=dict(counts))
    except IncompleteError:
        scored = int(np.isfinite(values_SIR).sum())
        note = f"{scored:,} scored of {values_SIR.size:,}, a category has none"
        return replace(blank, missing=True, note=note)
    note = "; ".join(dict.fromkeys(values.broken for values in found if values.broken))
    if not result.complete:
        zeros = f"{result.completeness}; {_rate(result, column)} if each unscored sample counts as 0"
        note = "; ".join(filter(None, (note, zeros)))
    elif len(found) < len(runs):
        note = f"records of {len(found)} of {len(runs)} runs"
    return replace(
        blank, value=result.value, low=result.low, high=result.high, score=result, n_seeds=len(found), note=note,
        missing=bool(note),
    )  # fmt: skip


def mean_cell(spec: TableSpec, column: ColumnSpec, row: RowSpec, runs: Sequence[Run]) -> Cell:
    """The unweighted mean of other columns. Its interval is `combined` from theirs, and no narrower than Student's t
    over the seeds, which the columns share.
    """
    parts = [(leaf, weight, measured_cell(leaf, row, runs)) for leaf, weight in leaves(spec, column)]
    lacking = [leaf.title for leaf, _, cell in parts if cell.score is None]
    if lacking:
        return Cell(column=column, missing=True, note=f"no mean without {', '.join(lacking)}")
    scores = [(weight, cell.score) for _, weight, cell in parts if cell.score is not None]
    value, (low, high) = combined((weight, one.value, Interval(one.low, one.high)) for weight, one in scores)
    per_seed = _per_seed(spec, column, runs) if row.trained else []
    spread = float(np.std(per_seed, ddof=1)) if len(per_seed) > 1 else None
    if spread is not None:
        half = float(stats.t.ppf((1 + CONFIDENCE) / 2, len(per_seed) - 1)) * spread / sqrt(len(per_seed))
        low, high = min(low, value - half), max(high, value + half)
    least, most = BOUNDS[column.kind]
    result = Score(
        value=value, low=max(least, low), high=min(most, high), seed_sd=spread,
        n_items=sum(one.n_items for _, one in scores), n_samples=sum(one.n_samples for _, one in scores),
        n_scored=sum(one.n_scored for _, one in scores), n_seeds=min(one.n_seeds for _, one in scores),
        counts=dict(sum((Counter(one.counts) for _, one in scores), Counter[str]())),
    )  # fmt: skip
    partly = [leaf.title for leaf, _, cell in parts if cell.missing]
    return Cell(
        column=column, value=result.value, low=result.low, high=result.high, score=result,
        n_seeds=min(cell.n_seeds for _, _, cell in parts), missing=bool(partly),
        note=f"incomplete in {', '.join(partly)}" if partly else "",
        runs=tuple(dict.fromkeys(run for _, _, cell in parts for run in cell.runs)),
        evidence=short_digest([cell.evidence for _, _, cell in parts]),
    )  # fmt: skip


def _per_seed(spec: TableSpec, column: ColumnSpec, runs: Sequence[Run]) -> list[float]:
    """The mean of each run that played every part of it."""
    found = []
    for run in runs:
        parts = [(weight, values) for leaf, weight in leaves(spec, column) for values in all_values(leaf, [run])]
        if len(parts) == len(list(leaves(spec, column))):
            found.append(sum(weight * _value(values) for weight, values in parts))
    return found


def _value(values: Values) -> float:
    return macro_mean(item_means(values.values_IR), strata_members(values.strata, len(values.items)))


def _absent(column: ColumnSpec, runs: Sequence[Run]) -> str:
    if column.task:
        reasons = dict.fromkeys(run.lacking[column.task] for run in runs if column.task in run.lacking)
        return "; ".join([f"no evaluation on {column.task}", *reasons])
    return f"no {column.mode} records of the {column.checkpoint} checkpoint"


def _rate(result: Score, column: ColumnSpec) -> str:
    assert result.value_all is not None
    return f"{100 * result.value_all:.1f} %" if column.kind == "right" else f"{result.value_all:.2f}"
