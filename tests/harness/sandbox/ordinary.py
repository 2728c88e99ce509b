"""Ordinary environments, of the kind that people and models write, by what they use of the language and the library.

Each ends at its third step with reward 1.0, if everything it did came out as it must; `EXPECTED` is what it shows then.
"""

EXPECTED = "all well"

FRAME = """
class OrdinaryEnv:
    def __init__(self, size=3):
        self.size = size

    def reset(self, seed=None):
        self.turn = 0
        return "ready", {}

    def step(self, action):
        self.turn += 1
        work(self.turn, action)
        over = self.turn >= self.size
        return ("all well" if over else f"turn {self.turn}"), (1.0 if over else 0.0), over, False, {"turn": self.turn}
"""


def doing(work: str, before: str = "") -> str:
    """An environment that calls `work(turn, action)` in each step."""
    body = "".join(f"    {line}\n" for line in work.strip("\n").splitlines())
    return f"{before}\ndef work(turn, action):\n{body}\n{FRAME}"


STANDARD = {
    "dataclasses": doing("""
state = State([turn], {"a": Place(1, 2)})
state.items.append(2)
assert asdict(replace(state, name="x")) == {"items": [turn, 2], "where": {"a": {"x": 1, "y": 2}}, "name": "x"}
assert Place(1, 2) in {Place(1, 2)} and Place(1, 2) < Place(1, 3) and [f.name for f in fields(Place)] == ["x", "y"]
assert repr(Place(3, 4)) == "Place(x=3, y=4)"
""", """
from __future__ import annotations
from dataclasses import asdict, dataclass, field, fields, replace
@dataclass(frozen=True, order=True, slots=True)
class Place:
    x: int
    y: int
@dataclass
class State:
    items: list[int] = field(default_factory=list)
    where: dict[str, Place] = field(default_factory=dict)
    name: str | None = None
"""),
    "enum": doing("""
assert [c.name for c in Colour] == ["RED", "BLUE"] and Colour(2) is Colour.BLUE and Colour["RED"].value == 1
assert (Right.READ | Right.WRITE) & Right.READ and Kind.A == "a" and Level.HIGH > Level.LOW
""", """
from enum import Enum, Flag, IntEnum, StrEnum, auto
class Colour(Enum):
    RED = auto()
    BLUE = auto()
class Right(Flag):
    READ = auto()
    WRITE = auto()
class Kind(StrEnum):
    A = auto()
class Level(IntEnum):
    LOW = 1
    HIGH = 2
"""),
    "deepcopy": doing("""
board = [[0] * 3 for _ in range(3)]
ring = {"board": board}
ring["self"] = ring
other, shallow = copy.deepcopy(ring), copy.copy(board)
other["board"][0][0] = 1
assert board[0][0] == 0 and other["self"] is other and shallow[0] is board[0]
""", "import copy"),
    "decimal": doing("""
with localcontext() as context:
    context.prec = 30
    assert str(Decimal(1) / Decimal(7)) == "0.142857142857142857142857142857"
assert Decimal("2.675").quantize(Decimal("0.01"), rounding=ROUND_HALF_UP) == Decimal("2.68")
assert str(Decimal(2).sqrt())[:8] == "1.414213"
try: Decimal("x")
except InvalidOperation: pass
else: raise AssertionError
""", "from decimal import ROUND_HALF_UP, Decimal, InvalidOperation, localcontext"),
    "fractions": doing("""
total = sum((Fraction(1, n) for n in range(1, 5)), Fraction())
assert total == Fraction(25, 12) and Fraction("0.125") == Fraction(1, 8)
assert Fraction(3.14159).limit_denominator(100) == Fraction(311, 99)
""", "from fractions import Fraction"),
    "regular expressions": doing(r"""
found = re.fullmatch(r"(?P<verb>go|take)\s+(?P<what>\w+)", "take lamp", re.IGNORECASE)
assert found and found["verb"] == "take" and found.groupdict()["what"] == "lamp"
assert re.sub(r"(a)(b)?", r"<\1>", "ab a") == "<a> <a>" and re.sub("b", r"\g<0>\g<0>", "abc") == "abbc"
assert re.sub(r"(\d+)", lambda m: str(int(m[1]) * 2), "a1b22") == "a2b44"
assert re.split(r"[,;]\s*", "a, b;c") == ["a", "b", "c"] and [m.start() for m in WORD.finditer("ab cd")] == [0, 3]
""", "import re\nWORD = re.compile(r'[^\\W\\d_]+', re.UNICODE)"),
    "json": doing("""
value = {"b": [1, 2.5, None, True], "a": {"x": "\\u00e9\\n"}}
text = json.dumps(value, sort_keys=True, indent=1)
assert json.loads(text) == value and json.dumps([1, 2], separators=(",", ":")) == "[1,2]"
try: json.loads("{")
except json.JSONDecodeError as error: assert error.pos == 1
else: raise AssertionError
""", "import json"),
    "heapq and bisect": doing("""
graph = {"a": {"b": 1, "c": 4}, "b": {"c": 2}, "c": {}}
far, edge = {}, [(0, "a")]
while edge:
    cost, node = heapq.heappop(edge)
    if node in far: continue
    far[node] = cost
    for other, more in graph[node].items(): heapq.heappush(edge, (cost + more, other))
assert far == {"a": 0, "b": 1, "c": 3} and heapq.nsmallest(2, [3, 1, 2]) == [1, 2]
rows = [1, 3, 5]
insort(rows, 4)
assert rows == [1, 3, 4, 5] and bisect_left(rows, 3) == 1
""", "import heapq\nfrom bisect import bisect_left, insort"),
    "itertools and functools": doing("""
assert list(islice(accumulate(count(1), operator.mul), 5)) == [1, 2, 6, 24, 120]
assert len(list(product("ab", repeat=3))) == 8 and list(chain.from_iterable(pairwise("abc"))) == list("abbc")
assert [(key, len(list(group))) for key, group in groupby("aabccc")] == [("a", 2), ("b", 1), ("c", 3)]
assert fibonacci(80) == 23416728348467685 and reduce(operator.add, map(int, "123")) == 6
assert partial(int, base=2)("101") == 5 and sorted("bA", key=cmp_to_key(lambda a, b: ord(a) - ord(b))) == ["A", "b"]
""", """
import operator
from functools import cmp_to_key, lru_cache, partial, reduce
from itertools import accumulate, chain, count, groupby, islice, pairwise, product
@lru_cache(maxsize=None)
def fibonacci(n): return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)
"""),
    "collections": doing("""
letters = Counter("abracadabra")
assert letters.most_common(1) == [("a", 5)] and letters - Counter("aaa") == Counter(a=2, b=2, r=2, c=1, d=1)
rooms = defaultdict(list)
rooms["hall"].append("lamp")
queue = deque([1, 2, 3], maxlen=3)
queue.appendleft(0)
assert dict(rooms) == {"hall": ["lamp"]} and list(queue) == [0, 1, 2] and Point(1, 2)._replace(x=5).x == 5
assert list(OrderedDict(a=1, b=2)) == ["a", "b"] and ChainMap({"a": 1}, {"a": 2})["a"] == 1
assert isinstance(rooms, collections.abc.Mapping)
""", """
import collections.abc
from collections import ChainMap, Counter, OrderedDict, defaultdict, deque, namedtuple
Point = namedtuple("Point", "x y")
"""),
    "statistics and math": doing("""
sample = [1.0, 2.0, 2.0, 5.0]
assert statistics.mean(sample) == 2.5 and statistics.median(sample) == 2.0 and statistics.mode(sample) == 2.0
assert round(statistics.stdev(sample), 4) == 1.7321 and statistics.quantiles([1, 2, 3], n=2) == [2.0]
assert math.comb(10, 3) == 120 and math.isclose(math.hypot(3, 4), 5) and math.gcd(12, 18) == 6
assert abs(cmath.exp(1j * math.pi) + 1) < 1e-12 and math.isinf(math.inf) and math.prod([2, 3]) == 6
assert isinstance(3, numbers.Integral) and NormalDist(0, 1).cdf(0) == 0.5
""", "import cmath, math, numbers, statistics\nfrom statistics import NormalDist"),
    "texts": doing("""
assert textwrap.dedent("  a\\n  b") == "a\\nb" and textwrap.wrap("aa bb cc", 5) == ["aa bb", "cc"]
assert textwrap.shorten("hello world again", 12) == "hello [...]" and textwrap.indent("a", "> ") == "> a"
assert string.Template("$who at $$5").substitute(who="x") == "x at $5" and string.ascii_lowercase[:3] == "abc"
assert f"{3.14159:>8.2f}|{'mid':^7}|{255:#x}|{1234567:,}|{turn=}" == f"    3.14|  mid  |0xff|1,234,567|turn={turn}"
assert "%05d %s %r" % (42, "a", "b") == "00042 a 'b'" and "{0[k]} {1.real}".format({"k": 1}, 2) == "1 2"
assert "a-b".partition("-") == ("a", "-", "b") and "x".join(["a", "b"]).title() == "Axb"
assert b"abc".hex() == "616263" and "ab".translate(str.maketrans("a", "b")) == "bb" and "Ab".swapcase() == "aB"
""", "import string, textwrap"),
    "unicode": doing("""
word = "Gr\\u00fc\\u00dfe \\u65e5\\u672c \\U0001f600"
assert unicodedata.normalize("NFD", "\\u00fc") == "u\\u0308" and unicodedata.name("\\u00e9").endswith("ACUTE")
assert word.encode("utf-8").decode("utf-8") == word and word.casefold().startswith("gr\\u00fcsse")
assert "\\N{BULLET}" == "\\u2022"
assert len(word) == 10 and "\\u00e4" > "z" and "\\u0661".isdigit() and int("\\u0661\\u0662") == 12
""", "import unicodedata"),
    "generators": doing("""
def counting(limit):
    got = 0
    for number in range(limit):
        got += (yield number + got) or 0
    return "done"
def around():
    result = yield from counting(3)
    yield result
flow = around()
assert [next(flow), flow.send(10), next(flow), next(flow)] == [0, 11, 12, "done"]
matrix = [[row * col for col in range(3)] for row in range(3)]
assert sum(value for row in matrix for value in row) == 9 and {k: v for k, v in zip("ab", (1, 2))}["b"] == 2
assert [last := n for n in range(3)] == [0, 1, 2] and last == 2 and [*range(2), *"a"] == [0, 1, "a"]
"""),
    "classes": doing("""
knight = Knight("Ann")
assert str(knight) == "Sir Ann" and knight.power == 7 and Knight.made >= 1 and isinstance(knight, Figure)
knight.power += 1
with knight as same: assert same is knight and same.inside
assert not knight.inside and [Knight("x"), 1][0] == Knight("x") and len(knight) == 3 and knight(2) == 16
try: Figure("x")
except TypeError: pass
else: raise AssertionError
""", """
from abc import ABC, abstractmethod
from typing import Any, ClassVar, Generic, NamedTuple, Protocol, TypeVar
T = TypeVar("T")
class Loud(Protocol):
    def shout(self) -> str: ...
class Figure(ABC):
    made: ClassVar[int] = 0
    def __init__(self, name: str) -> None:
        self.name, self._power, self.inside = name, 7, False
        type(self).made += 1
    @abstractmethod
    def shout(self) -> str: ...
    @property
    def power(self) -> int: return self._power
    @power.setter
    def power(self, value: int) -> None: self._power = value
class Mixin:
    def __enter__(self): self.inside = True; return self
    def __exit__(self, *_): self.inside = False
    def __len__(self): return len(self.name)
    def __call__(self, times): return self.power * times
class Knight(Mixin, Figure):
    def __init__(self, name): super().__init__(name)
    def __str__(self): return f"Sir {self.name}"
    def __eq__(self, other): return self.name == other.name
    def __hash__(self): return hash(self.name)
    def shout(self): return self.name.upper()
"""),
    "errors": doing("""
class Lost(Exception):
    def __init__(self, where): super().__init__(f"lost in {where}"); self.where = where
try:
    try: raise KeyError("k")
    except KeyError as cause: raise Lost("cave") from cause
except Lost as lost: assert lost.where == "cave" and str(lost.__cause__) == "'k'"
finally: done = True
assert done
try: raise ExceptionGroup("two", [ValueError(1), TypeError(2)])
except* ValueError as group: assert len(group.exceptions) == 1
except* TypeError: pass
"""),
    "match": doing("""
def parsed(words):
    match words:
        case ["go", ("north" | "south") as way]: return way
        case ["take", *what] if what: return " ".join(what)
        case {"x": int(x), **rest}: return x + len(rest)
        case Dot(x=0, y=y): return y
        case _: return None
assert [parsed(["go", "north"]), parsed(["take", "a", "b"]), parsed({"x": 1, "y": 2}), parsed(Dot(0, 9))] == \\
    ["north", "a b", 2, 9] and parsed("?") is None
""", "from typing import NamedTuple\nclass Dot(NamedTuple):\n    x: int\n    y: int"),
    "random": doing("""
own = random.Random(turn)
assert rolls(own) == rolls(random.Random(turn)) != rolls(own)
deck = list(range(52))
random.shuffle(deck)
assert sorted(deck) == list(range(52)) and random.choice(deck) in deck and 0 <= random.random() < 1
assert len(random.sample(deck, 5)) == 5 and random.choices("ab", weights=[1, 0], k=3) == ["a"] * 3
random.seed(4)
assert random.getrandbits(8) < 256 and -9 < random.gauss(0, 1) < 9 and 2 <= random.uniform(2, 3) <= 3
""", "import random\ndef rolls(generator):\n    return [generator.randint(1, 6) for _ in range(9)]"),
    "odds and ends": doing("""
assert int("ff", 16) == 255 and divmod(7, 3) == (2, 1) and round(2.5) == 2 and 7 // -2 == -4 and -7 % 3 == 2
assert sorted({"b", "a"}) == ["a", "b"] and frozenset("ab") | {"c"} == {"a", "b", "c"} and any([0, 1])
assert list(map(str, filter(None, [0, 1]))) == ["1"] and max("abc", key=ord) == "c" and callable(print)
assert bytes([65]).decode() == "A" and bytearray(b"a") + b"b" == b"ab" and memoryview(b"abc")[1] == 98
assert isinstance(types.SimpleNamespace(a=1).a, int) and getattr(1, "real") == 1 and hasattr("a", "upper")
assert (1 << 200).bit_length() == 201 and pow(3, 100, 7) == 4 and float("nan") != float("nan")
assert list(reversed([1, 2])) == [2, 1] and list(enumerate("a", 1)) == [(1, "a")] and sum([0.1] * 10) < 1.1
print("a program may print", turn)
""", "import types"),
}  # fmt: skip
