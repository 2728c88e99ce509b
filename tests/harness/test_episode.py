"""The player with a scripted model, a toy dialect and real sandbox processes."""

import os
import signal
from collections.abc import Iterator
from hashlib import sha256

import pytest

from spadework.harness.episode import play
from spadework.harness.sandbox import EnvProcess, Limits, Sandbox
from spadework.harness.scripted import ScriptedModel
from spadework.harness.types import Arm, Episode, Finish, Outcome, Play, Program, Request, Sampling

from .toy_dialect import STOP, CharDialect, decode, encode

SAY = """
class SayEnv:
    def reset(self, seed):
        self.seed, self.turn = seed, 0
        return f"say {seed}", {}
    def step(self, action):
        self.turn += 1
        if action == "boom":
            1 / 0
        if action == "cut":
            return "cut", 0.7, False, True, {}
        if action == "double":
            return "double", 2.0, True, False, {}
        if action == "minus":
            return "minus", -3, True, False, {}
        if action == "part":
            return "part", 0.5, True, False, {}
        won = action == str(self.seed)
        return ("well done" if won else f"no {self.turn}"), 1.0 if won else 0.9, won, False, {}
"""
OTHER = SAY.replace("SayEnv", "OtherEnv").replace('f"say {seed}"', 'f"tell {seed}"')


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(Limits(frame_wall_s=2.0)) as shared:
        yield shared


def program(source: str = SAY, max_turns: int = 4) -> Program:
    return Program(
        id=sha256(source.encode()).hexdigest()[:16], source=source, skill="logic", hint="try", max_turns=max_turns
    )


def one(seed: int = 7, arm: Arm = Arm.PLAIN, of: Program | None = None, length: int = 8) -> Play:
    sampling = Sampling(stop=(STOP,), max_new_tokens=length, temperature=0.5)
    return Play(program=of or program(), seed=seed, arm=arm, sample_seed=3, sampling=sampling)


def speaking(*replies: str) -> ScriptedModel:
    """A model whose reply depends on the number of replies before it."""

    def script(request: Request) -> list[int]:
        turn = decode(request.ids).count(">") - 1
        return [*encode(replies[min(turn, len(replies) - 1)]), STOP]

    return ScriptedModel(script, decode)


def played(sandbox: Sandbox, model: ScriptedModel, *plays: Play, max_tokens: int | None = None) -> list[Episode]:
    return play(plays, model, CharDialect(), sandbox, max_tokens=max_tokens)


def test_an_episode_keeps_exactly_the_tokens_that_were_drawn(sandbox: Sandbox) -> None:
    (episode,) = played(sandbox, speaking("no", "7"), one())
    assert episode.outcome is Outcome.RIGHT and episode.reward == 1.0
    assert episode.terminated and not episode.truncated
    assert episode.actions == ("no", "7") and episode.turns == 2
    path = episode.trajectory
    assert path.ids == (*encode("say 7>no"), STOP, *encode("no 1>7"), STOP)
    drawn = [token for token, generated in zip(path.ids, path.generated) if generated]
    assert drawn == [*encode("no"), STOP, *encode("7"), STOP]
    assert len(path.ids) == len(path.generated) == len(path.logprobs)
    assert path.temperature == 0.5


def test_the_hint_is_shown_in_the_hint_arm_only(sandbox: Sandbox) -> None:
    model = speaking("7")
    plain, hinted = played(sandbox, model, one(), one(arm=Arm.HINT))
    assert decode(plain.trajectory.ids).startswith("say 7>7")
    assert decode(hinted.trajectory.ids).startswith("say 7 hint try>7")


@pytest.mark.parametrize(
    ("action", "outcome", "reward", "terminated"),
    [
        ("7", Outcome.RIGHT, 1.0, True), ("part", Outcome.WRONG, 0.5, True), ("double", Outcome.RIGHT, 1.0, True),
        ("minus", Outcome.WRONG, -1.0, True), ("cut", Outcome.WRONG, 0.0, False), ("never", Outcome.WRONG, 0.0, False),
    ],
)  # fmt: skip
def test_the_final_reward_counts_only_when_terminated(
    sandbox: Sandbox, action: str, outcome: Outcome, reward: float, terminated: bool
) -> None:
    (episode,) = played(sandbox, speaking(action), one())
    assert (episode.outcome, episode.reward, episode.terminated) == (outcome, reward, terminated)
    assert episode.truncated is not terminated
    assert episode.turns == (4 if action == "never" else 1)


def test_a_designers_bug_is_not_held_against_the_agent(sandbox: Sandbox) -> None:
    model = ScriptedModel(lambda r: [*encode("boom" if "8" in decode(r.ids) else "7"), STOP], decode)
    broken, fine = played(sandbox, model, one(seed=8), one(seed=7))
    assert broken.outcome is Outcome.SCORER_ERROR and broken.reward is None
    assert broken.error.startswith("env_error:exception: ZeroDivisionError")
    assert fine.outcome is Outcome.RIGHT


@pytest.mark.parametrize("body", ["print('y' * 10**6)\n  while True: pass", "[].x", "raise SystemExit"])
def test_an_environment_that_floods_hangs_or_exits_ends_its_own_episode_only(sandbox: Sandbox, body: str) -> None:
    """Report P194."""
    bad = f"class BadEnv:\n def reset(self, seed): return 'go', {{}}\n def step(self, action):\n  {body}"
    broken, fine = played(sandbox, speaking("7"), one(of=program(bad)), one())
    assert broken.outcome is Outcome.SCORER_ERROR and broken.error.startswith("env_error:")
    assert fine.outcome is Outcome.RIGHT


def test_a_program_that_does_not_load_gives_unscored_episodes(sandbox: Sandbox) -> None:
    broken, fine = played(sandbox, speaking("7"), one(of=program("import os")), one())
    assert broken.outcome is Outcome.SCORER_ERROR and broken.reward is None and broken.turns == 0
    assert broken.trajectory.ids == () and fine.reward == 1.0


def test_a_reply_cut_at_its_length_is_not_played(sandbox: Sandbox) -> None:
    (episode,) = played(sandbox, speaking("far too long a reply"), one())
    assert episode.outcome is Outcome.TRUNCATED and episode.reward == 0.0
    assert episode.truncated and episode.turns == 0 and sum(episode.trajectory.generated) == 8


def test_without_stop_tokens_a_reply_of_full_length_is_an_action(sandbox: Sandbox) -> None:
    sampling = Sampling(max_new_tokens=1)
    unstopped = Play(program=program(), seed=7, arm=Arm.PLAIN, sample_seed=3, sampling=sampling)
    (episode,) = played(sandbox, speaking("7"), unstopped)
    assert episode.outcome is Outcome.RIGHT and episode.actions == ("7",)


def test_a_reply_that_would_not_fit_ends_the_episode(sandbox: Sandbox) -> None:
    room = len("say 7>") + 8
    (fits,) = played(sandbox, speaking("7"), one(), max_tokens=room)
    (tight,) = played(sandbox, speaking("7"), one(), max_tokens=room - 1)
    (later,) = played(sandbox, speaking("no"), one(), max_tokens=room)
    assert fits.outcome is Outcome.RIGHT
    assert (tight.outcome, tight.reward, tight.turns) == (Outcome.CONTEXT_OVERFLOW, 0.0, 0)
    assert (later.outcome, later.reward, later.turns) == (Outcome.CONTEXT_OVERFLOW, 0.0, 1)


def test_episodes_run_in_lock_step_with_one_call_a_turn_and_one_session_each(sandbox: Sandbox) -> None:
    batches: list[int] = []

    class Counting(ScriptedModel):
        def generate(self, requests):  # type: ignore[no-untyped-def]
            batches.append(len(requests))
            return super().generate(requests)

    model = Counting(lambda r: [*encode("7" if decode(r.ids).startswith("say 7") else "no"), STOP], decode)
    plays = [one(seed=seed, of=program(source)) for seed in (7, 8) for source in (SAY, OTHER)]
    episodes = played(sandbox, model, *plays)
    assert [episode.play for episode in episodes] == plays
    assert batches == [4, 3, 3, 3] and model.forgotten == 1
    assert {request.session for request in model.requests} == {0, 1, 2, 3}
    seeds = [(request.session, request.seed) for request in model.requests]
    assert len({seed for session, seed in seeds if session == 1}) == 4


def test_an_episode_does_not_depend_on_its_company(sandbox: Sandbox) -> None:
    (alone,) = played(sandbox, speaking("no", "7"), one(seed=9))
    together = played(sandbox, speaking("no", "7"), *[one(seed=seed) for seed in (1, 9, 5)])
    assert together[1] == alone


def test_a_dead_server_is_tried_again_and_leaves_no_trace(sandbox: Sandbox) -> None:
    with Sandbox() as own:
        killed: list[int] = []

        def script(request: Request) -> list[int]:
            if not killed:
                killed.append(own.server_pid)
                os.kill(own.server_pid, signal.SIGKILL)
            return [*encode("7"), STOP]

        episodes = played(own, ScriptedModel(script, decode), one(), one(seed=8))
    assert [episode.reward for episode in episodes] == [1.0, 0.0]
    (calm,) = played(sandbox, speaking("7"), one())
    assert episodes[0] == calm


def test_processes_given_are_used_and_left_open(sandbox: Sandbox) -> None:
    cache: dict[str, EnvProcess] = {}
    for _ in range(2):
        play([one()], speaking("7"), CharDialect(), sandbox, processes=cache)
    assert list(cache) == [program().id]
    assert cache[program().id].reset([(0, 5)])[0].observation == "say 5"
    cache[program().id].close()


def test_no_plays_give_no_episodes(sandbox: Sandbox) -> None:
    assert played(sandbox, speaking("7")) == []


def test_a_scripted_model_stops_where_a_model_would() -> None:
    model = ScriptedModel(lambda request: [5, 6, STOP, 9], decode)
    sampling = Sampling(stop=(STOP,), max_new_tokens=3)
    stopped, cut = model.generate(
        [Request(ids=[4], sampling=sampling, seed=1), Request(ids=[4], sampling=Sampling(max_new_tokens=2), seed=1)]
    )
    assert (stopped.ids, stopped.finish) == ((5, 6, STOP), Finish.STOP)
    assert (cut.ids, cut.finish) == ((5, 6), Finish.LENGTH)
    assert cut.logprobs == (0.0, 0.0)
