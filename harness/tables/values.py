"""What a column takes from a run: the values of its items, how they are weighed, how the samples ended.

Shapes: I items, R samples of an item. A column that is the mean of others has leaves instead of values of its own.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256

from ..evaluation.due import group_of
from ..statistics import Floats
from .runs import Run
from .spec import ColumnSpec, TableSpec

BOUNDS: dict[str, tuple[float, float]] = {"right": (0.0, 1.0), "return": (-1.0, 1.0)}


@dataclass(frozen=True, kw_only=True)
class Values:
    """One column of one run."""

    name: str
    """Of the run, as people find it."""
    items: tuple[str, ...]
    values_IR: Floats
    """NaN where unscored."""
    strata: tuple[str, ...]
    """Of each item; the value is the unweighted mean of the strata's means."""
    counts: Counter[str]
    """Samples per outcome code."""
    digest: str
    """Of the answers of the run, all items."""
    broken: str = ""
    """Why the benchmark broke off, if it did."""


def values_of(column: ColumnSpec, run: Run) -> Values | None:
    """The column's values in a run; None when the run did not play it."""
    answers = run.answers.get(column.task) if column.task else run.answered(column.checkpoint, column.mode)
    if answers is None:
        return None
    picked = answers.positions(column.category)
    values_IR = answers.right_IR() if column.kind == "right" else answers.rewards_IR
    categories = [answers.listed.categories[position] for position in picked]
    protocol = run.protocols.get(column.task)
    if protocol is not None and protocol.weigh == "items":
        categories = [""] * len(categories)
    elif protocol is not None and column.category is None:
        categories = [group_of(category) for category in categories]
    return Values(
        name=protocol.folder if protocol else run.id,
        items=tuple(answers.listed.items[position] for position in picked), values_IR=values_IR[picked],
        strata=tuple(categories), counts=answers.counts(column.category), digest=answers.digest,
        broken="" if protocol is None else protocol.reason,
    )  # fmt: skip


def all_values(column: ColumnSpec, runs: Sequence[Run]) -> list[Values]:
    """Of every run that played it."""
    return [values for run in runs if (values := values_of(column, run)) is not None]


def leaves(spec: TableSpec, column: ColumnSpec, weight: float = 1.0) -> Iterator[tuple[ColumnSpec, float]]:
    """The columns with values of their own below a column, with their weights in it; itself where it has values."""
    if not column.mean_of:
        yield column, weight
    for name in column.mean_of:
        yield from leaves(spec, spec.column(name), weight / len(column.mean_of))


def short_digest(texts: Sequence[str]) -> str:
    """First 16 hex digits of the sha256 over texts."""
    return sha256("\n".join(texts).encode()).hexdigest()[:16]
