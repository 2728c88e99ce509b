"""Rows against rows on the same items: each against subject and baseline, and in each column against the best.

A column that is the mean of others is compared on the items of all of them, each with the weight it has in the mean.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import comb

import numpy as np

from ..comparison import Difference, Verdict, holm, paired
from ..errors import IncompleteError
from ..statistics import Floats, item_means
from .result import Rank, RowResult
from .runs import Evidence
from .spec import ColumnSpec, RowSpec, TableSpec
from .values import BOUNDS, leaves, values_of

BySeed = dict[int, tuple[Floats, tuple[str, ...]]]
"""Means of the items, scaled by the weight of their stratum, and the strata."""


def compared(spec: TableSpec, rows: Sequence[RowResult], evidence: Evidence, other: str) -> list[RowResult]:
    """Every row minus the row `other` on the column `spec.compare`, Holm-corrected over the rows."""
    done = _against(spec, spec.column(spec.compare), [row.spec for row in rows], evidence, spec.row(other))
    return [
        replace(row, against={**row.against, other: done[row.spec.run]}) if row.spec.run in done else row
        for row in rows
    ]


def ranked(spec: TableSpec, rows: Sequence[RowResult], evidence: Evidence, column: ColumnSpec) -> list[RowResult]:
    """The best of a column, and the rows not shown to be worse than it.

    The best was picked by the same data, so Holm's correction goes over all pairs of rows; those that are not looked at
    count with p = 1. A row is then wrongly put behind the best in one table of twenty at most, whichever came out on
    top. Rows whose figure is missing or rests on part of the samples take no part.
    """
    whole = [row for row in rows if row.cells[column.id].value is not None and not row.cells[column.id].missing]
    if len(whole) < 2:
        return list(rows)
    values = {row.spec.run: row.cells[column.id].value or 0.0 for row in whole}
    top = max(values.values())
    best = next(row.spec for row in whole if values[row.spec.run] == top)
    found = _against(spec, column, [row.spec for row in whole], evidence, best, pairs=comb(len(whole), 2))
    ranks = {run: Rank.TIED for run, gap in found.items() if gap.verdict is not Verdict.WORSE}
    ranks |= {run: Rank.BEST for run, value in values.items() if value == top}
    return [_with_rank(row, column.id, ranks.get(row.spec.run)) for row in rows]


def _with_rank(row: RowResult, column: str, rank: Rank | None) -> RowResult:
    return replace(row, cells={**row.cells, column: replace(row.cells[column], rank=rank)})


def _against(
    spec: TableSpec, column: ColumnSpec, rows: Sequence[RowSpec], evidence: Evidence, other: RowSpec, pairs: int = 0
) -> Mapping[str, Difference]:
    """Each row minus another; Holm over the rows, or over so many `pairs`."""
    others = [row for row in rows if row.run != other.run and evidence.runs.get(row.run)]
    theirs = _by_seed(spec, column, other, evidence)
    found = {}
    for row in others:
        gap = _difference(column, (_by_seed(spec, column, row, evidence), theirs), (row, other), family=len(others))
        if gap is not None:
            found[row.run] = gap
    unseen = [1.0] * max(0, pairs - len(found))
    corrected = dict(zip(found, holm([*(gap.p for gap in found.values()), *unseen]), strict=False))
    return {run: replace(gap, p_holm=corrected[run]) for run, gap in found.items()}


def _difference(
    column: ColumnSpec, pair: tuple[BySeed, BySeed], rows: tuple[RowSpec, RowSpec], *, family: int
) -> Difference | None:
    first, second = pair
    if rows[0].trained and rows[1].trained:
        shared = sorted(first.keys() & second.keys())
        first, second = ({seed: by[seed] for seed in shared} for by in (first, second))
    if not first or not second:
        return None
    ours, theirs = (np.stack([means_I for means_I, _ in by.values()]) for by in (first, second))
    strata = next(iter(first.values()))[1]
    low, high = BOUNDS[column.kind]
    try:
        return paired(ours, theirs, strata, width=high - low, family=family)
    except IncompleteError:
        return None


def _by_seed(spec: TableSpec, column: ColumnSpec, row: RowSpec, evidence: Evidence) -> BySeed:
    """By seed; one entry, over all its seeds, for a row that was not trained."""
    found: BySeed = {}
    for run in evidence.runs.get(row.run, ()):
        parts = []
        for leaf, weight in leaves(spec, column):
            if (values := values_of(leaf, run)) is not None:
                names = [f"{leaf.id}/{name}" for name in values.strata]
                share = weight / max(1, len(set(names)))
                parts.append((item_means(values.values_IR), names, share))
        if parts and len(parts) == len(list(leaves(spec, column))):
            found[run.summary.seed] = _joined(parts)
    if found and not row.trained:
        strata = next(iter(found.values()))[1]
        return {0: (item_means(np.stack([means_I for means_I, _ in found.values()], axis=-1)), strata)}
    return found


def _joined(parts: Sequence[tuple[Floats, Sequence[str], float]]) -> tuple[Floats, tuple[str, ...]]:
    """`paired` weighs strata equally, so what should weigh more is scaled up; equal weights leave all as it is."""
    strata = [name for _, names, _ in parts for name in names]
    equal = 1 / len(set(strata))
    scaled = [means_I if np.isclose(share, equal) else means_I * (share / equal) for means_I, _, share in parts]
    return np.concatenate(scaled), tuple(strata)
