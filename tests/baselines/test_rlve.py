import json
from hashlib import sha256
from typing import Any, Callable

import pytest

from spadework.baselines.rlve import RLVE, SlidingWindow
from spadework.harness.errors import InputError
from spadework.harness.types import Arm, Episode, Outcome, Play, Program, Sampling, Trajectory
from spadework.training.source import PlaySettings, Supply

PLAYS = PlaySettings(instances=1, plays_per_instance=4, sampling=Sampling())
EMPTY = Trajectory(ids=(), generated=(), logprobs=(), temperature=1.0)


def test_the_window_moves_as_the_official_controller_does(vector: Callable[[str], Any]) -> None:
    cases = [
        (vector("sliding_window_tau8"), 8),
        (vector("sliding_window_tau128"), 128),
        (vector("sliding_window_tau128_fail_then_pass"), 128),
    ]
    for case, tau_num in cases:
        window = SlidingWindow(tau_num=tau_num)
        for expected in case["expected"]:
            after = expected["after"]
            for _ in range(after["times"]):
                window = window.record(after["difficulty"], after["reward"] > 0)
            ours = (window.low, window.high, window.successes, window.attempts)
            assert ours == (expected["low"], expected["high"], expected["succ"], expected["att"])


def test_the_top_level_is_never_passed() -> None:
    window = SlidingWindow(tau_num=1, top=2)
    for level in (0, 1, 2, 2, 2):
        window = window.record(level, True)
    assert (window.low, window.high) == (0, 2)


def family(name: str) -> Callable[[int, int], Program]:
    def make(level: int, seed: int) -> Program:
        source = f"{name} {level} {seed % 5}"
        return Program(id=sha256(source.encode()).hexdigest()[:16], source=source, skill=name)

    return make


QUICK = SlidingWindow(tau_num=4)


def source(start: SlidingWindow = QUICK) -> RLVE:
    return RLVE({"x": family("x"), "y": family("y")}, 4, PLAYS, 1, start)


def played(play: Play, reward: float | None) -> Episode:
    outcome = Outcome.RIGHT if reward == 1.0 else Outcome.WRONG
    return Episode(
        play=play, trajectory=EMPTY, reward=reward, outcome=outcome, terminated=True, truncated=False, turns=1,
        actions=(),
    )  # fmt: skip


def won(supply: Supply, name: str) -> list[Episode]:
    return [played(play, float(play.program.skill == name)) for play in supply.plays]


def test_a_family_that_is_won_is_promoted_and_the_others_stay() -> None:
    rlve = source()
    for step in range(6):
        assert rlve.learn(step, won(rlve.supply(step), "x")) == []
    assert rlve.windows["x"].high > 0 and rlve.windows["y"].high == 0


def test_a_partial_return_is_no_win() -> None:
    rlve = source()
    for step in range(6):
        rlve.learn(step, [played(play, 0.9) for play in rlve.supply(step).plays])
    assert {window.high for window in rlve.windows.values()} == {0}


def test_a_step_takes_the_families_in_turn_and_merges_equal_texts() -> None:
    supplies = [source().supply(step) for step in range(20)]
    assert all({one.skill for one in supply.programs} == {"x", "y"} for supply in supplies)
    assert all(len({one.id for one in supply.programs}) == len(supply.programs) for supply in supplies)
    assert min(supply.counts["environments"] for supply in supplies) < 4
    assert {play.arm for play in supplies[0].plays} == {Arm.PLAIN}


def test_an_unscored_episode_is_no_play() -> None:
    rlve = source()
    before = dict(rlve.windows)
    rlve.learn(0, [played(play, None) for play in rlve.supply(0).plays])
    assert rlve.windows == before


def test_a_restored_source_goes_on_where_it_was() -> None:
    rlve, other = source(), source()
    for step in range(5):
        rlve.learn(step, won(rlve.supply(step), "x"))
    other.restore(json.loads(json.dumps(rlve.state())))
    assert other.supply(5) == rlve.supply(5)
    with pytest.raises(InputError, match="other families"):
        RLVE({"z": family("z")}, 1, PLAYS, 1).restore(rlve.state())


def test_a_source_without_families_or_with_an_impossible_window_is_refused() -> None:
    with pytest.raises(InputError):
        RLVE({}, 1, PLAYS, 1)
    with pytest.raises(InputError):
        source(SlidingWindow(low=3, high=2))
