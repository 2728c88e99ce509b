import random
from dataclasses import replace
from statistics import fmean

import msgspec
import pytest

from spadework.harness.sandbox.limits import EnvError, ErrorKind
from spadework.harness.types import Arm, Episode, Outcome, Play, Program, Sampling, Trajectory
from spadework.training.window import WindowStats, paired_interval, regret, share_won, win_rate

PROGRAM = Program(id="p", source="", skill="S", hint="h")


def episode(seed: int, arm: Arm, reward: float | None, outcome: Outcome = Outcome.WRONG) -> Episode:
    play = Play(program=PROGRAM, seed=seed, arm=arm, sample_seed=0, sampling=Sampling())
    trajectory = Trajectory(ids=(), generated=(), logprobs=(), temperature=1.0)
    return Episode(
        play=play, trajectory=trajectory, reward=reward, outcome=outcome, terminated=True, truncated=False, turns=1,
        actions=(),
    )  # fmt: skip


def test_hinted_plays_are_paired_with_plain_plays_of_the_same_instance() -> None:
    plain = [episode(1, Arm.PLAIN, 0.0), episode(2, Arm.PLAIN, 1.0), episode(1, Arm.PLAIN, 0.5)]
    hinted = [episode(2, Arm.HINT, 1.0), episode(1, Arm.HINT, 0.25), episode(1, Arm.HINT, 0.75)]
    stats = WindowStats().add(0, plain + hinted)
    assert stats.plays == {0: (0.0, 0.5, 1.0)}
    assert (stats.instances, stats.hint, stats.plain_paired) == ((2, 1, 1), (1.0, 0.25, 0.75), (1.0, 0.0, 0.5))
    assert regret(stats) == pytest.approx((0 + 0.25 + 0.25) / 3)


def test_an_unscored_play_is_no_return_and_takes_its_pair_with_it() -> None:
    plain = [
        episode(1, Arm.PLAIN, None, Outcome.INFRA_ERROR),
        episode(2, Arm.PLAIN, None, Outcome.SCORER_ERROR),
        episode(3, Arm.PLAIN, 1.0),
    ]
    stats = WindowStats().add(0, plain + [episode(seed, Arm.HINT, 1.0) for seed in (1, 2, 3)])
    assert (stats.plays, stats.hint, stats.errors) == ({0: (1.0,)}, (1.0,), 1)
    assert win_rate(stats) == 0.5, "the program's own fault counts as no win, the host's not at all"


@pytest.mark.parametrize(
    ("kind", "hung"), [(ErrorKind.TIMEOUT, True), (ErrorKind.HANG, True), (ErrorKind.EXCEPTION, False)]
)
def test_a_program_that_hangs_in_a_play_is_remembered_as_hung(kind: ErrorKind, hung: bool) -> None:
    error = str(EnvError(kind=kind, fault="program", message="env_error:hang: said the program"))
    fault = replace(episode(1, Arm.PLAIN, None, Outcome.SCORER_ERROR), error=error)
    stats = WindowStats().add(0, [fault]).add(1, [episode(2, Arm.PLAIN, 1.0)])
    assert (stats.step_timeout, stats.errors) == (hung, 1)


def test_steps_of_a_window_add_up_and_later_offsets_do_not_enter_the_regret() -> None:
    first = WindowStats().add(0, [episode(1, Arm.PLAIN, 0.0), episode(1, Arm.HINT, 1.0)])
    both = first.add(1, [episode(9, Arm.PLAIN, 1.0)])
    assert (both.returns, win_rate(both), regret(both)) == ((0.0, 1.0), 0.5, 1.0)
    assert first.plays == {0: (0.0,)}


def test_nothing_played_is_none_and_not_zero() -> None:
    empty = WindowStats()
    assert [win_rate(empty), regret(empty), paired_interval(empty), share_won([])] == [None] * 4
    assert share_won([1.0, 0.0, -1.0, 0.2]) == 0.5


def test_success_at_counts_plays_instead_of_partial_returns() -> None:
    stats = WindowStats(plays={0: (0.5, 0.5, 1.0, 0.0)}, hint=(1.0, 0.9), plain_paired=(0.9, 0.9))
    assert (win_rate(stats), win_rate(stats, 1.0)) == (0.5, 0.25)
    assert [regret(stats), regret(stats, 1.0)] == pytest.approx([0.05, 0.5])


def test_statistics_survive_json() -> None:
    stats = WindowStats(plays={0: (1.0,), 3: (0.5, 0.0)}, hint=(1.0,), plain_paired=(0.0,), instances=(7,), errors=2)
    assert msgspec.json.decode(msgspec.json.encode(stats), type=WindowStats) == stats


def test_a_few_equal_gaps_are_not_certainty_and_the_interval_holds_the_mean() -> None:
    interval = paired_interval(WindowStats(hint=(1.0,) * 3, plain_paired=(0.0,) * 3))
    assert interval is not None and interval.mean == 1.0 <= interval.high and interval.low < 0.5


def test_pairs_of_one_instance_are_one_observation() -> None:
    hint, plain = (1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0), (0.0,) * 8
    free = paired_interval(WindowStats(hint=hint, plain_paired=plain))
    tied = paired_interval(WindowStats(hint=hint, plain_paired=plain, instances=(1, 1, 1, 1, 2, 2, 2, 2)))
    assert free is not None and tied is not None and tied.low < free.low and tied.high > free.high


def test_the_interval_covers_the_true_regret_as_often_as_it_says() -> None:
    draw = random.Random(0)
    covered = []
    for _ in range(2000):
        hint = tuple(float(draw.random() < 0.7) for _ in range(16))
        plain = tuple(float(draw.random() < 0.4) for _ in range(16))
        interval = paired_interval(WindowStats(hint=hint, plain_paired=plain))
        assert interval is not None
        covered.append(interval.low <= 0.3 <= interval.high)
    assert 0.93 <= fmean(covered) <= 0.985
