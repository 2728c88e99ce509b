"""From a folder of runs to the evidence of a table: training runs by seed, or evaluations."""

from collections.abc import Sequence
from pathlib import Path

from ..errors import InputError
from ..store import SUMMARY, seed_folders
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
    done = seed_folders(folder, SUMMARY)
    begun = [path.name for seed, path in seed_folders(folder).items() if seed not in done]
    reason = f"{', '.join(f'{row}/{name}' for name in begun)} not finished" if begun else ""
    return tuple(_read_trained_run(path, row, seed) for seed, path in done.items()), reason


def _read_trained_run(folder: Path, row: str, seed: int) -> Run:
    run = read_run(folder)
    if (run.summary.row, run.summary.seed) != (row, seed):
        own = f"{run.summary.row}/seed{run.summary.seed}"
        raise InputError(f"{folder / 'summary.json'} says {own}; move the folder to its own place.")
    return run
