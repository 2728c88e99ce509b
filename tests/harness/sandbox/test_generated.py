"""Generated classes in many executions of one module: the same classes as ever, and each instance has its own."""

from spadework.harness.sandbox import Sandbox

SOURCE = """
import collections, dataclasses
from collections import namedtuple
from dataclasses import dataclass, field
from typing import NamedTuple

Point = namedtuple("Point", "x y", defaults=[7])

class Pair(NamedTuple):
    a: int
    b: str = "b"

@dataclass(order=True, frozen=True)
class Card:
    rank: int
    suit: str = "oak"
    marks: tuple = field(default=(), compare=False)

class CardEnv:
    def reset(self, seed=None):
        self.card = Card(seed % 5)
        Card.seen = getattr(Card, "seen", 0) + 1
        return f"{self.card} {Point(seed)} {Pair(seed)} {Card.seen}", {}

    def step(self, action):
        hidden = [name for module in (collections, dataclasses) for name in ("exec", "eval") if hasattr(module, name)]
        try:
            self.card.rank = 3
            said = "changed"
        except dataclasses.FrozenInstanceError as error:
            said = str(error)
        said += f" {self.card < Card(4)} {hash(self.card) == hash(Card(self.card.rank))} {hidden} {Card.__doc__}"
        return said, 0.0, False, False, {}
"""


def test_dataclasses_and_named_tuples_are_each_instances_own_and_as_the_library_makes_them() -> None:
    with Sandbox() as sandbox:
        process = sandbox.open(SOURCE)
        first = process.reset([(number, number) for number in range(8)])
        for number, step in enumerate(first):
            card = f"Card(rank={number % 5}, suit='oak', marks=())"
            assert step.observation == f"{card} Point(x={number}, y=7) Pair(a={number}, b='b') 1"
        said = process.step([(1, ""), (4, "")])
        document = "Card(rank: int, suit: str = 'oak', marks: tuple = ())"
        assert [step.observation for step in said] == [
            f"cannot assign to field 'rank' True True [] {document}",
            f"cannot assign to field 'rank' False True [] {document}",
        ]
