"""The samples of all sides as compact data for the viewer: one row an item, the sides beside each other. Pure.

What it shows of a sample is what its record holds: outcome, reward, the extracted answer, and the scorer's word. No
record holds a prompt or a problem's text. A text that is longer than the budget allows is cut, and says how long it
was.

A benchmark is {"name", "items", "categories", "category", "sides"}; a side {"outcomes", "rewards", "palette",
"answers", "details", "seeds", "repeats", "refused"}. `outcomes` has one letter a sample, item by item, seed by seed,
repeat by repeat: the place in `LETTERS`, or `NOTHING`. `rewards` are places in the palette; they are left out where a
reward is 1 for right and 0 for all else. `answers` and `details` are places in the report's list of texts, -1 for none.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from ..answers import LEGEND, RIGHT, UNPLAYED
from ..comparing.columns import Column
from .scores import column_of, columns_of
from .values import Side

LETTERS = "abcdefghijklmnopqrstuvwxyz"
NOTHING = "."
"""Letter of a sample that was not played."""
Json = Mapping[str, object]
Values = NDArray[Any]
"""Outcomes, rewards or texts."""


class Texts:
    """Texts by number, each kept once."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}

    def place(self, text: str | None) -> int:
        """Number of a text, -1 for none."""
        return -1 if text is None else self._places.setdefault(text, len(self._places))

    def within(self, budget: int) -> tuple[list[str], bool]:
        """All texts in the order of their numbers, the longest cut so that in the page they take about so many bytes
        together, and whether any was cut."""
        texts = list(self._places)
        sizes = [size(text) for text in texts]
        limit = fitting(sizes, budget)
        if limit is None:
            return texts, False
        return [text if own <= limit else cut(text, len(text) * limit // own) for text, own in zip(texts, sizes)], True


def size(text: str) -> int:
    """Bytes of a text in the page: as JSON, in which three characters of markup are escaped."""
    return len(msgspec.json.encode(text)) + 5 * sum(map(text.count, "<>&"))


def fitting(lengths: Sequence[int], budget: int) -> int | None:
    """The largest length that all may have so that together they fit; None where they fit as they are."""
    if sum(lengths) <= budget:
        return None
    left, ordered = budget, sorted(lengths)
    for number, length in enumerate(ordered):
        share = left // (len(ordered) - number)
        if length > share:
            return share
        left -= length
    raise AssertionError("texts that do not fit have one that is longer than its share")


def cut(text: str, limit: int) -> str:
    """The beginning of a text, and how much was left out."""
    return f"{text[:limit]} … [cut, {len(text):,} characters]"


def benchmarks(
    sides: Sequence[Side], texts: Texts, refused: Mapping[tuple[int, str], str] | None = None
) -> list[Json]:
    """Every benchmark of the sides. `refused` says which side may not be compared with the first in which, and why."""
    found: list[Json] = []
    for name in columns_of(sides):
        columns = [column_of(side, name) for side in sides]
        items = sorted({item for column in columns if column for item in column.listed.items})
        listed = [column.listed for column in columns if column]
        category = {item: group for one in listed for item, group in zip(one.items, one.categories, strict=True)}
        names = sorted(set(category.values()))
        found.append({
            "name": name, "items": items, "categories": names, "category": [names.index(category[i]) for i in items],
            "sides": [
                None if column is None else {
                    **side_data(column, items, texts), "refused": (refused or {}).get((place, name), ""),
                    **details(column, items, [run.details.get(name, {}) for run in side.runs], texts),
                }
                for place, (side, column) in enumerate(zip(sides, columns, strict=True))
            ],
        })  # fmt: skip
    return found


def side_data(column: Column, items: Sequence[str], texts: Texts) -> Json:
    """One side of a benchmark, with a place for each of `items`."""
    place = {item: number for number, item in enumerate(items)}
    index = [place[item] for item in column.listed.items]
    outcomes_ISR = _spread(np.moveaxis(column.outcomes_SIR, 0, 1), index, len(items), UNPLAYED)
    rewards_ISR = _spread(np.moveaxis(column.rewards_SIR, 0, 1), index, len(items), np.nan)
    letters = np.array([*LETTERS[: len(LEGEND)]] + [NOTHING] * (UNPLAYED + 1 - len(LEGEND)))
    data: dict[str, object] = {
        "seeds": list(column.seeds), "repeats": column.outcomes_SIR.shape[2],
        "outcomes": "".join(letters[outcomes_ISR.ravel()]), **_rewards(outcomes_ISR.ravel(), rewards_ISR.ravel()),
    }  # fmt: skip
    if column.texts_SIR is not None:
        texts_ISR = _spread(np.moveaxis(column.texts_SIR, 0, 1), index, len(items), None)
        data["answers"] = [texts.place(text) for text in texts_ISR.ravel()]
    return data


def details(
    column: Column, items: Sequence[str], told: Sequence[Mapping[tuple[str, int], str]], texts: Texts
) -> Json:
    """The scorer's words, where there are any; `told` by run, in the order of the column's seeds."""
    if not any(told) or len(told) != len(column.seeds):
        return {}
    repeats = range(column.outcomes_SIR.shape[2])
    places = [texts.place(own.get((item, repeat))) for item in items for own in told for repeat in repeats]
    return {"details": places}


def _spread(values_ISR: Values, index: Sequence[int], n_items: int, filling: object) -> Values:
    whole = np.full((n_items, *values_ISR.shape[1:]), filling, dtype=values_ISR.dtype)
    whole[np.asarray(index, dtype=np.int64)] = values_ISR
    return whole


def _rewards(outcomes_Q: Values, rewards_Q: Values) -> Json:
    known = np.isfinite(rewards_Q)
    if np.array_equal(rewards_Q[known], (outcomes_Q[known] == RIGHT).astype(np.float64)):
        return {}
    rounded_Q = np.round(rewards_Q, 4)
    palette = sorted(set(rounded_Q[known].tolist()))
    places = {value: number for number, value in enumerate(palette)}
    return {"palette": palette, "rewards": [places.get(value, -1) for value in rounded_Q.tolist()]}
