"""What a table shows, as data: rows, columns, where the runs lie, what is compared with what.

Read from a TOML file such as `results/ablations.toml`; paths in it are relative to the file. No number lives here.
"""

from pathlib import Path
from typing import Literal

from .. import config
from ..config import Section
from ..errors import InputError, nearest

Kind = Literal["right", "return", "share", "ratio", "count", "seconds"]
MEASURED: tuple[Kind, ...] = ("right", "return")
"""Kinds that are computed from per-item outcomes; the others are numbers of the summary.

A share lies in [0, 1] and is printed in percent; a ratio lies in [0, 1] and is printed as it is.
"""


class RowSpec(Section, frozen=True, kw_only=True):
    """One method: the run folders that carry its name, and where the paper reports it."""

    run: str
    label: str
    trained: bool = True
    """False: nothing was trained, so its seeds are repeats of one checkpoint and it needs one only."""
    paper: list[list[str]] = []
    """Paths into the paper's file, table first; a cell takes the first whose table has the column."""


class ColumnSpec(Section, frozen=True, kw_only=True):
    """One figure of every row."""

    id: str
    panel: str
    kind: Kind
    label: str = ""
    category: str | None = None
    """A held-out category; None is the unweighted mean over all of them."""
    checkpoint: Literal["chosen", "last"] = "chosen"
    mode: Literal["greedy", "sampled"] = "greedy"
    metric: str = ""
    """Key of the summary's metrics, for kinds other than right and return."""
    size: str = ""
    """Key of the metric that says from how many things `metric` was computed; `<metric>_n` when empty."""
    paper: str = ""
    """Column of the paper's table that is printed beside ours."""

    @property
    def title(self) -> str:
        """What stands at the head of the column."""
        return self.label or self.id


class TableSpec(Section, frozen=True, kw_only=True):
    """A whole table."""

    name: str
    title: str
    scale: str
    runs: str
    packed: str
    rows: list[RowSpec]
    columns: list[ColumnSpec]
    categories: dict[str, str]
    """Held-out categories that make up the average, each with a sentence for the caption."""
    panels: dict[str, str]
    """Groups of columns that are printed as one block, with their titles."""
    subject: str
    baseline: str
    compare: str
    source: Literal["auto", "runs", "packed"] = "auto"
    paper: str = ""
    """JSON file of the paper's tables; empty for none."""
    paper_note: str = ""
    """What the paper's figures are of: printed wherever they stand."""
    paper_columns: list[str] = []
    notes: list[str] = []
    """Sentences for the fine print."""
    seeds: list[int] = []
    allow_missing: bool = False

    def column(self, name: str) -> ColumnSpec:
        """The column of an id."""
        return next(column for column in self.columns if column.id == name)

    def row(self, run: str) -> RowSpec:
        """The row of a run name."""
        return next(row for row in self.rows if row.run == run)

    @property
    def timeless(self) -> "TableSpec":
        """The same table without its columns of wall time."""
        return self._with(columns=[column for column in self.columns if column.kind != "seconds"])

    def at_scale(self, scale: str) -> "TableSpec":
        """The same table over the runs of another scale."""
        return self._with(scale=scale, title=self.title.replace(self.scale, scale))

    def _with(self, **changes: object) -> "TableSpec":
        fields = {name: getattr(self, name) for name in self.__struct_fields__}
        return TableSpec(**{**fields, **changes})


def load_spec(path: Path) -> TableSpec:
    """The checked table of a TOML file. Raises InputError with the nearest name for a reference to nothing."""
    spec = config.build(TableSpec, config.read_table(path), where=path)
    runs, columns = [row.run for row in spec.rows], [column.id for column in spec.columns]
    for kind, names in (("rows", runs), ("columns", columns)):
        if doubled := sorted({name for name in names if names.count(name) > 1}):
            raise InputError(f"{path}: {doubled[0]!r} stands twice among the {kind}; take one out.")
    for key, name, known in (
        ("subject", spec.subject, runs),
        ("baseline", spec.baseline, runs),
        ("compare", spec.compare, columns),
        *((f"panel of {c.id}", c.panel, list(spec.panels)) for c in spec.columns),
        *((f"category of {c.id}", c.category, list(spec.categories)) for c in spec.columns if c.category),
    ):
        if name not in known:
            raise InputError(f"{path}: {key} is {name!r}, which is not there{nearest(name, known)}; correct it.")
    for column in spec.columns:
        if (column.kind in MEASURED) == bool(column.metric):
            raise InputError(
                f"{path}: column {column.id!r} needs `metric` unless its kind is right or return; mend it."
            )
    if spec.column(spec.compare).kind not in MEASURED:
        raise InputError(
            f"{path}: compare is {spec.compare!r}, which has no items; name a column of kind right or return."
        )
    return spec
