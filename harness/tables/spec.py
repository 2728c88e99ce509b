"""What a table shows, as data: rows, columns, where the runs lie, what is compared with what.

Read from a TOML file such as `results/ablations.toml`; paths in it are relative to the file. No number lives here.
"""

from pathlib import Path
from typing import Literal

from .. import config
from ..config import Section
from ..errors import InputError, nearest

Kind = Literal["right", "return", "share", "percent", "ratio", "count", "seconds"]
MEASURED: tuple[Kind, ...] = ("right", "return")
"""Kinds that are computed from per-item outcomes; the others are numbers of the summary.

A share lies in [0, 1] and is printed in percent; a metric that is kept in percent is of kind percent and is printed as
it stands; a ratio lies in [0, 1] and is printed as it is.
"""


class RowSpec(Section, frozen=True, kw_only=True):
    """One method: the runs that carry its name (of training, or of evaluation), and where the paper reports it."""

    run: str
    """Name of the folder that holds them."""
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
    task: str = ""
    """A benchmark of an evaluation, weighed as its protocol weighs; empty: the held-out suite of a training run."""
    mean_of: list[str] = []
    """Ids of columns whose unweighted mean this is; it has no task then."""
    category: str | None = None
    """A held-out category, or a benchmark's group; None is the whole."""
    checkpoint: Literal["chosen", "last"] = "chosen"
    mode: Literal["greedy", "sampled"] = "greedy"
    metric: str = ""
    """Key of the summary's metrics, for kinds other than right and return."""
    size: str = ""
    """Key of the metric that says from how many things `metric` was computed; `<metric>_n` when empty."""
    paper: str = ""
    """Column of the paper's table that is printed beside ours: percent there for scores, else our own unit."""
    paper_at: dict[str, list[str]] = {}
    """By row, the path of a figure in the paper's file that stands in no column of that name."""

    @property
    def title(self) -> str:
        """What stands at the head of the column."""
        return self.label or self.id

    @property
    def has_paper(self) -> bool:
        """Whether the paper's figures stand beside ours."""
        return bool(self.paper or self.paper_at)

    @property
    def answers(self) -> str:
        """Key of the answers that it is computed from."""
        return self.task or f"{self.checkpoint}.{self.mode}"

    @property
    def measured(self) -> bool:
        """Whether it is computed from per-item outcomes."""
        return self.kind in MEASURED


class TableSpec(Section, frozen=True, kw_only=True):
    """A whole table."""

    name: str
    title: str
    scale: str
    runs: str
    packed: str
    rows: list[RowSpec]
    columns: list[ColumnSpec]
    panels: dict[str, str]
    """Groups of columns that are printed as one block, with their titles."""
    categories: dict[str, str] = {}
    """Held-out categories that make up the average, each with a sentence for the caption; none for evaluations."""
    subject: str
    baseline: str
    compare: str
    """Id of the column on which every row is compared with subject and baseline."""
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

    def measure(self, column: ColumnSpec) -> str:
        """What a column measures, whatever it is called: two tables that share it must show the same figure."""
        if column.mean_of:
            return f"mean({', '.join(self.measure(self.column(name)) for name in column.mean_of)})"
        words = (column.answers, column.category or "all") if column.measured else (column.metric,)
        return " ".join((column.kind, *words))

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
        *(
            (f"category of {c.id}", c.category, list(spec.categories))
            for c in spec.columns
            if c.category and not c.task
        ),
        *((f"mean_of of {c.id}", name, columns[: columns.index(c.id)]) for c in spec.columns for name in c.mean_of),
        *((f"paper_at of {c.id}", name, runs) for c in spec.columns for name in c.paper_at),
    ):
        if name not in known:
            raise InputError(f"{path}: {key} is {name!r}, which is not there{nearest(name, known)}; correct it.")
    for column in spec.columns:
        _check_column(spec, column, path)
    if not spec.column(spec.compare).measured:
        raise InputError(
            f"{path}: compare is {spec.compare!r}, which has no items; name a column of kind right or return."
        )
    return spec


def _check_column(spec: TableSpec, column: ColumnSpec, path: Path) -> None:
    if column.measured == bool(column.metric):
        raise InputError(f"{path}: column {column.id!r} needs `metric` unless its kind is right or return; mend it.")
    parts = [spec.column(name) for name in column.mean_of]
    if parts and (column.task or column.category or any(part.kind != column.kind for part in parts)):
        raise InputError(
            f"{path}: column {column.id!r} is a mean of columns, so it has no task or category of its own and is of "
            "their kind; mend it."
        )
