from spadework.harness.types import Arm, Program, Sampling
from spadework.training.source import PlaySettings, hint_plays, plain_plays

SETTINGS = PlaySettings(instances=3, plays_per_instance=2, sampling=Sampling())
PROGRAMS = [Program(id="a", source="", skill="S", hint="h"), Program(id="b", source="", skill="S")]


def test_both_arms_play_the_same_instances_and_sample_apart() -> None:
    plain = plain_plays(PROGRAMS, 4, 1, SETTINGS)
    hinted = hint_plays(plain)
    assert [play.seed for play in hinted] == [play.seed for play in plain if play.program.id == "a"]
    assert {play.arm for play in hinted} == {Arm.HINT} and len(plain) == 12 and len(hinted) == 6
    assert len({play.sample_seed for play in plain + hinted}) == 18


def test_an_instance_is_played_as_often_as_asked_and_no_step_shares_one() -> None:
    seeds = [play.seed for play in plain_plays(PROGRAMS, 4, 1, SETTINGS)]
    assert [seeds.count(seed) for seed in seeds] == [2] * 12
    assert not set(seeds) & {play.seed for play in plain_plays(PROGRAMS, 5, 1, SETTINGS)}
    assert plain_plays(PROGRAMS, 4, 1, SETTINGS) == plain_plays(PROGRAMS, 4, 1, SETTINGS)
