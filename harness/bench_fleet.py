"""24 programs with 32 instances each, played in process and in the sandbox: the two sides of `bench sandbox`."""

import sys
import time
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from .bench_programs import ACTIONS
from .sandbox import EnvProcess, Isolation, Sandbox, close_all, reset_all, step_all

PROGRAMS, INSTANCES, TURNS = 24, 32, 8
STEPS = PROGRAMS * INSTANCES * TURNS


@dataclass(frozen=True, kw_only=True, slots=True)
class Fleet:
    """How the sandbox plays them."""

    isolation: Isolation
    batched: bool = True
    """All instances of a program in one frame, or a frame for each."""


def action(number: int, turn: int) -> str:
    """What an instance does in a turn."""
    return ACTIONS[(number + turn) % len(ACTIONS)]


def bare_steps(source: str) -> float:
    """CPU microseconds of a step without any protection."""
    fleet = _bare_fleet(source)
    started = time.process_time()
    _bare_play(fleet)
    return (time.process_time() - started) * 1e6 / STEPS


def bare_wall(source: str) -> float:
    """Seconds from the text to the last answer without any protection."""
    started = time.perf_counter()
    _bare_play(_bare_fleet(source))
    return time.perf_counter() - started


def boxed_steps(sandbox: Sandbox, source: str, fleet: Fleet) -> float:
    """CPU microseconds of a step in the sandbox, host and workers together."""
    processes = _boxed_fleet(sandbox, source, fleet)
    before = _cpu_seconds(processes)
    _boxed_play(processes, fleet)
    used = _cpu_seconds(processes) - before
    close_all(processes)
    return used * 1e6 / STEPS


def boxed_wall(sandbox: Sandbox, source: str, fleet: Fleet) -> float:
    """Seconds from the text to the last answer in the sandbox."""
    started = time.perf_counter()
    processes = _boxed_fleet(sandbox, source, fleet)
    _boxed_play(processes, fleet)
    taken = time.perf_counter() - started
    close_all(processes)
    return taken


def _bare_fleet(source: str) -> list[tuple[int, Any]]:
    """Every instance of every program, reset, with its number."""
    environments = []
    for _ in range(PROGRAMS):
        module = sys.modules["environment"] = ModuleType("environment")
        exec(source, module.__dict__)
        (made,) = (value for name, value in vars(module).items() if name.endswith("Env"))
        for number in range(INSTANCES):
            environment = made()
            environment.reset(seed=number)
            environments.append((number, environment))
    del sys.modules["environment"]
    return environments


def _bare_play(fleet: list[tuple[int, Any]]) -> None:
    for turn in range(TURNS):
        for number, environment in fleet:
            environment.step(action(number, turn))


def _boxed_fleet(sandbox: Sandbox, source: str, fleet: Fleet) -> list[EnvProcess]:
    processes = sandbox.open_all([source] * PROGRAMS, isolation=fleet.isolation)
    answers = reset_all({process: [(number, number) for number in range(INSTANCES)] for process in processes})
    assert not any(step.error for steps in answers.values() for step in steps)
    return processes


def _boxed_play(processes: list[EnvProcess], fleet: Fleet) -> None:
    for turn in range(TURNS):
        items = [(number, action(number, turn)) for number in range(INSTANCES)]
        for together in [items] if fleet.batched else [[item] for item in items]:
            answers = step_all(dict.fromkeys(processes, together))
            assert not any(step.error for steps in answers.values() for step in steps)


def _cpu_seconds(processes: list[EnvProcess]) -> float:
    """CPU time of this process and of the workers so far; theirs by their POSIX clocks."""
    workers = (process.pid for process in processes)
    return time.process_time() + sum(time.clock_gettime((~pid << 3) | 2) for pid in workers if pid is not None)
