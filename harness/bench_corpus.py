"""Which share of programs needs a module for each instance, for `bench sandbox`: the validator's word, not a guess.

The corpus is one small game, written with the habits that models have with random numbers and state; a folder of
programs of one's own says more about one's own writer.
"""

from pathlib import Path
from typing import NamedTuple

from .bench_programs import HARBOUR
from .sandbox import Sandbox, ValidationSettings, ValidEnvironment, validate

GAME = '''
import functools
import random
from collections import deque
from dataclasses import dataclass, field
{module}

class GuessEnv:
    """Guess a number that was shown among others."""
    {body}

    def __init__(self, max_turns=6):
        self.max_turns = max_turns

    def reset(self, seed=None):
        {begin}
        self.shown = [{draw}(10, 99) for _ in range(5)]
        self.wanted, self.turn = sorted(self.shown)[2], 0
        {after}
        return f"which of {{self.shown}} has as many below it as above? {{self.turn}}", {{}}

    def step(self, action):
        self.turn += 1
        {step}
        right = action.strip() == str(self.wanted)
        over = self.turn >= self.max_turns
        return f"{{'yes' if right else 'no'}} {note}", 1.0 if right else 0.0, right, over and not right, {{}}
'''
PLAIN = {"module": "", "body": "", "begin": "rng = random.Random(seed)", "draw": "rng.randint", "after": "pass",
         "step": "pass", "note": "{self.turn}"}  # fmt: skip
HABITS: dict[str, dict[str, str]] = {
    "a generator of its own": {},
    "a generator kept for later": {
        "begin": "self.rng = random.Random(seed)", "draw": "self.rng.randint", "note": "{self.rng.randint(0, 9)}",
    },
    "a dataclass as its state": {
        "module": "@dataclass\nclass State:\n    tries: list = field(default_factory=list)",
        "after": "self.state = State()", "step": "self.state.tries.append(action)", "note": "{len(self.state.tries)}",
    },
    "a cache": {"module": "@functools.lru_cache\ndef double(n): return 2 * n", "note": "{double(self.turn)}"},
    "the global generator, seeded": {"begin": "random.seed(seed)", "draw": "random.randint"},
    "the global generator, seeded, drawn from later": {
        "begin": "random.seed(seed)", "draw": "random.randint", "note": "{random.randint(0, 9)}",
    },
    "the global generator, never seeded": {"begin": "pass", "draw": "random.randint"},
    "a generator of the module": {"module": "RNG = random.Random()", "begin": "pass", "draw": "RNG.randint"},
    "a counter of the class": {"body": "played = 0", "after": "GuessEnv.played += 1", "note": "{self.played}"},
    "a list of the class": {"body": "tries = []", "step": "self.tries.append(action)", "note": "{len(self.tries)}"},
    "a list of the module": {
        "module": "LAST = deque(maxlen=3)", "step": "LAST.append(action)", "note": "{[len(word) for word in LAST]}",
    },
}  # fmt: skip


class Share(NamedTuple):
    """How many of the programs are valid, and how many of those need a module for each instance."""

    programs: int
    valid: int
    need_module: int

    def line(self) -> str:
        """For people."""
        return (
            f"{self.need_module} of {self.valid} valid programs need a module for each instance "
            f"({self.need_module / max(1, self.valid):.0%}; {self.programs} were looked at)"
        )


def corpus(folder: str | None) -> list[str]:
    """The programs of a folder (`*.py`), or our own."""
    if folder is not None:
        return [path.read_text(encoding="utf-8") for path in sorted(Path(folder).glob("*.py"))]
    return [HARBOUR, *(GAME.format(**PLAIN | habit) for habit in HABITS.values())]


def share(sources: list[str], max_turns: int = 25) -> Share:
    """What the validator says of each, with `isolation="auto"`."""
    settings = ValidationSettings(max_turns=max_turns, isolation="auto")
    with Sandbox() as sandbox:
        verdicts = validate(sources, sandbox, settings)
    valid = [verdict for verdict in verdicts if isinstance(verdict, ValidEnvironment)]
    return Share(len(verdicts), len(valid), sum(verdict.isolation == "module" for verdict in valid))
