"""The environments of all sides as compact data for the viewer: sources, hints and scores. Pure.

A row is [side, run, step, id, skill, valid, reason, win rate, regret, low, high, hint, source, author]; skill, reason,
hint, source and author are places in the report's list of texts, -1 where there is none.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from .samples import Json, Texts
from .values import Row, Side


@dataclass(frozen=True, kw_only=True)
class Environments:
    """What the viewer gets, and what the page says before it."""

    data: Json
    proposed: int
    valid: int


def environments(sides: Sequence[Side], texts: Texts) -> Environments:
    """Every proposal of every run, in the order of the runs and steps."""
    runs = [(place, run) for place, side in enumerate(sides) for run in side.runs]
    rows = [
        _row(place, number, row, texts) for number, (place, run) in enumerate(runs) for row in run.environments
    ]
    data: Json = {"runs": [run.name for _, run in runs], "rows": rows}
    return Environments(data=data, proposed=len(rows), valid=sum(bool(row[5]) for row in rows))


def _row(side: int, run: int, row: Row, texts: Texts) -> list[object]:
    numbers = [_number(row.get(key)) for key in ("win_rate", "regret", "regret_low", "regret_high")]
    skill, reason, hint, source, author = (
        texts.place(_text(row.get(key))) for key in ("skill", "reason", "hint", "source", "written_by")
    )
    step, valid = row.get("step"), bool(row.get("valid"))
    return [side, run, step, _text(row.get("id")), skill, int(valid), reason, *numbers, hint, source, author]


def _text(value: object) -> str | None:
    return None if value is None or value == "" else str(value)


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return round(float(value), 4)
