"""`spadework reproduce`: every row of the ablation table, one run a core at a time, and the table that grows with them.

A row is a recipe; a scale is a set of changes laid over all of them. Finished runs are kept, so the same command
goes on where it was stopped. A run that fails is a missing row with its reason, never a number. It trains nothing
itself: each run is `loop.train` in a worker.
"""

import argparse
import ctypes
import multiprocessing
import os
import signal
import sys
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing.queues import Queue
from pathlib import Path
from queue import Empty
from threading import Thread
from typing import Sequence

from rich.console import Console

from ..harness.console import Terminal
from ..harness.errors import ExitCode, InputError, SpadeworkError, nearest
from ..harness.progress import ProgressDisplay
from ..harness.sandbox import Policy as SandboxPolicy
from ..harness.store import SUMMARY
from ..harness.tables.table import build_table, table_command, terminal_table
from .loop import Say, corpus_lines, train
from .organism import gate_line, resolve
from .recipe import load_recipe

DEFINITION = Path("results/ablations.toml")
ROWS = (
    "base",
    "spade",
    "no_corpus",
    "no_memory",
    "frozen_no_memory",
    "frozen_external",
    "learning_potential",
    "solve_rate",
    "two_skills",
    "fixed_env",
    "rlve",
)
SCALES: dict[str, tuple[str, ...]] = {
    "nano": (),
    "smoke": (
        "scale=smoke",
        "steps=4",
        "window=2",
        "designer.environments=6",
        "play.instances=2",
        "evaluation.validate_every=2",
        "evaluation.validation_share=0.2",
        "evaluation.share=0.05",
        "evaluation.diversity_programs=12",
    ),
}
"""Scale -> what differs from the recipes as they stand. `smoke` shows that the path is whole; its scores mean nothing.
"""
UNTRAINED = ("base",)
"""Rows that train nothing: one run is enough."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Job:
    """One run."""

    row: str
    seed: int
    scale: str
    out: Path
    fresh: bool
    insecure: bool = False
    """Go on where the sandbox lacks a layer that it must have."""

    @property
    def name(self) -> str:
        return f"{self.row} seed {self.seed}"


Message = tuple[str, int, int, str] | tuple[str, str]
"""(job, steps done, steps in all, a few words), or (job, a sentence of its own)."""
_messages: "Queue[Message] | None" = None


def jobs(
    rows: Sequence[str] | None, seeds: int, scale: str, root: Path, fresh: bool, insecure: bool = False
) -> list[Job]:
    """The runs of the table in the order of its rows, seed by seed. InputError for an unknown row or scale."""
    for row in rows or ():
        if row not in ROWS:
            raise InputError(f"there is no row {row!r}{nearest(row, ROWS)}; use {', '.join(ROWS)}.")
    if scale not in SCALES:
        raise InputError(f"there is no scale {scale!r}{nearest(scale, SCALES)}; use {' or '.join(SCALES)}.")
    if seeds < 1:
        raise InputError(f"--seeds is {seeds}; give 1 or more.")
    chosen = [row for row in ROWS if rows is None or row in rows]
    wanted = [(row, seed) for seed in range(seeds) for row in chosen if seed == 0 or row not in UNTRAINED]
    return [
        Job(row=row, seed=seed, scale=scale, out=root / row / f"seed{seed}", fresh=fresh, insecure=insecure)
        for row, seed in wanted
    ]


def run_job(job: Job) -> str:
    """One run in a worker; the reason when it failed, an empty text when it is whole."""
    recipe = load_recipe(job.row, SCALES[job.scale], job.seed)
    queue = _messages
    assert queue is not None

    def report(done: int, total: int, text: str) -> None:
        queue.put((job.name, done, total, text))

    try:
        policy = SandboxPolicy(insecure=job.insecure)
        say: Say = lambda text: queue.put((job.name, text))  # noqa: E731
        train(recipe, job.out, fresh=job.fresh, report=report, say=say, sandbox_policy=policy)
    except SpadeworkError as error:
        return str(error)
    return ""


def reproduce_command(args: argparse.Namespace) -> ExitCode:
    """Train and evaluate what is missing, then write the table."""
    root = Path("results/runs") / args.scale
    wanted = jobs(args.rows, args.seeds, args.scale, root, args.fresh, args.insecure)
    if not DEFINITION.is_file():
        raise InputError(f"no {DEFINITION} here; run the command in a checkout of spadework.")
    console = Terminal()
    for checkpoint in sorted({used for job in wanted for used in _checkpoints(job)}):
        console.print(gate_line(resolve("nano"), checkpoint, required=False), markup=False, highlight=False)
    failures = _run_all(wanted, console, args)
    for name, reason in failures.items():
        console.print(f"failed: {name}: {reason}", markup=False, highlight=False)
    table = argparse.Namespace(
        file=DEFINITION,
        format=None,
        scale=args.scale,
        allow_incomplete=args.allow_incomplete or args.rows is not None,
    )
    code = table_command(table)
    for line in next((lines for job in wanted if (lines := _corpus(job))), []):
        console.print(f"corpus: {line}", markup=False, highlight=False)
    return ExitCode.INCOMPLETE if failures and not args.allow_incomplete else code


def _checkpoints(job: Job) -> set[str]:
    recipe = load_recipe(job.row, SCALES[job.scale], job.seed)
    return {recipe.checkpoint} | ({recipe.source.writer} if recipe.source.kind == "frozen" else set())


def _corpus(job: Job) -> list[str]:
    return corpus_lines(job.out) if (job.out / SUMMARY).is_file() else []


def _run_all(wanted: Sequence[Job], console: Console, args: argparse.Namespace) -> dict[str, str]:
    """A worker of one thread for each core; every finished run shows the table as it stands."""
    context = multiprocessing.get_context("spawn")
    queue: Queue[Message] = context.Queue()
    failures: dict[str, str] = {}
    workers = max(1, min(len(wanted), len(os.sched_getaffinity(0))))
    with ProgressDisplay(console) as display:
        listener = Thread(target=_listen, args=(queue, display), daemon=True)
        listener.start()
        pool = ProcessPoolExecutor(
            workers, mp_context=context, initializer=_start_worker, initargs=(queue, os.getpid())
        )
        try:
            futures: dict[Future[str], Job] = {pool.submit(run_job, job): job for job in wanted}
            for future in as_completed(futures):
                error = future.exception()
                reason = future.result() if error is None else f"{type(error).__name__}: {error}"
                if reason:
                    failures[futures[future].name] = reason
                elif len(wanted) > 1:
                    _show(console, args.scale)
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
    return failures


def _show(console: Console, scale: str) -> None:
    table, _ = build_table(DEFINITION, scale=scale, rank=False)
    console.print(terminal_table(table, width=console.width))


def _listen(queue: "Queue[Message]", display: ProgressDisplay) -> None:
    while True:
        try:
            match queue.get(timeout=1.0):
                case name, text:
                    display.note(f"{name}: {text}")
                case name, done, total, text:
                    display.update(name, done, total, text)
        except Empty:
            continue
        except (EOFError, OSError):
            return


def _start_worker(queue: "Queue[Message]", parent: int) -> None:
    """One thread a worker; a worker dies with its parent, so that a killed command leaves no run locked."""
    global _messages
    _messages = queue
    os.environ["OMP_NUM_THREADS"] = "1"
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(1, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)
