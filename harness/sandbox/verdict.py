"""What the validator says of a candidate, and by which rules: gates, settings, verdicts. Values only; nothing is
played here, see validation.py.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from ..types import Program
from .limits import HOST_KINDS, ErrorKind, Fault, Isolation


class Gate(StrEnum):
    """Where a candidate failed, in the order in which it is looked at."""

    TEXT = "text"
    """Empty, too large, or no text."""
    LOAD = "load"
    """Syntax, a module that may not be imported, or an error while the module was executed."""
    CONTRACT = "contract"
    """No class, a wrong signature, or the first, ordinary episode raised or broke the contract."""
    REWARD_RANGE = "reward_range"
    TERMINATION = "termination"
    """An episode had no end within the turn cap."""
    SPEED = "speed"
    """A step takes too much CPU time: of the first, ordinary episode, or on average of all later ones."""
    PLAY = "play"
    """A further episode of ordinary actions raised or broke the contract."""
    ODD_ACTIONS = "odd_actions"
    """An empty, long or unusual action made it raise or break the contract."""
    DETERMINISM = "determinism"
    VARIETY = "variety"
    """The seeds show the same first observation."""
    FREE_WIN = "free_win"
    """A player that does nothing sensible wins most instances."""


class Disturbance(StrEnum):
    """Four situations in which the same seed and actions must give the same episode, as a first play in a fresh
    process did. Each brings to light what the others may miss."""

    REPEAT = "repeat"
    """In another fresh process of the same server: clocks, the system's entropy."""
    OTHER_SERVER = "other_server"
    """In a fresh process of another server: addresses, and whatever is ordered by them."""
    INTERLEAVED = "interleaved"
    """While other instances play in the same process: a generator or state that instances share."""
    CARRY_OVER = "carry_over"
    """After an earlier episode in the same process: state that `reset` leaves behind."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ValidationSettings:
    """How hard a candidate is looked at."""

    max_turns: int = 12
    """Turn cap; every episode must end within it."""
    seeds: tuple[int, ...] = (11, 12, 13, 14, 15)
    """Instance seeds that are played; at least three. The first is the one whose episode must come back the same."""
    distinct: int = 2
    """Different first observations wanted among the seeds."""
    free_win_share: float = 0.5
    """A senseless player may win at most this share of the seeds."""
    abs_reward: float = 10.0
    ordinary: tuple[str, ...] = ("1", "yes", "test", "42", "right", "a")
    """Actions of the first episode, one after the other."""
    constants: tuple[str, ...] = ("1", "yes")
    """What the senseless players repeat, beside nothing and the observation."""
    odd: tuple[str, ...] = ("x" * 10_000, "é\u4e2d\U0001f600\u0000\n", "0123456789 -1 1e999 nan")
    explorers: int = 24
    """Plays that look for any pay, at most, before a program is marked as a dead end."""
    step_cpu_s: float = 0.05
    """Most CPU seconds that a step may take on average, in the first episode and in all later ones together."""
    isolation: Isolation | Literal["auto"] = "module"
    """"auto" plays instances of one shared module first, and those that fail so with a module each."""
    together: int = 32
    """Candidates examined at once; each has two processes."""

    def __post_init__(self) -> None:
        if len(self.seeds) < 3 or not self.ordinary or self.together < 1:
            raise ValueError("give three seeds or more, an ordinary action or more, and examine one candidate or more")
        if self.isolation not in ("module", "shared", "auto"):
            raise ValueError(f"isolation is module, shared or auto, not {self.isolation!r}")


@dataclass(frozen=True, kw_only=True, slots=True)
class ValidEnvironment:
    """A candidate that passed every gate, and what is to be expected of it."""

    id: str
    """First 16 hex digits of the source's sha256."""
    source: str
    max_turns: int
    """The turn cap it was validated with."""
    isolation: Isolation
    """How it was played; under "auto", "module" means that it needs a module for each instance."""
    step_cpu_s: float
    """Mean CPU seconds of its process for a step, many instances at a time; 0.0 where the clock cannot be read."""
    distinct: int
    """Different first observations among the seeds."""
    dead_end: bool
    """Nothing that was tried ever paid. It may only be hard."""
    disturbances: tuple[Disturbance, ...]
    """Under which the same episode came back."""

    def program(self, skill: str, hint: str | None = None) -> Program:
        """The environment, under the skill it was written for."""
        return Program(id=self.id, source=self.source, skill=skill, hint=hint, max_turns=self.max_turns)


@dataclass(frozen=True, kw_only=True, slots=True)
class Rejected:
    """A candidate that failed at a gate. `detail` may quote the program and is for people."""

    gate: Gate
    detail: str
    kind: ErrorKind | None = None
    """The sandbox's error, where there was one."""
    disturbances: tuple[Disturbance, ...] = ()
    """Which of the four changed the episode, each on its own (gate `DETERMINISM`)."""

    @property
    def fault(self) -> Fault:
        """ "host": the sandbox failed, twice; it says nothing about the program."""
        return "host" if self.kind in HOST_KINDS else "program"


Verdict = ValidEnvironment | Rejected
