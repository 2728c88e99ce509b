"""A worker that dies during play is started again and its instances replayed: whole episodes, compared with the ones
that nothing disturbed. Whoever brought it down goes alone.
"""

import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest

from spadework.harness.episode import play
from spadework.harness.sandbox import (
    EnvProcess,
    ErrorKind,
    Isolation,
    Layer,
    Limits,
    Policy,
    Sandbox,
    SandboxUnavailable,
    Step,
    load_all,
    reset_all,
    step_all,
)  # fmt: skip
from spadework.harness.sandbox.channel import exchange
from spadework.harness.scripted import ScriptedModel
from spadework.harness.types import Arm, Completion, Outcome, Play, Program, Request, Sampling

from ..toy_dialect import STOP, CharDialect, decode, encode
from .battery.hostile import TOOLS
from .battery.watching import descendants, running
from .programs import GLOBALS

LIMITS = Limits(load_cpu_s=1.0, call_cpu_s=0.2, frame_wall_s=1.0, memory_mb=256, respawns=100)
PATIENT = replace(LIMITS, frame_wall_s=20.0, call_cpu_s=2.0)
"""For programs that do not hang, so that a crowded machine cannot make them."""
INSTANCES, TURNS = range(6), 6
BY_NAMESPACE = {"namespaces": Policy(), "no namespaces": Policy(off=(Layer.NAMESPACES,))}

WALK = """
import random
from dataclasses import dataclass, field
SEEN = []

@dataclass
class Walk:
    path: list = field(default_factory=list)

class WalkEnv:
    calls = 0
    def reset(self, seed=None):
        self.walk, self.rng = Walk(), random.Random(seed)
        SEEN.append(seed)
        return f"start {seed} {random.random()} {SEEN}", {"seed": seed}

    def step(self, action):
        WalkEnv.calls += 1
        self.walk.path.append((action, self.rng.randint(0, 99), random.randint(0, 99), random.Random().random()))
        SEEN.append(action)
        ended = len(self.walk.path) > 9
        view = f"{self.walk} {SEEN} {WalkEnv.calls}"
        return view, self.rng.random(), ended, not ended and action == "cut", {"n": SEEN}
"""


ALONE = """
import random
class AloneEnv:
    def reset(self, seed=None):
        self.rng, self.path = random.Random(seed), []
        return f"start {seed}", {}

    def step(self, action):
        self.path.append((action, self.rng.random()))
        return f"{self.path}", 0.5, False, False, {}
"""
"""Has no state but its instances' own: fit for a module that all share."""


def troublesome(statement: str) -> str:
    """A program that plays well, but that an instance told "go" runs the statement; `os` and the rest are in reach."""
    lines = "".join(f"            {line}\n" for line in statement.strip().splitlines())
    return f"""{TOOLS}
class TroubleEnv:
    def reset(self, seed=None):
        self.seed, self.said = seed, []
        return f"seed {{seed}}", {{}}

    def step(self, action):
        self.said.append(action)
        if action == "go":
{lines}
        return f"{{self.seed}} {{self.said}}", 0.0, False, False, {{}}
"""


HANG = "import itertools\n0.5 in itertools.count(1)"
SWALLOW = """
n = 0
while True:
    try:
        n += 1
        while True: n += 1
    except BaseException: n += 1
"""
"""An alarm is raised at the instruction before a loop: that one must lie within the `try` as well."""
CULPRITS = {
    "hang": (HANG, ErrorKind.HANG),
    "swallow": (SWALLOW, ErrorKind.HANG),
    "clock off": ("tool('signal').setitimer(2, 0)\nwhile True: pass", ErrorKind.HANG),
    "exit": ("tool('os')._exit(0)", ErrorKind.EARLY_EXIT),
    "exit 137": ("tool('os')._exit(137)", ErrorKind.EARLY_EXIT),
    "thread exit": ("raw(60, 0)", ErrorKind.EARLY_EXIT),
    "abort": ("tool('os').abort()", ErrorKind.CRASH),
    "null pointer": ("tool('ctypes').string_at(0)", ErrorKind.CRASH),
    "x32": ("kernel(39 | 0x40000000)", ErrorKind.FORBIDDEN),
    "garbage": ("tool('os').write(4, b'\\xff' * 100)", ErrorKind.PROTOCOL),
    "two answers": ("tool('os').write(4, b'\\x09\\0\\0\\0[\"\",\"\",[]]')", ErrorKind.PROTOCOL),
}
X86_ONLY = {"thread exit", "x32"}


def said(number: int, turn: int) -> str:
    return f"{number}.{turn}"


def reset_all_of(process: EnvProcess) -> list[Step]:
    return process.reset([(number, number) for number in INSTANCES])


def turn_of(process: EnvProcess, turn: int) -> list[Step]:
    return process.step([(number, said(number, turn)) for number in INSTANCES])


def undisturbed(sandbox: Sandbox, source: str, isolation: Isolation = "module") -> list[list[Step]]:
    process = sandbox.open(source, isolation=isolation)
    steps = [reset_all_of(process), *(turn_of(process, turn) for turn in range(TURNS))]
    assert process.respawns == 0 and not any(step.error for turn in steps for step in turn)
    process.close()
    return steps


def kill_worker(process: EnvProcess) -> None:
    """SIGKILL from outside; returns when it is dead."""
    assert process.pid is not None
    pid = process.pid
    os.kill(pid, signal.SIGKILL)
    while running(pid):
        time.sleep(0.001)


def kill_server(sandbox: Sandbox, *processes: EnvProcess) -> None:
    """SIGKILL from outside; returns when its workers are dead."""
    workers = [process.pid for process in processes]
    os.kill(sandbox.server_pid, signal.SIGKILL)
    while any(map(running, workers)):
        time.sleep(0.001)


def kind_of(step: Step) -> tuple[ErrorKind, str] | None:
    return None if step.error is None else (step.error.kind, step.error.fault)


@contextmanager
def interrupted_after(seconds: float) -> Iterator[None]:
    """A signal whose handler raises, as Ctrl-C does; it must have come by the end."""

    def interrupt(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        with pytest.raises(KeyboardInterrupt):
            yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(PATIENT) as shared:
        yield shared


@pytest.fixture(scope="module")
def hasty() -> Iterator[Sandbox]:
    with Sandbox(LIMITS) as shared:
        yield shared


# Somebody else's doing.


@pytest.mark.parametrize("isolation", ["module", "shared"])
def test_a_worker_killed_before_any_turn_plays_the_same_episodes(sandbox: Sandbox, isolation: Isolation) -> None:
    source = WALK if isolation == "module" else ALONE
    expected = undisturbed(sandbox, source, isolation)
    for moment in range(TURNS + 1):
        process = sandbox.open(source, isolation=isolation)
        steps = []
        for turn in range(-1, TURNS):
            if turn == moment - 1:
                process.load()
                kill_worker(process)
            steps.append(reset_all_of(process) if turn < 0 else turn_of(process, turn))
        assert steps == expected, f"killed before turn {moment}"
        assert process.respawns == 1 and process.culprits == 0
        process.close()


def test_a_worker_killed_before_every_turn_plays_the_same_episodes(sandbox: Sandbox) -> None:
    expected = undisturbed(sandbox, WALK)
    process = sandbox.open(WALK)
    process.load()
    steps = []
    for turn in range(-1, TURNS):
        kill_worker(process)
        steps.append(reset_all_of(process) if turn < 0 else turn_of(process, turn))
    assert steps == expected and process.respawns == TURNS + 1
    process.close()


def test_a_worker_killed_at_any_moment_of_a_turn_plays_the_same_episodes(sandbox: Sandbox) -> None:
    """By a thread, at moments that nobody chose: while it reads, computes, writes, or is being replayed."""
    source = WALK.replace("        WalkEnv.calls += 1\n", "        WalkEnv.calls += 1\n        sum(range(30_000))\n")
    expected = undisturbed(sandbox, source)
    process = sandbox.open(source)
    process.load()
    over = threading.Event()

    def shoot() -> None:
        while not over.wait(0.017):
            pid = process.pid
            if pid is not None and pid > 0 and running(pid):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            if process.respawns > 40:
                return

    killer = threading.Thread(target=shoot)
    killer.start()
    try:
        steps = [reset_all_of(process), *(turn_of(process, turn) for turn in range(TURNS))]
    finally:
        over.set()
        killer.join()
    assert steps == expected and process.culprits == 0
    process.close()


@pytest.mark.parametrize("policy", BY_NAMESPACE)
def test_a_server_killed_before_any_turn_takes_no_episode_along(policy: str) -> None:
    with Sandbox(PATIENT, BY_NAMESPACE[policy]) as sandbox:
        expected = undisturbed(sandbox, WALK)
        processes = sandbox.open_all([WALK] * 3)
        load_all(processes)
        played: dict[EnvProcess, list[list[Step]]] = {process: [] for process in processes}
        for turn in range(-1, TURNS):
            if turn % 2 == 0:
                kill_server(sandbox, *processes)
            if turn < 0:
                answers = reset_all({process: [(n, n) for n in INSTANCES] for process in processes})
            else:
                answers = step_all({process: [(n, said(n, turn)) for n in INSTANCES] for process in processes})
            for process, steps in answers.items():
                played[process].append(steps)
        assert list(played.values()) == [expected] * 3
        assert [process.respawns for process in processes] == [3, 3, 3]


def test_a_server_that_dies_at_any_moment_of_a_turn_takes_no_episode_along() -> None:
    source = WALK.replace("        WalkEnv.calls += 1\n", "        WalkEnv.calls += 1\n        sum(range(30_000))\n")
    with Sandbox(PATIENT) as sandbox:
        expected = undisturbed(sandbox, source)
        processes = sandbox.open_all([source] * 3)
        load_all(processes)
        shots = 0
        over = threading.Event()

        def shoot() -> None:
            nonlocal shots
            while not over.wait(0.15) and shots < 4:
                with suppress(ProcessLookupError):
                    os.kill(sandbox.server_pid, signal.SIGKILL)
                    shots += 1

        killer = threading.Thread(target=shoot)
        killer.start()
        try:
            played = [reset_all({process: [(n, n) for n in INSTANCES] for process in processes})]
            for turn in range(TURNS):
                time.sleep(0.05)
                played.append(step_all({process: [(n, said(n, turn)) for n in INSTANCES] for process in processes}))
        finally:
            over.set()
            killer.join()
        assert shots
        for process in processes:
            assert [answers[process] for answers in played] == expected
            assert process.culprits == 0


def test_the_first_process_of_the_namespace_may_die_as_well() -> None:
    with Sandbox(PATIENT) as sandbox:
        process = sandbox.open(WALK)
        reset_all_of(process)
        (inner,) = descendants(sandbox.server_pid) - {process.pid}
        os.kill(inner, signal.SIGKILL)
        while running(inner):  # a worker that is killed a moment later may still answer
            time.sleep(0.001)
        assert not any(step.error for step in turn_of(process, 0)) and process.respawns == 1


def test_without_recovery_a_death_ends_every_instance_at_once(sandbox: Sandbox) -> None:
    process = sandbox.open(WALK, recover=False)
    reset_all_of(process)
    kill_worker(process)
    assert {kind_of(step) for step in turn_of(process, 0)} == {(ErrorKind.KILLED, "host")}
    assert {kind_of(step) for step in reset_all_of(process)} == {(ErrorKind.KILLED, "host")}
    assert process.respawns == 0
    process.close()
    process = sandbox.open(troublesome("tool('os')._exit(3)"), recover=False)
    reset_all_of(process)
    steps = process.step([(0, "stay"), (1, "go"), (2, "stay")])
    assert {kind_of(step) for step in steps} == {(ErrorKind.EARLY_EXIT, "program")}
    process.close()


def test_a_process_that_is_killed_again_and_again_is_given_up_as_the_hosts_fault() -> None:
    with Sandbox(replace(PATIENT, respawns=2)) as sandbox:
        process, other = sandbox.open_all([WALK, WALK])
        reset_all_of(process), reset_all_of(other)
        for turn in range(2):
            kill_worker(process)
            assert not any(step.error for step in turn_of(process, turn))
        kill_worker(process)
        assert {kind_of(step) for step in turn_of(process, 2)} == {(ErrorKind.KILLED, "host")}
        assert process.culprits == 0
        assert not any(step.error for step in turn_of(other, 0))


# An instance's doing.


@pytest.mark.parametrize("name", CULPRITS)
def test_who_brings_the_process_down_goes_alone_with_the_right_kind(hasty: Sandbox, name: str) -> None:
    if name in X86_ONLY and os.uname().machine != "x86_64":
        pytest.skip("the number is x86-64's")
    statement, kind = CULPRITS[name]
    process = hasty.open(troublesome(statement))
    reset_all_of(process)
    assert not any(step.error for step in turn_of(process, 0))
    steps = process.step([(number, "go" if number == 3 else said(number, 1)) for number in INSTANCES])
    assert kind_of(steps[3]) == (kind, "program"), steps[3]
    others = [number for number in INSTANCES if number != 3]
    assert [steps[n].observation for n in others] == [f"{n} ['{n}.0', '{n}.1']" for n in others]
    after = process.step([(number, said(number, 2)) for number in others])
    assert [step.observation for step in after] == [f"{n} ['{n}.0', '{n}.1', '{n}.2']" for n in others]
    assert kind_of(process.step([(3, "stay")])[0]) == (ErrorKind.MISUSE, "host")
    assert process.reset([(3, 3)])[0].error is None and process.culprits == 1
    assert hasty.alive()
    process.close()


def test_a_culprit_in_a_reset_goes_alone_too(sandbox: Sandbox) -> None:
    source = troublesome("pass").replace("self.seed, self.said = seed, []", (
        "self.seed, self.said = seed, []\n        if seed == 2: tool('os')._exit(0)"
    ))  # fmt: skip
    process = sandbox.open(source)
    steps = reset_all_of(process)
    wanted = [None, None, (ErrorKind.EARLY_EXIT, "program"), None, None, None]
    assert [kind_of(step) for step in steps] == wanted
    others = [(number, "x") for number in INSTANCES if number != 2]
    assert not any(step.error for step in process.step(others))
    process.close()


def test_two_culprits_give_the_program_up_with_the_kind_of_the_last(sandbox: Sandbox) -> None:
    process = sandbox.open(troublesome("tool('os')._exit(0) if self.seed < 3 else tool('os').abort()"))
    reset_all_of(process)
    steps = process.step([(number, "go" if number in (1, 4) else "stay") for number in INSTANCES])
    assert kind_of(steps[1]) == (ErrorKind.EARLY_EXIT, "program")
    assert kind_of(steps[4]) == kind_of(steps[5]) == (ErrorKind.CRASH, "program")
    assert {kind_of(step) for step in turn_of(process, 1)} == {(ErrorKind.CRASH, "program")}
    assert {kind_of(step) for step in reset_all_of(process)} == {(ErrorKind.CRASH, "program")}
    assert process.culprits == 2
    process.close()


def test_a_program_whose_every_reset_kills_it_costs_few_processes(sandbox: Sandbox) -> None:
    process = sandbox.open(troublesome("pass").replace("self.seed, self.said = seed, []", "tool('os')._exit(0)"))
    started = time.monotonic()
    steps = process.reset([(number, 1) for number in range(64)])
    assert {kind_of(step) for step in steps} == {(ErrorKind.EARLY_EXIT, "program")}
    assert process.respawns <= 3 and time.monotonic() - started < 3.0
    process.close()


def test_a_neighbour_in_the_same_call_never_notices(hasty: Sandbox) -> None:
    bad, good = hasty.open_all([troublesome(HANG), WALK])
    for process in (bad, good):
        reset_all_of(process)
    answers = step_all({
        bad: [(number, "go" if number == 0 else "stay") for number in INSTANCES],
        good: [(number, said(number, 0)) for number in INSTANCES],
    })  # fmt: skip
    assert [step.error is None for step in answers[bad]] == [False, True, True, True, True, True]
    assert not any(step.error for step in answers[good]) and good.respawns == 0
    for process in (bad, good):
        process.close()


def test_the_cpu_time_of_a_whole_life_is_kept_by_the_kernel() -> None:
    with Sandbox(replace(LIMITS, life_cpu_s=1, frame_wall_s=20.0)) as sandbox:
        process = sandbox.open(troublesome("tool('signal').setitimer(2, 0)\nwhile True: pass"))
        reset_all_of(process)
        steps = process.step([(0, "stay"), (1, "go"), (2, "stay")])
        assert [kind_of(step) for step in steps] == [None, (ErrorKind.CPU_EXHAUSTED, "program"), None]


def test_memory_that_one_instance_takes_is_given_back_with_it(sandbox: Sandbox) -> None:
    process = sandbox.open(troublesome("self.kept = []\nwhile True: self.kept.append(bytearray(1 << 24))"))
    for _ in range(3):
        reset_all_of(process)
        steps = process.step([(number, "go" if number == 1 else "stay") for number in INSTANCES])
        assert [kind_of(step) for step in steps if step.instance != 1] == [None] * 5
        assert kind_of(steps[1]) == (ErrorKind.MEMORY, "program")
    assert process.respawns == 0
    process.close()


# What the machine does not give.


@contextmanager
def on_one_processor() -> Iterator[None]:
    """This process, and what it starts, on one processor only."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def test_a_worker_that_the_machine_starves_is_not_blamed() -> None:
    with on_one_processor(), Sandbox(replace(PATIENT, frame_wall_s=0.006)) as sandbox:
        processes = sandbox.open_all([troublesome("sum(range(3_000_000))")] * 16, recover=False)
        for process in processes:
            assert process.channel is not None
            exchange([process.channel], 20.0)
        load_all(processes)
        resets = reset_all({process: [(0, 1)] for process in processes})
        steps = [answer[0] for answer in step_all({process: [(0, "go")] for process in processes}).values()]
    starved = {str(step.error) for step in steps if kind_of(step) == (ErrorKind.KILLED, "host")}
    assert len(resets) == 16 and starved == {"env_error:killed: it got too little of a crowded processor to answer"}


def test_too_many_programs_for_our_descriptors_are_refused_and_nothing_leaks() -> None:
    with Sandbox(PATIENT) as sandbox:
        process = sandbox.open(WALK)
        reset_all_of(process)
        before, server = descriptors(), sandbox.server_pid
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        free = [number for number in range(1000) if str(number) not in before]
        for room in range(1, 40):
            resource.setrlimit(resource.RLIMIT_NOFILE, (free[room], hard))
            try:
                with pytest.raises(SandboxUnavailable, match="Too many open files"):
                    sandbox.open_all([WALK] * 40)
            finally:
                resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
            assert descriptors() == before and sandbox.server_pid == server
        assert not any(step.error for step in turn_of(process, 0)) and process.respawns == 0
        assert not any(other.load() for other in sandbox.open_all([WALK] * 3))


# Programs that do not answer the same twice.

CLOCK = f"""
from_where = {GLOBALS}["sys"].modules["time"]
class ClockEnv:
    def reset(self, seed=None):
        self.seed = seed
        return "go", {{}}
    def step(self, action):
        told = from_where.perf_counter_ns() if self.seed % 2 else "nothing"
        return f"{{told}}", 0.0, False, False, {{}}
"""
ADDRESS = """
class AddressEnv:
    def reset(self, seed=None):
        self.seed, self.things = seed, [object() for _ in range(3)]
        return "go", {}
    def step(self, action):
        return repr(self.things[0]) if self.seed % 2 else "nothing", 0.0, False, False, {}
"""


def test_an_instance_that_answers_otherwise_the_second_time_fails_alone(sandbox: Sandbox) -> None:
    process = sandbox.open(CLOCK)
    reset_all_of(process)
    assert not any(step.error for step in turn_of(process, 0))
    kill_worker(process)
    nondeterministic = (ErrorKind.NONDETERMINISTIC, "program")
    assert [kind_of(step) for step in turn_of(process, 1)] == [None, nondeterministic] * 3
    assert [kind_of(step) for step in turn_of(process, 2)] == [None, nondeterministic] * 3
    assert not any(step.error for step in reset_all_of(process)), "a new episode is a new chance"
    assert not any(step.error for step in turn_of(process, 0))
    process.close()


def test_addresses_differ_on_another_server() -> None:
    with Sandbox(PATIENT) as sandbox:
        process = sandbox.open(ADDRESS)
        reset_all_of(process)
        turn_of(process, 0)
        kill_server(sandbox, process)
        nondeterministic = (ErrorKind.NONDETERMINISTIC, "program")
        assert [kind_of(step) for step in turn_of(process, 1)] == [None, nondeterministic] * 3


def after_a_respawn(statement: str) -> str:
    """A program that runs the statement only when it is loaded for the second time on a machine: by a clock."""
    return f"""{TOOLS}
import random
class LaterEnv:
    def reset(self, seed=None):
        return "go", {{}}
    def step(self, action):
        if action.isdecimal() and int(action) < tool("time").monotonic_ns():
            {statement}
        return "fine", 0.0, False, False, {{}}
"""


@pytest.mark.parametrize(("statement", "kind"), [
    (HANG.replace("\n", "; "), ErrorKind.HANG), ("tool('os')._exit(0)", ErrorKind.EARLY_EXIT),
    ("raise ValueError", ErrorKind.NONDETERMINISTIC),
])  # fmt: skip
def test_trouble_that_first_shows_in_the_replay_has_an_end(statement: str, kind: ErrorKind) -> None:
    with Sandbox(replace(LIMITS, respawns=2)) as sandbox:
        process = sandbox.open(after_a_respawn(statement))
        process.reset([(0, 1), (1, 1)])
        soon = time.monotonic_ns() + 300_000_000
        assert not any(step.error for step in process.step([(0, str(soon)), (1, "stay")]))
        time.sleep(0.3)
        kill_worker(process)
        started = time.monotonic()
        steps = process.step([(0, "stay"), (1, "stay")])
        assert kind_of(steps[0]) == (kind, "program")
        assert kind_of(steps[1]) in (None, (kind, "program"))
        assert time.monotonic() - started < 20.0, "three deadlines, put off on a crowded machine"
        assert sandbox.open(WALK).load() is None


def test_a_program_that_does_not_load_again_is_given_up(sandbox: Sandbox) -> None:
    soon = time.monotonic_ns() + 300_000_000
    source = f"{TOOLS}\nif tool('time').monotonic_ns() > {soon}: raise ValueError('too late')\n" + WALK
    process = sandbox.open(source)
    reset_all_of(process)
    time.sleep(0.35)
    kill_worker(process)
    assert {kind_of(step) for step in turn_of(process, 0)} == {(ErrorKind.LOAD, "program")}
    assert process.respawns == 1
    process.close()


# In the player.


class Assassin:
    """A model that does something to the sandbox before its second answer."""

    def __init__(self, model: ScriptedModel, deed: Callable[[], None]) -> None:
        self.model, self.deed, self.turns = model, deed, 0

    def generate(self, requests: list[Request]) -> list[Completion]:
        self.turns += 1
        if self.turns == 2:
            self.deed()
        return self.model.generate(requests)

    def forget(self) -> None:
        self.model.forget()


@pytest.mark.parametrize("victim", ["worker", "every worker", "server"])
def test_the_player_plays_the_same_episodes_whoever_dies_meanwhile(sandbox: Sandbox, victim: str) -> None:
    sources = [WALK, WALK.replace("WalkEnv", "OtherEnv"), troublesome("pass")]
    programs = [Program(id=str(n), source=source, skill="logic", max_turns=4) for n, source in enumerate(sources)]
    sampling = Sampling(stop=(STOP,), max_new_tokens=8)
    plays = [
        Play(program=program, seed=seed, arm=Arm.PLAIN, sample_seed=seed, sampling=sampling)
        for program in programs for seed in range(4)
    ]  # fmt: skip
    model = ScriptedModel(lambda request: [*encode(f"w{len(request.ids) % 7}"), STOP], decode)
    expected = play(plays, model, CharDialect(), sandbox)
    assert {episode.outcome for episode in expected} == {Outcome.WRONG}
    opened: dict[str, EnvProcess] = {}

    def strike() -> None:
        if victim == "server":
            kill_server(sandbox, *opened.values())
        for process in list(opened.values())[: {"worker": 1, "every worker": 3, "server": 0}[victim]]:
            kill_worker(process)

    found = play(plays, Assassin(model, strike), CharDialect(), sandbox, processes=opened)
    assert found == expected
    assert sum(process.respawns for process in opened.values()) == {"worker": 1, "every worker": 3, "server": 3}[victim]
    for process in opened.values():
        process.close()


# What is left.


@pytest.mark.parametrize("policy", BY_NAMESPACE)
def test_workers_die_with_a_killed_host(policy: str) -> None:
    script = f"""
import os
from spadework.harness.sandbox import Layer, Policy, Sandbox
sandbox = Sandbox(policy=Policy(off=(Layer.NAMESPACES,) if {policy == "no namespaces"} else ()))
idle, busy = sandbox.open_all([{WALK!r}, "while True: pass"])
idle.reset([(0, 1)])
print(sandbox.server_pid, idle.pid, busy.pid, flush=True)
os.kill(os.getpid(), 9)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    family = [int(pid) for pid in done.stdout.split()]
    assert len(family) == 3 and done.returncode == -signal.SIGKILL, done
    deadline = time.monotonic() + 5.0
    while any(map(running, family)) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not any(map(running, family))


def descriptors() -> list[str]:
    return sorted(os.listdir("/proc/self/fd"))


def children(pid: int | None = None) -> set[int]:
    """The children of a process (this one), buried ones not among them."""
    pid = pid or os.getpid()
    return set(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))


def test_two_hundred_recoveries_leave_no_zombie_and_no_descriptor() -> None:
    with Sandbox(replace(PATIENT, respawns=200)) as sandbox:
        process = sandbox.open(WALK)
        reset_all_of(process)
        before, family = descriptors(), len(descendants(os.getpid()))
        for turn in range(200):
            assert process.pid is not None
            os.kill(process.pid, signal.SIGKILL)
            assert process.step([(0, said(0, turn % 3))])[0].error is None
            if turn % 20 == 0:
                process.reset([(0, 0)])
        assert process.respawns == 200
        assert descriptors() == before and len(descendants(os.getpid())) == family
        (inner,) = children(sandbox.server_pid)
        assert children(inner) == {process.pid}, "the server has buried the others"


def test_servers_that_died_leave_no_zombie_and_no_descriptor() -> None:
    before = descriptors()
    with Sandbox(PATIENT) as sandbox:
        process = sandbox.open(WALK)
        reset_all_of(process)
        family, first = children(), sandbox.server_pid
        for turn in range(10):
            kill_server(sandbox, process)
            assert process.step([(0, said(0, turn))])[0].error is None
        assert children() == family - {first} | {sandbox.server_pid}, "the dead ones are buried"
    assert descriptors() == before


# Interruptions.


def test_an_interrupted_call_leaves_a_sandbox_that_closes_and_leaves_nothing() -> None:
    before = descriptors()
    sandbox = Sandbox(PATIENT)
    slow = sandbox.open(troublesome(HANG))
    slow.reset([(0, 1)])
    server, worker = sandbox.server_pid, slow.pid
    with interrupted_after(0.1):
        slow.step([(0, "go")])
    started = time.monotonic()
    sandbox.close()
    assert time.monotonic() - started < 2.0
    assert not running(server) and not running(worker) and descriptors() == before


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # Ctrl-C inside open(): Python closes it
def test_after_an_interrupted_call_the_episodes_go_on(hasty: Sandbox) -> None:
    slow, other = hasty.open_all([troublesome("for _ in range(100): sum(range(50_000))"), WALK])
    reset_all({process: [(number, number) for number in INSTANCES] for process in (slow, other)})
    with interrupted_after(0.02):
        step_all({slow: [(0, "go"), (1, "go")], other: [(0, "x")]})
    answers = step_all({slow: [(0, "stay"), (1, "stay")], other: [(1, "y")]})
    assert [step.observation for step in answers[slow]] == ["0 ['stay']", "1 ['stay']"]
    assert answers[other][0].error is None
    for process in (slow, other):
        process.close()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # Ctrl-C inside open(): Python closes it
def test_an_interruption_at_any_moment_of_opening_leaves_a_sandbox_that_works() -> None:
    with Sandbox(PATIENT) as sandbox:
        for step in range(40):
            with interrupted_after(0.0004 * (step + 1)):
                sandbox.open_all([WALK] * 8)
                time.sleep(1.0)
            process = sandbox.open(WALK)
            assert process.reset([(0, 1)])[0].error is None, "its own worker's answer"
            process.close()
