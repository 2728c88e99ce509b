"""A table in numbers: cells, rows, the whole. Plain values; `cells` makes them, the renderers print them."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from ..comparison import Difference
from ..statistics import Score
from .spec import ColumnSpec, RowSpec, TableSpec

Paper = Mapping[str, object]
"""The paper's tables as they lie in the file."""


class Rank(StrEnum):
    """Where a row stands in a column that is computed from items."""

    BEST = "best"
    TIED = "tied"
    """Not shown to be worse than the best."""


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One figure in its natural unit: a share is in [0, 1], never percent."""

    column: ColumnSpec
    value: float | None = None
    low: float | None = None
    high: float | None = None
    score: Score | None = None
    """The evidence of a figure that was computed from items."""
    n_seeds: int = 0
    size: int | None = None
    """From how many things a metric of the summary was computed."""
    note: str = ""
    missing: bool = False
    """True when the figure should be there and is not (or only in part): the table is then incomplete."""
    paper: float | None = None
    """The paper's own figure, in the paper's unit (percent for scores)."""
    runs: tuple[str, ...] = ()
    """Ids of the runs that the figure was computed from."""
    evidence: str = ""
    """Digest of what it was computed from: the outcomes of the runs, or their summaries' figures."""
    rank: Rank | None = None
    """None too where the row is incomplete or the column is no score."""


@dataclass(frozen=True, kw_only=True)
class RowResult:
    """One method with its figures."""

    spec: RowSpec
    cells: dict[str, Cell]
    """By column id."""
    against: dict[str, Difference]
    """This row minus another, by the other's run name (subject and baseline); absent where it cannot be compared."""
    seeds: tuple[int, ...]
    runs: Mapping[str, str]
    """Config digest of each of its runs, by run id."""
    corpora: tuple[str, ...]
    insecure: Mapping[int, tuple[str, ...]]
    """By seed, what the sandbox of a run lacked of the layers that must hold; runs whose sandbox held are absent."""


@dataclass(frozen=True, kw_only=True)
class TableResult:
    """A whole table in numbers."""

    spec: TableSpec
    rows: tuple[RowResult, ...]
    items: Mapping[str, int]
    """Items per held-out category; of evaluations, per benchmark."""
    repeats: Mapping[str, int]
    """Samples of an item per mode, or per benchmark."""
    protocols: Mapping[str, str]
    """Preset, scorer and items of each benchmark, in words."""
    task_digest: str
    evidence_digest: str

    @property
    def gaps(self) -> list[str]:
        """Why the table is incomplete, one sentence part a row; empty when it is whole."""
        found = []
        for row in self.rows:
            reasons = dict.fromkeys(cell.note for cell in row.cells.values() if cell.missing)
            found += [f"{row.spec.run}: {reason}" for reason in reasons]
        return found

    @property
    def insecure(self) -> bool:
        """Whether a program could reach beyond the sandbox in any of the runs."""
        return any(row.insecure for row in self.rows)

    def row(self, run: str) -> RowResult:
        """The row of a run name."""
        return next(row for row in self.rows if row.spec.run == run)
