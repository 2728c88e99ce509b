"""The loop on the shipped warm start, small: the same bytes twice, after Ctrl-C and after a kill; and when it stops."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from spadework.harness import jsonl
from spadework.harness.errors import ExitCode, InputError, TrainingStopped
from spadework.training.loop import interruptible, train
from spadework.training.nano.dialect import NanoDialect
from spadework.training.nano.model import create
from spadework.training.organism import resolve
from spadework.training.recipe import Recipe, load_recipe

SMALL = (
    "steps=4", "window=2", "designer.environments=6", "play.instances=2", "evaluation.share=0.02",
    "evaluation.validation_share=0.02", "evaluation.validate_every=2", "evaluation.diversity_programs=6",
    "require_gates=false", "health.zero_variance_share=0.2", "health.patience=2",
)  # fmt: skip
BYTE_EQUAL = ("environments.jsonl", "config.json", "records")


def recipe(row: str = "spade", *more: str) -> Recipe:
    return load_recipe(row, [*SMALL, *more])


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that nothing disturbed."""
    folder = tmp_path_factory.mktemp("runs") / "whole"
    train(recipe(), folder)
    return folder


def timeless(value: object) -> object:
    """The value without what a clock said."""
    if isinstance(value, dict):
        return {key: timeless(inner) for key, inner in value.items() if key != "seconds"}
    return value


def left_by(folder: Path) -> dict[str, object]:
    """What a run left, wall times aside: texts where the bytes count, values where only a time differs."""
    files = [path for name in BYTE_EQUAL for path in ([folder / name] if (folder / name).is_file()
             else sorted((folder / name).iterdir()))]  # fmt: skip
    left: dict[str, object] = {str(path.relative_to(folder)): path.read_bytes() for path in files}
    left["metrics"] = [json.dumps(timeless(dict(row))) for row in jsonl.read(folder / "metrics.jsonl")]
    left["summary"] = timeless(json.loads((folder / "summary.json").read_text()))
    return left


def started(folder: Path) -> subprocess.Popen[bytes]:
    """The command itself. A shell's background job ignores Ctrl-C; the command under test must not."""
    words = [word for text in SMALL for word in ("--set", text)]
    return subprocess.Popen(
        [sys.executable, "-m", "spadework.harness", "train", "spade", *words, "--out", str(folder)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, "OMP_NUM_THREADS": "1"},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip


def stopped_after(step: int, number: signal.Signals, folder: Path) -> int:
    """Run the command, send the signal once that many steps are saved, and return its exit code."""
    with started(folder) as process:
        deadline = time.monotonic() + 120
        while not (folder / "checkpoint" / f"step-{step:06d}").is_dir():
            assert process.poll() is None and time.monotonic() < deadline, "it ended, or hung, before that step"
            time.sleep(0.005)
        process.send_signal(number)
        return process.wait(timeout=60)


def test_a_run_leaves_a_line_a_step_and_a_summary(whole: Path) -> None:
    lines = jsonl.read(whole / "metrics.jsonl")
    assert [line["step"] for line in lines] == [0, 1, 2, 3]
    assert ["proposed" in line for line in lines] == [True, False, True, False]
    assert ["validation" in line for line in lines] == [False, True, False, True]
    assert [line["designer_trained_tokens"] == 0 for line in lines[:2]] == [True, True]
    assert [len(line["alarms"]) for line in lines] == [0, 1, 0, 0]  # type: ignore[arg-type]
    drafts = jsonl.read(whole / "environments.jsonl")
    assert {(row["born"], row["step"]) for row in drafts} == {(0, 1), (2, 3)}
    summary = json.loads((whole / "summary.json").read_text())
    assert summary["metrics"]["valid_share"] == sum(bool(row["valid"]) for row in drafts) / len(drafts)
    assert summary["metrics"]["tokens"] == sum(int(str(line["tokens"])) for line in lines)
    assert len({path.read_bytes().count(b"\n") for path in (whole / "records").iterdir()}) == 1


def test_the_same_seed_leaves_the_same_bytes(whole: Path, tmp_path: Path) -> None:
    train(recipe(), tmp_path / "again")
    assert left_by(tmp_path / "again") == left_by(whole)


def test_a_run_that_was_interrupted_and_then_killed_goes_on_and_leaves_the_same_bytes(
    whole: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    assert stopped_after(1, signal.SIGINT, folder) == ExitCode.INTERRUPTED
    assert (folder / "checkpoint" / "step-000001" / "SHA256SUMS").is_file()
    assert stopped_after(2, signal.SIGKILL, folder) == -signal.SIGKILL
    assert len(jsonl.read(folder / "metrics.jsonl")) >= 2 and not (folder / "summary.json").exists()
    train(recipe(), folder)
    assert left_by(folder) == left_by(whole)


def test_a_schedulers_stop_is_a_ctrl_c() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(KeyboardInterrupt), interruptible():
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(5)
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_finished_run_is_left_as_it_is(whole: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in whole.rglob("*.json*")}
    said: list[str] = []
    train(recipe(), whole, report=lambda done, total, text: said.append(text))
    assert said == ["finished before"] and before == {path: path.stat().st_mtime_ns for path in whole.rglob("*.json*")}


def test_a_folder_of_another_config_is_refused_with_the_keys(whole: Path) -> None:
    with pytest.raises(InputError, match=r"differs in play.temperature, update.lr\).*--fresh"):
        train(recipe("spade", "update.lr=1e-4", "play.temperature=0.9"), whole)


@pytest.mark.parametrize("row", ["frozen_external", "fixed_env", "rlve"])
def test_the_other_sources_train_the_agent_alone(row: str, tmp_path: Path) -> None:
    train(recipe(row, "steps=2", "evaluation.share=0.01", "designer.environments=6"), tmp_path / row)
    lines = jsonl.read(tmp_path / row / "metrics.jsonl")
    assert [line["designer_trained_tokens"] for line in lines] == [0, 0]
    assert all(int(str(line["agent_tokens"])) > 0 for line in lines)
    assert any(row.get("written_by") == "other" for row in jsonl.read(tmp_path / row / "environments.jsonl")) == (
        row == "frozen_external"
    )


def test_a_row_without_training_is_evaluated_as_it_is(tmp_path: Path) -> None:
    train(recipe("base"), tmp_path / "base")
    summary = json.loads((tmp_path / "base" / "summary.json").read_text())
    assert summary["steps"] == 0 and summary["checkpoints"] == {"chosen": 0, "last": 0}
    assert {path.name for path in (tmp_path / "base" / "records").iterdir()} >= {
        "chosen.greedy.jsonl", "chosen.sampled.jsonl",
    }  # fmt: skip


@pytest.fixture
def own_rewards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    (tmp_path / "own_rewards_of_a_user.py").write_text(
        "def nan(stats, settings, context):\n    return float('nan')\n"
        "def fail(stats, settings, context):\n    return stats.no_such_thing\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    yield "own_rewards_of_a_user"
    sys.modules.pop("own_rewards_of_a_user", None)


@pytest.mark.parametrize(("function", "said"), [("nan", "returned nan"), ("fail", "raised AttributeError")])
def test_a_reward_of_the_users_that_fails_stops_the_run_and_is_named(
    own_rewards: str, function: str, said: str, tmp_path: Path
) -> None:
    with pytest.raises(TrainingStopped, match=f"{own_rewards}:{function} {said}"):
        train(recipe("spade", f"source.reward={own_rewards}:{function}", "window=1"), tmp_path / "run")
    assert not (tmp_path / "run" / "summary.json").exists()


@pytest.fixture(scope="module")
def novice(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkpoint that was never trained: no program it writes is valid."""
    folder = tmp_path_factory.mktemp("checkpoints") / "novice"
    _, dialect = resolve("nano").load("base")
    assert isinstance(dialect, NanoDialect)
    torch.set_num_threads(1)
    create(len(dialect.tokenizer), 0).save_pretrained(folder)
    dialect.tokenizer.save_pretrained(folder)
    return folder


def test_windows_without_a_valid_program_are_skipped_and_counted_and_the_third_stops_the_run(
    novice: Path, tmp_path: Path
) -> None:
    more = (f"checkpoint={novice}", "window=1", "steps=9", "designer.attempts=1", "designer.max_new_tokens=60")
    with pytest.raises(TrainingStopped, match=r"3 windows in a row had no valid.*spadework envs .* --all`.*attempts"):
        train(recipe("spade", *more), tmp_path / "run")
    lines = jsonl.read(tmp_path / "run" / "metrics.jsonl")
    assert [(line["valid"], line["proposed"], line["plays"]) for line in lines] == [(0, 6, 0)] * 3
    assert all(line["update_skipped"] for line in lines)
    reasons = [row["reason"] for row in jsonl.read(tmp_path / "run" / "environments.jsonl")]
    assert len(reasons) == 18 and all(reasons)


def test_a_run_that_stops_within_a_window_has_told_why_its_programs_were_rejected(novice: Path, tmp_path: Path) -> None:
    more = ("window=3", "stop_after_empty=1", "designer.attempts=1", "designer.max_new_tokens=9")
    with pytest.raises(TrainingStopped, match="1 window in a row"):
        train(recipe("spade", f"checkpoint={novice}", *more), tmp_path / "run")
    assert len(jsonl.read(tmp_path / "run" / "environments.jsonl")) == 6


def test_a_checkpoint_without_measured_gates_is_refused_where_the_recipe_requires_them(
    novice: Path, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="gates"):
        train(recipe("spade", f"checkpoint={novice}", "require_gates=true"), tmp_path / "run")
