"""The validator with real programs: each gate, each disturbance, and what is not the program's fault."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace

import pytest

from spadework.harness.sandbox import (
    Disturbance,
    ErrorKind,
    Gate,
    Isolation,
    Limits,
    Rejected,
    Sandbox,
    ValidationSettings,
    ValidEnvironment,
    Verdict,
    validate,
)
from spadework.harness.seeds import text_id

from .programs import GLOBALS

GOOD = """
import random
class GuessEnv:
    def reset(self, seed=None):
        self.number, self.turn = random.Random(seed).randint(100, 999), 0
        return f"guess after {self.number - 1}", {}
    def step(self, action):
        self.turn += 1
        won = action.strip() == str(self.number)
        return ("yes" if won else "no"), 1.0 if won else 0.0, won, not won and self.turn >= 6, {}
"""
WON = "won = action.strip() == str(self.number)"
SAID = '("yes" if won else "no")'
TURN = "self.turn += 1"
CLASS = "class GuessEnv:"
SHOWN = "guess after {self.number - 1}"
MODULES = f'{GLOBALS}["sys"].modules'
THING = "class Thing:\n    def __init__(self, number):\n        self.number = number\n"
LIMITS = Limits(load_cpu_s=0.3, call_cpu_s=0.2, frame_wall_s=2.0, memory_mb=128)
SETTINGS = ValidationSettings()


def swapped(*pairs: str, before: str = "") -> str:
    """GOOD with pieces exchanged: old, new, old, new, ..."""
    source = GOOD
    for old, new in zip(pairs[::2], pairs[1::2], strict=True):
        assert old in source
        source = source.replace(old, new)
    return before + source


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(LIMITS) as shared:
        yield shared


def verdict(sandbox: Sandbox, source: str | bytes, settings: ValidationSettings = SETTINGS) -> Verdict:
    (found,) = validate([source], sandbox, settings)
    return found


def accepted(sandbox: Sandbox, source: str, settings: ValidationSettings = SETTINGS) -> ValidEnvironment:
    found = verdict(sandbox, source, settings)
    assert isinstance(found, ValidEnvironment), found
    return found


def rejected(sandbox: Sandbox, source: str | bytes, settings: ValidationSettings = SETTINGS) -> Rejected:
    found = verdict(sandbox, source, settings)
    assert isinstance(found, Rejected), found
    assert found.detail and found.fault == "program"
    return found


def test_a_good_program_is_valid_and_says_what_to_expect(sandbox: Sandbox) -> None:
    found = accepted(sandbox, GOOD)
    assert (found.id, found.source, found.max_turns, found.isolation) == (text_id(GOOD), GOOD, 12, "module")
    assert (found.distinct, found.disturbances) == (5, tuple(Disturbance))
    assert 0 < found.step_cpu_s < 0.005
    program = found.program("logic", hint="add one")
    assert (program.id, program.skill, program.hint, program.max_turns) == (found.id, "logic", "add one", 12)


@pytest.mark.parametrize(
    ("source", "gate", "kind"),
    [
        ("", Gate.TEXT, ErrorKind.EMPTY),
        ("#" * 70_000, Gate.TEXT, ErrorKind.SOURCE_TOO_LARGE),
        (GOOD.encode() + b"# \xff\xfe", Gate.TEXT, ErrorKind.ENCODING),
        (GOOD + "\0", Gate.TEXT, ErrorKind.ENCODING),
        ("I am sorry, I cannot", Gate.LOAD, ErrorKind.SYNTAX),
        ("import subprocess\n" + GOOD, Gate.LOAD, ErrorKind.FORBIDDEN_MODULE),
        ("raise ValueError('x')\n" + GOOD, Gate.LOAD, ErrorKind.LOAD),
        ("while True: pass", Gate.LOAD, ErrorKind.TIMEOUT),
        ("x = 1", Gate.CONTRACT, ErrorKind.CONTRACT),
        (swapped("def reset(self, seed=None)", "def reset(self)"), Gate.CONTRACT, ErrorKind.CONTRACT),
        (swapped("- 1}\", {}", "- 1}\""), Gate.CONTRACT, ErrorKind.CONTRACT),
        (swapped(SAID, "7"), Gate.CONTRACT, ErrorKind.OBSERVATION),
        (swapped("1.0 if won else 0.0", 'float("nan")'), Gate.CONTRACT, ErrorKind.REWARD),
        (swapped("6, {}", "6, {'x': self}"), Gate.CONTRACT, ErrorKind.INFO),
        (swapped(TURN, f"{TURN}; 1 / (self.turn < 4)"), Gate.CONTRACT, ErrorKind.EXCEPTION),
        (swapped(TURN, f"{TURN}; raise SystemExit"), Gate.CONTRACT, ErrorKind.EXIT),
        (swapped(TURN, f"{TURN}\n        while self.turn > 3: pass"), Gate.CONTRACT, ErrorKind.TIMEOUT),
        (swapped(TURN, f"{TURN}; {MODULES}['os']._exit(0)"), Gate.CONTRACT, ErrorKind.EARLY_EXIT),
        (swapped("1.0 if won else 0.0", "-50"), Gate.REWARD_RANGE, None),
        (swapped("not won and self.turn >= 6", "False"), Gate.TERMINATION, None),
        (swapped(TURN, f"{TURN}; 1 / (action != 'yes' or self.turn != 1)"), Gate.PLAY, ErrorKind.EXCEPTION),
        (swapped(TURN, f"{TURN}; 1 / (action != '')"), Gate.ODD_ACTIONS, ErrorKind.EXCEPTION),
        (swapped(TURN, f"{TURN}; 1 / (len(action) < 5_000)"), Gate.ODD_ACTIONS, ErrorKind.EXCEPTION),
        (swapped(TURN, f"{TURN}; action.encode('ascii')"), Gate.ODD_ACTIONS, ErrorKind.EXCEPTION),
        (swapped(TURN, f"{TURN}; [int(float(x)) for x in action.split() if x[:1].isdigit()]"), Gate.ODD_ACTIONS,
         ErrorKind.EXCEPTION),
        (swapped("random.Random(seed)", "random.Random(3)"), Gate.VARIETY, None),
        (swapped(WON, "won = action == ''"), Gate.FREE_WIN, None),
        (swapped(WON, "won = action == 'yes' and self.turn == 1"), Gate.FREE_WIN, None),
        (swapped(WON, "won = action[:5] == 'guess'"), Gate.FREE_WIN, None),
    ],
)  # fmt: skip
def test_a_bad_program_fails_at_its_gate(
    sandbox: Sandbox, source: str | bytes, gate: Gate, kind: ErrorKind | None
) -> None:
    found = rejected(sandbox, source)
    assert (found.gate, found.kind) == (gate, kind), found
    assert found.disturbances == ()


ALL = tuple(Disturbance)
AMID = (Disturbance.INTERLEAVED, Disturbance.CARRY_OVER)


@pytest.mark.parametrize(
    ("source", "isolation", "changing"),
    [
        pytest.param(swapped(SAID, f"str({MODULES}['time'].time_ns())"), "module", ALL, id="the time"),
        pytest.param(swapped(SAID, f"{MODULES}['os'].urandom(4).hex()"), "module", ALL, id="the system's entropy"),
        pytest.param(swapped(SAID, f"str({MODULES}['os'].getpid())"), "module", ALL, id="the process number"),
        pytest.param(
            swapped(SAID, "str(hash(enum.Enum))", before="import enum\n"), "module", (Disturbance.OTHER_SERVER,),
            id="the address of a class of the library",
        ),
        pytest.param(swapped(SAID, "str(random.random())"), "shared", AMID, id="global random"),
        pytest.param(swapped("random.Random(seed)", "random"), "shared", AMID, id="global random in reset"),
        pytest.param(
            swapped(CLASS, f"{CLASS}\n    total = 0", TURN, f"{TURN}; GuessEnv.total += 1", SAID, "str(self.total)"),
            "shared", AMID, id="class state",
        ),
        pytest.param(
            swapped(TURN, f"{TURN}; LOG.append(1)", SAID, "str(len(LOG))", before="LOG = []\n"), "shared", AMID,
            id="module state",
        ),
        pytest.param(
            swapped(
                TURN, f"{TURN}; random.Random.calls = getattr(random.Random, 'calls', 0) + 1",
                SAID, "str(random.Random.calls)",
            ),
            "module", AMID, id="state of the library",
        ),
        pytest.param(
            swapped(
                "self.number, self.turn", "PLAYING[:] = [self]; self.number, self.turn",
                SAID, "str(PLAYING[0] is self)", before="PLAYING = []\n",
            ),
            "shared", (Disturbance.INTERLEAVED,), id="one game at a time",
        ),
        pytest.param(
            swapped(
                TURN, f"{TURN}; OVER.extend([1] * (self.turn == 6))",
                SHOWN, f"{SHOWN} in game {{len(OVER)}}", before="OVER = []\n",
            ),
            "shared", (Disturbance.CARRY_OVER,), id="games counted when they are over",
        ),
        pytest.param(
            swapped(
                "self.number, self.turn = random.Random(seed).randint(100, 999), 0",
                "self.number, self.turn = KEPT.setdefault('number', random.Random(seed).randint(100, 999)), 0",
                before="KEPT = {}\n",
            ),
            "shared", AMID, id="the first game is kept",
        ),
    ],
)  # fmt: skip
def test_a_nondeterministic_program_is_rejected_with_what_changes_it(
    sandbox: Sandbox, source: str, isolation: Isolation, changing: tuple[Disturbance, ...]
) -> None:
    found = rejected(sandbox, source, replace(SETTINGS, isolation=isolation))
    assert (found.gate, found.kind) == (Gate.DETERMINISM, ErrorKind.NONDETERMINISTIC), found
    assert found.disturbances == changing
    assert all(disturbance in found.detail for disturbance in changing)


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(swapped(SHOWN, f"{SHOWN} in {{self}}"), id="the address of an instance"),
        pytest.param(swapped(SAID, f"str({GLOBALS}['__builtins__']['id'](self))"), id="id through the object graph"),
        pytest.param(
            swapped(SAID, '" ".join(str(t.number) for t in {Thing(n) for n in range(4000)})[:200]', before=THING),
            id="the order of a set of objects",
        ),
    ],
)  # fmt: skip
def test_addresses_are_found_on_another_server(sandbox: Sandbox, source: str) -> None:
    """Whether they come back the same in another process of the same server is a matter of luck."""
    found = rejected(sandbox, source)
    assert found.gate is Gate.DETERMINISM
    assert Disturbance.OTHER_SERVER in found.disturbances


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(GOOD, id="plain"),
        pytest.param(swapped("random.Random(seed)", "random.Random()"), id="unseeded generator"),
        pytest.param(swapped(SAID, '" ".join({"fox", "hen", "oak"}) + str(hash(action))'), id="order of a set of text"),
    ],
)  # fmt: skip
def test_what_the_sandbox_makes_deterministic_needs_no_module_of_its_own(sandbox: Sandbox, source: str) -> None:
    assert accepted(sandbox, source, replace(SETTINGS, isolation="auto")).isolation == "shared"
    assert accepted(sandbox, source).isolation == "module"


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(swapped("random.Random(seed)", "random"), id="global random"),
        pytest.param(
            swapped("self.turn", "GuessEnv.turn", "number, GuessEnv.turn = ", "number = ", "999), 0", "999)")
            .replace(CLASS, f"{CLASS}\n    turn = 0"), id="an end that only the first game has",
        ),
        pytest.param(
            swapped(TURN, f"{TURN}; 1 / (len(LOG) < 30); LOG.append(1)", before="LOG = []\n"), id="a log that fills up"
        ),
    ],
)  # fmt: skip
def test_a_program_that_fails_in_a_shared_module_only_gets_one_for_each_instance(sandbox: Sandbox, source: str) -> None:
    assert rejected(sandbox, source, replace(SETTINGS, isolation="shared"))
    assert accepted(sandbox, source).isolation == "module"
    assert accepted(sandbox, source, replace(SETTINGS, isolation="auto")).isolation == "module"


def test_the_share_of_programs_that_need_a_module_each_can_be_counted(sandbox: Sandbox) -> None:
    sources = [GOOD, swapped("random.Random(seed)", "random"), "x = (", swapped(SHOWN, f"{SHOWN} in {{self}}"), GOOD]
    found = validate(sources, sandbox, replace(SETTINGS, isolation="auto"))
    isolations = [one.isolation if isinstance(one, ValidEnvironment) else one.gate for one in found]
    assert isolations == ["shared", "module", Gate.LOAD, Gate.DETERMINISM, "shared"]


def test_a_program_that_never_pays_is_marked_and_not_rejected(sandbox: Sandbox) -> None:
    assert accepted(sandbox, swapped("1.0 if won else 0.0", "0.0")).dead_end


def test_pay_is_found_among_the_words_that_are_shown(sandbox: Sandbox) -> None:
    assert not accepted(sandbox, swapped(WON, "won = action == str(self.number - 1)")).dead_end


def test_looking_for_pay_rejects_nobody(sandbox: Sandbox) -> None:
    """The senseless players never say a word of the text; those who look for pay do, and the process dies of it."""
    source = swapped(TURN, f"{TURN}; action == 'password' and {MODULES}['os']._exit(3)")
    assert accepted(sandbox, source).dead_end


def test_a_slow_program_is_too_slow_on_a_quiet_and_on_a_crowded_machine(sandbox: Sandbox) -> None:
    strict = replace(SETTINGS, step_cpu_s=0.02)
    slow, fast = swapped(TURN, f"{TURN}; sum(range(6_000_000))"), swapped(TURN, f"{TURN}; sum(range(20_000))")
    crowd = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(3 * (os.cpu_count() or 1))]
    try:
        crowded = validate([slow, fast], sandbox, strict)
    finally:
        for process in crowd:
            process.kill()
            process.wait()
    for verdicts in (crowded, validate([slow, fast], sandbox, strict)):
        assert isinstance(verdicts[0], Rejected) and verdicts[0].gate is Gate.SPEED
        assert isinstance(verdicts[1], ValidEnvironment) and verdicts[1].step_cpu_s < 0.02


def test_a_program_that_is_slow_only_after_its_first_episode_is_too_slow(sandbox: Sandbox) -> None:
    """It may know the first episode by its seed and its actions."""
    later = swapped(TURN, f"{TURN}; self.seed != 11 and sum(range(2_000_000))", "def reset(self, seed=None):\n", (
        "def reset(self, seed=None):\n        self.seed = seed\n"
    ))  # fmt: skip
    found = rejected(sandbox, later, replace(SETTINGS, step_cpu_s=0.005))
    assert found.gate is Gate.SPEED and "a step takes" in found.detail


@contextmanager
def meanwhile(act: Callable[[], bool]) -> Iterator[None]:
    """Calls `act` again and again in another thread until it says that it is done."""
    stop, done = threading.Event(), threading.Event()

    def run() -> None:
        while not (stop.is_set() or done.is_set()):
            if act():
                done.set()
            time.sleep(0.005)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
        assert done.is_set(), "it never came to that"
    finally:
        stop.set()
        thread.join()


LONG = swapped(TURN, f"{TURN}; sum(range(500_000))")


def worker_of(sandbox: Sandbox) -> int | None:
    """Process number of a worker that plays."""
    return next((process.pid for process in list(sandbox._processes) if process.played), None)


def kill_worker(sandbox: Sandbox) -> bool:
    pid = worker_of(sandbox)
    if pid is None:
        return False
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
        return True
    return False


def kill_server(sandbox: Sandbox) -> bool:
    if worker_of(sandbox) is None:
        return False
    os.kill(sandbox.server_pid, signal.SIGKILL)
    return True


@pytest.mark.parametrize("act", [kill_worker, kill_server])
@pytest.mark.parametrize("there", [False, True], ids=["here", "on the sibling"])
def test_a_failure_of_the_host_is_tried_again(act: Callable[[Sandbox], bool], there: bool) -> None:
    with Sandbox() as sandbox:
        victim = sandbox.sibling() if there else sandbox
        with meanwhile(lambda: act(victim)):
            found = validate([LONG, GOOD], sandbox)
        assert [isinstance(one, ValidEnvironment) for one in found] == [True, True], found


def test_a_failure_of_the_host_that_lasts_is_no_verdict_on_the_program() -> None:
    with Sandbox() as sandbox:
        killed: set[int | None] = set()

        def kill_two() -> bool:
            killed.add(worker_of(sandbox) if kill_worker(sandbox) else None)
            return len(killed - {None}) == 2

        with meanwhile(kill_two):
            found = verdict(sandbox, LONG)
        assert isinstance(found, Rejected)
        assert (found.fault, found.kind) == ("host", ErrorKind.KILLED)


def test_no_process_is_left_after_validation(sandbox: Sandbox) -> None:
    validate([GOOD, "x = (", swapped(SHOWN, f"{SHOWN} in {{self}}")], sandbox)
    assert not sandbox._processes and not sandbox.sibling()._processes


def test_no_candidates_give_no_verdicts(sandbox: Sandbox) -> None:
    assert validate([], sandbox) == []


def test_settings_without_a_meaning_are_refused() -> None:
    with pytest.raises(ValueError, match="three seeds"):
        ValidationSettings(seeds=(1, 2))
