"""Evaluation suites of the nano organism: items no run ever trains on.

    hard   the six known families at sizes the warm start was never shown (levels 6 and 7)
    new    five families neither warm start nor designer was ever shown (levels 2 to 4)
    rg     easy reasoning-gym tasks in compact rendering; sorting and reversal look like two of the known families
    mid    the six known families at sizes the warm start knows (levels 2 to 5); validation only
    known  the six known families at the smallest sizes (levels 1 to 3); for the gate of the CI, in no table

An item is a program and an instance seed; programs run in the sandbox. No item is shown twice, and a fold over what
an item shows keeps test and validation apart, whatever their seeds. It does not play and does not score.
"""

from dataclasses import dataclass
from itertools import product
from typing import Sequence

from ..harness.evaluate import Item
from ..harness.seeds import derive, generator, text_id
from ..harness.types import Program
from .nano_games import instantiate
from .nano_reasoning_gym import CompactItem
from .nano_reasoning_gym import items as compact_items
from .nano_world import FAMILIES, HELD_OUT, Family, draw

TEST_SEED, VALIDATION_SEED = 20260819, 20261129
VALIDATION_PART = 8
"""One of so many things to show is kept for validation."""
COMPACT_FOLD = (1, 2)
TRIES = 20
"""Seeds looked at for each wanted program and instance before a small family is left with fewer."""
HARD_LEVELS, NEW_LEVELS, MID_LEVELS, KNOWN_LEVELS = (6, 7), (2, 3, 4), (2, 3, 4, 5), (1, 2, 3)
MAX_TURNS = 16
CATEGORIES = ("hard", "new", "rg")
REPLY = "then"
"""What the world's own programs answer to a right action."""
LISTED = """\
class ListedEnv:
 items = {items!r}
 def reset(self, seed):
  self.o, self.p, self.r = self.items[seed % len(self.items)]
  self.i = 0
  return self.o, {{}}
 def step(self, a):
  ok = a.strip() == self.p[self.i]
  self.i += ok
  end = not ok or self.i == len(self.p)
  return self.r, self.i / len(self.p) if end else 0, end, False, {{}}
"""


@dataclass(frozen=True, kw_only=True)
class Grid:
    """Items of one category: families x levels x programs x instances."""

    category: str
    families: dict[str, Family]
    levels: Sequence[int]
    programs: int
    """Different programs a family and level, at most."""
    instances: int
    """Different instances a program, at most."""


def test_suite(nouns: Sequence[str], share: float = 1.0) -> list[Item]:
    """The held-out test; `share` 1.0 is the full suite (over 2,000 items), less is the first part of every program."""
    hard = Grid(category="hard", families=FAMILIES, levels=HARD_LEVELS, programs=4, instances=_part(20, share))
    new = Grid(category="new", families=HELD_OUT, levels=NEW_LEVELS, programs=4, instances=_part(12, share))
    compact = _compact(nouns, TEST_SEED, _part(100, share))
    return _items(hard, nouns, TEST_SEED) + _items(new, nouns, TEST_SEED) + compact


def validation_suite(nouns: Sequence[str], share: float = 1.0) -> list[Item]:
    """The disjoint suite that chooses the checkpoint."""
    hard = Grid(category="hard", families=FAMILIES, levels=HARD_LEVELS, programs=2, instances=_part(4, share))
    mid = Grid(category="mid", families=FAMILIES, levels=MID_LEVELS, programs=2, instances=_part(5, share))
    return _items(hard, nouns, VALIDATION_SEED) + _items(mid, nouns, VALIDATION_SEED)


def known_suite(nouns: Sequence[str], share: float = 1.0) -> list[Item]:
    """What the warm start can do, in over a thousand items: a checkpoint that was damaged loses points here."""
    known = Grid(category="known", families=FAMILIES, levels=KNOWN_LEVELS, programs=12, instances=_part(10, share))
    return _items(known, nouns, TEST_SEED)


def _part(count: int, share: float) -> int:
    return max(1, round(count * share))


def _items(grid: Grid, nouns: Sequence[str], seed: int) -> list[Item]:
    items = []
    for (name, family), level in product(grid.families.items(), grid.levels):
        path = f"{grid.category}/{name}/{level}"
        for number, text in enumerate(_texts(grid, name, level, nouns, seed)):
            program = _program(text, family.skill)
            for index, instance in enumerate(_instances(grid, text, seed, f"{path}/{number}")):
                where = f"{path}/{number}/{index}"
                items.append(Item(id=where, category=grid.category, program=program, seed=instance))
    return items


def _texts(grid: Grid, name: str, level: int, nouns: Sequence[str], seed: int) -> list[str]:
    """Different programs of a cell."""
    found: dict[str, str] = {}
    for number in range(grid.programs * TRIES):
        rng = generator(seed, grid.category, name, level, number)
        text = draw(grid.families[name], level, nouns, rng)
        found.setdefault(_body(text), text)
        if len(found) == grid.programs:
            break
    return list(found.values())


def _instances(grid: Grid, text: str, seed: int, path: str) -> list[int]:
    """Instance seeds of a program that begin differently and lie in the fold of that suite."""
    game = instantiate(text)
    found: dict[str, int] = {}
    for index in range(grid.instances * TRIES):
        instance = derive(seed, path, index) % 2**31
        shown, _ = game.reset(instance)
        kept_for_validation = derive(0, "fold", _body(text), shown) % VALIDATION_PART == 0
        if kept_for_validation == (seed == VALIDATION_SEED):
            found.setdefault(shown, instance)
        if len(found) == grid.instances:
            break
    return list(found.values())


def _body(text: str) -> str:
    """A program's text without the lines of the import and of the class's name, which says nothing."""
    return text.split("\n", 2)[2]


def _compact(nouns: Sequence[str], seed: int, per_task: int) -> list[Item]:
    known = frozenset(nouns)
    by_task: dict[str, list[CompactItem]] = {}
    for item in compact_items(per_task, seed, known.__contains__, COMPACT_FOLD):
        by_task.setdefault(item.task, []).append(item)
    made = []
    for task, group in by_task.items():
        listing = [(item.observation, item.plan, REPLY) for item in group]
        program = _program(LISTED.format(items=listing), f"reasoning-gym {task}")
        made += [
            Item(id=f"rg/{item.id}", category="rg", program=program, seed=index) for index, item in enumerate(group)
        ]
    return made


def _program(text: str, skill: str) -> Program:
    return Program(id=text_id(text), source=text, skill=skill, max_turns=MAX_TURNS)
