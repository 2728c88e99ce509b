"""Playing a suite of held-out items with one checkpoint: items in, one record a sample out.

A record carries item, category, outcome, reward and the last action; every score, interval and test is computed from
records later. It scores nothing itself.
"""

from dataclasses import dataclass
from typing import Sequence

from .dialect import Dialect
from .episode import play
from .sandbox import Sandbox
from .seeds import derive
from .types import Arm, Episode, Model, Play, Program, Sampling

MODES = {"greedy": 0.0, "sampled": 1.0}
"""Mode of an evaluation and its temperature."""
TOGETHER = 1024
"""Episodes played at a time; bounds the engine's cache."""

ANSWER_CHARACTERS = 200
"""Of the last action, in the records: enough to see what changed between two runs."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Item:
    """One held-out item: a program and an instance seed. `id` is stable over runs of the same task data."""

    id: str
    category: str
    program: Program
    seed: int


@dataclass(frozen=True, kw_only=True)
class Player:
    """Who plays, and where."""

    model: Model
    dialect: Dialect
    sandbox: Sandbox
    max_new_tokens: int
    """Tokens of one turn."""


def evaluate(items: Sequence[Item], player: Player, mode: str, seed: int) -> list[Episode]:
    """One episode an item, in order, without hints. Sampling seeds depend on (seed, item) alone."""
    sampling = Sampling(
        temperature=MODES[mode], max_new_tokens=player.max_new_tokens, stop=player.dialect.stops("agent")
    )
    plays = [
        Play(
            program=item.program,
            seed=item.seed,
            arm=Arm.PLAIN,
            sample_seed=derive(seed, "item", item.id),
            sampling=sampling,
        )
        for item in items
    ]
    episodes: list[Episode] = []
    for start in range(0, len(plays), TOGETHER):
        episodes += play(plays[start : start + TOGETHER], player.model, player.dialect, player.sandbox)
    return episodes


def rows(items: Sequence[Item], episodes: Sequence[Episode]) -> list[dict[str, object]]:
    """Record lines: what scores are computed from, and as `answer` the end of what was done, the last action."""
    return [
        {
            "item": item.id, "category": item.category, "outcome": str(episode.outcome), "reward": episode.reward,
            "answer": episode.actions[-1][:ANSWER_CHARACTERS] if episode.actions else None,
        }
        for item, episode in zip(items, episodes, strict=True)
    ]  # fmt: skip
