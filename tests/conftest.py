"""Fixtures of the whole suite: where the test data lie, and how many tests went without."""

import json
import os
from pathlib import Path
from typing import Any, Callable

import pytest

DATA_VARIABLE = "SPADEWORK_TEST_DATA"

os.environ.setdefault("HF_HUB_OFFLINE", "1")


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of shared test data; without it the test is skipped, and counted in the summary under CI."""
    folder = os.environ.get(DATA_VARIABLE)
    if not folder:
        pytest.skip(f"{DATA_VARIABLE} is not set")
    path = Path(folder)
    assert path.is_dir(), f"{DATA_VARIABLE} names {folder}, which is no folder; correct or unset it."
    return path


@pytest.fixture(scope="session")
def vector() -> Callable[[str], Any]:
    """Inputs and outputs of an official function, by the id in data/spade_vectors.json."""
    path = Path(__file__).parent / "data" / "spade_vectors.json"
    by_id = {entry["id"]: entry for entry in json.loads(path.read_text(encoding="utf-8"))["vectors"]}
    return by_id.__getitem__


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Under CI=true a missing data folder is never silent."""
    if os.environ.get("CI") == "true":
        skipped = terminalreporter.stats.get("skipped", [])
        without = sum(DATA_VARIABLE in str(report.longrepr) for report in skipped)
        terminalreporter.write_line(f"tests skipped for lack of data: {without}")
