"""The nano world: six skills, each a family of small Gym-style programs with a difficulty axis.

A program is ordinary Python text of 40-150 tokens. `source(...)` writes it from a family, a size `n`, a variant `k`
and words; `FAMILIES` are the six families the warm start has met, `HELD_OUT` their relatives that nobody has met
before the final test. It is not an environment itself: programs run in the sandbox like everything a model wrote.
The reward of an episode is the share of right actions before the first wrong one (walking: the share of the way),
paid when the episode ends.
"""

from dataclasses import dataclass
from random import Random
from typing import Callable, Sequence

RULE_WORDS = {1: "on", -1: "back", 2: "skip", -2: "jump"}
"""order: the stride through the listed words."""
ECHO_WORDS = {0: "mirror", 1: "twice", 2: "repeat"}
SORT_WORDS = {1: "low", -1: "high"}
MOVES = {"right": (1, 0), "left": (-1, 0), "up": (0, 1), "down": (0, -1)}
FRAME_WORDS = (
    "use",
    "show",
    "take",
    "count",
    "at",
    "go",
    "want",
    "then",
    "add",
    "first",
    "over",
    "last",
    "before",
    "again",
    "forward",
    *RULE_WORDS.values(),
    *ECHO_WORDS.values(),
    *SORT_WORDS.values(),
    *MOVES,
    "line",
    "from",
)
"""Words of observations and hints; never used as nouns."""

PLAN_STEP = """\
 def step(self, a):
  ok = a.strip() == self.p[self.i]
  self.i += ok
  end = not ok or self.i == len(self.p)
  return {reply}, self.i / len(self.p) if end else 0, end, False, {{}}
"""
HEAD = """\
import random
class {name}Env:
"""
RESET = """\
 def reset(self, seed):
  r = random.Random(seed)
"""


@dataclass(frozen=True, kw_only=True)
class Family:
    """How one family is written. `levels` maps a difficulty level (1, 2, ...) to the size `n`."""

    skill: str
    variants: tuple[int, ...]
    size: Callable[[int], int]
    words: Callable[[int], int]
    """Nouns a program of size n needs, the class name apart."""
    numbers: Callable[[int], int]
    """Numbers (0-99, distinct) a program of size n needs."""
    write: Callable[[int, int, Sequence[str], Sequence[int]], str]


def _listing(values: Sequence[str] | Sequence[int]) -> str:
    return '" ' + " ".join(map(str, values)) + '".split()'


def _order(
    n: int, k: int, nouns: Sequence[str], numbers: Sequence[int], pool: Sequence[str] | Sequence[int] | None = None
) -> str:
    return (
        f' n, k, t = {n}, {k}, " {RULE_WORDS[k]}"\n w = {_listing(pool or nouns)}\n{RESET}'
        "  q = r.sample(self.w, self.n)\n  self.p, self.i = q[::self.k], 0\n"
        '  return " use " + " ".join(q) + self.t, {}\n' + PLAN_STEP.format(reply='" then"')
    )


def _echo(
    n: int, k: int, nouns: Sequence[str], numbers: Sequence[int], pool: Sequence[str] | Sequence[int] | None = None
) -> str:
    plan = {0: "q + q[::-1]", 1: "[x for x in q for _ in (0, 1)]", 2: "q + q"}[k]
    return (
        f' n, t = {n}, " {ECHO_WORDS[k]}"\n w = {_listing(pool or nouns)}\n{RESET}'
        f"  q = r.sample(self.w, self.n)\n  self.p, self.i = {plan}, 0\n"
        '  return " show " + " ".join(q) + self.t, {}\n' + PLAN_STEP.format(reply='" then"')
    )


def _sort(n: int, k: int, nouns: Sequence[str], numbers: Sequence[int]) -> str:
    return (
        f' n, k, t = {n}, {k}, " {SORT_WORDS[k]}"\n w = {_listing(numbers)}\n{RESET}'
        "  q = r.sample(self.w, self.n)\n  self.p, self.i = sorted(q, key=int)[::self.k], 0\n"
        '  return " take " + " ".join(q) + self.t, {}\n' + PLAN_STEP.format(reply='" then"')
    )


def _count(n: int, k: int, nouns: Sequence[str], numbers: Sequence[int], low: int = 0) -> str:
    return (
        f" n, k = {n}, {k}\n{RESET}"
        f"  s = r.randrange({low}, {low + 40})\n  q = [str(s + self.k * j) for j in range(self.n + 2)]\n"
        '  self.p, self.i = q[2:], 0\n  return " count " + " ".join(q[:2]), {}\n' + PLAN_STEP.format(reply='" then"')
    )


def _down(n: int, k: int, nouns: Sequence[str], numbers: Sequence[int]) -> str:
    return _count(n, -k, nouns, numbers, low=50)


WALK_STEP = """\
 def step(self, a):
  a = " " + a.strip()
  self.x += (a == " right") - (a == " left")
  self.y += (a == " up") - (a == " down")
  self.i -= 1
  z = abs(self.g - self.x) + abs(self.h - self.y)
  end = z == 0 or self.i == 0
  return {reply}, max(0, 1 - z / self.n) if end else 0, end, False, {{}}
"""


def _walk(n: int, k: int, nouns: Sequence[str], numbers: Sequence[int]) -> str:
    d, e = (1, 1, -1, -1)[k % 4], (1, -1, 1, -1)[k % 4]
    return (
        f" n, d, e = {n}, {d}, {e}\n{RESET}"
        "  x, y, m = r.randrange(8, 30), r.randrange(8, 30), r.randrange(self.n + 1)\n"
        "  self.x, self.y, self.i = x, y, self.n\n"
        "  self.g, self.h = x + self.d * m, y + self.e * (self.n - m)\n"
        '  return f" at {x} {y} go {self.g} {self.h}", {}\n' + WALK_STEP.format(reply='f" {self.x} {self.y}"')
    )


def _goal_first(n: int, k: int, nouns: Sequence[str], numbers: Sequence[int]) -> str:
    told = _walk(n, (1, 2)[k % 2], nouns, numbers)
    return told.replace('f" at {x} {y} go {self.g} {self.h}"', 'f" go {self.g} {self.h} at {x} {y}"')


def _wire(n: int, k: int, nouns: Sequence[str], numbers: Sequence[int], flip: bool = False) -> str:
    keys, values = (numbers, nouns) if flip else (nouns, numbers)
    return (
        f" n = {n}\n w = dict(zip({_listing(keys)}, {_listing(values)}))\n{RESET}"
        "  q = r.sample(list(self.w), len(self.w))\n  self.p, self.i = r.sample(q, self.n), 0\n"
        '  return "".join(f" {x} {self.w[x]}" for x in q) + " want " + self.w[self.p[0]], {}\n'
        + PLAN_STEP.format(reply='" want " + self.w[self.p[min(self.i, self.n - 1)]]')
    )


def _flip_wire(n: int, k: int, nouns: Sequence[str], numbers: Sequence[int]) -> str:
    return _wire(n, k, nouns, numbers, flip=True)


def _number_order(n: int, k: int, nouns: Sequence[str], numbers: Sequence[int]) -> str:
    return _order(n, k, nouns, numbers, pool=numbers)


def _number_echo(n: int, k: int, nouns: Sequence[str], numbers: Sequence[int]) -> str:
    return _echo(n, k, nouns, numbers, pool=numbers)


def _same(level: int) -> int:
    return level


def _plus_one(n: int) -> int:
    return n + 1


def _plus_two(n: int) -> int:
    return n + 2


def _none(n: int) -> int:
    return 0


FAMILIES: dict[str, Family] = {
    "count": Family(
        skill="Mathematical Reasoning",
        variants=(1, 2, 3, 4, 5, 6),
        size=_same,
        words=_none,
        numbers=_none,
        write=_count,
    ),
    "order": Family(
        skill="Logical Deduction", variants=(1, -1, 2, -2), size=_plus_one, words=_plus_one, numbers=_none, write=_order
    ),
    "walk": Family(
        skill="Spatial Reasoning", variants=(0, 1, 2, 3), size=_same, words=_none, numbers=_none, write=_walk
    ),
    "echo": Family(
        skill="Pattern Recognition", variants=(0, 1, 2), size=_same, words=_plus_two, numbers=_none, write=_echo
    ),
    "sort": Family(skill="Optimization", variants=(1, -1), size=_plus_one, words=_none, numbers=_plus_two, write=_sort),
    "wire": Family(
        skill="Causal Inference", variants=(0,), size=_same, words=_plus_one, numbers=_plus_one, write=_wire
    ),
}
HELD_OUT: dict[str, Family] = {
    "count_down": Family(
        skill="Mathematical Reasoning", variants=(1, 2, 3, 4, 5, 6), size=_same, words=_none, numbers=_none, write=_down
    ),
    "order_numbers": Family(
        skill="Logical Deduction",
        variants=(1, -1, 2, -2),
        size=_plus_one,
        words=_none,
        numbers=_plus_one,
        write=_number_order,
    ),
    "walk_goal_first": Family(
        skill="Spatial Reasoning", variants=(0, 1), size=_same, words=_none, numbers=_none, write=_goal_first
    ),
    "echo_numbers": Family(
        skill="Pattern Recognition", variants=(0, 1, 2), size=_same, words=_none, numbers=_plus_two, write=_number_echo
    ),
    "wire_flipped": Family(
        skill="Causal Inference", variants=(0,), size=_same, words=_plus_one, numbers=_plus_one, write=_flip_wire
    ),
}
FAMILY_OF_SKILL = {family.skill: name for name, family in FAMILIES.items()}


def source(family: Family, level: int, variant: int, nouns: Sequence[str], numbers: Sequence[int]) -> str:
    """A program of that level. `nouns[0]` names the class, the rest are its words. ValueError for too few."""
    n = family.size(level)
    words, values = family.words(n), family.numbers(n)
    if len(nouns) < words + 1 or len(numbers) < values:
        raise ValueError(
            f"level {level} needs {words + 1} nouns and {values} numbers, got {len(nouns)} and {len(numbers)}"
        )
    return HEAD.format(name=nouns[0]) + family.write(n, variant, nouns[1 : words + 1], numbers[:values])


def draw(family: Family, level: int, nouns: Sequence[str], rng: Random) -> str:
    """A program with variant, words and numbers drawn by `rng` (numbers 2-99)."""
    n = family.size(level)
    chosen = rng.sample(list(nouns), family.words(n) + 1)
    return source(family, level, rng.choice(family.variants), chosen, rng.sample(range(2, 100), family.numbers(n)))
