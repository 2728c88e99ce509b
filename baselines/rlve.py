"""RLVE's row: fixed families of parametric environments whose difficulty follows the agent, never the other way.

The controller is a value per family; the source draws a family and a level of its window for each slot of a step. The
families themselves are handed in: any mapping from a name to `(level, seed) -> Program`.
"""

from dataclasses import dataclass, replace
from typing import Callable, Mapping, Sequence

import msgspec

from ..harness.errors import InputError
from ..harness.seeds import derive, generator
from ..harness.types import Arm, Episode, Outcome, Program, Sample
from ..training.source import JSON, PlaySettings, Supply, plain_plays

Factory = Callable[[int, int], Program]
"""(level, seed) -> an environment of that level."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SlidingWindow:
    """The levels [low, high] a family is drawn from. Only plays at `high` count; there is no way down."""

    low: int = 0
    high: int = 0
    successes: int = 0
    """Wins at `high` since the last check."""
    attempts: int = 0
    """Plays at `high` since the last check."""
    accuracy: float = 0.9
    """Share of wins that promotes."""
    tau_num: int = 128
    """Plays at `high` before a check; the counts start over after it, passed or not."""
    width: int = 4
    """Most levels in the window."""
    top: int = 20
    """Highest level there is."""

    def record(self, level: int, won: bool) -> "SlidingWindow":
        """The window after one play."""
        if level != self.high:
            return self
        attempts, successes = self.attempts + 1, self.successes + won
        if attempts < self.tau_num:
            return replace(self, attempts=attempts, successes=successes)
        if successes / attempts < self.accuracy or self.high >= self.top:
            return replace(self, attempts=0, successes=0)
        high = self.high + 1
        return replace(self, attempts=0, successes=0, high=high, low=max(self.low, high - self.width + 1))


class RLVE:
    """Source of the RLVE row: `environments` groups a step, spread over the families; nothing of its own to train."""

    def __init__(
        self,
        families: Mapping[str, Factory],
        environments: int,
        plays: PlaySettings,
        seed: int,
        start: SlidingWindow = SlidingWindow(),
    ) -> None:
        if not families or environments < 1:
            raise InputError("RLVE needs at least one family and one environment a step; name them in the recipe.")
        if start.tau_num < 1 or start.width < 1 or not 0 <= start.low <= start.high <= start.top:
            raise InputError("RLVE: set tau_num and width to 1 or more, and the start levels between 0 and the top.")
        self.families = dict(families)
        self.environments = environments
        self.plays = plays
        self.seed = seed
        self.windows = dict.fromkeys(families, start)
        self._drawn: dict[str, tuple[str, int]] = {}

    def supply(self, step: int) -> Supply:
        """One program a slot: the families in turn from a shuffled start, the level uniform in the family's window.

        The same text drawn twice is one environment of this step, played once.
        """
        order = sorted(self.families)
        generator(self.seed, "rlve", step).shuffle(order)
        programs: dict[str, Program] = {}
        self._drawn = {}
        for slot in range(self.environments):
            family = order[slot % len(order)]
            window = self.windows[family]
            level = generator(self.seed, "rlve", step, slot).randint(window.low, window.high)
            program = self.families[family](level, derive(self.seed, "rlve", step, slot, "program"))
            programs.setdefault(program.id, program)
            self._drawn.setdefault(program.id, (family, level))
        highest = [window.high for window in self.windows.values()]
        counts = {"environments": len(programs), "lowest_top": min(highest), "highest_top": max(highest)}
        chosen = tuple(programs.values())
        return Supply(plays=plain_plays(chosen, step, self.seed, self.plays), programs=chosen, counts=counts)

    def learn(self, step: int, episodes: Sequence[Episode]) -> list[Sample]:
        """Move the windows by the step's plays: only a solved episode is a win, an unscored one is no play.

        The official rule counts a reward above 0, where a reward is 1 or 0; here returns may be partial.
        """
        for episode in episodes:
            if episode.reward is None or episode.play.arm is not Arm.PLAIN:
                continue
            family, level = self._drawn[episode.play.program.id]
            self.windows[family] = self.windows[family].record(level, episode.outcome is Outcome.RIGHT)
        return []

    def state(self) -> dict[str, JSON]:
        """The windows, by family."""
        plain: dict[str, JSON] = msgspec.to_builtins(self.windows)
        return plain

    def restore(self, state: dict[str, JSON]) -> None:
        """Go on with those windows. InputError when the families are others."""
        if set(state) != set(self.windows):
            raise InputError("the saved RLVE windows are of other families; use the recipe they were saved with.")
        self.windows = msgspec.convert(state, dict[str, SlidingWindow])
