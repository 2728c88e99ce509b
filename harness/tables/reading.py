"""From a folder of runs to the evidence of a table: training runs by seed, or evaluations."""

from collections.abc import Sequence
from pathlib import Path

from ..errors import InputError
from ..store import CONFIG, SUMMARY
from .evaluations import evaluation_folders, read_evaluations
from .runs import Evidence, Run, agree, read_run


def read_runs(folder: Path, rows: Sequence[str], scale: str) -> Evidence:
    """The evidence of the named rows under `folder`; a row without a finished run has an empty tuple, and a reason.

    Raises InputError, naming the file, for damage and for runs that do not belong together.
    """
    runs: dict[str, tuple[Run, ...]] = {}
    absent: dict[str, str] = {}
    for row in rows:
        found = read_evaluations if evaluation_folders(folder / row) else _read_trained
        runs[row], reason = found(folder / row, row)
        if not runs[row]:
            absent[row] = f"no finished run ({reason})" if reason else "no finished run"
    evidence = Evidence(runs=runs, absent=absent)
    agree(evidence, scale)
    return evidence


def any_run(folder: Path, rows: Sequence[str]) -> bool:
    """Whether there is a finished training run or an evaluation under `folder`."""
    return any(folder.glob(f"*/seed*/{SUMMARY}")) or any(evaluation_folders(folder / row) for row in rows)


def _read_trained(folder: Path, row: str) -> tuple[tuple[Run, ...], str]:
    seeds = _seeds(folder)
    done = [seed for seed in seeds if (folder / f"seed{seed}" / SUMMARY).is_file()]
    begun = [seed for seed in seeds if seed not in done and (folder / f"seed{seed}" / CONFIG).is_file()]
    reason = f"{', '.join(f'{row}/seed{seed}' for seed in begun)} not finished" if begun else ""
    return tuple(_read_trained_run(folder / f"seed{seed}", row, seed) for seed in done), reason


def _seeds(folder: Path) -> list[int]:
    names = [path.name.removeprefix("seed") for path in folder.glob("seed*") if path.is_dir()]
    return sorted(int(name) for name in names if name.isdecimal())


def _read_trained_run(folder: Path, row: str, seed: int) -> Run:
    run = read_run(folder)
    if (run.summary.row, run.summary.seed) != (row, seed):
        own = f"{run.summary.row}/seed{run.summary.seed}"
        raise InputError(f"{folder / 'summary.json'} says {own}; move the folder to its own place.")
    return run
