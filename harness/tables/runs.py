"""The evidence of a table: finished runs with their per-item answers, from run folders.

A run lies at `<runs>/<row>/seed<N>/`:

    summary.json                      `Summary`; written last, so a folder without it is an unfinished run
    records/<checkpoint>.<mode>.jsonl checkpoint chosen | last, mode greedy | sampled; one line a sample:
                                      {"item": "hard/order/6/17", "category": "hard", "outcome": "right", "reward": 0.5}
    config.json, metrics.jsonl        carried along by `pack`
    provenance.json                   whether a sandbox of the run lacked a layer that it must have

`last.*` may be left out when the summary says that the chosen checkpoint is the last. The compact copy of the same
evidence, which is committed, is read by `pack`. What this is not: a maker of numbers.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import msgspec

from ..answers import Answers, parse
from ..errors import InputError
from ..provenance import insecure_lines

CHECKPOINTS = ("chosen", "last")
MODES = ("greedy", "sampled")


class Steps(msgspec.Struct, frozen=True, kw_only=True):
    """At which training step each evaluated checkpoint was saved."""

    chosen: int
    last: int


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """What a finished run says of itself; keys beyond these are allowed and ignored."""

    row: str
    seed: int
    scale: str
    digest: str
    """Of the resolved config."""
    steps: int
    metrics: dict[str, float | None]
    """Numbers of the whole run; None where the row has no such thing (a fixed pool has no valid share)."""
    checkpoints: Steps
    task_digest: str
    corpus_digest: str | None = None


@dataclass(frozen=True, kw_only=True)
class Run:
    """One finished run."""

    summary: Summary
    answers: dict[str, Answers]
    """By `<checkpoint>.<mode>`."""
    files: dict[str, str]
    """Texts that travel with the packed copy, by file name."""
    insecure: tuple[str, ...] = ()
    """What its sandboxes lacked of the layers that must hold; empty for a run whose sandbox held."""

    def answered(self, checkpoint: str, mode: str) -> Answers | None:
        """The answers of a checkpoint; the chosen one stands for the last (and back) when they are the same step."""
        found = self.answers.get(f"{checkpoint}.{mode}")
        steps = self.summary.checkpoints
        if found is None and steps.chosen == steps.last:
            found = next((a for c in CHECKPOINTS if (a := self.answers.get(f"{c}.{mode}"))), None)
        return found


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """Finished runs by row, each row's in the order of its seeds."""

    runs: dict[str, tuple[Run, ...]]

    @property
    def digest(self) -> str:
        """First 16 hex digits of the sha256 over items, outcomes and rewards of all runs; no time enters."""
        hasher = sha256()
        for run in self.every_run():
            for key, answers in sorted(run.answers.items()):
                hasher.update(f"{run.summary.row}/{run.summary.seed}/{key}/{answers.listed.digest}".encode())
                hasher.update(answers.outcomes_IR.tobytes())
                hasher.update(answers.rewards_IR.astype("<f8").tobytes())
        return hasher.hexdigest()[:16]

    def every_run(self) -> Iterator[Run]:
        """All runs, by row and seed."""
        return (run for row in sorted(self.runs) for run in self.runs[row])


def read_runs(folder: Path, rows: Sequence[str], scale: str) -> Evidence:
    """The evidence of the named rows under `folder`; a row without a finished run has an empty tuple.

    Raises InputError, naming the file, for damage and for runs that do not belong together.
    """
    runs: dict[str, tuple[Run, ...]] = {}
    for row in rows:
        done = [seed for seed in _seeds(folder / row) if (folder / row / f"seed{seed}" / "summary.json").is_file()]
        runs[row] = tuple(_read_run(folder / row / f"seed{seed}", row, seed) for seed in done)
    evidence = Evidence(runs=runs)
    agree(evidence, scale)
    return evidence


def agree(evidence: Evidence, scale: str) -> None:
    """Refuse runs of another scale, of another task, or with other items than the first run has."""
    first: Summary | None = None
    lists: dict[str, tuple[str, str, int]] = {}
    for run in evidence.every_run():
        own, name = run.summary, f"{run.summary.row}/seed{run.summary.seed}"
        first = first or own
        if own.scale != scale:
            raise InputError(f"{name} was run at scale {own.scale!r}, the table is of {scale!r}; move that run away.")
        if own.task_digest != first.task_digest:
            raise InputError(
                f"{name} was evaluated on task {own.task_digest}, {first.row}/seed{first.seed} on {first.task_digest}; "
                "evaluate both on the same task."
            )
        for key, answers in sorted(run.answers.items()):
            mode = key.partition(".")[2]
            mine = (answers.listed.digest, name, answers.outcomes_IR.shape[1])
            theirs = lists.setdefault(mode, mine)
            if (mine[0], mine[2]) != (theirs[0], theirs[2]):
                raise InputError(
                    f"{name} and {theirs[1]} answered other {mode} items; evaluate the incomplete one again."
                )


def _seeds(folder: Path) -> list[int]:
    names = [path.name.removeprefix("seed") for path in folder.glob("seed*") if path.is_dir()]
    return sorted(int(name) for name in names if name.isdecimal())


def _read_run(folder: Path, row: str, seed: int) -> Run:
    run = read_run(folder)
    if (run.summary.row, run.summary.seed) != (row, seed):
        own = f"{run.summary.row}/seed{run.summary.seed}"
        raise InputError(f"{folder / 'summary.json'} says {own}; move the folder to its own place.")
    return run


def read_run(folder: Path) -> Run:
    """One finished run. Raises InputError, naming the file, for damage."""
    path = folder / "summary.json"
    try:
        summary = msgspec.json.decode(path.read_bytes(), type=Summary)
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise InputError(f"{path} is damaged ({error}); run this row again with --fresh.") from None
    answers = {}
    for checkpoint in CHECKPOINTS:
        for mode in MODES:
            lines = folder / "records" / f"{checkpoint}.{mode}.jsonl"
            if lines.is_file():
                answers[f"{checkpoint}.{mode}"] = parse(lines.read_bytes(), str(lines), repeats=mode == "sampled")
    files = {
        name: (folder / name).read_text() for name in ("config.json", "metrics.jsonl") if (folder / name).is_file()
    }
    insecure = tuple(insecure_lines(folder / "provenance.json"))
    return Run(summary=summary, answers=answers, files=files, insecure=insecure)
