"""Speed of the sandbox against in-process execution of the same program and seeds: python tests/harness/sandbox/bench.py"""

import random
import resource
import statistics
import sys
import time

from spadework.harness.sandbox import Sandbox, reset_all, step_all

PROGRAMS, INSTANCES, TURNS, REPEATS = 24, 32, 8, 5
SOURCE = '''
import random

class OrderEnv:
    def __init__(self, max_turns=12):
        self.max_turns = max_turns

    def reset(self, seed=None):
        words = ["fox", "hen", "oak", "elm", "bee", "cow", "rye", "ash"]
        random.shuffle(words)
        self.words, self.turn, self.done = words, 0, 0
        return "order " + " ".join(words), {}

    def step(self, action):
        self.turn += 1
        wanted = sorted(self.words)[self.done % 8]
        self.done += action.strip() == wanted
        ended = self.turn >= self.max_turns
        return f"{self.done} of 8, last {action}", self.done / 8, False, ended, {}
'''


def in_process() -> float:
    """Microseconds of CPU a step, without any protection."""
    environments = []
    for _ in range(PROGRAMS):
        names: dict[str, object] = {"__name__": "environment"}
        exec(SOURCE, names)
        for seed in range(INSTANCES):
            random.seed(seed)
            environment = names["OrderEnv"]()  # type: ignore[operator]
            environment.reset(seed=seed)
            environments.append(environment)
    started = time.process_time()
    for _ in range(TURNS):
        for environment in environments:
            environment.step("bee")
    return (time.process_time() - started) / (len(environments) * TURNS) * 1e6


def worker_cpu(pids: list[int]) -> float:
    """CPU seconds of the given processes so far."""
    return sum(time.clock_gettime((~pid << 3) | 2) for pid in pids)


def sandboxed(sandbox: Sandbox) -> tuple[float, float, float, float]:
    """(open to first reset of all, reset, wall us a step, host and worker CPU us a step)."""
    started = time.perf_counter()
    processes = [sandbox.open(SOURCE) for _ in range(PROGRAMS)]
    reset_all({process: [(0, 0)] for process in processes})
    opened = time.perf_counter()
    reset_all({process: [(number, number) for number in range(INSTANCES)] for process in processes})
    reset = time.perf_counter()
    with open(f"/proc/{sandbox._server.pid}/task/{sandbox._server.pid}/children", encoding="ascii") as listing:
        pids = [int(pid) for pid in listing.read().split()]
    host, workers, wall = time.process_time(), worker_cpu(pids), time.perf_counter()
    for _ in range(TURNS):
        step_all({process: [(number, "bee") for number in range(INSTANCES)] for process in processes})
    steps = PROGRAMS * INSTANCES * TURNS / 1e6
    result = (
        (opened - started) * 1e3, (reset - opened) * 1e3, (time.perf_counter() - wall) / steps,
        (time.process_time() - host + worker_cpu(pids) - workers) / steps,
    )  # fmt: skip
    for process in processes:
        process.close()
    return result


def main() -> None:
    """Print medians of five."""
    with Sandbox() as sandbox:
        single = []
        for _ in range(REPEATS):
            started = time.perf_counter()
            process = sandbox.open(SOURCE)
            process.reset([(0, 1)])
            single.append((time.perf_counter() - started) * 1e3)
            process.close()
        runs = [(in_process(), *sandboxed(sandbox)) for _ in range(REPEATS)]
    base, opened, reset, wall, cpu = (statistics.median(column) for column in zip(*runs))
    print(f"open to first reset, one program: {statistics.median(single):.1f} ms; {PROGRAMS} at once: {opened:.1f} ms")
    print(f"{INSTANCES} resets of {PROGRAMS} programs: {reset:.1f} ms ({reset * 1e3 / PROGRAMS / INSTANCES:.0f} us each)")
    print(f"step, {PROGRAMS} x {INSTANCES} batched: in process {base:.1f} us CPU; sandbox {wall:.1f} us wall, {cpu:.1f} us CPU")
    print(f"CPU ratio {cpu / base:.2f}; peak memory of the host {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10} MiB")


if __name__ == "__main__":
    sys.exit(main())
