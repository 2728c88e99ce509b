"""The paper's own figures, found by the paths that rows and columns name. They are never mixed with ours."""

from ..errors import InputError
from .result import Paper
from .spec import ColumnSpec, RowSpec


def paper_cell(paper: Paper | None, row: RowSpec, column: ColumnSpec) -> float | None:
    """The figure beside a cell; None when the paper has none."""
    if paper is not None and row.run in column.paper_at:
        return _at(paper, row, column)
    return paper_figure(paper, row, column.paper)


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


def _at(paper: Paper, row: RowSpec, column: ColumnSpec) -> float | None:
    """Keys one after the other; a last key that names a column takes the place of that column in the row."""
    path = column.paper_at[row.run]
    found: object = paper
    columns: list[object] = []
    for name in path:
        if isinstance(found, list) and name in columns:
            found = found[columns.index(name)]
            continue
        found = found.get(name) if isinstance(found, dict) else None
        if isinstance(found, dict) and isinstance(found.get("columns"), list):
            columns = found["columns"]
    if not isinstance(found, int | float):
        raise InputError(
            f"the paper's file has no figure at {' / '.join(path)!r}; correct `paper_at` of column {column.id!r}."
        )
    return float(found)
