"""A sandbox that lacks a layer it must have: refused, or with the switch warned of, and told in every table."""

import csv
import errno
import shutil
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from spadework.harness.errors import ExitCode
from spadework.harness.sandbox import Layer, Policy, Sandbox, SandboxUnavailable
from spadework.harness.tables.table import build_table, pack_table, terminal_table, write_table

from .masked import PRCTL, spadework
from .run_fixtures import write_definition, write_insecure, write_runs

GAME = """
class GuessEnv:
    def reset(self, seed=None):
        return f"guess {seed}", {}

    def step(self, action):
        return "right", 1.0, True, False, {}
"""
WITHOUT_FILTER = {"lacking": PRCTL, "code": errno.EINVAL}
"""A kernel that takes no system call filter."""


@pytest.fixture
def game(tmp_path: Path) -> str:
    path = tmp_path / "game.py"
    path.write_text(GAME)
    return str(path)


def test_without_a_filter_of_system_calls_a_verb_refuses_in_one_sentence(game: str) -> None:
    done = spadework("play", game, **WITHOUT_FILTER)
    assert done.returncode == ExitCode.INCOMPLETE and done.stdout == ""
    assert done.stderr.count("\n") == 1 and "(seccomp: prctl 22: Invalid argument)" in done.stderr
    assert "`spadework doctor` shows how" in done.stderr and "--insecure" in done.stderr


def test_with_the_switch_it_goes_on_and_says_so_loudly(game: str) -> None:
    done = spadework("play", game, "--insecure", stdin="7\n", **WITHOUT_FILTER)
    assert done.returncode == ExitCode.OK and "final reward 1" in done.stdout
    assert done.stderr.startswith("INSECURE: the sandbox starts without layers that it must have (seccomp: prctl 22")


def test_where_the_layers_hold_the_switch_changes_nothing(game: str) -> None:
    done = spadework("play", game, "--insecure", stdin="7\n")
    assert done.returncode == ExitCode.OK and "INSECURE" not in done.stderr


def test_every_insecure_start_is_warned_of_and_a_wanted_layer_once() -> None:
    script = (
        "from spadework.harness.sandbox import Layer, Policy, Sandbox\n"
        "for policy in (Policy(off=(Layer.RLIMITS,), insecure=True), Policy(off=(Layer.LANDLOCK,))):\n"
        "    for _ in range(2): Sandbox(policy=policy).close()\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    first, second, third = done.stderr.splitlines()
    assert first == second and first.startswith("INSECURE: ") and "(rlimits: switched off)" in first
    assert third.startswith("sandbox: without landlock (switched off)")


def test_only_the_switch_gives_up_a_layer_that_must_hold() -> None:
    for policy in (Policy(off=(Layer.SECCOMP,)), Policy(require=(), off=(Layer.SECCOMP,))):
        with pytest.raises(SandboxUnavailable, match="both requires and switches off seccomp"):
            Sandbox(policy=policy)
    with Sandbox(policy=Policy(off=(Layer.SECCOMP,), insecure=True)) as sandbox:
        assert sandbox.report.insecure and sandbox.report.describe() == "INSECURE: without seccomp (switched off)"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Two seeds of every row; one run each of two rows had no filter for a while."""
    file = write_definition(tmp_path / "results")
    runs = write_runs(file.parent / "runs" / "nano", seeds=2)
    write_insecure(runs / "spade" / "seed1", "seccomp")
    write_insecure(runs / "rlve" / "seed0", "seccomp", "rlimits")
    return file


SAID = (
    "INSECURE: some runs were made with a sandbox that lacked a layer it must have (SPADE, seed 1: without seccomp "
    "(switched off); fixed-env RLVE, seed 0: without seccomp (switched off), rlimits (switched off))."
)


def test_every_form_of_a_table_names_the_insecure_runs(table: Path) -> None:
    result, paper = build_table(table)
    texts = {path.suffix: path.read_text() for path in write_table(result, paper, table.parent / "tables")}
    for suffix in (".md", ".tex", ".html"):
        plain = texts[suffix].replace("\\_", "_")
        assert plain.count(SAID) == 1, suffix
        assert "SPADE (insecure)" in plain and "fixed-env RLVE (insecure)" in plain
        assert "without memory (insecure)" not in plain
    assert texts[".md"].startswith(f"## {result.spec.title} (INSECURE)\n") and "(INSECURE): " in texts[".tex"]
    assert '<tr class="subject"><th scope="row">SPADE (insecure)</th>' in texts[".html"]
    rows = list(csv.DictReader(StringIO(texts[".csv"])))
    marked = {row["row"]: row["insecure"] for row in rows if row["insecure"]}
    assert marked == {
        "spade": "seed 1: INSECURE: without seccomp (switched off)",
        "rlve": "seed 0: INSECURE: without seccomp (switched off), rlimits (switched off)",
    }
    assert all(row["insecure"] for row in rows if row["row"] == "spade")
    console = Console(width=100, record=True, file=StringIO())
    console.print(terminal_table(result, width=100))
    shown = " ".join(console.export_text().split())
    assert SAID in shown and "(INSECURE)" in shown and "SPADE (insecure)" in shown


def test_the_packed_copy_of_insecure_runs_says_the_same(table: Path) -> None:
    result, paper = build_table(table)
    before = [path.read_bytes() for path in write_table(result, paper, table.parent / "tables")]
    pack_table(table)
    shutil.rmtree(table.parent / "runs")
    result, paper = build_table(table)
    assert [path.read_bytes() for path in write_table(result, paper, table.parent / "tables")] == before


def test_runs_whose_sandbox_held_are_packed_without_a_word_of_it(table: Path) -> None:
    for path in table.parent.rglob("provenance.json"):
        path.unlink()
    without = {path.name: path.read_bytes() for path in pack_table(table)}
    for run in table.parent.glob("runs/nano/*/seed*"):
        write_insecure(run)
        text = (run / "provenance.json").read_text().replace("true", "false")
        (run / "provenance.json").write_text(text)
    assert {path.name: path.read_bytes() for path in pack_table(table)} == without
    result, paper = build_table(table)
    texts = [path.read_text() for path in write_table(result, paper, table.parent / "tables")]
    assert not any("insecure" in text.lower() for text in texts)
