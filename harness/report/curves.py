"""Training curves: from the metrics of the runs to panels, each with one line a side and its band over seeds. Pure.

A line is the mean over the runs of a side that measured the step; its band reaches from the lowest run to the highest.
A step that no run measured has no point: nothing is filled in. What no run of a side measured has no line, and the
panel says so.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from .drawing import Axis, axis, band, line, smoothed
from .numbers import amount
from .values import Row, RunFiles, Side

POINTS = 240
"""A line has at most so many; beyond that, neighbours are averaged."""
SMOOTH = 24
"""A smoothed line is a moving average over about one in so many of its points."""
Measure = Callable[[Row], float | None]
Rows = Callable[[RunFiles], Sequence[Row]]
"""Which lines of a run are read."""


class Quantity(NamedTuple):
    """One thing that is drawn: its name within the panel, and how it is read from a row of the metrics."""

    name: str
    read: Measure


@dataclass(frozen=True, kw_only=True)
class Question:
    """One panel before it is drawn."""

    id: str
    title: str
    unit: str
    """Label of the vertical axis."""
    quantities: tuple[Quantity, ...]
    explained: str


class Point(NamedTuple):
    """One step of a line."""

    step: float
    mean: float
    low: float
    high: float


class Drawn(NamedTuple):
    """One line before it is placed."""

    side: int
    label: str
    dashed: bool
    points: list[Point]
    n_runs: int


@dataclass(frozen=True, kw_only=True)
class Curve:
    """One line as it is drawn."""

    side: int
    label: str
    dashed: bool
    raw: str
    smooth: str
    band: str
    points: tuple[Point, ...]
    n_runs: int


@dataclass(frozen=True, kw_only=True)
class Panel:
    """One chart."""

    question: Question
    x: Axis
    y: Axis
    curves: tuple[Curve, ...]
    absent: tuple[str, ...]
    """Labels of sides that measured other things and not this."""

    @property
    def words(self) -> str:
        """What the chart shows, for those who do not see it."""
        said = [
            f"{curve.label} from {amount(curve.points[0].mean)} at step {amount(curve.points[0].step)} to "
            f"{amount(curve.points[-1].mean)} at step {amount(curve.points[-1].step)}"
            for curve in self.curves
        ]
        return f"{self.question.title}, {self.question.unit}, by training step: {'; '.join(said)}."


def number(key: str) -> Measure:
    """The value of a key of the metrics."""
    return lambda row: _finite(row.get(key))


def share(part: str, whole: str) -> Measure:
    """One count of the metrics over another; None where there was nothing to count."""

    def read(row: Row) -> float | None:
        n, of = _finite(row.get(part)), _finite(row.get(whole))
        return None if not of else (n or 0.0) / of

    return read


def _finite(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) else None


def panels(questions: Sequence[Question], sides: Sequence[Side], rows: Rows) -> list[Panel]:
    """The panels for which any side measured something."""
    drawn = [_panel(question, sides, rows) for question in questions]
    return [panel for panel in drawn if panel is not None]


def _panel(question: Question, sides: Sequence[Side], rows: Rows) -> Panel | None:
    drawn = []
    for place, side in enumerate(sides):
        for order, quantity in enumerate(question.quantities):
            measured = [_by_step(rows(run), quantity.read) for run in side.runs]
            if points := _thinned(_over_runs(measured)):
                label = f"{side.label}, {quantity.name}" if len(question.quantities) > 1 else side.label
                n_runs = sum(bool(one) for one in measured)
                drawn.append(Drawn(side=place, label=label, dashed=order > 0, points=points, n_runs=n_runs))
    if not drawn:
        return None
    every = [point for one in drawn for point in one.points]
    x = axis([0.0, *(point.step for point in every)], whole=True)
    y = axis([value for point in every for value in (point.low, point.high)])
    present = {one.side for one in drawn}
    others = [side for place, side in enumerate(sides) if place not in present]
    absent = tuple(side.label for side in others if any(rows(run) for run in side.runs))
    return Panel(question=question, x=x, y=y, curves=tuple(_curve(one, x, y) for one in drawn), absent=absent)


def _curve(drawn: Drawn, x: Axis, y: Axis) -> Curve:
    points = drawn.points
    reach = max(1, len(points) // SMOOTH) if len(points) > 8 else 0
    steps = [point.step for point in points]
    mean, low, high = (smoothed([point[part] for point in points], reach) for part in (1, 2, 3))
    many = drawn.n_runs > 1
    return Curve(
        side=drawn.side, label=drawn.label, dashed=drawn.dashed, points=tuple(points), n_runs=drawn.n_runs,
        raw=line([(point.step, point.mean) for point in points], x, y), smooth=line(list(zip(steps, mean)), x, y),
        band=band(list(zip(steps, low)), list(zip(steps, high)), x, y) if many else "",
    )  # fmt: skip


def _by_step(rows: Sequence[Row], read: Measure) -> Mapping[int, float]:
    """Values of one run by step; steps without a value are left out."""
    found: dict[int, float] = {}
    for row in rows:
        step, value = row.get("step"), read(row)
        if isinstance(step, int) and value is not None:
            found[step] = value
    return found


def _over_runs(measured: Sequence[Mapping[int, float]]) -> list[Point]:
    points = []
    for step in sorted({step for one in measured for step in one}):
        values = [one[step] for one in measured if step in one]
        points.append(Point(step, sum(values) / len(values), min(values), max(values)))
    return points


def _thinned(points: Sequence[Point]) -> list[Point]:
    """At most `POINTS`, each the mean of its neighbours."""
    size = -(-len(points) // POINTS)
    groups = [points[start : start + size] for start in range(0, len(points), size or 1)]
    return [Point(*(sum(part) / len(group) for part in zip(*group, strict=True))) for group in groups]
