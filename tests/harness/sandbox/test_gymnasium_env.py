"""Generated environments in other people's hands: gymnasium's own checker, vectors, seeds, and programs that fail."""

import subprocess
import sys
from collections.abc import Iterator
from random import Random

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces.utils import flatten, unflatten
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv

from spadework.harness.sandbox import ErrorKind, Limits, Sandbox
from spadework.harness.sandbox.gymnasium_env import ID, AnyText, EnvironmentFailed, GeneratedEnv
from spadework.tasks.nano_world import FAMILIES, draw

from .programs import COUNT, answering

NAME = f"spadework.harness.sandbox.gymnasium_env:{ID}"
NOUNS = tuple("fox hen oak elm bee cow rye ash ant bat cat dog eel fly gnu hog".split())
UNICODE = """
import random
class WordEnv:
    def reset(self, seed=None):
        self.word = random.Random(seed).choice(["\u00e9t\u00e9", "\u4e2d\u6587", "\U0001f600", "\\0", "plain\\nlines"])
        return self.word * 100, {"words": [self.word], "deep": {"a": None}}
    def step(self, action):
        return action[::-1][:50], -0.5, False, False, {"said": action[:9]}
"""


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(Limits(load_cpu_s=0.3, call_cpu_s=0.2, frame_wall_s=2.0, memory_mb=128)) as shared:
        yield shared


def programs() -> list[str]:
    rng = Random(3)
    return [COUNT, UNICODE, *(draw(family, 3, NOUNS, rng) for family in FAMILIES.values())]


@pytest.mark.parametrize("source", programs())
def test_gymnasiums_checker_is_satisfied_and_warns_of_nothing(sandbox: Sandbox, source: str) -> None:
    """Warnings are errors here."""
    with GeneratedEnv(source, sandbox=sandbox) as env:
        check_env(env)


def test_gymnasium_can_make_one_by_its_name() -> None:
    env = gymnasium.make(NAME, source=COUNT, max_turns=3, render_mode="ansi")
    check_env(env.unwrapped)
    env.reset(seed=1)
    flags = [env.step("0")[2:4] for _ in range(3)]
    assert flags == [(False, False), (False, False), (False, True)]
    env.close()
    env.close()


def test_a_vector_plays_many_and_begins_again_by_itself(sandbox: Sandbox) -> None:
    vector = SyncVectorEnv([lambda: GeneratedEnv(COUNT, max_turns=2, sandbox=sandbox) for _ in range(3)])
    first, _ = vector.reset(seed=5)
    alone = GeneratedEnv(COUNT, sandbox=sandbox)
    assert list(first) == [alone.reset(seed=seed)[0] for seed in (5, 6, 7)]
    right = [text.split()[1] for text in first]
    observations, rewards, terminated, truncated, infos = vector.step((right[0], "\u4e2d", ""))
    assert (list(observations), list(rewards)) == (["right", "wrong", "wrong"], [1.0, 0.0, 0.0])
    assert (list(terminated), list(truncated)) == ([True, False, False], [False, False, False])
    assert list(infos["turn"]) == [1, 1, 1]
    observations, *_, truncated, _ = vector.step(vector.action_space.sample())
    assert observations[0].startswith("count ") and list(truncated) == [False, True, True]
    vector.close()
    alone.close()
    assert not sandbox._processes


def test_gymnasium_makes_a_vector_by_name(sandbox: Sandbox) -> None:
    vector = gymnasium.make_vec(NAME, num_envs=2, vectorization_mode="sync", source=COUNT)
    assert len(vector.reset(seed=1)[0]) == 2
    vector.close()


def test_shared_memory_is_refused_and_not_filled_with_zeros() -> None:
    with pytest.raises(ValueError, match="shared_memory=False"):
        AsyncVectorEnv([lambda: GeneratedEnv(COUNT)], shared_memory=True)


def test_the_seed_is_the_instances(sandbox: Sandbox) -> None:
    with GeneratedEnv(UNICODE, sandbox=sandbox) as env:
        process = sandbox.open(UNICODE)
        for seed in (0, 1, 7, 2**40):
            (step,) = process.reset([(0, seed)])
            assert env.reset(seed=seed) == (step.observation, step.info)
        process.close()
        assert env.reset(seed=2**80)[0] == env.reset(seed=2**80)[0]


def test_without_a_seed_instances_are_drawn_and_follow_from_the_last_seed(sandbox: Sandbox) -> None:
    source = answering('"x", 0.0, False, False, {}').replace('"go", {}', "str(seed), {}")
    with GeneratedEnv(source, sandbox=sandbox) as env, GeneratedEnv(source, sandbox=sandbox) as other:
        drawn = [env.reset(seed=3)[0], *(env.reset()[0] for _ in range(5))]
        assert drawn == [other.reset(seed=3)[0], *(other.reset(options={})[0] for _ in range(5))]
        assert len(set(drawn)) == 6 and all(int(seed) < 2**62 for seed in drawn)
    with GeneratedEnv(source, sandbox=sandbox) as fresh:
        assert fresh.reset()[0] not in drawn


@pytest.mark.parametrize(
    ("flags", "max_turns", "ends"),
    [
        ("True, False", 5, (True, False)),
        ("False, True", 5, (False, True)),
        ("True, True", 5, (True, True)),
        ("True, False", 1, (True, False)),
        ("False, False", 1, (False, True)),
        ("False, False", 2, (False, False)),
    ],
)
def test_an_end_and_a_cut_are_kept_apart(sandbox: Sandbox, flags: str, max_turns: int, ends: tuple[bool, bool]) -> None:
    with GeneratedEnv(answering(f'"over", 0.5, {flags}, {{}}'), max_turns=max_turns, sandbox=sandbox) as env:
        env.reset(seed=1)
        observation, reward, terminated, truncated, info = env.step("x")
        assert (observation, reward, terminated, truncated, info) == ("over", 0.5, *ends, {})
        assert [type(value) for value in (reward, terminated, truncated)] == [float, bool, bool]


def test_there_is_no_step_before_a_reset_nor_after_the_end(sandbox: Sandbox) -> None:
    with GeneratedEnv(answering('"over", 1.0, True, False, {}'), sandbox=sandbox) as env:
        with pytest.raises(gymnasium.error.ResetNeeded):
            env.step("x")
        env.reset(seed=1)
        env.step("x")
        with pytest.raises(gymnasium.error.ResetNeeded):
            env.step("x")
        env.reset(seed=1)
        assert env.step("x")[2]


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        (answering('"x", 0.0, False, False, {}', before="[][1]"), ErrorKind.EXCEPTION),
        (answering('"x", True, False, False, {}'), ErrorKind.REWARD),
        (answering('"x", 0.0, False, False, {}', before="while True: pass"), ErrorKind.TIMEOUT),
    ],
)
def test_a_program_that_fails_is_an_exception_with_its_kind(sandbox: Sandbox, source: str, kind: ErrorKind) -> None:
    with GeneratedEnv(source, sandbox=sandbox) as env:
        for _ in range(2):
            assert env.reset(seed=1)[0] == "go"
            with pytest.raises(EnvironmentFailed) as failed:
                env.step("x")
            assert (failed.value.kind, failed.value.fault) == (kind, "program")
            with pytest.raises(gymnasium.error.ResetNeeded):
                env.step("x")


def test_a_program_that_does_not_load_fails_at_every_reset(sandbox: Sandbox) -> None:
    with GeneratedEnv("x = (", sandbox=sandbox) as env:
        for _ in range(2):
            with pytest.raises(EnvironmentFailed) as failed:
                env.reset(seed=1)
            assert failed.value.kind is ErrorKind.SYNTAX


def test_an_action_that_is_no_text_is_the_callers_fault_and_ends_nothing(sandbox: Sandbox) -> None:
    with GeneratedEnv(COUNT, sandbox=sandbox) as env:
        env.reset(seed=1)
        with pytest.raises(EnvironmentFailed) as failed:
            env.step(3)  # type: ignore[arg-type]
        assert (failed.value.kind, failed.value.fault) == (ErrorKind.ACTION, "host")
        assert env.step(np.str_("x"))[4] == {"turn": 1}


def test_what_a_caller_does_to_an_answer_stays_with_the_caller(sandbox: Sandbox) -> None:
    with GeneratedEnv(UNICODE, sandbox=sandbox) as env:
        _, info = env.reset(seed=1)
        info["words"].append("more")
        assert env.reset(seed=1)[1]["words"] == info["words"][:1]


def test_an_old_process_is_replaced_between_episodes() -> None:
    source = answering('"x", 0.0, False, False, {}', before="sum(range(1_000_000))")
    with Sandbox(Limits(life_cpu_s=2)) as sandbox, GeneratedEnv(source, sandbox=sandbox, max_turns=8) as env:
        workers = []
        for _ in range(40):
            env.reset(seed=1)
            assert env._process is not None
            workers.append(env._process.pid)
            for _ in range(8):
                env.step("x")
            assert env._process.respawns == 0
        assert len(set(workers)) > 1


def test_the_episode_can_be_shown_as_text(sandbox: Sandbox) -> None:
    with GeneratedEnv(COUNT, sandbox=sandbox, render_mode="ansi") as env:
        assert env.render() == ""
        first, _ = env.reset(seed=1)
        env.step("0")
        assert env.render() == f"{first}\n> 0\nwrong"
    with GeneratedEnv(COUNT, sandbox=sandbox) as env:
        assert env.render() is None
    with pytest.raises(ValueError, match="ansi"):
        GeneratedEnv(COUNT, render_mode="human")
    with pytest.raises(ValueError, match="max_turns"):
        GeneratedEnv(COUNT, max_turns=0)


def test_closing_ends_what_was_started_and_leaves_a_given_sandbox_open(sandbox: Sandbox) -> None:
    env = GeneratedEnv(COUNT)
    env.reset(seed=1)
    assert env._own is not None
    server = env._own
    env.close()
    env.close()
    assert not server.alive() and not server._processes
    with GeneratedEnv(COUNT, sandbox=sandbox) as env:
        env.reset(seed=1)
    assert sandbox.alive() and not sandbox._processes


@pytest.mark.parametrize("text", ["", "x" * 100, "\u00e9\u4e2d\U0001f600", "\0\n\t\x7f"])
def test_the_space_holds_every_text(text: str) -> None:
    space = AnyText(100)
    assert text in space and unflatten(space, flatten(space, text)) == text


@pytest.mark.parametrize("thing", ["x" * 101, "\ud800", b"x", 3, None])
def test_the_space_holds_nothing_else(thing: object) -> None:
    assert thing not in AnyText(100)


def test_samples_are_texts_of_the_space_and_follow_from_the_seed() -> None:
    one, other = AnyText(5, seed=4), AnyText(5)
    other.seed(4)
    drawn = [one.sample() for _ in range(200)]
    assert drawn == [other.sample() for _ in range(200)]
    assert all(text in one for text in drawn) and {len(text) for text in drawn} == set(range(6))
    assert one == other != AnyText(6)
    with pytest.raises(ValueError, match="no mask"):
        one.sample(mask=(2, None))


def test_the_package_does_not_import_gymnasium() -> None:
    script = "import sys, spadework.harness.sandbox; sys.exit('gymnasium' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script]).returncode == 0
