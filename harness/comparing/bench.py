"""`bench compare`: what a comparison of 100,000 samples in two runs takes, against reading their files alone.

One benchmark is unrepeated (McNemar), the other a mean over categories of several samples an item (sign flips): the
dearest tests there are.
"""

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import msgspec
import numpy as np

from .. import cli, jsonl
from ..benchmark import Preset
from ..evaluation.records import Record
from ..evaluation.settings import EvaluationSettings, TaskSettings
from ..seeds import derive
from ..store import CONFIG, RECORDS
from ..types import Outcome, Sampling

REPEATS = {"single": 1, "repeated": 4}
"""Samples of an item, by the name of the benchmark."""
CATEGORIES = 4


def main() -> None:
    """Write two runs, then compare them and read them, each in turn; the ratio is one of CPU times."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, default=100_000, help="records of both runs together")
    given = parser.parse_args()
    with TemporaryDirectory() as folder:
        runs = [write_run(Path(folder) / name, number, given.samples // 4) for number, name in enumerate(("a", "b"))]
        cold, whole, alone = clock(lambda: compare(runs)), clock(lambda: compare(runs)), clock(lambda: read_all(runs))
        print(
            f"compare: {read_all(runs):,} records of two runs in "
            f"{cold.wall:.2f} s with imports ({cold.cpu:.2f} s of CPU), "
            f"{whole.wall:.2f} s without ({whole.cpu:.2f}); {whole.cpu / alone.cpu:.1f} times the CPU that reading "
            f"and parsing their lines takes ({alone.cpu:.2f})"
        )


def write_run(run: Path, number: int, samples: int) -> Path:
    """One run: `samples` records of each benchmark; the second run is right a little more often."""
    tasks = {}
    for name, repeats in REPEATS.items():
        preset = Preset(
            benchmark=name, name="official", source="a measurement", sampling=Sampling(), repeats=repeats,
            mean="categories" if repeats > 1 else "items",
        )  # fmt: skip
        tasks[name] = TaskSettings(
            reference="none:NONE", preset=preset, scorer_version="1", closed=False, limit=None,
            n_items=samples // repeats, items=name,
        )  # fmt: skip
        jsonl.append(run / RECORDS / f"{name}.jsonl", records(name, number, samples // repeats, repeats))
    settings = EvaluationSettings(model="none", engine="scripted", tasks=tasks)
    (run / CONFIG).write_bytes(msgspec.json.encode({"digest": "none", "config": settings}))
    return run


def records(name: str, number: int, items: int, repeats: int) -> Iterator[dict[str, object]]:
    """Lines with answers of a usual length."""
    rng = np.random.default_rng(derive(number, "bench compare", name))
    right_IR = rng.random((items, repeats)) < 0.5 + 0.02 * number
    for item in range(items):
        for repeat in range(repeats):
            right = bool(right_IR[item, repeat])
            record = Record(
                item=f"{derive(item, 'item'):016x}", category=f"part {item % CATEGORIES}", repeat=repeat,
                outcome=Outcome.RIGHT if right else Outcome.WRONG, reward=float(right), scorer="1",
                answer=f"the answer to question {item} is {int(right)}", gold=f"{derive(item, 'gold'):016x}",
                facts={"tokens": 500 + item % 100, "seconds": 1.5},
            )  # fmt: skip
            yield msgspec.to_builtins(record)


def compare(runs: Sequence[Path]) -> None:
    """The verb, with what it prints thrown away."""
    with redirect_stdout(StringIO()):
        cli.main(["compare", *map(str, runs)])


def read_all(runs: Sequence[Path]) -> int:
    """How many lines there are, each of them parsed."""
    return sum(len(jsonl.read(run / RECORDS / f"{name}.jsonl")) for run in runs for name in REPEATS)


class Clock(NamedTuple):
    """Seconds of an act."""

    wall: float
    cpu: float


def clock(act: Callable[[], object]) -> Clock:
    """Time an act once."""
    wall, cpu = time.perf_counter(), time.process_time()
    act()
    return Clock(time.perf_counter() - wall, time.process_time() - cpu)
