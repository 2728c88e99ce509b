"""Alarms from figures that were made up: each begins after its patience, is said once, ends, and begins again."""

import msgspec
import pytest

from spadework.harness.errors import InputError
from spadework.harness.types import Arm, Episode, Outcome, Play, Program, Sampling, Trajectory
from spadework.training.health import (
    LOOP_TOKENS,
    RULES,
    Health,
    HealthSettings,
    canary_readings,
    distinct_share,
    draft_readings,
    loops,
    play_readings,
    watched,
)

SETTINGS, WELL = HealthSettings(), Health()
BAD = {
    "zero reward": 1.0, "zero variance": 0.95, "sampler gap": 0.2, "weight sync": 0.001, "canary": 0.2,
    "truncation": 0.6,
    "designer's truncation": 0.6, "loops": 0.2, "designer's loops": 0.2, "diversity": 0.1, "win rate at 0": 0.0,
    "win rate at 1": 1.0,
}  # fmt: skip
GOOD = {
    "zero reward": 0.99, "zero variance": 0.85, "sampler gap": 0.01, "weight sync": 1e-7, "canary": 1e-6,
    "truncation": 0.1,
    "designer's truncation": 0.1, "loops": 0.0, "designer's loops": 0.0, "diversity": 0.8, "win rate at 0": 0.5,
    "win rate at 1": 0.5,
}  # fmt: skip


def after(
    rule: str, values: list[float | None], health: Health = WELL, settings: HealthSettings = SETTINGS
) -> Health:
    """The health after these readings of a rule's figure, one a step."""
    reading = next(one.reading for one in RULES if one.name == rule)
    for step, value in enumerate(values):
        health = watched(health, step, {reading: value}, settings)
    return health


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_an_alarm_begins_after_its_patience_and_is_said_once_with_what_to_do(rule: object) -> None:
    name = rule.name  # type: ignore[attr-defined]
    patience = rule.patience or SETTINGS.patience  # type: ignore[attr-defined]
    assert after(name, [BAD[name]] * (patience - 1)).alarms == ()
    health = after(name, [BAD[name]] * (patience + 5))
    assert [(alarm.name, alarm.began, alarm.ended) for alarm in health.alarms] == [(name, patience - 1, None)]
    assert [len(health.told_at(step)) for step in range(patience + 5)] == [0] * (patience - 1) + [1] + [0] * 5
    text = str(health.told_at(patience - 1)[0]["text"])
    assert text.startswith(f"{name}: ") and text.endswith(".") and "; " in text and "{" not in text


@pytest.mark.parametrize("name", BAD)
def test_a_healthy_figure_begins_none_and_ends_one(name: str) -> None:
    assert after(name, [GOOD[name]] * 9).alarms == ()
    ill = after(name, [BAD[name]] * 3)
    patience = next(rule.patience for rule in RULES if rule.name == name) or SETTINGS.patience
    well = after(name, [GOOD[name]] * 9, ill)
    assert [alarm.ended for alarm in well.alarms] == [patience - 1] and well.active == ()
    assert [told["event"] for told in well.told_at(patience - 1) if told["event"] == "ends"] == ["ends"]
    assert len(after(name, [BAD[name]] * 3, well).alarms) == 2


def test_a_figure_that_jumps_to_and_fro_begins_no_alarm_and_ends_none() -> None:
    jumping: list[float | None] = [1.0, 1.0, 0.5] * 6
    assert after("zero reward", jumping).alarms == ()
    begun = after("zero reward", [1.0] * 3)
    assert len(after("zero reward", [0.5, 0.5, 1.0] * 6, begun).active) == 1


def test_a_step_without_a_figure_neither_begins_nor_ends_an_alarm() -> None:
    begun = after("diversity", [0.1, None, None, None, 0.1, None])
    assert len(begun.active) == 1
    assert after("diversity", [None] * 9, begun).active == begun.active
    assert watched(begun, 7, {}, SETTINGS) == begun


def test_health_comes_back_from_a_checkpoint_as_it_was() -> None:
    health = after("zero reward", [1.0] * 4 + [0.0])
    assert health.streaks and health.alarms
    assert msgspec.json.decode(msgspec.json.encode(health), type=Health) == health
    assert msgspec.json.decode(b"{}", type=Health) == Health()


def test_bounds_are_settings() -> None:
    assert after("zero variance", [0.7] * 3, settings=HealthSettings(zero_variance_share=0.6)).active
    assert after("zero variance", [0.7], settings=HealthSettings(zero_variance_share=0.6, patience=1)).active
    with pytest.raises(InputError, match="patience"):
        HealthSettings(patience=0)


def test_the_canary_tells_a_sampler_that_did_not_move_from_one_that_had_nothing_to_follow() -> None:
    assert canary_readings((), (0.1, -1.0, -2.0)) == {"canary_gap": 0.1, "canary_moved": None}
    assert canary_readings((0.1, -1.0, -2.0), (0.3, -1.0, -2.0))["canary_moved"] == pytest.approx(0.2)
    assert canary_readings((0.1, -1.0, -2.0), (0.1, -1.0, -2.0))["canary_moved"] == 0.0
    assert canary_readings((0.1, -1.0, -2.0), (0.3, -1.0, -2.1))["canary_moved"] == 0.0
    assert canary_readings((0.1, -1.0), ()) == {"canary_gap": None, "canary_moved": None}


def trajectory(*drawn: int, prompt: int = 3) -> Trajectory:
    ids = (*range(prompt), *drawn)
    marks = (False,) * prompt + (True,) * len(drawn)
    return Trajectory(ids=ids, generated=marks, logprobs=(0.0,) * len(ids), temperature=1.0)


@pytest.mark.parametrize("period", [1, 2, 5, 8])
def test_a_text_that_repeats_itself_to_its_end_is_a_loop(period: int) -> None:
    again = [number % period for number in range(LOOP_TOKENS + period)]
    assert loops(trajectory(100, 101, *again))
    assert not loops(trajectory(100, 101, *again, 999))
    assert not loops(trajectory(*again[: LOOP_TOKENS - 1]))


def test_a_prompt_that_repeats_itself_is_no_loop_of_the_policys() -> None:
    ids = (7,) * 60
    assert not loops(Trajectory(ids=ids, generated=(False,) * 59 + (True,), logprobs=(0.0,) * 60, temperature=1.0))
    assert not loops(trajectory(*range(LOOP_TOKENS)))


def episode(reward: float | None, outcome: Outcome, *drawn: int) -> Episode:
    program = Program(id="p", source="", skill="s")
    play = Play(program=program, seed=0, arm=Arm.PLAIN, sample_seed=0, sampling=Sampling())
    return Episode(
        play=play, trajectory=trajectory(*drawn), reward=reward, outcome=outcome, terminated=True, truncated=False,
        turns=1, actions=(),
    )  # fmt: skip


def test_plays_are_read_for_zeros_cuts_and_loops() -> None:
    plays = [
        episode(0.0, Outcome.TRUNCATED, *[5] * 40), episode(0.0, Outcome.WRONG, 1, 2), episode(1.0, Outcome.RIGHT, 1),
        episode(None, Outcome.INFRA_ERROR),
    ]  # fmt: skip
    assert play_readings(plays) == {"zero_reward_share": 2 / 3, "truncated_share": 0.25, "looped_share": 0.25}
    assert set(play_readings([]).values()) == {None}


PROGRAM = "class {name}Env:\n    def reset(self, seed):\n        return 'a {thing}', {{}}\n" + "".join(
    f"    def helper_{number}(self):\n        return {number} + self.{letter}\n"
    for number, letter in enumerate("abcdefgh" * 5)
)


def test_programs_that_differ_in_a_word_are_twins_and_others_are_not() -> None:
    twins = [PROGRAM.format(name="Lamp", thing=word) for word in ("lamp", "river", "stone")]
    others = ["import random\nx = 1\n" * 3, "class Other:\n    pass\n    y = [1, 2, 3]\n"]
    assert distinct_share(twins, []) == pytest.approx(1 / 3)
    assert distinct_share([*twins[:1], *others], []) == 1.0
    assert distinct_share(others, others) == 0.0
    assert distinct_share([], others) is None
    assert distinct_share(["x"], []) == 1.0


def test_drafts_are_read_for_cuts_loops_and_copies() -> None:
    texts = [trajectory(*range(50)), trajectory(*[3] * 30)]
    assert draft_readings(texts, 50, ["a b c d e f"] * 4, []) == {
        "designer_truncated_share": 0.5, "designer_looped_share": 0.5, "distinct_share": 0.25,
    }  # fmt: skip
