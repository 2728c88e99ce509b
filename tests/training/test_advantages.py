import random
from typing import Any, Callable

import pytest

from spadework.harness.errors import InputError
from spadework.harness.types import Arm, Episode, Outcome, Play, Program, Sampling, Trajectory
from spadework.training.advantages import (
    AdvantageSettings,
    Written,
    agent_advantages,
    check_groups,
    designer_advantages,
)
from spadework.training.source import PlaySettings

PAPER = AdvantageSettings()
INSTANCE = AdvantageSettings(agent_baseline="instance")
EMPTY = Trajectory(ids=(), generated=(), logprobs=(), temperature=1.0)


def episode(program: str, reward: float | None, seed: int = 0, arm: Arm = Arm.PLAIN) -> Episode:
    play = Play(
        program=Program(id=program, source="", skill="S", hint="h"),
        seed=seed,
        arm=arm,
        sample_seed=0,
        sampling=Sampling(),
    )
    outcome = Outcome.INFRA_ERROR if reward is None else Outcome.WRONG
    return Episode(
        play=play, trajectory=EMPTY, reward=reward, outcome=outcome, terminated=True, truncated=False, turns=1,
        actions=(),
    )  # fmt: skip


def written(pay: float | None, skill: str = "S", valid: bool = True) -> Written:
    return Written(trajectory=EMPTY, skill=skill, pay=pay, valid=valid)


def test_the_agents_z_score_is_the_official_one_and_a_flat_group_is_dropped(vector: Callable[[str], Any]) -> None:
    case = vector("actor_grpo_zscore")
    episodes = [episode(name, reward) for name, rewards in case["inputs"].items() for reward in rewards]
    found = agent_advantages(episodes, PAPER)
    for name in ("g1", "g3"):
        ours = [sample.advantage for sample in found.samples if sample.group == name]
        assert ours == pytest.approx(case["expected"][name], abs=1e-9)
    assert (found.groups, found.dropped_groups, found.dropped_samples) == (3, 1, 4)
    assert case["expected"]["g2"] == [0.0] * 4, "dropped is what the official zeros mean for the policy term"


def test_the_flatness_of_a_group_is_its_own_and_not_the_batchs() -> None:
    """P121: groups [1, 1] and [0, 1]: only the first is left out."""
    found = agent_advantages([episode("a", 1), episode("a", 1), episode("b", 0), episode("b", 1)], PAPER)
    assert ({sample.group for sample in found.samples}, found.dropped_groups, found.dropped_samples) == ({"b"}, 1, 2)


def test_one_odd_reward_does_not_explode() -> None:
    """P146: rewards [0, 0, 0, 0, 3]: |advantage| below 10."""
    found = agent_advantages([episode("a", reward) for reward in (0, 0, 0, 0, 3)], PAPER)
    assert max(abs(sample.advantage) for sample in found.samples) == pytest.approx(2.0)


@pytest.mark.parametrize("settings", [PAPER, INSTANCE])
def test_no_advantage_exceeds_the_root_of_the_number_of_plays(settings: AdvantageSettings) -> None:
    draw = random.Random(0)
    for _ in range(300):
        plays = draw.randint(2, 16)
        rewards = [draw.choice([0.0, 1.0, 1e-7, 0.1 + 0.2, 0.3, draw.uniform(-1, 1)]) for _ in range(plays)]
        found = agent_advantages([episode("a", r, seed=draw.randint(0, 1)) for r in rewards], settings)
        assert all(abs(sample.advantage) <= plays**0.5 for sample in found.samples)


def test_rounding_is_no_signal() -> None:
    assert agent_advantages([episode("a", 0.1 + 0.2), episode("a", 0.3)], PAPER).dropped_groups == 1


def test_the_instance_baseline_does_not_pay_for_an_easy_instance() -> None:
    episodes = [episode("a", r, seed=1) for r in (1, 1, 1, 1)] + [episode("a", r, seed=2) for r in (1, 0, 0, 0)]
    found = agent_advantages(episodes, INSTANCE)
    assert (found.groups, found.dropped_groups, found.dropped_samples) == (2, 1, 4)
    assert {sample.group for sample in found.samples} == {"a/2"}
    scale = (5 / 8 * 3 / 8) ** 0.5
    assert [sample.advantage for sample in found.samples] == pytest.approx([0.75 / scale] + [-0.25 / scale] * 3)


def test_unscored_and_hinted_plays_are_left_out_and_counted() -> None:
    episodes = [episode("a", 1), episode("a", 0), episode("a", None), episode("a", 1, arm=Arm.HINT)]
    found = agent_advantages(episodes, PAPER)
    assert (len(found.samples), found.unscored, found.hinted) == (2, 1, 1)
    assert agent_advantages([], PAPER).samples == ()


def test_a_comparison_group_of_one_is_refused_before_the_run() -> None:
    """P149: a group of size 1 trains nothing."""
    for settings, instances, plays in [(PAPER, 1, 1), (INSTANCE, 8, 1), (PAPER, 0, 8)]:
        with pytest.raises(InputError):
            check_groups(settings, instances=instances, plays_per_instance=plays)
    with pytest.raises(InputError, match="per skill"):
        check_groups(PAPER, instances=8, plays_per_instance=1, programs_per_skill=1)
    with pytest.raises(InputError):
        PlaySettings(instances=1, plays_per_instance=1, sampling=Sampling())
    check_groups(INSTANCE, instances=2, plays_per_instance=4, programs_per_skill=4)


def test_a_designer_group_of_one_and_a_flat_one_are_dropped_and_counted() -> None:
    rows = [
        written(1.0, "X"),
        written(0.2, "Y"),
        written(0.2, "Y"),
        written(0.0, "Z"),
        written(1.0, "Z"),
        written(None, "Z"),
    ]
    found = designer_advantages(rows, agents=10, interval=2, settings=PAPER)
    assert (found.groups, found.dropped_groups, found.dropped_samples, found.unscored) == (3, 2, 3, 1)
    assert [(s.group, s.advantage, s.role) for s in found.samples] == [("Z", -2.0, "designer"), ("Z", 2.0, "designer")]


def test_a_rejected_program_enters_the_mean_or_stands_apart() -> None:
    rows = [written(1.0), written(0.0), written(-0.5, valid=False)]
    group = designer_advantages(rows, agents=3, interval=1, settings=PAPER)
    assert [s.advantage for s in group.samples] == pytest.approx([1 - 1 / 6, -1 / 6, -2 / 3])
    apart = designer_advantages(rows, agents=3, interval=1, settings=AdvantageSettings(invalid="apart"))
    assert [(s.group, s.advantage) for s in apart.samples] == [("invalid", -0.5), ("S", 0.5), ("S", -0.5)]
    off = designer_advantages([*rows[:2], written(None, valid=False)], agents=2, interval=1, settings=PAPER)
    assert ([s.advantage for s in off.samples], off.unscored) == ([0.5, -0.5], 1)


def test_the_designers_advantages_are_bounded_by_the_cap() -> None:
    found = designer_advantages([written(1.0), written(-0.5)], agents=10**6, interval=8, settings=PAPER)
    assert max(abs(sample.advantage) for sample in found.samples) == 0.75 * 50
