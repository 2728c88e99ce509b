"""`bench report`: what a report of 10,000 samples weighs, takes to make, and takes to open in a browser.

Two runs of an evaluation with long answers, all of them different; the page is opened in a headless Chromium where
there is one. Seconds are of this machine, crowded or not, so each stands beside that of a report of a tenth of the
samples.
"""

import argparse
import time
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import msgspec
import numpy as np

from .. import cli, jsonl
from ..comparing.bench import write_run
from ..evaluation.report import Scores
from ..seeds import derive
from ..store import RECORDS, SCORES
from .browser import browser, lacking

READY = "const [page] = performance.getEntriesByType('navigation'); return page.domContentLoadedEventEnd / 1000"
WORDS = "def for in range if sorted len append return while else print sum max min input split map int list".split()


class Measured(NamedTuple):
    """One report."""

    bytes: int
    seconds: float
    """To read the runs and write the page, without imports."""
    ready: float | None
    """Seconds until the document with its scripts is ready; None without a browser."""


def main() -> None:
    """Make a report of a tenth of the samples, then of all of them, and print both."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, default=10_000, help="records of both runs together")
    parser.add_argument("--characters", type=int, default=800, help="of an answer")
    given = parser.parse_args()
    with TemporaryDirectory() as folder:
        report([write(Path(folder) / name, number, 8, 10) for number, name in enumerate(("x", "y"))], folder)
        for part in (10, 1):
            found = measure(Path(folder) / str(part), given.samples // part, given.characters)
            ready = lacking() if found.ready is None else f"ready in {found.ready:.2f} s in Chromium"
            print(
                f"report: {given.samples // part:,} samples, {given.characters:,} characters an answer: "
                f"{found.bytes / 1e6:.1f} MB, made in {found.seconds:.2f} s, {ready}"
            )


def measure(folder: Path, samples: int, characters: int) -> Measured:
    """Write two runs, report them, open the page."""
    runs = [write(folder / name, number, samples, characters) for number, name in enumerate(("a", "b"))]
    began = time.perf_counter()
    page = report(runs, str(folder))
    seconds = time.perf_counter() - began
    return Measured(page.stat().st_size, seconds, None if lacking() else ready(page))


def write(run: Path, number: int, samples: int, characters: int) -> Path:
    """One of the two runs, with half of the samples and answers of this length."""
    write_run(run, number, samples // 4)
    for path in (run / RECORDS).glob("*.jsonl"):
        rows = jsonl.read(path)
        for place, row in enumerate(rows):
            row["answer"] = text((number, path.stem, place), characters)
        jsonl.replace(path, rows)
    scores = Scores(digest="none", complete=True, tasks=[], missing={}, models={})
    (run / SCORES).write_bytes(msgspec.json.encode(scores))
    return run


def text(key: tuple[object, ...], characters: int) -> str:
    """Words in an order that depends on the key."""
    rng = np.random.default_rng(derive(0, "bench report", *map(str, key)))
    return " ".join(rng.choice(WORDS, size=characters // 3 + 1))[:characters]


def report(runs: list[Path], folder: str) -> Path:
    """The page of these runs."""
    page = Path(folder) / "page.html"
    with redirect_stdout(StringIO()):
        cli.main(["report", *map(str, runs), "--out", str(page)])
    return page


def ready(page: Path) -> float:
    """Seconds until the page is ready; the second of two openings, so that the browser's own start is not in it."""
    with browser() as chromium:
        chromium.open(page)
        chromium.open(page)
        return float(chromium.run(READY))
