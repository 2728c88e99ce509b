"""The port through which a step gets its environments; the rows of the table differ in what stands behind it.

Also the plays themselves: which instances of which programs are played, and the same instances again with the hint. A
play's seeds depend on (seed, step, slot, index) alone, so the same step is the same step after a resume.
"""

from dataclasses import dataclass, field
from typing import Protocol, Sequence, Union

from ..harness.errors import InputError
from ..harness.seeds import derive
from ..harness.types import Arm, Episode, Play, Program, Sample, Sampling

JSON = Union[None, bool, int, float, str, "list[JSON]", "dict[str, JSON]"]
"""What a checkpoint can hold."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PlaySettings:
    """How many plays an environment gets in a step. The paper's games: 8 plays, here of named instances."""

    instances: int = 8
    """Different instance seeds of one environment in one step."""
    plays_per_instance: int = 1
    """Plays of each of them."""
    sampling: Sampling
    """How the agent samples; its stop tokens are the dialect's."""

    def __post_init__(self) -> None:
        if self.instances < 1 or self.plays_per_instance < 1 or self.instances * self.plays_per_instance < 2:
            raise InputError(
                f"{self.instances} instances of {self.plays_per_instance} plays leave nothing to compare; "
                "set both to 1 or more and at least one of them to 2."
            )


@dataclass(frozen=True, kw_only=True, slots=True)
class Supply:
    """One step's work."""

    plays: tuple[Play, ...]
    """Plain plays of `programs`, then (when a source has hints to measure) hinted plays on the same instance seeds."""
    programs: tuple[Program, ...]
    counts: dict[str, int] = field(default_factory=dict)
    """Figures for the metrics line."""


class Source(Protocol):
    """Where the environments of a step come from."""

    def supply(self, step: int) -> Supply:
        """What is played in this step."""
        ...

    def learn(self, step: int, episodes: Sequence[Episode]) -> list[Sample]:
        """Take in what was played; give back the source's own samples for this update (none for a fixed source)."""
        ...

    def state(self) -> dict[str, JSON]:
        """What a checkpoint must hold so that a new source of the same recipe goes on."""
        ...

    def restore(self, state: dict[str, JSON]) -> None:
        """Go on from there."""
        ...


def plain_plays(programs: Sequence[Program], step: int, seed: int, settings: PlaySettings) -> tuple[Play, ...]:
    """Plays without the hint, program by program and instance by instance."""
    return tuple(
        Play(
            program=program,
            seed=derive(seed, "instance", step, slot, instance),
            arm=Arm.PLAIN,
            sample_seed=derive(seed, "play", step, slot, instance, index),
            sampling=settings.sampling,
        )
        for slot, program in enumerate(programs)
        for instance in range(settings.instances)
        for index in range(settings.plays_per_instance)
    )


def hint_plays(plays: Sequence[Play]) -> tuple[Play, ...]:
    """The same plays with the hint: same program, same instance seed, the agent's sampling drawn anew.

    Programs without a hint are left out; nothing pays for them (`rewards`).
    """
    return tuple(
        Play(
            program=play.program,
            seed=play.seed,
            arm=Arm.HINT,
            sample_seed=derive(play.sample_seed, "hint"),
            sampling=play.sampling,
        )
        for play in plays
        if play.program.hint is not None
    )
