"""One evaluation as arrays: which item got which outcome and reward.

What it is: the bridge from sample records (`{"item", "category", "outcome", "reward"}`, one JSON line a sample) to the
arrays of `statistics`, and to the compact form that is committed (a digit per sample). What it is not: a score.

Shapes: I items in sorted order, R samples of each. Packed outcomes are digits into a legend written beside them.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256

import msgspec
import numpy as np
from numpy.typing import NDArray

from .errors import InputError
from .lines import decoded
from .statistics import Floats
from .types import Outcome

Outcomes = NDArray[np.uint8]
"""Positions in `LEGEND`, or `UNPLAYED`, in any shape."""
LEGEND = tuple(str(outcome) for outcome in Outcome)
UNSCORED = tuple(number for number, outcome in enumerate(Outcome) if not outcome.scored)
CODES = {outcome: number for number, outcome in enumerate(Outcome)}
RIGHT = LEGEND.index(Outcome.RIGHT)
UNPLAYED = 255
"""Stands among the outcomes where a sample was asked for and has no record; `-` in the compact form."""


@dataclass(frozen=True, kw_only=True)
class ItemList:
    """The items of a task in sorted order, each with its category."""

    items: tuple[str, ...]
    categories: tuple[str, ...]

    @cached_property
    def digest(self) -> str:
        """First 16 hex digits of the sha256 over names and categories."""
        text = "\n".join(f"{item}\t{category}" for item, category in zip(self.items, self.categories, strict=True))
        return sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True, kw_only=True)
class Answers:
    """What one checkpoint answered in one mode."""

    listed: ItemList
    outcomes_IR: NDArray[np.uint8]
    """Positions in `LEGEND`."""
    rewards_IR: Floats
    """Final rewards in [-1, 1], NaN where the sample was not scored."""
    texts_IR: NDArray[np.object_] | None = None
    """The last action of each sample, None where there was none; no array where the records hold none, or packed."""

    @cached_property
    def digest(self) -> str:
        """First 16 hex digits of the sha256 over items, outcomes and rewards."""
        hasher = sha256(self.listed.digest.encode())
        hasher.update(self.outcomes_IR.tobytes())
        hasher.update(self.rewards_IR.astype("<f8").tobytes())
        return hasher.hexdigest()[:16]

    def right_IR(self) -> Floats:
        """1 where right, 0 where not, NaN where not scored."""
        return right(self.outcomes_IR)

    def positions(self, category: str | None) -> NDArray[np.int64]:
        """Rows of the items of a category (with its parts, `category/part`), or of all items."""
        own = np.asarray(self.listed.categories)
        if category is None:
            return np.arange(own.size)
        return np.flatnonzero((own == category) | np.char.startswith(own, f"{category}/"))

    def counts(self, category: str | None = None) -> Counter[str]:
        """Samples per outcome code; those without a record as `unplayed`."""
        return Counter(counted(self.outcomes_IR[self.positions(category)]))


def scored(outcomes: Outcomes) -> NDArray[np.bool_]:
    """False where scorer or infrastructure failed and where nothing was played."""
    return ~np.isin(outcomes, (*UNSCORED, UNPLAYED))


def right(outcomes: Outcomes) -> Floats:
    """1 where right, 0 where not, NaN where not scored."""
    return np.where(scored(outcomes), (outcomes == RIGHT).astype(np.float64), np.nan)


def counted(outcomes: Outcomes) -> dict[str, int]:
    """Samples per outcome code, in the order of the codes; those without a record as `unplayed`."""
    found = Counter(outcomes.ravel().tolist())
    named = {name: found[code] for code, name in enumerate(LEGEND) if found[code]}
    return {**named, **({"unplayed": found[UNPLAYED]} if found[UNPLAYED] else {})}


class Packed(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`Answers` as JSON: `outcomes` holds I x R digits item by item, `rewards` as many positions in `palette`."""

    items: str
    repeats: int
    outcomes: str
    palette: list[float | None]
    rewards: list[int]


class Line(msgspec.Struct, frozen=True):
    """One sample as it lies on disk; keys beyond these are allowed and ignored."""

    item: str
    category: str
    outcome: Outcome
    reward: float | None = None
    answer: str | None = None


def parse(data: bytes, where: str, *, repeats: bool) -> Answers:
    """Answers from the bytes of a record file; `where` names the file in errors. A torn last line is ignored.

    Every item must have the same number of samples, one where `repeats` is false: a line counted twice, as a resumed
    run that appends again would leave it, is an error and no better score.
    """
    lines = decoded(data, Line, where, "remove the file and evaluate again")
    if not lines:
        raise InputError(f"{where} holds no sample; evaluate this run again.")
    rewards = np.array([np.nan if line.reward is None else line.reward for line in lines], dtype=np.float64)
    codes = np.array([CODES[line.outcome] for line in lines], dtype=np.uint8)
    known = scored(codes)
    bad = known & ~(np.abs(rewards) <= 1)
    if bad.any():
        number = int(np.flatnonzero(bad)[0])
        reward = lines[number].reward
        raise InputError(f"{where}, line {number + 1}: reward {reward!r} is no number in [-1, 1]; mend the scorer.")
    order = sorted(range(len(lines)), key=lambda number: lines[number].item)
    sizes = Counter(line.item for line in lines)
    often = max(sizes.values())
    if min(sizes.values()) != often or (often > 1 and not repeats):
        item = sizes.most_common(1)[0][0]
        raise InputError(f"{where}: item {item!r} stands there {often} times; remove the file and evaluate again.")
    grid = np.array(order).reshape(-1, often)
    firsts = [lines[number] for number in grid[:, 0]]
    listed = ItemList(items=tuple(f.item for f in firsts), categories=tuple(f.category for f in firsts))
    if len({(line.item, line.category) for line in lines}) > len(firsts):
        raise InputError(f"{where}: an item stands there with two categories; evaluate this run again.")
    texts = np.array([line.answer for line in lines], dtype=np.object_)
    return Answers(
        listed=listed, outcomes_IR=codes[grid], rewards_IR=np.where(known, rewards, np.nan)[grid],
        texts_IR=texts[grid] if any(line.answer is not None for line in lines) else None,
    )  # fmt: skip


def pack(answers: Answers) -> Packed:
    """The compact form, without texts; `unpack` takes the rest back without loss."""
    rewards = [None if np.isnan(value) else float(value) for value in answers.rewards_IR.ravel()]
    palette = sorted({value for value in rewards if value is not None})
    found: list[float | None] = [*palette, None] if None in rewards else [*palette]
    place = {value: number for number, value in enumerate(found)}
    digits = ["-" if code == UNPLAYED else str(code) for code in answers.outcomes_IR.ravel()]
    return Packed(
        items=answers.listed.digest, repeats=answers.outcomes_IR.shape[1], palette=found,
        outcomes="".join(digits), rewards=[place[value] for value in rewards],
    )  # fmt: skip


def unpack(packed: Packed, lists: dict[str, ItemList], legend: Sequence[str], where: str) -> Answers:
    """Answers from the compact form; `legend` is the one written beside it, so that codes may be added later."""
    listed = lists.get(packed.items)
    size = 0 if listed is None else len(listed.items) * packed.repeats
    if listed is None or not len(packed.outcomes) == len(packed.rewards) == size or size == 0:
        raise InputError(f"{where} does not fit its item list; take the folder from git again or pack the runs anew.")
    try:
        codes = [UNPLAYED if digit == "-" else LEGEND.index(legend[int(digit)]) for digit in packed.outcomes]
        rewards = [packed.palette[position] for position in packed.rewards]
    except (ValueError, IndexError):
        raise InputError(f"{where} holds an unknown code; take the folder from git again or pack anew.") from None
    shape = (len(listed.items), packed.repeats)
    return Answers(
        listed=listed, outcomes_IR=np.array(codes, dtype=np.uint8).reshape(shape),
        rewards_IR=np.array([np.nan if v is None else v for v in rewards], dtype=np.float64).reshape(shape),
    )  # fmt: skip
