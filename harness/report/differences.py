"""The forest plot: every other side against the first, by the comparison that `spadework compare` makes. Pure.

A benchmark that may not be compared (another preset, scorer or item list) is no row but a reason, and the others are
compared all the same.
"""

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..comparing.columns import Metric, Subject
from ..comparing.compare import chosen_columns
from ..comparing.pairing import paired_up
from ..comparing.rows import Comparison, Question, Row, compare
from ..comparing.words import change, group_sentence, interval, remarks, sentence
from ..errors import IncompleteError, InputError
from .drawing import Axis, axis
from .scores import columns_of
from .values import Side

METRIC: Metric = "right"


@dataclass(frozen=True, kw_only=True)
class Line:
    """One difference, other side minus first, with its place on the axis."""

    side: int
    name: str
    part: bool
    text: str
    n_items: int
    value: float
    """Percent of the way from the low end of the axis to the high end, as are the next two."""
    low: float
    high: float
    verdict: str


@dataclass(frozen=True, kw_only=True)
class Forest:
    """All differences on one axis, and what could not be compared."""

    lines: tuple[Line, ...]
    axis: Axis
    sentences: tuple[str, ...]
    remarks: tuple[str, ...]
    refused: dict[tuple[int, str], str]
    """Why a side (by its place) is not compared with the first in a benchmark."""

    @property
    def zero(self) -> float:
        """Where no difference is."""
        return self.axis.place(0.0)


def forest(sides: Sequence[Side]) -> Forest:
    """The differences of all sides from the first."""
    refused = refusals(sides)
    subjects = [
        _without(side.subject, side.label, {name for at, name in refused if at == place})
        for place, side in enumerate(sides) if side.subject and (place == 0 or side.subject.columns)
    ]  # fmt: skip
    comparison = _compared(subjects) if sides[0].subject else None
    if comparison is None:
        return Forest(lines=(), axis=axis([0.0]), sentences=(), remarks=(), refused=refused)
    ends = [100 * end for row in _rows(comparison) for end in (row.difference.low, row.difference.high)]
    found = axis([*ends, 0.0])
    labels = [side.label for side in sides]
    lines = [_line(row, labels.index(row.new), found) for row in _rows(comparison)]
    said = [sentence(row, METRIC) for row in comparison.rows]
    return Forest(
        lines=tuple(sorted(lines, key=lambda line: line.side)), axis=found, refused=refused,
        sentences=(*said, *(group_sentence(group, METRIC) for group in comparison.groups)),
        remarks=tuple(remarks(comparison)),
    )  # fmt: skip


def refusals(sides: Sequence[Side]) -> dict[tuple[int, str], str]:
    """What of the first side's benchmarks and the others' may not be paired, with the reason."""
    found: dict[tuple[int, str], str] = {}
    first = sides[0].subject
    for place, side in enumerate(sides[1:], start=1):
        for name in columns_of(sides):
            lack = [one.label for one in (sides[0], side) if one.subject is None or name not in one.subject.columns]
            if lack:
                found[place, name] = f"no samples in {' and '.join(lack)}."
                continue
            assert first and side.subject
            try:
                paired_up(first, side.subject, name)
            except InputError as error:
                found[place, name] = str(error)
    return found


def _without(subject: Subject, label: str, names: set[str]) -> Subject:
    columns = {name: column for name, column in subject.columns.items() if name not in names}
    return replace(subject, label=label, columns=columns, notes=())


def headline_columns(sides: Sequence[Side]) -> tuple[str, ...]:
    """What is compared when nobody names columns: all benchmarks, of training runs one held-out column."""
    return _headline([side.subject for side in sides if side.subject])


def _headline(subjects: Sequence[Subject]) -> tuple[str, ...]:
    return chosen_columns(subjects, Namespace(column=[], mode=None, checkpoint=None))


def _compared(subjects: Sequence[Subject]) -> Comparison | None:
    """None where nothing can be compared; `refusals` says why."""
    try:
        return compare(subjects, Question(columns=_headline(subjects), metric=METRIC, by_category=True, n_flips=0))
    except (InputError, IncompleteError):
        return None


def _rows(comparison: Comparison) -> list[Row]:
    """Each benchmark's row, and below it its categories where it has several."""
    rows = []
    for row in comparison.rows:
        parts = [part for part in comparison.parts if (part.column, part.new) == (row.column, row.new)]
        rows += [row, *(parts if len(parts) > 1 else ())]
    return rows


def _line(row: Row, side: int, found: Axis) -> Line:
    difference = row.difference
    value, low, high = (found.place(100 * end) for end in (difference.value, difference.low, difference.high))
    return Line(
        side=side, name=row.category or row.column, part=bool(row.category), n_items=difference.n_items, value=value,
        low=low, high=high, text=f"{change(difference.value, METRIC)} {interval(row, METRIC)}",
        verdict=str(difference.verdict),
    )  # fmt: skip
