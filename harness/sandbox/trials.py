"""Short plays of candidates by players that are functions: who plays, and playing many at once in lock-step.

No model is asked and nothing is judged here, see validation.py.
"""

import re
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Callable, Mapping, Sequence

from ..returns import WIN
from ..seeds import derive
from .batch import reset_all, step_all
from .limits import Step
from .process import EnvProcess

Player = Callable[[int, str], str]
"""From turn (0, 1, ...) and last observation to an action."""

WORD = re.compile(r"-?[^\W_]+")
LITERAL = re.compile(r'"([^"\\\n]{1,80})"|' + r"'([^'\\\n]{1,80})'")
MOST_LITERALS = 64
MOST_DIGITS = 6


@dataclass(slots=True)
class Trial:
    """One instance of one candidate and who plays it."""

    seed: int
    player: Player
    steps: list[Step] = field(default_factory=list)
    """The reset's step, then one an action."""

    @property
    def over(self) -> bool:
        """No further action is due: it ended, or failed."""
        last = self.steps[-1]
        return last.error is not None or last.terminated or last.truncated

    @property
    def won(self) -> bool:
        """It ended with a reward of 1."""
        return self.steps[-1].terminated and self.steps[-1].reward >= WIN

    @property
    def paid(self) -> bool:
        """Some step had a reward above 0."""
        return any(step.reward > 0 for step in self.steps)

    def seen(self) -> list[tuple[object, ...]]:
        """All that two plays of the same episode must have in common."""
        return [
            (s.observation, s.reward, s.terminated, s.truncated) if s.error is None else (s.error.kind,)
            for s in self.steps
        ]


Batch = Mapping[EnvProcess, Sequence[Trial]]


def play_trials(batch: Batch, max_turns: int) -> None:
    """Play every trial to its end or the turn cap, all candidates in lock-step. Fills `steps`."""
    reset_trials(batch)
    step_trials(batch, max_turns)


def reset_trials(batch: Batch) -> None:
    """The first observations. A trial's instance is its place in its list."""
    seeds = {
        process: [(number, trial.seed) for number, trial in enumerate(trials)] for process, trials in batch.items()
    }
    if not seeds:
        return
    for process, steps in reset_all(seeds).items():
        for trial, step in zip(batch[process], steps):
            trial.steps.append(step)


def step_trials(batch: Batch, max_turns: int) -> None:
    """The actions, after `reset_trials`."""
    for turn in range(max_turns):
        alive = {process: _acting(trials, turn) for process, trials in batch.items()}
        alive = {process: items for process, items in alive.items() if items}
        if not alive:
            return
        for process, steps in step_all(alive).items():
            for step in steps:
                batch[process][step.instance].steps.append(step)


def _acting(trials: Sequence[Trial], turn: int) -> list[tuple[int, str]]:
    return [
        (number, trial.player(turn, trial.steps[-1].observation))
        for number, trial in enumerate(trials)
        if not trial.over
    ]


def saying(actions: Sequence[str]) -> Player:
    """A player that says these one after the other, and begins again."""
    return lambda turn, _observation: actions[turn % len(actions)]


def echo(_turn: int, observation: str) -> str:
    """A player that says what it was shown."""
    return observation


def exploring(number: int, literals: Sequence[str]) -> Player:
    """A player that says words it was shown first or last, words of `literals`, and numbers near those that it was
    shown: players of different numbers begin differently, and go on by chance.
    """
    first: list[str] = []

    def say(turn: int, observation: str) -> str:
        if turn == 0:
            first[:] = WORD.findall(observation)
        shown = first if turn == 0 else first + WORD.findall(observation)
        words = [word for row in zip_longest(shown, _numbers(shown), literals) for word in row if word is not None]
        drawn = number if turn == 0 else derive(number, turn, observation)
        return words[drawn % len(words)] if words else ""

    return say


def literals_of(source: str) -> list[str]:
    """Words inside the quotes of a program's text. The text is not parsed."""
    quoted = (first or second for first, second in LITERAL.findall(source))
    return list(dict.fromkeys(word for text in quoted for word in WORD.findall(text)))[:MOST_LITERALS]


def _numbers(words: Sequence[str]) -> list[str]:
    """What the last two numbers among the words lead to."""
    found = [int(word) for word in words if word.lstrip("-").isdecimal() and len(word) <= MOST_DIGITS]
    if not found:
        return []
    a, b = (found * 2)[-2:]
    return [str(number) for number in (2 * b - a, a + b, a - b, b - a, a * b, b + 1, b - 1, max(found), min(found))]
