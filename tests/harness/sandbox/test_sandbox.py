"""The sandbox with real processes: honest programs are served, hostile ones cost themselves only."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from spadework.harness.sandbox import (
    EnvProcess,
    ErrorKind,
    Limits,
    Policy,
    Sandbox,
    SandboxUnavailable,
    Step,
    close_all,
    load_all,
    reset_all,
    step_all,
)  # fmt: skip
from spadework.harness.sandbox.launch import spoken

from .programs import COUNT, answering, reaching_os

LIMITS = Limits(load_cpu_s=0.3, call_cpu_s=0.1, frame_wall_s=1.0, memory_mb=128)


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(LIMITS) as shared:
        yield shared


def one_step(sandbox: Sandbox, source: str, action: str = "x") -> Step:
    """Load, reset with seed 1, one step, close: the first error or the step."""
    process = sandbox.open(source)
    first = process.reset([(0, 1)])[0]
    answer = first if first.error else process.step([(0, action)])[0]
    process.close()
    return answer


def error_of(step: Step) -> tuple[ErrorKind, str]:
    assert step.error is not None
    return step.error.kind, step.error.fault


def served(sandbox: Sandbox) -> bool:
    """Whether an honest program still gets the right answer."""
    step = one_step(sandbox, answering('"fine", 0.5, True, False, {"a": [1]}'))
    return (step.observation, step.reward, step.terminated, step.info) == ("fine", 0.5, True, {"a": [1]})


def descendants(pid: int) -> list[int]:
    """Every living process below `pid`."""
    listing = subprocess.run(["ps", "-eo", "pid=,ppid=,stat="], capture_output=True, text=True, check=True).stdout
    parents = {int(a): int(b) for a, b, stat in (line.split() for line in listing.splitlines()) if stat[0] != "Z"}
    found = [pid]
    for child in found:
        found += [other for other, parent in parents.items() if parent == child]
    return found[1:]


def running(pid: int) -> bool:
    """Whether a process lives; one that only waits for its burial does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_program_is_played_step_by_step(sandbox: Sandbox) -> None:
    process = sandbox.open(COUNT)
    first = process.reset([(0, 1), (5, 2)])
    assert [step.instance for step in first] == [0, 5]
    assert [step.error for step in first] == [None, None]
    numbers = {step.instance: step.observation.split()[1] for step in first}
    second = process.step([(5, numbers[5]), (0, "no")])
    assert [(s.instance, s.reward, s.terminated) for s in second] == [(5, 1.0, True), (0, 0.0, False)]
    assert second[1].info == {"turn": 1}


def test_the_same_seed_gives_the_same_episode_alone_and_interleaved(sandbox: Sandbox) -> None:
    source = """
import random
LOG = []
class WalkEnv:
    seen = 0
    def reset(self, seed=None):
        random.seed()
        self.own = random.Random()
        return f"{random.random()} {len(LOG)} {WalkEnv.seen}", {}
    def step(self, action):
        LOG.append(action)
        WalkEnv.seen += 1
        return f"{random.random()} {self.own.random()} {LOG} {WalkEnv.seen}", 0.0, False, False, {}
"""
    process = sandbox.open(source)
    alone = [process.reset([(0, 7)])[0].observation]
    alone += [process.step([(0, str(turn))])[0].observation for turn in range(3)]
    together = [process.reset([(1, 8), (2, 7)])[1].observation]
    together += [process.step([(1, "noise"), (2, str(turn))])[1].observation for turn in range(3)]
    assert together == alone
    other = sandbox.open(source)
    assert other.reset([(0, 7)])[0].observation == alone[0]
    assert other.reset([(0, 8)])[0].observation != alone[0]


def test_many_programs_run_side_by_side(sandbox: Sandbox) -> None:
    sources = [answering(f'"{number} " + action, {number}, False, False, {{}}') for number in range(12)]
    processes = [sandbox.open(source) for source in sources]
    load_all(processes)
    reset_all({process: [(0, 1), (1, 2)] for process in processes})
    answers = step_all({process: [(1, "b"), (0, "a")] for process in processes})
    for number, process in enumerate(processes):
        assert [(s.instance, s.observation) for s in answers[process]] == [(1, f"{number} b"), (0, f"{number} a")]
        process.close()


def test_programs_opened_together_are_served_in_order_with_a_refused_one_among_them() -> None:
    with Sandbox(LIMITS) as sandbox:
        sources = [answering(f'"number {n}", 0.0, True, False, {{}}') for n in range(40)]
        sources[7] = "#" * (LIMITS.source_bytes + 1)
        processes = sandbox.open_all(sources)
        reset_all({process: [(0, 1)] for process in processes})
        answers = step_all({process: [(0, "x")] for process in processes})
        said = [answers[process][0].observation for process in processes]
        assert said == [f"number {n}" if n != 7 else "" for n in range(40)]
        assert error_of(answers[processes[7]][0]) == (ErrorKind.SOURCE_TOO_LARGE, "program")
        assert len(descendants(sandbox.server_pid)) == 39 + 1, "the first process of the namespace beside them"
        close_all(processes)
        assert not sandbox._processes and served(sandbox)


def test_ordinary_library_use_works(sandbox: Sandbox) -> None:
    source = """
from __future__ import annotations
import collections.abc, json, math, re, statistics, string, copy, heapq
import itertools, functools, operator, bisect, textwrap
from collections import Counter, defaultdict, deque, namedtuple
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import NamedTuple, Optional
import random as rnd
class Colour(Enum):
    RED = 1
@dataclass
class State:
    items: list[int] = field(default_factory=list)
    name: Optional[str] = None
class Pair(NamedTuple):
    a: int
class BaseEnv:
    def reset(self, seed=None):
        raise NotImplementedError
    def step(self, action):
        raise NotImplementedError
class RichEnv(BaseEnv):
    def reset(self, seed=None):
        r = rnd.Random(seed)
        self.state = copy.deepcopy(State([r.randint(0, 5)]))
        text = json.dumps({"d": str(Decimal(1) / 3), "f": str(Fraction(1, 3)), "m": statistics.mean([1, 2])})
        assert isinstance([], collections.abc.Sequence) and re.match(r"(\\\\d+)", "12x") is None or True
        return text + Colour.RED.name + str(Pair(1)) + f"{math.pi:.2f}" + str(sorted({"b", "a"})), {"k": (1, None)}
    def step(self, action):
        print("noise" * 100)
        return "ok", 1, True, False, {}
class Helper:
    pass
"""
    step = one_step(sandbox, source)
    assert step.error is None and step.reward == 1.0 and step.terminated


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("def f(:", ErrorKind.SYNTAX),
        ("x = 1\0", ErrorKind.ENCODING),
        ("", ErrorKind.EMPTY),
        ("x = '\ud800'", ErrorKind.ENCODING),
        ("#" * 70_000, ErrorKind.SOURCE_TOO_LARGE),
        ("import os", ErrorKind.FORBIDDEN_MODULE),
        ("from subprocess import run", ErrorKind.FORBIDDEN_MODULE),
        ("raise SystemExit(0)", ErrorKind.EXIT),
        ("1 / 0", ErrorKind.LOAD),
        ("open('/etc/passwd')", ErrorKind.LOAD),
        ("while True: pass", ErrorKind.TIMEOUT),
        ("while True:\n  try:\n    while True: pass\n  except BaseException: pass", ErrorKind.TIMEOUT),
        ("x = [0] * 10**11", ErrorKind.MEMORY),
        ("s = 'a'\nwhile 1: s += s", ErrorKind.MEMORY),
        ("x = 9**9**9", ErrorKind.TIMEOUT),
        ("(" * 5_000 + ")" * 5_000, ErrorKind.SYNTAX),
        ("class Thing:\n  pass", ErrorKind.CONTRACT),
        ("class AEnv:\n  def reset(self, seed=None): return '', {}", ErrorKind.CONTRACT),
    ],
)  # fmt: skip
def test_a_program_that_does_not_load_is_refused_with_its_kind(sandbox: Sandbox, source: str, kind: ErrorKind) -> None:
    process = sandbox.open(source)
    error = process.load()
    assert error is not None and (error.kind, error.fault) == (kind, "program"), error
    again = process.reset([(3, 1)])[0]
    assert again.instance == 3 and again.error == error
    process.close()
    assert served(sandbox)


def test_a_reset_without_seed_is_told_how_to_write_it(sandbox: Sandbox) -> None:
    """Report P167."""
    error = sandbox.open("class AEnv:\n def reset(self): return '', {}\n def step(self, action): pass").load()
    assert error is not None and error.kind is ErrorKind.CONTRACT and "def reset(self, seed=None):" in error.message


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ('"x", float("nan"), False, False, {}', ErrorKind.REWARD),
        ('"x", float("inf"), False, False, {}', ErrorKind.REWARD),
        ('"x", 10**400, False, False, {}', ErrorKind.REWARD),
        ('"x", True, False, False, {}', ErrorKind.REWARD),
        ('"x", "1", False, False, {}', ErrorKind.REWARD),
        ('"x", None, False, False, {}', ErrorKind.REWARD),
        ('"x", 1.0, 1, False, {}', ErrorKind.CONTRACT),
        ('"x", 1.0, False, None, {}', ErrorKind.CONTRACT),
        ('"x", 1.0, False, False, None', ErrorKind.INFO),
        ('"x", 1.0, False, False', ErrorKind.CONTRACT),
        ('["x", 1.0, False, False, {}]', ErrorKind.CONTRACT),
        ("None", ErrorKind.CONTRACT),
        ('7, 1.0, False, False, {}', ErrorKind.OBSERVATION),
        ('"x" * 20_000, 1.0, False, False, {}', ErrorKind.OBSERVATION),
        ('"\\ud800", 1.0, False, False, {}', ErrorKind.OBSERVATION),
        ('"x", 1.0, False, False, {"a": "x" * 5_000}', ErrorKind.INFO),
        ('"x", 1.0, False, False, {"a": object()}', ErrorKind.INFO),
        ('type("S", (str,), {})("x"), 1.0, False, False, {}', ErrorKind.OBSERVATION),
        ("1 / 0", ErrorKind.EXCEPTION),
        ("(_ for _ in ()).throw(SystemExit)", ErrorKind.EXIT),
        ("(_ for _ in ()).throw(KeyboardInterrupt)", ErrorKind.EXCEPTION),
        ("(lambda f: f(f))(lambda f: f(f))", ErrorKind.EXCEPTION),
        ("[0] * 10**11", ErrorKind.MEMORY),
        ("sum(n for n in range(10**12))", ErrorKind.TIMEOUT),
    ],
)  # fmt: skip
def test_a_wrong_answer_fails_its_instance_only(sandbox: Sandbox, answer: str, kind: ErrorKind) -> None:
    process = sandbox.open(answering(f'({answer}) if action == "bad" else ("fine", 1.0, False, False, {{}})'))
    process.reset([(0, 1), (1, 1)])
    bad, good = process.step([(0, "bad"), (1, "good")])
    assert error_of(bad) == (kind, "program"), bad
    assert bad.observation == "" and bad.reward != bad.reward
    assert good.error is None and good.observation == "fine"
    after = process.step([(0, "good")])[0]
    assert error_of(after) == (ErrorKind.MISUSE, "host")
    process.close()


def test_deep_info_is_refused(sandbox: Sandbox) -> None:
    nest = "info = {}\n        for _ in range(100_000): info = {'a': info}"
    assert error_of(one_step(sandbox, answering('"x", 0.0, False, False, info', nest)))[1] == "program"
    assert served(sandbox)


def test_a_slow_program_costs_few_timeouts_not_one_per_instance(sandbox: Sandbox) -> None:
    process = sandbox.open(answering('"x", 0.0, False, False, {}', "while True: pass"))
    process.reset([(number, 1) for number in range(50)])
    started = time.monotonic()
    steps = process.step([(number, "go") for number in range(50)])
    assert time.monotonic() - started < 3.0
    assert {error_of(step) for step in steps} == {(ErrorKind.TIMEOUT, "program")}
    process.close()


def test_a_loop_that_no_signal_reaches_is_killed_at_the_deadline(sandbox: Sandbox) -> None:
    started = time.monotonic()
    step = one_step(sandbox, answering('"x", 0.0, False, False, {}', "import itertools; 0.5 in itertools.count(1)"))
    assert error_of(step) == (ErrorKind.HANG, "program")
    assert time.monotonic() - started < 8.0
    assert served(sandbox)


def test_a_hanging_program_does_not_delay_the_others_answers(sandbox: Sandbox) -> None:
    bad = sandbox.open(answering('"x", 0.0, False, False, {}', "import itertools; 0.5 in itertools.count(1)"))
    good = sandbox.open(answering('"fine", 0.0, False, False, {}'))
    reset_all({bad: [(0, 1)], good: [(0, 1)]})
    answers = step_all({bad: [(0, "x")], good: [(0, "x")]})
    assert error_of(answers[bad][0]) == (ErrorKind.HANG, "program")
    assert answers[good][0].observation == "fine"
    for process in (bad, good):
        process.close()


def test_programs_that_wait_for_a_crowded_processor_are_not_killed() -> None:
    with Sandbox(Limits(frame_wall_s=0.15)) as crowded:
        source = answering('"fine", 0.0, False, False, {}', "sum(range(1_500_000))")
        processes = [crowded.open(source) for _ in range(24)]
        load_all(processes)
        reset_all({process: [(0, 1)] for process in processes})
        answers = step_all({process: [(0, "x")] for process in processes})
        assert {steps[0].observation for steps in answers.values()} == {"fine"}


@pytest.mark.parametrize("statement", [
    "os.fork()", "os.system('true')", "os.posix_spawn('/bin/true', ['true'], {})",
    "open = os.open('/tmp/spadework_escape', os.O_CREAT | os.O_WRONLY); os.write(open, b'x' * 10)",
])  # fmt: skip
def test_processes_and_writes_are_refused_by_the_kernel(sandbox: Sandbox, statement: str) -> None:
    step = one_step(sandbox, reaching_os(statement))
    assert step.observation != "done" or (statement.startswith("os.system") and not step.error), step
    escaped = Path("/tmp/spadework_escape")
    assert not escaped.exists() or escaped.stat().st_size == 0
    escaped.unlink(missing_ok=True)
    assert served(sandbox)


def test_a_dying_worker_takes_only_its_own_program_along(sandbox: Sandbox) -> None:
    good = sandbox.open(answering('"fine", 0.0, False, False, {}'))
    good.reset([(0, 1)])
    for statement, kind in (("os._exit(0)", ErrorKind.EARLY_EXIT), ("os.abort()", ErrorKind.CRASH)):
        assert error_of(one_step(sandbox, reaching_os(statement))) == (kind, "program")
    assert good.step([(0, "x")])[0].observation == "fine"
    good.close()


@pytest.mark.parametrize("garbage", [
    "b'garbage'", "b'\\xff' * 100", "b'\\x02\\0\\0\\0[]'", "b'\\x03\\0\\0\\0nul'", "b'\\x0b\\0\\0\\0[\"\",\"\",[1]]'",
    "b'\\x2b\\0\\0\\0' + b'[\"\",\"\",[[0,\"x\",1e999,true,false,{},\"\",\"\"]]]'",
    "b'\\x12\\0\\0\\0[\"misuse\",\"x\",[]]'",
])  # fmt: skip
def test_forged_answers_are_refused(sandbox: Sandbox, garbage: str) -> None:
    step = one_step(sandbox, reaching_os(f"os.write(4, {garbage})"))
    assert step.error is not None and step.error.fault == "program"
    assert step.error.kind in (ErrorKind.PROTOCOL, ErrorKind.HANG)
    assert served(sandbox)


def test_a_worker_sees_no_environment_no_descriptor_and_no_secret(sandbox: Sandbox) -> None:
    os.environ["SPADEWORK_TEST_SECRET"] = "s3cret"
    try:
        with Sandbox(LIMITS) as fresh:
            step = one_step(fresh, reaching_os(
                "return str(sorted(os.environ)), 0.0, False, False, {}"
            ))  # fmt: skip
            assert "SPADEWORK_TEST_SECRET" not in step.observation and "PYTHONHASHSEED" in step.observation
            listing = one_step(fresh, reaching_os(
                "open_ = []\n"
                "            for d in range(256):\n"
                "                try: os.fstat(d); open_.append(d)\n"
                "                except OSError: pass\n"
                "            return str(open_), 0.0, False, False, {}"
            ))  # fmt: skip
            assert listing.observation == "[]", "fstat itself is refused"
    finally:
        del os.environ["SPADEWORK_TEST_SECRET"]


def test_nothing_is_left_after_closing() -> None:
    sandbox = Sandbox(LIMITS)
    processes = [sandbox.open(source) for source in (COUNT, "while True: pass", reaching_os("os.fork()"))]
    processes[2].reset([(0, 1)])
    server = sandbox.server_pid
    assert len(descendants(server)) == 3 + 1, "the first process of the namespace beside them"
    group = descendants(server)
    sandbox.close()
    sandbox.close()
    assert not any(map(running, [server, *group]))
    assert error_of(processes[0].reset([(0, 1)])[0])[1] == "host"


def test_a_dead_server_is_started_again_and_its_episodes_go_on() -> None:
    with Sandbox(LIMITS) as sandbox:
        process = sandbox.open(COUNT)
        process.reset([(0, 1)])
        workers = descendants(sandbox.server_pid)
        os.kill(sandbox.server_pid, signal.SIGKILL)
        sandbox._server.process.wait()
        assert process.step([(0, "1")])[0].observation == "wrong", "another server, the same episode"
        assert served(sandbox)
        assert not any(map(running, workers))


def test_workers_that_end_together_do_not_take_the_server_along() -> None:
    with Sandbox(LIMITS) as sandbox:
        server = sandbox.server_pid
        for _ in range(50):
            for process in [sandbox.open(COUNT) for _ in range(8)]:
                process.close()
        assert sandbox.server_pid == server and sandbox.alive()


def test_workers_die_with_the_host() -> None:
    script = (
        "import os, sys\nfrom spadework.harness.sandbox import Sandbox\n"
        "s = Sandbox(); p = s.open('while True: pass'); print(s.server_pid, flush=True); os.kill(os.getpid(), 9)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    server = int(done.stdout)
    deadline = time.monotonic() + 5
    while running(server) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not running(server)


def test_a_server_that_cannot_start_says_so() -> None:
    with pytest.raises(SandboxUnavailable, match="did not start"):
        Sandbox(policy=Policy(modules=("no_such_module",)))


@pytest.mark.parametrize(
    ("work", "heard"),
    [("while time.process_time() < 2.5: pass", True), ("time.sleep(600)", False), ("os._exit(0)", True)],
)
def test_a_server_that_works_is_waited_for_and_one_that_sleeps_is_given_up(work: str, heard: bool) -> None:
    """On a crowded machine the imports of a scorer take longer than any fixed limit. Who hangs up has been heard."""
    ours, theirs = socket.socketpair()
    script = f"import os, time\nif os.fork(): os.wait()\nelse:\n    {work}\n    os.write({theirs.fileno()}, b'up')"
    with ours, theirs, subprocess.Popen([sys.executable, "-c", script], pass_fds=[theirs.fileno()]) as process:
        theirs.close()
        assert spoken(ours, process.pid, period_s=2.0) is heard
        for pid in (*Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split(), process.pid):
            os.kill(int(pid), 9)


def test_long_and_strange_actions_reach_the_program(sandbox: Sandbox) -> None:
    process: EnvProcess = sandbox.open(answering('f"{len(action)}", 0.0, False, False, {}'))
    process.reset([(0, 1)])
    for action, length in (("", 0), ("x" * 200_000, 100_000), ("\ud800\n\0é", 4)):
        assert process.step([(0, action)])[0].observation == str(length)
    process.close()


def test_a_program_that_answers_twice_is_out(sandbox: Sandbox) -> None:
    process = sandbox.open(reaching_os('os.write(4, b\'\\x09\\0\\0\\0["","",[]]\')'))
    process.reset([(0, 1)])
    assert error_of(process.step([(0, "x")])[0]) == (ErrorKind.PROTOCOL, "program")
    process.close()
