"""Cells that are numbers of the runs' summaries: shares of programs, plays, tokens, updates, seconds."""

from collections.abc import Sequence
from math import isfinite, sqrt

import numpy as np
from scipy import stats

from ..errors import InputError
from ..statistics import CONFIDENCE, wilson
from .result import Cell
from .runs import Run
from .spec import ColumnSpec
from .values import short_digest

RANGES: dict[str, tuple[float, float, str]] = {
    "share": (0, 1, "a share lies in [0, 1]; divide it by 100, or give the column the kind percent"),
    "ratio": (0, 1, "a ratio lies in [0, 1]; correct it where it is written"),
    "percent": (0, 100, "a percentage lies in [0, 100]; correct it where it is written"),
    "count": (0, float("inf"), "a count is never below 0; correct it where it is written"),
    "seconds": (0, float("inf"), "a time is never below 0; correct it where it is written"),
}


def metric_cell(column: ColumnSpec, runs: Sequence[Run]) -> Cell:
    """A number of the summaries. None says that the row has no such thing, an absent key that it was not measured."""
    known = [run for run in runs if column.metric in run.metrics]
    if not known:
        return Cell(column=column, missing=True, note=f"the summary lacks {column.metric}")
    measured = [(run, value) for run in known if (value := run.metrics[column.metric]) is not None]
    if not measured:
        return Cell(column=column, note="does not apply")
    for run, value in measured:
        _check(column, run, value)
    size_key = column.size or f"{column.metric}_n"
    numbers = [value for _, value in measured]
    sizes = [size for run in runs if (size := run.metrics.get(size_key)) is not None]
    low, high = _interval(column, numbers, sizes)
    evidence = short_digest([f"{run.id} {value!r}" for run, value in measured])
    partial = f"measured in {len(numbers)} of {len(runs)} runs" if len(numbers) < len(runs) else ""
    return Cell(
        column=column, value=float(np.mean(numbers)), low=low, high=high, n_seeds=len(numbers), note=partial,
        missing=bool(partial), size=round(float(np.mean(sizes))) if sizes else None,
        runs=tuple(run.id for run, _ in measured), evidence=evidence,
    )  # fmt: skip


def _check(column: ColumnSpec, run: Run, value: float) -> None:
    low, high, remedy = RANGES[column.kind]
    if not (isfinite(value) and low <= value <= high):
        raise InputError(f"{run.id}: {column.metric} is {value}; {remedy}.")


def _interval(
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
    unit = {"share": 1.0, "percent": 100.0}.get(column.kind)
    if unit is not None and len(sizes) == len(numbers) and sum(sizes) > 0:
        pooled = wilson(mean / unit * sum(sizes), sum(sizes))
        low = unit * pooled.low if low is None else min(low, unit * pooled.low)
        high = unit * pooled.high if high is None else max(high, unit * pooled.high)
    return low, high if high is None else min(high, RANGES[column.kind][1])
