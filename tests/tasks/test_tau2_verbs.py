"""tau2 as a user types it: users of any engine, named and stamped; another judge is another evaluation; a kill."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("inspect_evals", reason="inspect-evals is not installed")

from commands import command, environment, records, scores, spadework

from spadework.harness.errors import ExitCode

HERE = Path(__file__).parent
sys.path.append(str(HERE.parent / "harness" / "engines"))

import misbehaving  # noqa: E402  its folder is in reach now
import tiny_folder  # noqa: E402


def words(out: Path, *more: str, agent: str = "failing") -> list[str]:
    return [
        "eval", "--engine", "scripted", "--model", f"tau2_players:{agent}", "--task", "tau2", "--preset",
        "validation", "--limit", "1", "--no-preflight", "--out", str(out), *more,
    ]  # fmt: skip


def told(out: Path) -> tuple[Any, Any, Any]:
    """The preset of the config and that of the score, and the identities of the models."""
    config = json.loads((out / "config.json").read_text(encoding="utf-8"))["config"]["tasks"]["tau2"]
    (score,) = scores(out)["tasks"]
    assert config["changed"] == score["changed"] == ["user"]
    models = json.loads((out / "models.json").read_text(encoding="utf-8"))
    return config["preset"]["user"], score["preset"]["user"], models


def test_a_user_behind_an_endpoint_is_asked_and_stamped_on_the_score(tmp_path: Path) -> None:
    hello, known = misbehaving.said("Hello, please help me."), misbehaving.listed("m-1")
    with misbehaving.serving(lambda asked: hello, known) as server:
        user = f"{server.base}#m-1"
        done = spadework(*words(tmp_path / "run", "--user", user))
        assert done.returncode == ExitCode.OK, done.stderr
        assert server.asked[-1].body["model"] == "m-1" and server.asked[-1].body["temperature"] == 0.0
    named, stamped, models = told(tmp_path / "run")
    assert named == stamped == user and models[f"user {user}"]["name"] == user
    shown = spadework("show", str(tmp_path / "run")).stdout
    assert "validation*" in shown and f"user {user}" in shown


def test_a_user_in_this_process_is_opened_beside_the_model_and_stamped(tmp_path: Path) -> None:
    user = str(tiny_folder.write(tmp_path / "user", context=16384))
    done = spadework(*words(tmp_path / "run", "--user", user, "--offline"))
    assert done.returncode == ExitCode.OK, done.stderr
    named, stamped, models = told(tmp_path / "run")
    assert named == stamped == user
    assert models[f"user {user}"]["engine"] == "transformers" and models[f"user {user}"]["weights"]
    (record,) = records(tmp_path / "run", "tau2")
    assert record["outcome"] == "wrong" and record["facts"]["user_turns"] == 1


def test_another_user_in_the_same_folder_is_another_evaluation(tmp_path: Path) -> None:
    out = tmp_path / "run"
    assert spadework(*words(out, "--user", "scripted:tau2_players:curt")).returncode == ExitCode.OK
    before = (out / "scores.json").read_bytes()
    done = spadework(*words(out, "--user", "scripted:tau2_players:slow"))
    assert done.returncode == ExitCode.WRONG_INPUT and "tasks.tau2.preset.user" in done.stderr
    assert (out / "scores.json").read_bytes() == before


def test_a_judge_is_named_and_another_one_is_another_evaluation(tmp_path: Path, data: Path) -> None:
    out = tmp_path / "run"
    retail = ["--preset", "official", "--data", str(data), "--user", "scripted:tau2_players:curt", "--repeats", "1"]
    first = [*words(out, *retail, "--judge", "scripted:tau2_players:strict")]
    assert spadework(*first).returncode in (ExitCode.OK, ExitCode.INCOMPLETE)
    (score,) = scores(out)["tasks"]
    assert score["preset"]["judge"] == "scripted:tau2_players:strict" and "judge" in score["changed"]
    done = spadework(*words(out, *retail, "--judge", "scripted:tau2_players:curt"))
    assert done.returncode == ExitCode.WRONG_INPUT and "tasks.tau2.preset.judge" in done.stderr
    done = spadework(*words(out, *retail))
    assert done.returncode == ExitCode.WRONG_INPUT and "tasks.tau2.preset.judge" in done.stderr


def test_a_judge_who_would_never_be_asked_is_refused(tmp_path: Path) -> None:
    done = spadework(*words(tmp_path / "run", "--user", "scripted:tau2_players:curt", "--judge", "x"))
    assert done.returncode == ExitCode.WRONG_INPUT and "--judge names a judge" in done.stderr
    assert not (tmp_path / "run").exists()


def test_killed_it_goes_on_with_the_same_items_none_twice_and_none_lost(tmp_path: Path) -> None:
    out, whole = tmp_path / "killed", tmp_path / "whole"

    def slowly(folder: Path) -> list[str]:
        return words(folder, "--user", "scripted:tau2_players:curt", "--limit", "8", "--chunk", "2", agent="slow")

    path = f"{HERE}:{HERE.parent / 'harness' / 'evaluation'}"
    first = subprocess.Popen(command(*slowly(out)), env=environment(PYTHONPATH=path), start_new_session=True)
    lines = out / "records" / "tau2.jsonl"
    try:
        while first.poll() is None and not (lines.is_file() and lines.read_bytes().count(b"\n") >= 2):
            time.sleep(0.02)
    finally:
        first.send_signal(signal.SIGKILL)
        first.wait()
    left = records(out, "tau2")
    assert 2 <= len(left) < 8 and not (out / "scores.json").exists()
    for folder in (out, whole):
        assert spadework(*slowly(folder)).returncode == ExitCode.OK
    again = records(out, "tau2")
    assert again[: len(left)] == left and len({row["item"] for row in again}) == 8
    by_item = [sorted(records(folder, "tau2"), key=lambda row: str(row["item"])) for folder in (out, whole)]
    assert by_item[0] == by_item[1]
    assert scores(out)["tasks"] == scores(whole)["tasks"]
