"""A person plays a generated environment: real programs in the real sandbox."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from spadework.harness.config import Section
from spadework.harness.errors import ExitCode, InputError
from spadework.harness.play import from_file, from_run, play
from spadework.harness.sandbox import Sandbox
from spadework.harness.store import RunFolder

GUESS = """
class GuessEnv:
    def reset(self, seed):
        self.n, self.turn = seed, 0
        return "say the number", {}

    def step(self, action):
        self.turn += 1
        right = action == str(self.n)
        return ("yes" if right else "no"), (2.0 if right else 0.25), right, self.turn == 3, {}
"""


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as one:
        yield one


def played(sandbox: Sandbox, source: str, seed: int, actions: list[str]) -> tuple[float, list[str]]:
    told: list[str] = []
    answers = iter(actions)

    def ask(prompt: str) -> str:
        try:
            return next(answers)
        except StopIteration:
            raise EOFError from None

    return play(sandbox.open(source), seed, ask=ask, tell=told.append), told


def test_a_right_answer_ends_the_episode_with_its_reward_clamped_to_one(sandbox: Sandbox) -> None:
    reward, told = played(sandbox, GUESS, 7, ["3", "7"])
    assert reward == 1.0
    assert told == [
        "say the number\n(type an action; `quit` leaves)",
        "no\n[reward 0.25]",
        "yes\n[reward 2]",
        "ended after 2 turns; final reward 1",
    ]


def test_an_episode_that_is_cut_off_earns_nothing(sandbox: Sandbox) -> None:
    assert played(sandbox, GUESS, 7, ["1", "2", "3"])[0] == 0.0


def test_quit_and_the_end_of_input_leave(sandbox: Sandbox) -> None:
    assert played(sandbox, GUESS, 7, ["quit"])[1][-1] == "left."
    assert played(sandbox, GUESS, 7, [])[1][-1] == "left."


def test_a_program_that_fails_is_one_sentence(sandbox: Sandbox) -> None:
    with pytest.raises(InputError, match="the environment failed .*; play another one."):
        played(sandbox, GUESS.replace("self.turn += 1", "self.turn += None"), 7, ["1"])
    with pytest.raises(InputError, match="the environment failed"):
        played(sandbox, "nonsense(", 7, ["1"])


def test_a_missing_file_offers_its_neighbour(tmp_path: Path) -> None:
    (tmp_path / "game_00001.py").write_text(GUESS)
    with pytest.raises(InputError, match="did you mean 'game_00001.py'"):
        from_file(tmp_path / "game_0001.py")


def test_a_file_that_is_no_text_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "game_00001.py").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="game_00001.py.*UTF-8"):
        from_file(tmp_path / "game_00001.py")


def test_the_hint_of_a_pool_file_comes_from_its_manifest(tmp_path: Path) -> None:
    (tmp_path / "game_00001.py").write_text(GUESS)
    assert from_file(tmp_path / "game_00001.py").hint is None
    (tmp_path / "manifest.jsonl").write_text('{"file":"game_00001.py","hint":"a digit"}\n')
    assert from_file(tmp_path / "game_00001.py").hint == "a digit"


def test_an_environment_of_a_run_is_found_by_the_start_of_its_id(tmp_path: Path) -> None:
    with RunFolder(tmp_path / "r", Section()) as folder:
        folder.environments([{"id": f"a{i}f", "source": GUESS, "hint": f"h{i}", "step": 0} for i in range(2)])
    assert from_run(str(tmp_path / "r"), "a1").hint == "h1"
    with pytest.raises(InputError, match="2 environments begin with"):
        from_run(str(tmp_path / "r"), "a")
    with pytest.raises(InputError, match="no environment begins with"):
        from_run(str(tmp_path / "r"), "b")


def test_the_verb_shows_the_hint_when_asked_and_refuses_when_none_is_known(tmp_path: Path) -> None:
    (tmp_path / "game_00001.py").write_text(GUESS)
    command = [sys.executable, "-m", "spadework.harness", "play", "game_00001.py", "--seed", "4", "--hint"]
    refused = subprocess.run(command, cwd=tmp_path, input="4\n", capture_output=True, text=True)
    assert refused.returncode == ExitCode.WRONG_INPUT and "no hint is known" in refused.stderr
    (tmp_path / "manifest.jsonl").write_text('{"file":"game_00001.py","hint":"a digit"}\n')
    done = subprocess.run(command, cwd=tmp_path, input="4\n", capture_output=True, text=True)
    assert done.returncode == ExitCode.OK
    assert "hint: a digit" in done.stdout and "final reward 1" in done.stdout
