"""The table in a terminal, growing row by row while `reproduce` works."""

from collections.abc import Mapping

from rich.table import Table
from rich.text import Text

from ..comparison import Verdict
from .panels import MARKS, RANKS, Entry, blocks
from .result import Rank, TableResult
from .words import insecurity

WEIGHTS = {Rank.BEST: "bold", Rank.TIED: "underline"}
STYLES = {Verdict.BETTER: "green", Verdict.WORSE: "red", Verdict.CANNOT_TELL: "dim"}


WIDE = 130
"""Columns of a terminal from which on intervals are shown."""


def terminal_table(table: TableResult, status: Mapping[str, str] | None = None, width: int = WIDE) -> Table:
    """The first panel, without the paper's figures, as a rich table; on a narrow terminal without intervals.

    `status` gives by run name what a row without figures is doing (`step 12 of 60`); it stands in a column of its own.
    """
    status = status or {}
    panel = blocks(table).panels[0]
    narrow = width < WIDE
    shown = [number for number, head in enumerate(panel.heads) if not head.paper]
    marks = [mark for mark, given in (("(incomplete)", table.gaps), ("(INSECURE)", table.insecure)) if given]
    title = " ".join([table.spec.title, *marks])
    caption = Text("\n".join(filter(None, (_legend(table), insecurity(table)))))
    drawn = Table(title=title, title_justify="left", header_style="bold", caption=caption, caption_justify="left")
    drawn.add_column("row", min_width=16)
    for number in shown:
        head = panel.heads[number]
        title = "\n".join(filter(None, (head.text.replace(" (", "\n("), "" if narrow else head.small)))
        drawn.add_column(title, justify="right", no_wrap=True)
    if status:
        drawn.add_column("state", no_wrap=True)
    for row, (label, entries) in zip(table.rows, panel.rows, strict=True):
        cells: list[Text | str] = [Text(label), *(_entry(entries[number], narrow) for number in shown)]
        drawn.add_row(*cells, *([Text(status.get(row.spec.run, ""))] if status else []))
    return drawn


def _entry(entry: Entry, narrow: bool) -> Text:
    text = Text()
    text.append(entry.text, style=WEIGHTS[entry.rank] if entry.rank else "")
    if entry.verdict:
        text.append(f" {MARKS[entry.verdict]}", style=STYLES[entry.verdict])
    if entry.interval and not narrow:
        text.append(f"\n{entry.interval}", style="dim")
    return text


def _legend(table: TableResult) -> str:
    signs = ", ".join(f"{sign} {verdict}" for verdict, sign in MARKS.items())
    if not any(cell.rank for row in table.rows for cell in row.cells.values()):
        return signs
    return f"{signs}; bold: {RANKS[Rank.BEST]}; underlined: {RANKS[Rank.TIED]}"
