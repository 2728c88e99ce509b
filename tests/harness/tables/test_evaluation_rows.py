"""Tables whose rows are evaluations: benchmarks, groups and means as columns; what is missing, different or damaged."""

import csv
import re
import shutil
from io import StringIO
from pathlib import Path

import pytest

from spadework.harness.errors import ExitCode, InputError
from spadework.harness.tables.result import Rank, TableResult
from spadework.harness.tables.spec import load_spec
from spadework.harness.tables.table import build_table, pack_table
from spadework.harness.tables.text import csv_text, markdown
from spadework.harness.types import Outcome

from ..comparing.evaluations import Task, answers, spadework, write_evaluation
from ..run_fixtures import ABLATIONS

DEFINITION = """
name = "ours"
title = "Two benchmarks"
scale = "eval"
runs = "runs/{scale}"
packed = "reference/{scale}"
subject = "new"
baseline = "old"
compare = "average"

[panels]
score = "Score"
cost = "Cost"
"""
ROW = '\n[[rows]]\nrun = "{0}"\nlabel = "{0}"\ntrained = false\n'
COLUMN = '\n[[columns]]\nid = "{0}"\npanel = "{1}"\nkind = "{2}"\n{3}\n'
COLUMNS = (
    COLUMN.format("sums", "score", "right", 'task = "sums"'),
    COLUMN.format("odd", "score", "right", 'task = "sums"\ncategory = "odd"'),
    COLUMN.format("words", "score", "right", 'task = "words"'),
    COLUMN.format("average", "score", "right", 'mean_of = ["sums", "words"]'),
    COLUMN.format("samples", "cost", "count", 'metric = "samples"'),
)


def sums(right: int, **changes: object) -> Task:
    """40 even and 20 odd items, of which the first are right; the score is the mean of the two groups."""
    samples = answers(40, range(right), category="even") | answers(20, range(right // 2), category="odd")
    return Task(**{"samples": samples, "mean": "categories", **changes})  # type: ignore[arg-type]


def words(right: int, **changes: object) -> Task:
    return Task(**{"samples": answers(50, range(right)), "name": "words", **changes})  # type: ignore[arg-type]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The definition beside evaluations of two checkpoints, the new one's in a folder for each benchmark."""
    path = tmp_path / "ours.toml"
    path.write_text(DEFINITION + ROW.format("old") + ROW.format("new") + "".join(COLUMNS))
    runs = tmp_path / "runs" / "eval"
    write_evaluation(runs / "old", sums(4), words(10))
    write_evaluation(runs / "new" / "a", sums(36))
    write_evaluation(runs / "new" / "b", words(12))
    return path


def built(file: Path) -> TableResult:
    return build_table(file)[0]


def test_benchmarks_groups_and_their_mean_are_columns(file: Path) -> None:
    cells = built(file).row("new").cells
    assert cells["odd"].value == pytest.approx(18 / 20) and cells["odd"].score is not None
    assert cells["sums"].value == pytest.approx((36 / 40 + 18 / 20) / 2)
    assert cells["words"].value == pytest.approx(12 / 50)
    average = cells["average"]
    assert average.value == pytest.approx((0.9 + 0.24) / 2) and average.score is not None
    assert average.low is not None and average.low < 0.57 < (average.high or 0)
    assert (average.score.n_items, average.runs) == (110, ("new/a", "new/b"))
    assert cells["samples"].value == 110


def test_rows_are_compared_on_the_mean_and_the_best_and_the_tied_are_marked(file: Path) -> None:
    table = built(file)
    gap = table.row("new").against["old"]
    assert gap.value == pytest.approx((0.8 + 0.04) / 2) and gap.p_holm < 0.001 and gap.n_items == 110
    ranks = {row.spec.run: {name: cell.rank for name, cell in row.cells.items()} for row in table.rows}
    assert ranks["new"] == {
        "sums": Rank.BEST, "odd": Rank.BEST, "words": Rank.BEST, "average": Rank.BEST, "samples": None,
    }  # fmt: skip
    assert ranks["old"] == {"sums": None, "odd": None, "words": Rank.TIED, "average": None, "samples": None}
    text = markdown(table)
    assert "| old | 10.0 <sub>" in text and "<u>20.0</u> <sub>" in text and "**24.0** <sub>" in text
    assert "- new: new/a (config c0ffee), new/b (config c0ffee)" in text


def test_a_mean_of_unequal_groups_weighs_its_columns_and_not_their_items(tmp_path: Path, file: Path) -> None:
    """`sums` has two groups and `words` one: each counts half in the difference, as it does in the mean."""
    shutil.rmtree(tmp_path / "runs")
    runs = tmp_path / "runs" / "eval"
    write_evaluation(runs / "old", sums(0), words(0))
    write_evaluation(runs / "new", sums(0), words(50))
    table = built(file)
    assert table.row("new").cells["average"].value == pytest.approx(0.5)
    assert table.row("new").against["old"].value == pytest.approx(0.5)


def test_the_fine_print_names_the_protocol_of_each_benchmark(file: Path) -> None:
    text = markdown(built(file))
    said = r"sums: share of samples whose outcome is right, in %; 60 items, preset official.*, items d1ge57\."
    assert re.search(said, text)
    assert "Corpus digest" not in text and "checkpoint chosen" not in text


def test_a_packed_copy_of_evaluations_builds_the_same_table(file: Path) -> None:
    before = csv_text(built(file))
    pack_table(file)
    shutil.rmtree(file.parent / "runs")
    assert csv_text(built(file)) == before


def test_repeats_of_an_item_and_samples_that_failed_are_counted(file: Path) -> None:
    shutil.rmtree(file.parent / "runs" / "eval" / "new")
    samples = {f"all-{number:05d}": [Outcome.RIGHT, Outcome.WRONG] for number in range(50)}
    samples["all-00000"] = [Outcome.RIGHT, Outcome.INFRA_ERROR]
    write_evaluation(file.parent / "runs" / "eval" / "new", sums(36), words(0, samples=samples))
    shutil.rmtree(file.parent / "runs" / "eval" / "old")
    table = built(file)
    cell = table.row("new").cells["words"]
    assert cell.missing and cell.note.startswith("99 scored of 100; ")
    assert cell.value == pytest.approx((1 + 49 / 2) / 50)
    assert cell.rank is None
    assert table.row("new").cells["average"].note == "incomplete in words"


def test_a_row_without_a_finished_evaluation_is_a_dash_with_its_reason(file: Path, tmp_path: Path) -> None:
    runs = tmp_path / "runs" / "eval"
    shutil.rmtree(runs / "new")
    write_evaluation(runs / "new", words(10), finished=False)
    done = spadework("table", file)
    assert done.code == ExitCode.INCOMPLETE and "no finished run (new not finished)" in done.out
    assert "| new | –<sup>a</sup> |" in done.out
    assert spadework("table", file, "--allow-incomplete").code == ExitCode.OK


def test_a_benchmark_that_a_row_did_not_play_is_a_dash_with_its_reason(file: Path, tmp_path: Path) -> None:
    shutil.rmtree(tmp_path / "runs" / "eval" / "new" / "b")
    cells = built(file).row("new").cells
    assert (cells["words"].value, cells["words"].note) == (None, "no evaluation on words")
    assert cells["average"].note == "no mean without words" and cells["sums"].value is not None


@pytest.mark.parametrize("changes", [{"preset": "other"}, {"scorer": "2"}, {"digest": "0ther"}, {"limit": 50}])
def test_another_protocol_is_refused_with_both_runs(file: Path, tmp_path: Path, changes: dict[str, object]) -> None:
    shutil.rmtree(tmp_path / "runs" / "eval" / "new" / "b")
    write_evaluation(tmp_path / "runs" / "eval" / "new" / "b", words(12, **changes))
    with pytest.raises(InputError, match=r"^words: old has .*, new/a \+ new/b has .*; .*evaluate one of them again\.$"):
        built(file)


def test_a_benchmark_twice_and_a_damaged_record_are_named(file: Path, tmp_path: Path) -> None:
    new = tmp_path / "runs" / "eval" / "new"
    write_evaluation(new / "c", words(12))
    with pytest.raises(InputError, match=r"new/b and new/c are of one seed and both hold words|new/c are of one seed"):
        built(file)
    shutil.rmtree(new / "c")
    records = new / "b" / "records" / "words.jsonl"
    records.write_text(records.read_text().replace('"outcome":"right"', '"outcome":"rihgt"', 1))
    with pytest.raises(InputError, match=r"words\.jsonl, line 1"):
        built(file)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('mean_of = ["sums", "words"]', 'mean_of = ["sums", "word"]', "did you mean 'words'"),
        ('mean_of = ["sums", "words"]', 'mean_of = ["sums", "average"]', "which is not there"),
        ('mean_of = ["sums", "words"]', 'mean_of = ["sums"]\ntask = "words"', "no task or category of its own"),
    ],
)
def test_a_mean_of_nothing_or_of_itself_is_refused(file: Path, old: str, new: str, said: str) -> None:
    file.write_text(file.read_text().replace(old, new))
    with pytest.raises(InputError, match=said):
        load_spec(file)


@pytest.mark.parametrize("name", ["reasoning", "agents"])
def test_the_papers_tables_are_shipped_as_data_with_its_figures_and_none_of_ours(name: str, tmp_path: Path) -> None:
    table, _ = build_table(ABLATIONS.parent / f"{name}.toml", runs=tmp_path)
    rows = list(csv.DictReader(StringIO(csv_text(table))))
    assert {row["value"] for row in rows} == {""}
    columns = [column.id for column in table.spec.columns if column.measured]
    papers = {(row["row"], row["column"]) for row in rows if row["paper"]}
    assert papers == {(row.spec.run, column) for row in table.rows for column in columns}
