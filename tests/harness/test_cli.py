"""The command: verbs, exit codes, one sentence for what a user got wrong, no heavy import before it is needed."""

import os
import subprocess
import sys
from argparse import Namespace
from pathlib import Path

import pytest

from spadework.harness import cli
from spadework.harness.cli import ARGUMENTS, VERBS, main, parse
from spadework.harness.errors import ExitCode, InputError


def spadework(
    *words: str, before: str = "", stdin: str = "", cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    code = f"import sys\n{before}\nfrom spadework.harness.cli import main\nraise SystemExit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", code, *words]
    return subprocess.run(command, capture_output=True, text=True, input=stdin, cwd=cwd, timeout=60)


def test_help_needs_the_standard_library_alone() -> None:
    absent = "for name in ('torch', 'msgspec', 'rich', 'numpy', 'transformers'): sys.modules[name] = None"
    done = spadework("--help", before=absent)
    assert done.returncode == 0 and all(verb in done.stdout for verb in VERBS)
    assert spadework("train", "--help", before=absent).returncode == 0


def test_every_verb_has_arguments_and_a_function_named_by_a_string() -> None:
    assert list(VERBS) == list(ARGUMENTS)
    assert all(target.startswith("spadework.") and ":" in target for target, _ in VERBS.values())


def test_an_unknown_verb_offers_the_nearest() -> None:
    done = spadework("trian", "nano")
    assert done.returncode == ExitCode.WRONG_INPUT and done.stdout == ""
    assert done.stderr == (
        "spadework: unknown verb 'trian' (did you mean 'train'?); "
        f"the verbs are {', '.join(VERBS)}.\n"
    )


@pytest.mark.parametrize("words", [[], ["train"], ["train", "nano", "--seed", "x"], ["train", "nano", "--fres"]])
def test_a_wrong_command_line_is_one_sentence_that_names_the_help(words: list[str]) -> None:
    done = spadework(*words)
    assert done.returncode == ExitCode.WRONG_INPUT
    assert done.stderr.count("\n") == 1 and "--help" in done.stderr


def test_an_error_of_ours_has_no_traceback(tmp_path: Path) -> None:
    done = spadework("show", "nothing", cwd=tmp_path)
    assert done.returncode == ExitCode.WRONG_INPUT
    assert done.stderr.startswith("spadework: no run 'nothing'") and done.stderr.count("\n") == 1


def test_a_missing_package_is_named() -> None:
    done = spadework("show", "x", before="sys.modules['rich.console'] = None")
    assert done.returncode == ExitCode.WRONG_INPUT
    assert "needs the package 'rich.console', which is not installed" in done.stderr


def test_an_interrupt_ends_with_130() -> None:
    stop = "def stop(*a): raise KeyboardInterrupt\nimport spadework.harness.show as s\ns.show_command = stop"
    done = spadework("show", "x", before=stop)
    assert done.returncode == ExitCode.INTERRUPTED and done.stderr == "spadework: interrupted.\n"


def test_an_error_that_nobody_planned_keeps_its_traceback() -> None:
    fail = "def fail(*a): raise ZeroDivisionError\nimport spadework.harness.show as s\ns.show_command = fail"
    assert "ZeroDivisionError" in spadework("show", "x", before=fail).stderr


def test_the_arguments_of_train() -> None:
    words = ["train", "nano", "--set", "a.b=1", "--set", "c=2", "--out", "here", "--seed", "3", "--fresh"]
    assert vars(parse(words)) == {
        "verb": "train",
        "recipe": "nano",
        "overrides": ["a.b=1", "c=2"],
        "out": Path("here"),
        "seed": 3,
        "fresh": True,
        "insecure": False,
    }


@pytest.mark.parametrize("words", [["train", "nano"], ["reproduce"], ["play", "x.py"]])
def test_every_verb_that_runs_programs_has_the_switch_for_an_insecure_sandbox(words: list[str]) -> None:
    assert parse(words).insecure is False and parse([*words, "--insecure"]).insecure is True


def test_a_module_that_this_system_has_not_names_the_system() -> None:
    done = spadework("show", "x", before="sys.modules['fcntl'] = None")
    assert done.returncode == ExitCode.WRONG_INPUT
    assert "does not run on linux (there is no module 'fcntl')" in done.stderr


def test_the_rows_of_reproduce_are_a_list() -> None:
    assert parse(["reproduce", "--rows", "spade, no_corpus"]).rows == ["spade", "no_corpus"]
    assert parse(["reproduce"]).rows is None
    with pytest.raises(InputError, match="--scale"):
        parse(["reproduce", "--scale", "huge"])


def test_main_returns_its_code_and_leaves_the_exit_to_the_caller(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nope"]) == 2
    assert "unknown verb" in capsys.readouterr().err


def test_python_m_is_the_same_command() -> None:
    done = subprocess.run([sys.executable, "-m", "spadework.harness", "--help"], capture_output=True, text=True)
    assert done.returncode == 0 and "usage: spadework" in done.stdout


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    from spadework.harness.config import Section
    from spadework.harness.store import RunFolder

    with RunFolder(tmp_path / "r", Section()) as folder:
        folder.environments([{"step": i, "id": f"e{i}", "valid": True, "hint": "h" * 500} for i in range(2000)])
    command = f"set -o pipefail; {sys.executable} -m spadework.harness envs {tmp_path / 'r'} | head -n 1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, env={**os.environ, "COLUMNS": "80"})
    assert done.returncode == 0 and done.stderr == ""


def test_a_run_whose_reader_goes_away_is_interrupted_not_done(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(arguments: Namespace) -> ExitCode:
        raise BrokenPipeError

    monkeypatch.setattr(cli, "command", lambda verb: gone)
    monkeypatch.setattr(cli, "_drop_output", lambda: None)
    assert main(["train", "nano"]) == ExitCode.INTERRUPTED and main(["show", "r"]) == ExitCode.OK


def test_an_unknown_bench_offers_the_nearest() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "spadework.harness.bench", "samplr"], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 2 and "did you mean 'sampler'" in done.stderr
