"""Runs for the gate: the toy benchmark of the evaluation's tests, played by scripted models."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "evaluation"))

from commands import evaluate, spadework  # noqa: E402

CODES = {"flaky_model": 4}


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """A run of a scripted model on 300 sums with two samples each; the same words give the same folder."""
    made: dict[tuple[str, ...], Path] = {}

    def make(model: str = "clever_model", *words: str, name: str = "run") -> Path:
        key = (model, name, *words)
        if key not in made:
            out = tmp_path_factory.mktemp("runs") / name
            preset = () if "--preset" in words else ("--preset", "many")
            assert evaluate(out, *preset, *words, model=model).returncode == CODES.get(model, 0)
            made[key] = out
        return made[key]

    return make


@pytest.fixture(scope="session")
def reference(run: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made of the clever model at seed 0."""
    path = tmp_path_factory.mktemp("reference") / "clever.json"
    assert spadework("check", str(run()), "--reference", str(path), "--update").returncode == 0
    return path
