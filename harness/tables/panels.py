"""A table as text in blocks, before any markup: what Markdown, LaTeX, HTML and the terminal all print.

What it is: number formats, footnote letters, marks, the paper's columns beside ours, the runs behind a figure. What it
is not: escaping or layout, which each renderer does for itself.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..comparison import Difference, Verdict
from ..numbers import signed
from .papers import paper_figure
from .result import Cell, Paper, Rank, RowResult, TableResult
from .spec import ColumnSpec, TableSpec
from .words import row_label, span

DASH = "\u2013"
MARKS = {Verdict.BETTER: "\u25b2", Verdict.WORSE: "\u25bc", Verdict.CANNOT_TELL: "\u2248"}
PERCENT = ("right", "share")
RANKS = {
    Rank.BEST: "the best of its column",
    Rank.TIED: "not shown to be worse than the best (paired test, Holm over all pairs of rows)",
}
"""What the marks of best and tied mean; bold and underlined, however a format does that."""
ONE_RUN = "one run"
"""Stands in place of an interval where a figure was measured once."""


@dataclass(frozen=True, kw_only=True)
class Head:
    """The head of one column: its title and a small second line."""

    text: str
    small: str = ""
    paper: bool = False


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One cell: figure, interval, a verdict, the letter of a footnote."""

    text: str
    interval: str = ""
    """The interval in brackets, and from how many things the figure was computed where that is known."""
    verdict: Verdict | None = None
    letter: str = ""
    paper: bool = False
    rank: Rank | None = None
    runs: tuple[str, ...] = ()
    """Ids of the runs behind the figure."""


@dataclass(frozen=True, kw_only=True)
class Panel:
    """One block of columns over all rows."""

    title: str
    heads: tuple[Head, ...]
    rows: tuple[tuple[str, tuple[Entry, ...]], ...]
    """Label and entries."""
    paper: bool = False
    """True for a block that is wholly the paper's."""


@dataclass(frozen=True, kw_only=True)
class Blocks:
    """Everything that is printed of the numbers."""

    panels: tuple[Panel, ...]
    footnotes: tuple[tuple[str, str], ...]
    """Letter and reason."""


def blocks(table: TableResult, paper: Paper | None = None) -> Blocks:
    """The panels of a table, the paper's own table last."""
    spec = table.spec
    reasons = dict.fromkeys(cell.note for row in table.rows for cell in row.cells.values() if cell.note)
    letters = {reason: _letter(number) for number, reason in enumerate(reasons)}
    panels = []
    for name, title in spec.panels.items():
        columns = [column for column in spec.columns if column.panel == name]
        if columns:
            panels.append(_panel(table, title, columns, letters))
    if paper is not None and spec.paper_columns:
        panels.append(_paper_panel(spec, paper))
    return Blocks(panels=tuple(panels), footnotes=tuple((letter, reason) for reason, letter in letters.items()))


def _panel(table: TableResult, title: str, columns: Sequence[ColumnSpec], letters: dict[str, str]) -> Panel:
    spec = table.spec
    heads: list[Head] = []
    for column in columns:
        heads.append(Head(text=column.title, small=_small(table, column)))
        if column.has_paper:
            heads.append(Head(text=column.title, small="paper", paper=True))
    compares = spec.compare in [column.id for column in columns]
    others = list(dict.fromkeys((spec.subject, spec.baseline))) if compares else []
    heads += [Head(text=f"against {spec.row(other).label}", small=spec.column(spec.compare).title) for other in others]
    rows = []
    for row in table.rows:
        entries = [entry for column in columns for entry in _entries(row.cells[column.id], letters)]
        percent = spec.column(spec.compare).kind in PERCENT
        entries += [_against(row, other, percent=percent) for other in others]
        rows.append((row_label(row), tuple(entries)))
    return Panel(title=title, heads=tuple(heads), rows=tuple(rows))


def _small(table: TableResult, column: ColumnSpec) -> str:
    if column.kind == "right":
        found = [score for row in table.rows if (score := row.cells[column.id].score) is not None]
        return f"%, n {max(score.n_items for score in found):,}" if found else "%"
    return {"share": "%", "percent": "%", "seconds": "s, varies"}.get(column.kind, "")


def _entries(cell: Cell, letters: dict[str, str]) -> list[Entry]:
    kind = cell.column.kind
    ours = Entry(text=DASH, letter=letters.get(cell.note, ""), runs=cell.runs)
    if cell.value is not None:
        size = "" if cell.size is None else f"n {cell.size:,}"
        interval = ", ".join(filter(None, (_interval(cell), size)))
        ours = replace(ours, text=figure(cell.value, kind), interval=interval, rank=cell.rank)
    if not cell.column.has_paper:
        return [ours]
    theirs = DASH if cell.paper is None else figure(cell.paper, "percent" if kind == "right" else kind)
    return [ours, Entry(text=theirs, paper=True)]


def figure(value: float, kind: str) -> str:
    """A value in print: percent with one decimal, large counts with a unit, the rest with two decimals."""
    if kind in PERCENT:
        return f"{100 * value:.1f}"
    if kind == "percent":
        return f"{value:.1f}"
    if kind == "seconds":
        return f"{value:,.0f}"
    if kind == "count":
        return f"{value / 1e6:,.2f} M" if value >= 1e6 else f"{value:,.0f}"
    return f"{value:.2f}".replace("-", "\u2212")


def _interval(cell: Cell) -> str:
    if cell.low is None or cell.high is None:
        return ONE_RUN if cell.n_seeds == 1 else ""
    return f"[{figure(cell.low, cell.column.kind)}, {figure(cell.high, cell.column.kind)}]"


def _against(row: RowResult, other: str, *, percent: bool) -> Entry:
    if row.spec.run == other:
        return Entry(text="")
    difference: Difference | None = row.against.get(other)
    if difference is None:
        return Entry(text=DASH)
    text = signed(difference.value, percent=percent)
    return Entry(text=text, interval=span(difference, percent=percent), verdict=difference.verdict)


def _paper_panel(spec: TableSpec, paper: Paper) -> Panel:
    rows = []
    for row in spec.rows:
        if row.paper:
            figures = [paper_figure(paper, row, column) for column in spec.paper_columns]
            entries = tuple(Entry(text=DASH if v is None else f"{v:.1f}", paper=True) for v in figures)
            rows.append((f"{row.label} ({row.paper[0][-1]})", entries))
    heads = tuple(Head(text=column, paper=True) for column in spec.paper_columns)
    title = f"The paper's own figures ({spec.paper_note}; percent; in brackets its name for the row)"
    return Panel(title=title, heads=heads, rows=tuple(rows), paper=True)


def _letter(number: int) -> str:
    return chr(ord("a") + number) if number < 26 else f"n{number}"
