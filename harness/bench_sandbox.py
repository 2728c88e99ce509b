"""`bench sandbox`: the sandbox against in-process execution of the same two programs, seeds and actions.

The programs are ours, so executing them here is safe; nothing a model wrote ever is.
"""

import statistics
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .sandbox import Sandbox, reset_all, step_all

PROGRAMS, INSTANCES, TURNS, REPEATS = 24, 32, 8, 5

LIGHT = """
import random

class OrderEnv:
    def reset(self, seed=None):
        self.words = ["fox", "hen", "oak", "elm", "bee", "cow", "rye", "ash"]
        random.Random(seed).shuffle(self.words)
        self.turn, self.done = 0, 0
        return "order " + " ".join(self.words), {}

    def step(self, action):
        self.turn += 1
        self.done += action.strip() == sorted(self.words)[self.done % 8]
        return f"{self.done} of 8, last {action}", self.done / 8, False, self.turn >= 12, {}
"""
HEAVY = LIGHT.replace(
    "        self.turn += 1\n",
    '        self.turn += 1\n        row = lambda y: "".join(".#"[(x * y + self.turn) % 7 == 0] for x in range(17))\n'
    "        board = [row(y) for y in range(17)]\n",
).replace(", last {action}", ", last {action}\\n{chr(10).join(board)}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Timing:
    """One repetition."""

    open_ms: float
    """Until every program has answered its first reset, wall."""
    reset_us: float
    """One reset among many, wall."""
    wall_us: float
    """One step, wall."""
    cpu_us: float
    """One step, CPU of host and workers."""


def in_process(source: str) -> float:
    """CPU microseconds of a step without any protection."""
    environments = []
    for _ in range(PROGRAMS):
        names: dict[str, Any] = {"__name__": "environment"}
        exec(source, names)
        for seed in range(INSTANCES):
            environments.append(names["OrderEnv"]())
            environments[-1].reset(seed=seed)
    started = time.process_time()
    for _ in range(TURNS):
        for environment in environments:
            environment.step("bee")
    return (time.process_time() - started) * 1e6 / (len(environments) * TURNS)


def sandboxed(sandbox: Sandbox, source: str) -> Timing:
    """The same in the sandbox, every program in its own process."""
    started = time.perf_counter()
    processes = [sandbox.open(source) for _ in range(PROGRAMS)]
    reset_all({process: [(0, 0)] for process in processes})
    opened = time.perf_counter()
    reset_all({process: [(number, number) for number in range(INSTANCES)] for process in processes})
    reset = time.perf_counter()
    workers = children(sandbox.server_pid)
    before, wall = time.process_time() + cpu_seconds(workers), time.perf_counter()
    for _ in range(TURNS):
        step_all({process: [(number, "bee") for number in range(INSTANCES)] for process in processes})
    wall, used = time.perf_counter() - wall, time.process_time() + cpu_seconds(workers) - before
    for process in processes:
        process.close()
    steps = PROGRAMS * INSTANCES * TURNS
    return Timing(
        open_ms=(opened - started) * 1e3,
        reset_us=(reset - opened) * 1e6 / (PROGRAMS * INSTANCES),
        wall_us=wall * 1e6 / steps,
        cpu_us=used * 1e6 / steps,
    )


def children(pid: int) -> list[int]:
    """The processes a process started."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def cpu_seconds(pids: list[int]) -> float:
    """CPU time of other processes so far, by their POSIX clocks."""
    return sum(time.clock_gettime((~pid << 3) | 2) for pid in pids)


def first_reset(sandbox: Sandbox) -> float:
    """Milliseconds from `open` to the first observation of one program alone."""
    started = time.perf_counter()
    process = sandbox.open(LIGHT)
    process.reset([(0, 1)])
    taken = (time.perf_counter() - started) * 1e3
    process.close()
    return taken


def main() -> None:
    """Print medians of five repetitions, ours and unprotected taken in turn."""
    with Sandbox() as sandbox:
        print(
            f"open to first reset: {statistics.median(first_reset(sandbox) for _ in range(REPEATS)):.1f} ms a program"
        )
        for name, source in (("light", LIGHT), ("heavy", HEAVY)):
            runs = [(in_process(source), sandboxed(sandbox, source)) for _ in range(REPEATS)]
            bare = statistics.median(one for one, _ in runs)
            timings = [timing for _, timing in runs]
            cpu = statistics.median(timing.cpu_us for timing in timings)
            print(
                f"{name}: {PROGRAMS} programs x {INSTANCES} instances; in process {bare:.1f} us CPU a step, "
                f"sandbox {cpu:.1f} us CPU, {statistics.median(timing.wall_us for timing in timings):.1f} us wall, "
                f"ratio {statistics.median(timing.cpu_us / one for one, timing in runs):.2f}; "
                f"all open in {statistics.median(timing.open_ms for timing in timings):.0f} ms, "
                f"a reset {statistics.median(timing.reset_us for timing in timings):.0f} us"
            )


if __name__ == "__main__":
    main()
