"""Tables from run folders that the tests write: whole, incomplete, packed, damaged; in every format."""

import argparse
import csv
import json
import re
import shutil
import subprocess
import sys
from hashlib import sha256
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from spadework.harness.answers import parse
from spadework.harness.comparison import Verdict
from spadework.harness.errors import ExitCode, InputError
from spadework.harness.tables.latex import escaped, latex
from spadework.harness.tables.table import (
    build_table,
    load_spec,
    pack_table,
    read_packed,
    table_command,
    terminal_table,
    write_table,
)
from spadework.harness.tables.text import csv_text, markdown

from .run_fixtures import ABLATIONS, write_definition, write_runs, write_summary

NANO = Path("runs") / "nano"


def command(file: Path, **options: object) -> ExitCode:
    return table_command(argparse.Namespace(file=file, **options))


def written(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The definition beside two seeds of every row; tests that change files copy it first."""
    file = write_definition(tmp_path_factory.mktemp("finished") / "results")
    write_runs(file.parent / NANO, seeds=2, items=60)
    return file


@pytest.fixture
def copied(finished: Path, tmp_path: Path) -> Path:
    shutil.copytree(finished.parent, tmp_path / "results")
    return tmp_path / "results" / finished.name


def test_the_command_writes_all_four_formats_and_prints_the_markdown(
    copied: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(copied) is ExitCode.OK
    files = written(copied.parent / "tables")
    assert set(files) == {"table3.md", "table3.tex", "table3.csv", "table3.html"}
    assert capsys.readouterr().out == files["table3.md"].decode()


def test_a_fresh_process_writes_the_same_bytes(copied: Path) -> None:
    command(copied)
    here = written(copied.parent / "tables")
    out = copied.parent / "again"
    code = (
        "import argparse, pathlib; from spadework.harness.tables.table import table_command; "
        f"table_command(argparse.Namespace(file=pathlib.Path({str(copied)!r}), out=pathlib.Path({str(out)!r})))"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    assert written(out) == here


def test_the_packed_copy_rebuilds_the_table_byte_for_byte_without_the_runs(copied: Path) -> None:
    command(copied)
    before = written(copied.parent / "tables")
    first = {path.name: path.read_bytes() for path in pack_table(copied)}
    assert {path.name: path.read_bytes() for path in pack_table(copied)} == first
    shutil.rmtree(copied.parent / "runs")
    shutil.rmtree(copied.parent / "tables")
    assert command(copied) is ExitCode.OK
    assert written(copied.parent / "tables") == before


def test_the_packed_copy_carries_metrics_and_configs(copied: Path) -> None:
    pack_table(copied)
    run = read_packed(copied.parent / "reference" / "nano", ["spade"], "nano").runs["spade"][1]
    folder = copied.parent / NANO / "spade" / "seed1"
    assert run.files == {name: (folder / name).read_text() for name in ("config.json", "metrics.jsonl")}


def test_a_missing_row_is_a_dash_and_never_a_number(copied: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.rmtree(copied.parent / NANO / "rlve")
    assert command(copied) is ExitCode.INCOMPLETE
    text = capsys.readouterr().out
    line = next(line for line in text.splitlines() if line.startswith("| fixed-env RLVE |"))
    assert not re.search(r"\d", line.replace("*53.0*", ""))
    assert "(INCOMPLETE)" in text
    assert "no finished run" in text
    assert command(copied, allow_missing=True) is ExitCode.OK
    assert command(copied, allow_incomplete=True) is ExitCode.OK
    copied.write_text(copied.read_text().replace("allow_missing = false", "allow_missing = true"))
    assert command(copied) is ExitCode.OK


def test_without_any_run_the_table_is_all_dashes(tmp_path: Path) -> None:
    file = write_definition(tmp_path / "results")
    assert command(file) is ExitCode.INCOMPLETE
    rows = list(csv.DictReader(StringIO((tmp_path / "results" / "tables" / "table3.csv").read_text())))
    assert {row["value"] for row in rows} == {""}
    assert {row["note"] for row in rows} == {"no finished run"}


def test_a_lost_seed_makes_the_row_incomplete(copied: Path) -> None:
    (copied.parent / NANO / "spade" / "seed1" / "summary.json").unlink()
    table, _ = build_table(copied)
    cell = table.row("spade").cells["average"]
    assert (cell.n_seeds, cell.note, cell.missing) == (1, "1 of 2 seeds", True)
    assert not any(cell.missing for cell in table.row("base").cells.values())


def test_unscored_samples_are_named_with_both_rates(copied: Path) -> None:
    file = copied.parent / NANO / "no_memory" / "seed0" / "records" / "chosen.greedy.jsonl"
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    for line in lines[:3]:
        line.update(outcome="infra_error", reward=None)
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    table, _ = build_table(copied)
    cell = table.row("no_memory").cells["hard"]
    assert cell.score is not None
    assert (cell.score.n_scored, cell.score.n_samples, cell.missing) == (117, 120, True)
    assert cell.note.startswith("117 scored of 120; ")
    assert cell.score.counts["infra_error"] == 3


def test_the_average_is_the_unweighted_mean_of_the_categories_with_interval_over_seeds(finished: Path) -> None:
    table, _ = build_table(finished)
    for row in table.rows:
        cells = row.cells
        mean = np.mean([cells[name].value for name in ("hard", "new", "rg")])
        assert cells["average"].value == pytest.approx(mean)
        assert cells["average"].low < mean < cells["average"].high
    assert table.row("spade").cells["average"].n_seeds == 2
    assert table.row("base").cells["average"].n_seeds == 1


def test_every_row_is_compared_with_spade_and_with_base(finished: Path) -> None:
    table, _ = build_table(finished)
    for row in table.rows:
        assert set(row.against) == {"spade", "base"} - {row.spec.run}
        for difference in row.against.values():
            assert difference.low <= difference.value <= difference.high
            assert difference.p <= difference.p_holm <= 1
            assert difference.detectable > 0


def test_the_sentences_follow_the_test_and_name_what_could_not_be_found(finished: Path) -> None:
    table, paper = build_table(finished)
    text = markdown(table, paper)
    for row in table.rows:
        if "spade" in row.against:
            told = row.against["spade"].verdict is not Verdict.CANNOT_TELL
            line = next(line for line in text.splitlines() if line.startswith(f"- {row.spec.label}: "))
            assert (f"{row.against['spade'].verdict} than SPADE" in line) == told
            assert ("cannot be told from SPADE" in line) != told
    assert "would be found four times in five" in text
    assert not re.search(r"\.[;.]|  ", text.split("**What can be concluded**")[1])
    assert "the paper reports \u22124.8 on its own tasks" in text


def test_one_seed_says_that_it_speaks_of_checkpoints_only(tmp_path: Path) -> None:
    file = write_definition(tmp_path / "results")
    write_runs(file.parent / NANO, seeds=1, items=30)
    table, paper = build_table(file)
    assert "only more seeds can show that" in markdown(table, paper)
    assert table.row("spade").cells["plays"].low is None
    assert table.row("spade").cells["valid"].low is not None


def test_the_papers_figures_stand_beside_ours_and_are_marked(finished: Path) -> None:
    table, paper = build_table(finished)
    assert {row.spec.run: row.cells["average"].paper for row in table.rows} == {
        "base": 50.2, "spade": 58.3, "no_corpus": 53.5, "no_memory": 53.2, "frozen_no_memory": 40.5,
        "frozen_external": 53.0, "learning_potential": 55.9, "solve_rate": None, "two_skills": 53.7,
        "fixed_env": 51.4, "rlve": 53.0,
    }  # fmt: skip
    assert table.row("fixed_env").cells["vendi"].paper == 0.12
    assert "*58.3*" in markdown(table, paper)


def test_the_papers_file_is_the_one_its_readme_names() -> None:
    folder = ABLATIONS.parent / "paper"
    digest = sha256((folder / "spade_paper_tables.json").read_bytes()).hexdigest()
    assert digest in (folder / "README.md").read_text()


def test_columns_of_time_come_last_and_can_be_left_out(copied: Path) -> None:
    assert load_spec(copied).columns[-1].kind == "seconds"
    command(copied, no_time=True)
    before = written(copied.parent / "tables")
    for path in (copied.parent / NANO).glob("*/seed*/summary.json"):
        summary = json.loads(path.read_text())
        summary["metrics"]["seconds"] += 17.0
        path.write_text(json.dumps(summary))
    command(copied, no_time=True)
    assert written(copied.parent / "tables") == before
    assert b"wall time" not in before["table3.html"].split(b"What can be concluded")[0]


def test_the_csv_holds_natural_units_and_every_cell(finished: Path) -> None:
    table, _ = build_table(finished)
    rows = list(csv.DictReader(StringIO(csv_text(table))))
    assert len(rows) == 11 * len(table.spec.columns) + 2 * 10
    average = next(row for row in rows if (row["row"], row["column"]) == ("spade", "average"))
    assert 0 < float(average["low"]) < float(average["value"]) < float(average["high"]) < 1
    assert (average["n_items"], average["n_samples"], average["n_seeds"]) == ("180", "360", "2")
    assert average["outcomes"].startswith("no_answer:")
    assert next(row for row in rows if row["column"] == "average minus spade")["test"] == "paired t clustered by seed"


def test_latex_escapes_every_special_sign() -> None:
    assert escaped("A&B_1 50% {x} ~^\\ #$") == (
        r"A\&B\_1 50\% \{x\} \textasciitilde{}\textasciicircum{}\textbackslash{} \#\$"
    )


def test_latex_compiles_with_booktabs(copied: Path, tmp_path: Path) -> None:
    if shutil.which("pdflatex") is None:
        pytest.skip("pdflatex is not installed")
    copied.write_text(copied.read_text().replace('label = "two skills"', 'label = "two_skills & 50% {A|B} <x>"'))
    table, paper = build_table(copied)
    lines = [r"\documentclass[a4paper]{article}\usepackage{booktabs}\usepackage[margin=1cm]{geometry}"]
    lines += [r"\begin{document}", latex(table, paper), r"\end{document}"]
    (tmp_path / "paper.tex").write_text("\n".join(lines))
    done = subprocess.run(
        ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", "paper.tex"], cwd=tmp_path, capture_output=True
    )
    log = (tmp_path / "paper.log").read_text(errors="replace")
    assert done.returncode == 0, log[-2000:]
    assert "Overfull" not in log


class Links(HTMLParser):
    """Collects what a page would fetch, and its open tags."""

    def __init__(self) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.open: list[str] = []
        self.places: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.fetched += [value or "" for name, value in attrs if name in {"src", "href"}]
        self.places += [value or "" for name, value in attrs if name == "id"]
        if tag not in {"meta"}:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_html_is_one_file_that_fetches_nothing_and_closes_its_tags(copied: Path) -> None:
    copied.write_text(copied.read_text().replace('label = "two skills"', 'label = "<b>two & skills</b>"'))
    command(copied, format="html")
    page = (copied.parent / "tables" / "table3.html").read_text()
    links = Links()
    links.feed(page)
    assert links.open == []
    assert {target for target in links.fetched if not target.startswith("#")} == set()
    assert {target.removeprefix("#") for target in links.fetched} == set(links.places)
    assert 'href="#runs-spade" title="nano/spade/seed0, nano/spade/seed1"' in page
    assert "url(" not in page and "@import" not in page
    assert "&lt;b&gt;two &amp; skills&lt;/b&gt;" in page
    assert "prefers-color-scheme: dark" in page


def test_the_terminal_shows_a_growing_table(tmp_path: Path) -> None:
    file = write_definition(tmp_path / "results")
    write_runs(file.parent / NANO, rows=["base", "spade"], items=20)
    table, _ = build_table(file)
    console = Console(width=150, record=True, file=StringIO())
    console.print(terminal_table(table, {"no_corpus": "step 12 of 60"}))
    text = console.export_text()
    assert "step 12 of 60" in text
    assert "without corpus" in text
    assert "incomplete" in text


def test_a_scale_of_its_own_reads_its_own_runs(tmp_path: Path) -> None:
    file = write_definition(tmp_path / "results")
    write_runs(file.parent / "runs" / "smoke", items=10, scale="smoke")
    assert command(file, scale="smoke") is ExitCode.OK
    assert "at smoke scale" in (tmp_path / "results" / "tables" / "smoke" / "table3.md").read_text()


def test_the_last_checkpoint_may_be_the_chosen_one(copied: Path) -> None:
    run = copied.parent / NANO / "base" / "seed0"
    write_summary(run, "base", 0, "nano", 3, {"checkpoints": {"chosen": 3, "last": 3}})
    for path in (run / "records").glob("last.*"):
        path.unlink()
    table, _ = build_table(copied)
    cells = table.row("base").cells
    assert cells["last"].value == cells["average"].value


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"task_digest": "other"}, "was evaluated on task other"),
        ({"scale": "large"}, "was run at scale 'large'"),
        ({"row": "spade"}, "says spade/seed0"),
        ({"metrics": {"valid_share": 45.2}}, "a share lies in"),
        ({"checkpoints": 3}, "is damaged"),
    ],
)
def test_a_summary_that_does_not_fit_is_refused(copied: Path, change: dict[str, object], message: str) -> None:
    write_summary(copied.parent / NANO / "no_corpus" / "seed0", "no_corpus", 0, "nano", 3, change)
    with pytest.raises(InputError, match=message):
        build_table(copied)


def damaged(copied: Path, old: str, new: str) -> Path:
    file = copied.parent / NANO / "solve_rate" / "seed0" / "records" / "chosen.greedy.jsonl"
    file.write_text(file.read_text().replace(old, new, 1))
    return file


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"outcome": "right"', '"outcome": "rihgt"', "line \\d+: Invalid enum value 'rihgt'"),
        ('"reward": 1.0', '"reward": null', "reward None is no number"),
        ('"reward": 1.0', '"reward": 45.2', "reward 45.2 is no number"),
        ('{"item": "hard/w/0"', '{"itme": "hard/w/0"', "line 1: Object missing required field `item`"),
        ('"item": "hard/w/1"', '"item": "hard/w/0"', "stands there 2 times"),
        ('"item": "hard/w/1"', '"item": "hard/w/one"', "answered other greedy items"),
    ],
)
def test_a_damaged_record_is_named_with_its_file(copied: Path, old: str, new: str, message: str) -> None:
    damaged(copied, old, new)
    with pytest.raises(InputError, match=message):
        build_table(copied)


def test_a_torn_last_line_is_an_incomplete_run(copied: Path) -> None:
    file = damaged(copied, "", "")
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(InputError, match="answered other greedy items"):
        build_table(copied)


def test_a_category_that_the_table_does_not_name_is_refused(copied: Path) -> None:
    for file in (copied.parent / NANO).glob("*/seed*/records/*.jsonl"):
        file.write_text(file.read_text().replace('"category": "rg"', '"category": "mid"'))
    with pytest.raises(InputError, match="category 'mid'"):
        build_table(copied)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('subject = "spade"', 'subject = "spad"', "did you mean 'spade'"),
        ("allow_missing = false", "alow_missing = false", "did you mean 'allow_missing'"),
        ('panel = "cost"', 'panel = "costs"', "did you mean 'cost'"),
        ('run = "rlve"', 'run = "base"', "stands twice among the rows"),
        ('["table6", "SPADE"]', '["table6", "SPADES"]', "has no row 'SPADES'"),
    ],
)
def test_a_wrong_definition_offers_the_nearest_name(copied: Path, old: str, new: str, message: str) -> None:
    copied.write_text(copied.read_text().replace(old, new, 1))
    with pytest.raises(InputError, match=message):
        build_table(copied)


def test_an_unknown_format_is_refused(copied: Path) -> None:
    with pytest.raises(InputError, match="unknown format 'pdf'"):
        command(copied, format="pdf")
    assert command(copied, format="latex") is ExitCode.OK
    assert list(written(copied.parent / "tables")) == ["table3.tex"]


def test_a_damaged_pack_is_named(copied: Path) -> None:
    paths = pack_table(copied)
    shutil.rmtree(copied.parent / "runs")
    paths[0].write_bytes(paths[0].read_bytes()[:100])
    with pytest.raises(InputError, match=f"{paths[0].name} is damaged"):
        build_table(copied)


def test_nothing_to_pack_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no finished run to pack"):
        pack_table(write_definition(tmp_path / "results"))


def test_records_keep_their_samples_in_item_order() -> None:
    lines = [("b", "right", 1.0), ("a", "wrong", 0.0), ("b", "wrong", 0.25), ("a", "infra_error", None)]
    rows = [{"item": i, "category": "c", "outcome": o, "reward": r} for i, o, r in lines]
    found = parse("".join(json.dumps(row) + "\n" for row in rows).encode(), "here", repeats=True)
    assert found.listed.items == ("a", "b")
    assert np.array_equal(found.right_IR(), [[0.0, np.nan], [1.0, 0.0]], equal_nan=True)
    assert found.rewards_IR[1].tolist() == [1.0, 0.25]


def test_the_shipped_definition_has_all_rows_and_writes_its_formats(finished: Path, tmp_path: Path) -> None:
    table, paper = build_table(finished)
    assert len(load_spec(ABLATIONS).rows) == 11
    assert [path.suffix for path in write_table(table, paper, tmp_path)] == [".md", ".tex", ".csv", ".html"]
