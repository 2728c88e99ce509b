"""Looking at a run: its state, its figures, its environments."""

from argparse import Namespace
from pathlib import Path

import pytest

from spadework.harness.config import Section
from spadework.harness.errors import ExitCode
from spadework.harness.show import cell, envs_command, printable, sections, show_command
from spadework.harness.store import RunFolder


class Inner(Section, frozen=True, kw_only=True):
    lr: float = 0.5


class Config(Section, frozen=True, kw_only=True):
    inner: Inner = Inner()


ENVIRONMENTS = [
    {
        "step": 0,
        "id": "aa",
        "skill": "logic",
        "source": "s",
        "hint": "[on] back",
        "win_rate": 0.5,
        "regret": 0.25,
        "valid": True,
    },
    {"step": 1, "id": "bb", "skill": "space", "source": "s", "valid": False, "reason": "syntax", "win_rate": None},
]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    with RunFolder(tmp_path / "r", Config()) as folder:
        folder.environments(ENVIRONMENTS)
        folder.metrics(0, {"loss": 0.123456})
    return tmp_path / "r"


def test_an_unfinished_run_says_so_and_shows_its_last_step(run: Path) -> None:
    shown = sections(run)
    assert str(shown["r"]["state"]).startswith("not finished")
    assert shown["config"] == {"inner.lr": 0.5}
    assert shown["last metrics"] == {"step": 0, "loss": 0.123456}
    assert "summary" not in shown


def test_a_finished_run_shows_its_summary(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with RunFolder(run, Config()) as folder:
        folder.write_summary({"held_out": {"score": 0.75}})
    assert show_command(Namespace(run=str(run))) == ExitCode.OK
    out = capsys.readouterr().out
    assert "finished" in out and "held_out.score" in out and "0.750" in out


def test_environments_are_listed_and_rejected_ones_only_when_asked(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert envs_command(Namespace(run=str(run), all=False)) == ExitCode.OK
    out = capsys.readouterr().out
    assert "aa" in out and "[on] back" in out and "bb" not in out and "2 proposals, 1 accepted." in out
    envs_command(Namespace(run=str(run), all=True))
    assert "rejected: syntax" in " ".join(capsys.readouterr().out.split())


def test_what_was_not_measured_is_a_dash() -> None:
    assert cell(None) == "-" and cell("") == "-" and cell(0.0) == "0.000" and cell(0) == "0" and cell(False) == "False"


def test_a_small_number_is_not_shown_as_nothing() -> None:
    assert cell(3e-4) == "0.0003" and cell(1e-8) == "1e-08" and cell(-2e-5) == "-2e-05" and cell(0.001) == "0.001"


def test_text_of_a_model_cannot_drive_the_terminal() -> None:
    assert printable("a\x1b[2Jb\tc\nd\u202ee é") == "a\ufffd[2Jb\tc\nd\ufffde é"
