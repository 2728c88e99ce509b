"""A comparison as people see it: sentences, the table, the items that changed; in the terminal or as Markdown.

Answers are a model's own text: in the terminal they carry no control character, in Markdown they are escaped code.
"""

import re
from html import escape

from rich.table import Table
from rich.text import Text

from ..console import Terminal, printable
from .grids import Grid, differences, flip_grids
from .rows import Comparison
from .words import group_sentence, remarks, sentence


def print_comparison(comparison: Comparison) -> None:
    """Everything, for the terminal."""
    console = Terminal()
    for line in _conclusions(comparison):
        console.print(Text(printable(line)), soft_wrap=True)
    console.print()
    console.print(_table(differences(comparison)))
    for grid in flip_grids(comparison):
        console.print()
        console.print(Text(printable(grid.title)), soft_wrap=True)
        console.print(_table(grid))
    console.print()
    for line in remarks(comparison):
        console.print(Text(printable(line)), soft_wrap=True, style="dim")


def markdown(comparison: Comparison) -> str:
    """The same, for a pull request: the items that changed are folded."""
    lines = [f"* {_prose(line)}" for line in _conclusions(comparison)]
    lines += ["", *_pipes(differences(comparison)), ""]
    for grid in flip_grids(comparison):
        lines += ["<details>", f"<summary>{escape(grid.title)}</summary>", "", *_pipes(grid, code=True), ""]
        lines += ["</details>", ""]
    lines += [f"<sub>{_prose(line)}</sub><br>" for line in remarks(comparison)]
    return "\n".join(lines) + "\n"


def _conclusions(comparison: Comparison) -> list[str]:
    metric = comparison.question.metric
    return [
        *(sentence(row, metric) for row in (*comparison.rows, *comparison.parts)),
        *(group_sentence(group, metric) for group in comparison.groups),
    ]


def _table(grid: Grid) -> Table:
    table = Table(box=None, pad_edge=False)
    for number, name in enumerate(grid.head):
        table.add_column(Text(printable(name)), justify="right" if number in grid.right else "left", overflow="fold")
    for row in grid.rows:
        table.add_row(*(Text(printable(value)) for value in row))
    return table


def _pipes(grid: Grid, *, code: bool = False) -> list[str]:
    rules = ["---:" if number in grid.right else "---" for number in range(len(grid.head))]
    rows = [[_code(value) if code else _prose(value) for value in row] for row in grid.rows]
    return [f"| {' | '.join(cells)} |" for cells in ([_prose(name) for name in grid.head], rules, *rows)]


def _prose(text: str) -> str:
    """Text that Markdown leaves as it is."""
    return re.sub(r"([\\`*_{}\[\]#|~@])", r"\\\1", escape(printable(text), quote=False))


def _code(text: str) -> str:
    """Text that neither marks anything nor calls anybody."""
    return f"<code>{escape(printable(text)).replace('|', '&#124;')}</code>" if text else ""
