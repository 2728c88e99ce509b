"""Geometry of the charts: nice ticks, and points as percentages of the plot. Pure; it draws nothing.

A plot is stretched to the width of its box, so every position is a percentage from the left and from the top.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from .numbers import amount

Point = tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class Axis:
    """The span of one axis and where its ticks are."""

    low: float
    high: float
    ticks: tuple[float, ...]

    def place(self, value: float) -> float:
        """Percent of the way from the low end to the high end."""
        return round(100 * (value - self.low) / (self.high - self.low), 2)

    @property
    def marks(self) -> list[tuple[float, str]]:
        """Where each tick is, and its text."""
        return [(self.place(tick), amount(tick)) for tick in self.ticks]


def axis(values: Sequence[float], *, wanted: int = 5, whole: bool = False) -> Axis:
    """An axis over finite values, with about so many round ticks; one value alone gets some room on both sides."""
    low, high = min(values), max(values)
    if high - low <= 1e-12 * max(1e-12, abs(high)):
        room = abs(high) / 2 or 0.5
        low, high = low - room, high + room
    step = round_step((high - low) / max(1, wanted - 1))
    step = max(1.0, step) if whole else step
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = tuple(float(f"{number * step:.12g}") for number in range(first, last + 1))
    return Axis(low=ticks[0], high=ticks[-1], ticks=ticks)


def round_step(rough: float) -> float:
    """The smallest of 1, 2, 5 times a power of ten that is not below `rough`."""
    power = 10.0 ** math.floor(math.log10(rough))
    return float(next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * (1 - 1e-9)))


def line(points: Sequence[Point], x: Axis, y: Axis) -> str:
    """The points of an SVG polyline, from the top left corner of a plot of 100 times 100."""
    return " ".join(f"{x.place(a):g},{100 - y.place(b):g}" for a, b in points)


def band(lows: Sequence[Point], highs: Sequence[Point], x: Axis, y: Axis) -> str:
    """The points of the polygon between two lines."""
    return line([*lows, *reversed(highs)], x, y)


def smoothed(values: Sequence[float], reach: int) -> list[float]:
    """Moving average over `reach` values on both sides; at the ends over those that there are."""
    parts = [values[max(0, number - reach) : number + reach + 1] for number in range(len(values))]
    return [sum(part) / len(part) for part in parts]
