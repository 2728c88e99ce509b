"""Fixtures of the whole suite: where the test data lie, and how many tests went without."""

import os
from pathlib import Path

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


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Under CI=true a missing data folder is never silent."""
    if os.environ.get("CI") == "true":
        skipped = terminalreporter.stats.get("skipped", [])
        without = sum(DATA_VARIABLE in str(report.longrepr) for report in skipped)
        terminalreporter.write_line(f"tests skipped for lack of data: {without}")
