"""A real run whose sandbox had no filter of system calls: recorded, told in the table, of the same config digest."""

import json
from pathlib import Path

import pytest

from spadework.harness import config
from spadework.harness.cli import main
from spadework.harness.sandbox import Layer, Policy
from spadework.harness.tables.table import build_table
from spadework.harness.tables.text import markdown
from spadework.training.loop import train
from spadework.training.recipe import Recipe, load_recipe
from spadework.training.reproduce import SCALES

DEFINITION = Path(__file__).parents[2] / "results" / "ablations.toml"


@pytest.fixture(scope="module")
def recipe() -> Recipe:
    return load_recipe("base", SCALES["smoke"])


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory, recipe: Recipe) -> Path:
    """One row, evaluated without the filter."""
    runs = tmp_path_factory.mktemp("runs")
    train(recipe, runs / "base" / "seed0", sandbox_policy=Policy(off=(Layer.SECCOMP,), insecure=True))
    return runs


def test_its_provenance_names_every_layer_and_the_config_says_nothing_of_it(runs: Path, recipe: Recipe) -> None:
    (entry,) = json.loads((runs / "base" / "seed0" / "provenance.json").read_text())
    sandbox = entry["sandbox"]
    assert sandbox["insecure"] is True and sandbox["describe"].startswith("INSECURE: without seccomp (switched off)")
    assert sandbox["layers"].keys() == set(Layer)
    assert sandbox["layers"]["seccomp"] == {"state": "off", "detail": "switched off"}
    settings = json.loads((runs / "base" / "seed0" / "config.json").read_text())
    assert settings["digest"] == config.digest(recipe) and "insecure" not in json.dumps(settings)


def test_the_table_made_of_it_says_so(runs: Path) -> None:
    table, paper = build_table(DEFINITION, scale="smoke", runs=runs)
    text = markdown(table, paper)
    assert "(INSECURE)" in text and "| base (insecure) |" in text
    assert "lacked a layer it must have (base, seed 0: without seccomp (switched off)" in text


def test_show_says_so_too(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(runs / "base" / "seed0")]) == 0
    assert "INSECURE: without seccomp" in " ".join(capsys.readouterr().out.split())


def test_the_finished_run_is_left_as_it_is_by_a_sandbox_that_holds(runs: Path, recipe: Recipe) -> None:
    path = runs / "base" / "seed0" / "provenance.json"
    before = path.read_bytes()
    train(recipe, runs / "base" / "seed0")
    assert path.read_bytes() == before
