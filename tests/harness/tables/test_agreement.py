"""Two tables that share a method: what is the same figure is the same, or nothing is written."""

import shutil
from pathlib import Path

import pytest

from spadework.harness.errors import ExitCode, InputError
from spadework.harness.tables.table import build_table

from ..comparing.evaluations import Ran, spadework
from ..run_fixtures import write_definition, write_runs, write_summary

NANO = Path("runs") / "nano"
KEPT = ("base", "spade", "rlve")


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    """Two definitions over the same runs; the second calls its columns otherwise."""
    first = write_definition(tmp_path / "results")
    text = first.read_text()
    head, *rows = text.split("[[rows]]\n")
    last, columns = rows[-1].split("[[columns]]", 1)
    kept = [row for row in [*rows[:-1], last] if any(f'run = "{name}"' in row for name in KEPT)]
    first.write_text("[[rows]]\n".join([head, *kept]) + "[[columns]]" + columns)
    second = first.with_name("second.toml")
    second.write_text(first.read_text().replace('"table3"', '"second"').replace('"valid"', '"good"'))
    write_runs(first.parent / NANO, rows=list(KEPT), items=20)
    return first, second


def table(*words: str | Path) -> Ran:
    return spadework("table", *words, "--format", "csv")


def spoil(folder: Path) -> None:
    """The run as it would be after another training: one right answer less."""
    lines = folder / "records" / "chosen.greedy.jsonl"
    right, wrong = '"outcome": "right", "reward": 1.0', '"outcome": "wrong", "reward": 0.0'
    lines.write_text(lines.read_text().replace(right, wrong, 1))


def test_tables_over_the_same_runs_agree(pair: tuple[Path, Path]) -> None:
    assert table(*pair).code == ExitCode.OK
    assert table(pair[1]).code == ExitCode.OK


def test_a_table_beside_it_of_older_runs_fails_the_build_and_both_together_do_not(pair: tuple[Path, Path]) -> None:
    first, second = pair
    assert table(first).code == ExitCode.OK
    spoil(first.parent / NANO / "spade" / "seed0")
    done = table(second)
    assert done.code == ExitCode.WRONG_INPUT and not (first.parent / "tables" / "second.csv").exists()
    assert "row 'spade'" in done.err and "the runs have changed in between; build both again in one call" in done.err
    assert table(first, second).code == ExitCode.OK


def test_a_metric_that_differs_under_another_columns_name_is_found(pair: tuple[Path, Path]) -> None:
    first, second = pair
    assert table(first).code == ExitCode.OK
    write_summary(first.parent / NANO / "spade" / "seed0", "spade", 0, "nano", 3, {"metrics": {"valid_share": 0.1}})
    done = table(second, "--allow-incomplete")
    assert done.code == ExitCode.WRONG_INPUT and "share valid_share" in done.err


def test_two_definitions_over_different_runs_of_a_method_are_refused_in_one_call(pair: tuple[Path, Path]) -> None:
    first, second = pair
    other = first.parent / "elsewhere"
    shutil.copytree(first.parent / "runs", other)
    spoil(other / "nano" / "base" / "seed0")
    second.write_text(second.read_text().replace('runs = "runs/{scale}"', 'runs = "elsewhere/{scale}"'))
    done = table(first, second)
    assert done.code == ExitCode.WRONG_INPUT and "row 'base'" in done.err
    assert not (first.parent / "tables").exists()


def test_a_file_that_is_no_table_of_ours_is_none_of_its_business(pair: tuple[Path, Path]) -> None:
    tables = pair[0].parent / "tables"
    tables.mkdir()
    (tables / "prices.csv").write_text("row,value\nspade,3\n")
    assert table(pair[0]).code == ExitCode.OK


def test_every_row_that_was_shown_has_its_runs_and_the_digest_of_their_evidence(pair: tuple[Path, Path]) -> None:
    found, _ = build_table(pair[0])
    cells = found.row("spade").cells
    assert {cell.runs for cell in cells.values()} == {("nano/spade/seed0",)}
    assert found.row("base").cells["valid"].runs == ()
    assert len({cells[name].evidence for name in ("hard", "new", "rg", "average")}) == 1
    assert len(cells["average"].evidence) == 16 and cells["valid"].evidence != cells["band"].evidence


@pytest.mark.parametrize(
    ("metrics", "said"),
    [
        ({"valid_share": 91.3}, r"nano/spade/seed0: valid_share is 91\.3; a share lies in \[0, 1\]; divide it by 100"),
        ({"vendi_per_n": 3.0}, "nano/spade/seed0: vendi_per_n is 3.0; a ratio lies in"),
        ({"plays": -1}, "nano/spade/seed0: plays is -1.0; a count is never below 0"),
    ],
)
def test_a_metric_out_of_its_range_names_run_and_remedy(
    pair: tuple[Path, Path], metrics: dict[str, float], said: str
) -> None:
    write_summary(pair[0].parent / NANO / "spade" / "seed0", "spade", 0, "nano", 3, {"metrics": metrics})
    with pytest.raises(InputError, match=said):
        build_table(pair[0])


def test_a_metric_that_is_kept_in_percent_is_printed_as_it_stands(pair: tuple[Path, Path]) -> None:
    first = pair[0]
    metric = 'metric = "valid_share"'
    first.write_text(first.read_text().replace(f'kind = "share"\n{metric}', f'kind = "percent"\n{metric}'))
    for run in sorted((first.parent / NANO).glob("*/seed0")):
        write_summary(run, run.parent.name, 0, "nano", 3, {"metrics": {"valid_share": 91.3, "valid_share_n": 400}})
    done = spadework("table", first, "--allow-incomplete", "--format", "md")
    assert "91.3 <sub>[88.1, 93.7], n 400</sub>" in done.out


@pytest.mark.parametrize("text", ['{"row": "spade"', '{"metrics": {"plays": NaN}}'])
def test_a_summary_that_is_no_json_is_named(pair: tuple[Path, Path], text: str) -> None:
    path = pair[0].parent / NANO / "spade" / "seed0" / "summary.json"
    path.write_text(text)
    done = table(pair[0])
    assert done.code == ExitCode.WRONG_INPUT and f"{path} is damaged" in done.err and "--fresh" in done.err


def test_old_and_new_names_of_the_formats_are_accepted(pair: tuple[Path, Path]) -> None:
    for name, ending in (("md", "md"), ("tex", "tex"), ("html", "html"), ("latex", "tex"), ("markdown", "md")):
        assert spadework("table", pair[0], "--format", name).code == ExitCode.OK
        assert (pair[0].parent / "tables" / f"table3.{ending}").is_file()
    done = spadework("table", pair[0], "--format", "pdf")
    assert done.code == ExitCode.WRONG_INPUT and "the formats are md, tex, csv, html" in done.err
