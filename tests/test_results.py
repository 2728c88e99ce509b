"""The committed results: the tables are rebuilt from the packed runs byte for byte, and the README shows them."""

import shutil
from pathlib import Path

import pytest

from spadework.harness.tables.table import build_table, write_table

ROOT = Path(__file__).parent.parent
FORMATS = ("md", "tex", "csv", "html")
LIMIT = 10 * 2**20


@pytest.fixture(scope="module")
def rebuilt(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tables made anew from nothing but what git holds: definition, packed runs, the paper's figures."""
    folder = tmp_path_factory.mktemp("results")
    shutil.copy(ROOT / "results" / "ablations.toml", folder)
    for name in ("reference", "paper"):
        shutil.copytree(ROOT / "results" / name, folder / name)
    table, paper = build_table(folder / "ablations.toml")
    assert not table.gaps, table.gaps
    write_table(table, paper, folder / "tables")
    return folder / "tables"


@pytest.mark.parametrize("ending", FORMATS)
def test_the_committed_table_is_rebuilt_byte_for_byte(rebuilt: Path, ending: str) -> None:
    name = f"table3.{ending}"
    assert (rebuilt / name).read_bytes() == (ROOT / "results" / "tables" / name).read_bytes()


def test_the_packed_runs_stay_under_ten_megabytes() -> None:
    assert sum(path.stat().st_size for path in (ROOT / "results" / "reference").rglob("*") if path.is_file()) <= LIMIT


def test_the_readme_shows_the_committed_table() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = readme.partition("<!-- table -->")[2].partition("<!-- /table -->")[0]
    rows = [line for line in shown.splitlines() if line.startswith("|")]
    table = (ROOT / "results" / "tables" / "table3.md").read_text(encoding="utf-8").splitlines()
    assert len(rows) > 10
    assert [line for line in rows if line not in table] == []
