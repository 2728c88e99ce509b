"""`spadework reproduce`: which runs it wants, and a small table from real ones, a failed row among them."""

import shutil
from pathlib import Path

import pytest

from spadework.harness.cli import main
from spadework.harness.errors import ExitCode, InputError
from spadework.harness.store import RunFolder
from spadework.harness.tables.spec import load_spec
from spadework.training.recipe import load_recipe
from spadework.training.reproduce import DEFINITION, ROWS, SCALES, jobs

CHECKOUT = Path(__file__).parents[2]


def named(rows: list[str] | None, seeds: int) -> list[tuple[str, int]]:
    return [(job.row, job.seed) for job in jobs(rows, seeds, "nano", Path("r"), False)]


def test_every_row_has_a_run_for_each_seed_and_the_untrained_one_a_single_run() -> None:
    wanted = named(None, 3)
    assert wanted[: len(ROWS)] == [(row, 0) for row in ROWS]
    assert wanted[len(ROWS) :] == [(row, seed) for seed in (1, 2) for row in ROWS if row != "base"]


def test_rows_come_in_the_tables_order_with_a_folder_each() -> None:
    wanted = jobs(["spade", "base"], 1, "smoke", Path("runs"), True)
    assert [(job.name, job.out, job.fresh) for job in wanted] == [
        ("base seed 0", Path("runs/base/seed0"), True), ("spade seed 0", Path("runs/spade/seed0"), True),
    ]  # fmt: skip


def test_the_rows_are_those_of_the_tables_file() -> None:
    assert [row.run for row in load_spec(CHECKOUT / DEFINITION).rows] == list(ROWS)


@pytest.mark.parametrize(
    ("rows", "seeds", "scale", "said"),
    [
        (["spad"], 1, "nano", r"no row 'spad' \(did you mean 'spade'\?\); use base, spade"),
        (None, 1, "smoky", r"no scale 'smoky' \(did you mean 'smoke'\?\)"),
        (None, 0, "nano", "--seeds is 0; give 1 or more"),
    ],
)
def test_what_does_not_exist_is_refused_with_the_nearest(
    rows: list[str] | None, seeds: int, scale: str, said: str
) -> None:
    with pytest.raises(InputError, match=said):
        jobs(rows, seeds, scale, Path("r"), False)


def test_outside_a_checkout_the_command_says_where_it_belongs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["reproduce", "--scale", "smoke", "--rows", "base"]) == ExitCode.WRONG_INPUT
    assert "run the command in a checkout of spadework" in capsys.readouterr().err


def test_a_failed_row_is_a_dash_and_code_4_and_the_same_command_goes_on_to_the_whole_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The second row cannot run at first: its folder holds a run of another config."""
    (tmp_path / "results").mkdir()
    shutil.copy(CHECKOUT / DEFINITION, tmp_path / DEFINITION)
    shutil.copytree(CHECKOUT / "results" / "paper", tmp_path / "results" / "paper")
    monkeypatch.chdir(tmp_path)
    occupied = Path("results/runs/smoke/spade/seed0")
    command = ["reproduce", "--rows", "base,spade", "--scale", "smoke"]
    RunFolder(occupied, load_recipe("spade", [*SCALES["smoke"], "steps=3"])).close()

    assert main(command) == ExitCode.INCOMPLETE
    said = capsys.readouterr().out
    assert "failed: spade seed 0:" in said and "it differs in steps" in said
    assert has_figures("base") == [True] * 4 and has_figures("SPADE") == [False] * 4
    kept = Path("results/runs/smoke/base/seed0/summary.json").stat().st_mtime_ns

    shutil.rmtree(occupied)
    assert main(command) == ExitCode.OK
    assert Path("results/runs/smoke/base/seed0/summary.json").stat().st_mtime_ns == kept, "a finished run is kept"
    assert has_figures("base") == has_figures("SPADE") == [True] * 4
    said = capsys.readouterr().out
    assert "corpus: " in said and "kept" in said and "hint_gap" in said
    assert {path.suffix for path in Path("results/tables/smoke").iterdir()} == {".md", ".tex", ".csv", ".html"}


def has_figures(label: str) -> list[bool]:
    """Whether the held-out scores of a row are numbers in the table that was written."""
    lines = Path("results/tables/smoke/table3.md").read_text().splitlines()
    line = next(line for line in lines if line.startswith(f"| {label} "))
    return [any(character.isdigit() for character in cell) for cell in line.strip("|").split("|")[1:5]]
