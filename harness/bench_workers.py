"""What one worker costs, for `bench sandbox`: to start, to kill, to keep, to replace."""

import os
import select
import signal
import time
from pathlib import Path

from .bench_fleet import INSTANCES, PROGRAMS, TURNS, action
from .bench_programs import HARBOUR
from .sandbox import EnvProcess, ErrorKind, Limits, Sandbox, close_all, reset_all, step_all

HANGING = """
import itertools

class HangingEnv:
    def reset(self, seed=None):
        return "go", {}

    def step(self, action):
        0.5 in itertools.count(1)
"""
"""A loop in C that no signal interrupts."""
DEADLINE_S = 0.5
TRIES = 10
"""On a crowded machine a deadline is put off, and the last one may find a worker that is not to blame."""


def server_start() -> float:
    """Milliseconds until a server has tried out its jail."""
    started = time.perf_counter()
    sandbox = Sandbox()
    taken = time.perf_counter() - started
    sandbox.close()
    return taken * 1e3


def first_reset(sandbox: Sandbox) -> float:
    """Milliseconds from `open` to the first observation of one program alone."""
    started = time.perf_counter()
    process = sandbox.open(HARBOUR)
    (first,) = process.reset([(0, 1)])
    taken = time.perf_counter() - started
    assert first.error is None, first.error
    process.close()
    return taken * 1e3


def hard_kill() -> float:
    """Milliseconds from a worker's deadline (the last one, where it was put off) to its confirmed death, and to the
    caller's answer; NaN on a machine too crowded to tell."""
    with Sandbox(Limits(frame_wall_s=DEADLINE_S)) as sandbox:
        for _ in range(TRIES):
            process = sandbox.open(HANGING, recover=False)
            process.reset([(0, 1)])
            assert process.channel is not None
            death = select.poll()
            death.register(process.channel.pidfd, select.POLLIN)
            started = time.perf_counter()
            (step,) = process.step([(0, "go")])
            assert death.poll(5_000), "it lives"
            taken = time.perf_counter() - started
            if step.error is not None and step.error.kind is ErrorKind.HANG:
                return taken % DEADLINE_S * 1e3
    return float("nan")


def private_memory(sandbox: Sandbox) -> float:
    """MB that belong to one worker alone, the largest of the fleet after a few turns; NaN when we may not look."""
    processes = sandbox.open_all([HARBOUR] * PROGRAMS)
    reset_all({process: [(number, number) for number in range(INSTANCES)] for process in processes})
    _play(processes)
    largest = max(_private_mb(process) for process in processes)
    close_all(processes)
    return largest


def recovery(sandbox: Sandbox) -> float:
    """Milliseconds that a worker's death adds to the turn after it."""
    process = sandbox.open(HARBOUR)
    process.reset([(number, number) for number in range(INSTANCES)])
    _play([process])
    items = [(number, "look") for number in range(INSTANCES)]
    started = time.perf_counter()
    process.step(items)
    undisturbed = time.perf_counter() - started
    assert process.pid is not None
    os.kill(process.pid, signal.SIGKILL)
    started = time.perf_counter()
    answers = process.step(items)
    taken = time.perf_counter() - started - undisturbed
    assert process.respawns == 1 and not any(step.error for step in answers)
    process.close()
    return taken * 1e3


def _play(processes: list[EnvProcess]) -> None:
    for turn in range(TURNS):
        step_all({process: [(number, action(number, turn)) for number in range(INSTANCES)] for process in processes})


def _private_mb(process: EnvProcess) -> float:
    try:
        lines = Path(f"/proc/{process.pid}/smaps_rollup").read_text().splitlines()
    except PermissionError:
        return float("nan")
    return sum(int(line.split()[1]) for line in lines if line.startswith("Private_")) / 1024
