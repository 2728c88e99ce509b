"""The table of a report: every benchmark of every side with its interval, and what the training runs did. Pure.

A cell without a value is a dash with a reason. Two cells of a row stand beside each other whatever their protocol; each
says its own, and `differences` decides what may be compared.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..comparing.columns import Column
from ..errors import IncompleteError
from ..statistics import score
from .numbers import amount, percent
from .values import RunFiles, Side

FIGURES: Mapping[str, tuple[str, str]] = {
    "valid_share": ("valid programs", "%"),
    "band_share": ("environments in the learnable band", "%"),
    "zero_variance_share": ("groups without variance", "%"),
    "vendi_per_n": ("diversity of the programs (Vendi score / n)", "%"),
    "plays": ("environment plays", ""),
    "tokens": ("tokens drawn", ""),
    "unscored": ("unscored plays", ""),
    "skipped_updates": ("skipped updates", ""),
    "seconds": ("wall time of the steps, s", ""),
}
"""Keys of a training run's summary with their names and units, in the order of the table."""


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One figure as text; `reason` says why there is none, or what is the matter with it."""

    text: str = "–"
    interval: str = ""
    n: str = ""
    protocol: str = ""
    reason: str = ""
    calm: bool = False
    """The reason is no trouble: there is no such thing here."""


@dataclass(frozen=True, kw_only=True)
class ScoreRow:
    """One benchmark, or one category of it."""

    name: str
    part: bool
    """A category, of the benchmark above it."""
    cells: tuple[Cell, ...]
    """In the order of the sides."""


@dataclass(frozen=True, kw_only=True)
class Bar:
    """The samples of one side in one benchmark, by outcome."""

    label: str
    total: int
    parts: tuple[tuple[str, int, float], ...]
    """Outcome, samples, share in percent of all samples."""


def columns_of(sides: Sequence[Side]) -> list[str]:
    """Names of the benchmarks, in the order in which they first appear."""
    return list(dict.fromkeys(name for side in sides if side.subject for name in side.subject.columns))


def column_of(side: Side, name: str) -> Column | None:
    """A benchmark of a side."""
    return side.subject.columns.get(name) if side.subject else None


def score_rows(sides: Sequence[Side], detailed: Collection[str]) -> list[ScoreRow]:
    """One row a benchmark; below those that are named in `detailed` one a category, where there are several."""
    rows = []
    for name in columns_of(sides):
        found = [column_of(side, name) for side in sides]
        rows.append(ScoreRow(name=name, part=False, cells=tuple(_cell(column) for column in found)))
        categories = dict.fromkeys(c for column in found if column for c in sorted(set(column.listed.categories)))
        if len(categories) > 1 and name in detailed:
            parts = [column.by_category() if column else {} for column in found]
            for category in categories:
                cells = tuple(_cell(part.get(f"{name}/{category}"), part=True) for part in parts)
                rows.append(ScoreRow(name=category, part=True, cells=cells))
    return rows


def _cell(column: Column | None, *, part: bool = False) -> Cell:
    if column is None:
        return Cell(reason="not measured here", calm=True)
    protocol = "" if part else f"{column.stamp.preset} · scorer {column.stamp.scorer}"
    samples = f"{column.outcomes_SIR.size:,} samples of {len(column.listed.items):,} items"
    seeds = f", {len(column.seeds)} seeds" if len(column.seeds) > 1 else ""
    try:
        found = score(column.values_SIR(), column.strata_I)
    except IncompleteError as error:
        return Cell(n=samples + seeds, protocol=protocol, reason=column.reason or str(error))
    reason = column.reason
    if not found.complete:
        reason = "; ".join(filter(None, [found.completeness, reason]))
    return Cell(
        text=percent(found.value), interval=f"[{percent(found.low)}, {percent(found.high)}]", n=samples + seeds,
        protocol=protocol, reason=reason,
    )  # fmt: skip


def figure_rows(sides: Sequence[Side]) -> list[ScoreRow]:
    """What the training runs did and cost; no row where no side has the figure."""
    rows = []
    for key, (name, unit) in FIGURES.items():
        if any(key in run.figures for side in sides for run in side.runs):
            rows.append(ScoreRow(name=name, part=False, cells=tuple(_figure(side.runs, key, unit) for side in sides)))
    return rows


def _figure(runs: Sequence[RunFiles], key: str, unit: str) -> Cell:
    """Mean over the runs, with their range."""
    numbers = [value for run in runs if (value := run.figures.get(key)) is not None]
    if not numbers:
        known = any(key in run.figures for run in runs)
        begun = any(run.metrics for run in runs)
        return Cell(reason="does not apply" if known else "no summary" if begun else "no training", calm=not begun)
    say = percent if unit == "%" else amount
    spread = f"{say(min(numbers))} to {say(max(numbers))}" if min(numbers) < max(numbers) else ""
    return Cell(
        text=say(float(np.mean(numbers))), interval=spread,
        reason=f"of {len(numbers)} of {len(runs)} runs" if len(numbers) < len(runs) else "",
    )  # fmt: skip


def outcome_bars(sides: Sequence[Side], name: str) -> list[Bar]:
    """One bar a side that has the benchmark."""
    bars = []
    for side in sides:
        column = column_of(side, name)
        if column is not None:
            total = column.outcomes_SIR.size
            parts = tuple((outcome, n, 100 * n / total) for outcome, n in column.counts().items())
            bars.append(Bar(label=side.label, total=total, parts=parts))
    return bars
