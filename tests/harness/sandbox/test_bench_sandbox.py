"""The benchmark of the sandbox: both sides play the same episodes, a target can be missed, the share is as told."""

import sys
from types import ModuleType

import pytest

from spadework.harness.bench_corpus import Share, corpus, share
from spadework.harness.bench_fleet import INSTANCES, TURNS, Fleet, action, bare_steps, boxed_steps
from spadework.harness.bench_programs import HARBOUR, HEAVY, LIGHT
from spadework.harness.bench_sandbox import Figure
from spadework.harness.bench_workers import first_reset, hard_kill, private_memory, recovery
from spadework.harness.sandbox import Isolation, Sandbox


@pytest.mark.parametrize("isolation", ["shared", "module"])
@pytest.mark.parametrize("source", [HARBOUR, LIGHT, HEAVY], ids=["usual", "light", "heavy"])
def test_both_sides_play_the_same_episodes(source: str, isolation: Isolation) -> None:
    with Sandbox() as sandbox:
        process = sandbox.open(source, isolation=isolation)
        boxed = [process.reset([(number, number) for number in range(INSTANCES)])]
        for turn in range(TURNS):
            boxed.append(process.step([(number, action(number, turn)) for number in range(INSTANCES)]))
    module = sys.modules["environment"] = ModuleType("environment")
    exec(source, module.__dict__)
    (made,) = (value for name, value in vars(module).items() if name.endswith("Env"))
    del sys.modules["environment"]
    for number in range(INSTANCES):
        environment = made()
        assert environment.reset(seed=number) == (boxed[0][number].observation, boxed[0][number].info)
        for turn in range(TURNS):
            step = boxed[turn + 1][number]
            answer = (step.observation, step.reward, step.terminated, step.truncated, step.info)
            assert environment.step(action(number, turn)) == answer


def test_the_usual_program_is_of_the_usual_size() -> None:
    assert 150 <= HARBOUR.count("\n") <= 250
    with Sandbox() as sandbox:
        process = sandbox.open(HARBOUR)
        lengths = [len(step.observation) for step in process.reset([(number, number) for number in range(INSTANCES)])]
    assert 200 < sum(lengths) / len(lengths) < 400


def test_a_figure_over_its_target_says_so() -> None:
    within = Figure(name="a", values=(1.0, 2.0, 9.0), unit="x", target=2.0)
    over = Figure(name="a", values=(1.0, 2.1, 2.2), unit="x", target=2.0)
    assert not within.over and within.line().endswith("at most 2: ok")
    assert over.over and over.line().endswith("at most 2: OVER")
    assert not Figure(name="a", values=(9.0,), unit="x").over


def test_every_measurement_measures_something() -> None:
    with Sandbox() as sandbox:
        bare = bare_steps(LIGHT)
        assert 0 < bare < boxed_steps(sandbox, LIGHT, Fleet(isolation="shared"))
        assert first_reset(sandbox) > 0 and recovery(sandbox) > 0
        assert not private_memory(sandbox) <= 0, "NaN where it cannot be read"
    assert hard_kill() > 0


def test_half_of_our_corpus_needs_a_module_for_each_instance() -> None:
    assert share(corpus(None)) == Share(programs=12, valid=12, need_module=6)
