"""Rewards to advantages, for either role. Pure functions of values.

What is left out of the loss is counted, never silent: unscored samples, plays with the hint (they measure, they are not
trained on), and groups whose rewards are all equal, which say nothing about which sample was better. Equality is looked
for in the *group*, whatever the scale is taken from.
"""

from collections import defaultdict
from dataclasses import dataclass
from typing import Hashable, Iterable, Literal, Sequence, TypeVar

from ..harness.config import Section
from ..harness.errors import InputError
from ..harness.types import Arm, Episode, Sample, Trajectory

_SAME = 1e-9
"""Rewards closer than this are equal: sums of 0.1 are not exact, and a spread of 1e-17 is no signal."""

Item = TypeVar("Item")


class AdvantageSettings(Section, frozen=True, kw_only=True):
    """How rewards are compared. The defaults are the paper's setting."""

    agent_baseline: Literal["environment", "instance"] = "environment"
    """environment (the paper): minus the mean of all plays of the environment in this step. instance: minus the mean of
    the plays of the same instance seed, so that an easy instance is no merit; the scale stays the environment's."""
    eps: float = 1e-8
    """Added to the standard deviation."""
    designer_scale_cap: float = 50.0
    """Highest factor on the designer's advantages."""
    invalid: Literal["group", "apart"] = "group"
    """group: a rejected program's pay enters its skill's mean, the gradient of the stated objective. apart: it is its
    own advantage (times the scale) and the valid programs are compared among themselves."""

    def __post_init__(self) -> None:
        if self.eps <= 0 or self.designer_scale_cap <= 0:
            raise InputError("advantages: eps and designer_scale_cap divide and bound; set both above 0.")


@dataclass(frozen=True, kw_only=True, slots=True)
class Advantages:
    """What is trained on, and how much was left out."""

    samples: tuple[Sample, ...] = ()
    groups: int = 0
    """Comparison groups with at least one scored sample."""
    dropped_groups: int = 0
    """Groups without differences (a group of one is such a group)."""
    dropped_samples: int = 0
    """Samples in them."""
    unscored: int = 0
    """Samples without a reward."""
    hinted: int = 0
    """Episodes with the hint."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Written:
    """One completion of the designer and what it earned; pay None: not trained on."""

    trajectory: Trajectory
    skill: str
    pay: float | None
    valid: bool = True


def check_groups(
    settings: AdvantageSettings, *, instances: int, plays_per_instance: int, programs_per_skill: int | None = None
) -> None:
    """InputError when a comparison group would hold fewer than two samples: such a run trains nothing."""
    per_group = plays_per_instance * (instances if settings.agent_baseline == "environment" else 1)
    if instances < 1 or per_group < 2:
        raise InputError(
            f"An agent group of {per_group} play{'s' if per_group != 1 else ''} has nothing to compare with; "
            f"set plays_per_instance to 2 or more."
        )
    if programs_per_skill is not None and programs_per_skill < 2:
        raise InputError(
            f"{programs_per_skill} environment per skill has nothing to compare with; "
            "raise the environments per window or lower the active skills until there are 2."
        )


def agent_advantages(episodes: Sequence[Episode], settings: AdvantageSettings) -> Advantages:
    """A = (R - baseline) / (population std of the environment + eps), for the plays of ONE step.

    |A| is at most sqrt(plays of the environment). Groups: environment, or environment and instance seed.
    """
    plain = [episode for episode in episodes if episode.play.arm is Arm.PLAIN]
    scored = [(episode, episode.reward) for episode in plain if episode.reward is not None]
    samples: list[Sample] = []
    groups = dropped_groups = dropped = 0
    for program, members in _grouped((pair[0].play.program.id, pair) for pair in scored).items():
        scale = _std([reward for _, reward in members]) + settings.eps
        for name, group in _grouped((_group_name(program, pair[0], settings), pair) for pair in members).items():
            groups += 1
            rewards = [reward for _, reward in group]
            if _flat(rewards):
                dropped_groups, dropped = dropped_groups + 1, dropped + len(group)
                continue
            mean = sum(rewards) / len(rewards)
            samples += [
                Sample(trajectory=episode.trajectory, advantage=(reward - mean) / scale, role="agent", group=name)
                for episode, reward in group
            ]
    return Advantages(
        samples=tuple(samples), groups=groups, dropped_groups=dropped_groups, dropped_samples=dropped,
        unscored=len(plain) - len(scored), hinted=len(episodes) - len(plain),
    )  # fmt: skip


def designer_scale(designers: int, agents: int, interval: int, cap: float = 50.0) -> float:
    """min(agents / designers * interval, cap): few designer samples weigh like a window of plays; 1 without either."""
    if designers <= 0 or agents <= 0:
        return 1.0
    return min(agents / designers * interval, cap)


def designer_advantages(
    written: Sequence[Written], *, agents: int, interval: int, settings: AdvantageSettings
) -> Advantages:
    """A = (pay - mean pay of the skill in this designer batch) * scale; no division by a standard deviation.

    `agents` is the number of agent samples of a step and `interval` the steps of a window (`designer_scale`). A
    rejected program (valid False) with a pay is treated as `settings.invalid` says.
    """
    paid = [(one, one.pay) for one in written if one.pay is not None]
    scale = designer_scale(len(paid), agents, interval, settings.designer_scale_cap)
    apart = [(one, value) for one, value in paid if settings.invalid == "apart" and not one.valid]
    samples = [_designer_sample(one, value * scale, "invalid") for one, value in apart]
    compared = [(one, value) for one, value in paid if settings.invalid == "group" or one.valid]
    by_skill = _grouped((pair[0].skill, pair) for pair in compared)
    dropped_groups = dropped = 0
    for skill, group in by_skill.items():
        pays = [value for _, value in group]
        if _flat(pays):
            dropped_groups, dropped = dropped_groups + 1, dropped + len(group)
            continue
        mean = sum(pays) / len(pays)
        samples += [_designer_sample(one, (value - mean) * scale, skill) for one, value in group]
    return Advantages(
        samples=tuple(samples), groups=len(by_skill), dropped_groups=dropped_groups, dropped_samples=dropped,
        unscored=len(written) - len(paid),
    )  # fmt: skip


Key = TypeVar("Key", bound=Hashable)


def _grouped(items: Iterable[tuple[Key, Item]]) -> dict[Key, list[Item]]:
    groups: dict[Key, list[Item]] = defaultdict(list)
    for key, item in items:
        groups[key].append(item)
    return groups


def _group_name(program: str, episode: Episode, settings: AdvantageSettings) -> str:
    return program if settings.agent_baseline == "environment" else f"{program}/{episode.play.seed}"


def _designer_sample(one: Written, advantage: float, group: str) -> Sample:
    return Sample(trajectory=one.trajectory, advantage=advantage, role="designer", group=group)


def _flat(rewards: Sequence[float]) -> bool:
    return max(rewards) - min(rewards) < _SAME


def _std(rewards: Sequence[float]) -> float:
    """Population standard deviation."""
    mean = sum(rewards) / len(rewards)
    return float((sum((reward - mean) ** 2 for reward in rewards) / len(rewards)) ** 0.5)
