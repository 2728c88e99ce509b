"""Where hostile programs are let loose and watched from outside: a sandbox, what lies around it, and two honest
programs, one that was there before and one that comes after.

Nothing a program says is believed but what it can know only by having reached its aim.
"""

import json
import math
import os
import platform
import random
import signal
import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

import msgspec

from spadework.harness.sandbox import EnvProcess, Limits, Policy, Sandbox, Step, frames

from .hostile import Aim, Hostile
from .numbers import calls
from .surroundings import Surroundings
from .watching import Watch, descendants

LIMITS = Limits(load_cpu_s=0.2, call_cpu_s=0.15, frame_wall_s=0.5, life_cpu_s=2, memory_mb=256, respawns=2)
"""A call's CPU time is under half the deadline: who has used that much is not starved, and would be taken to hang."""
PATIENCE_S = 3.0
"""Wall seconds that one program may cost, all told, on a machine with a core to spare; see `patience`."""
CROWDED = 5.0
BURIAL_S = 1.0
"""How long the processes of a closed program may take to die."""
SLACK_MB = 16
RETURNS_42 = {"x86_64": "b82a000000c3", "aarch64": "40058052c0035fd6"}
HONEST = b'["","",[[0,"early",0.0,false,false,{}]]]'
"""An answer that a worker could give."""

PEER = """
class PeerEnv:
    def reset(self, seed=None):
        self.count = 0
        return "here", {}

    def step(self, action):
        self.kept, self.count = action, self.count + 1
        return str(self.count), 0.0, False, False, {}
"""
NEXT = """
import json, math, random
class NextEnv:
    def reset(self, seed=None):
        return "go", {}

    def step(self, action):
        drawn = random.Random(5)
        parts = [drawn.random(), drawn.getrandbits(40), math.sqrt(2), len("abc"), sorted("ba"), sum([1, 2])]
        return json.dumps(parts), 0.5, True, False, {"action": action}
"""


@dataclass(kw_only=True, slots=True)
class Outcome:
    """What one program did, as seen from outside."""

    name: str
    kind: str = ""
    """Empty when it answered without an error."""
    said: str = ""
    wall_s: float = 0.0
    peak_mb: float = 0.0
    damage: dict[Aim, str] = field(default_factory=dict)
    """Every aim that was reached, its own or another, with the evidence."""


class Arena:
    """One sandbox in its surroundings."""

    def __init__(self, policy: Policy, limits: Limits = LIMITS) -> None:
        """Raises SandboxUnavailable where the sandbox does not start."""
        self.limits = limits
        with ExitStack() as stack:
            self.around = Surroundings()
            stack.callback(self.around.close)
            self.sandbox = stack.enter_context(Sandbox(limits, policy))
            self._greet_peer()
            self._stack = stack.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def run(self, hostile: Hostile) -> Outcome:
        """Let one program loose, look at everything it could have touched, and put it right again."""
        family, started = descendants(os.getpid()), time.monotonic()
        process = self.sandbox.open(hostile.source)
        with Watch(process) as watch:
            steps = process.reset([(0, 1)])
            while steps[-1].error is None and len(steps) <= hostile.turns:
                steps += process.step([(0, self.target())])
        process.close()
        wall_s = time.monotonic() - started
        error = steps[-1].error
        outcome = Outcome(name=hostile.name, wall_s=wall_s, peak_mb=watch.peak_mb)
        outcome.kind = "" if error is None else str(error.kind)
        outcome.said = steps[-1].observation[:300] if error is None else error.message
        outcome.damage |= self._costs(outcome) | self._told(steps) | self._left(family) | self._others()
        outcome.damage |= self.around.damage()
        if error is None and hostile.aim is Aim.UNNOTICED:
            outcome.damage[Aim.UNNOTICED] = "it ended like an honest program"
        self.around.restore()
        return outcome

    def target(self) -> str:
        """What a program is told, as its action."""
        machine = platform.machine()
        return json.dumps(self.around.told() | {
            "peer": self.peer.pid, "calls": calls(machine), "code": RETURNS_42[machine],
            "honest": frames.pack(HONEST).hex(),
        })  # fmt: skip

    def _costs(self, outcome: Outcome) -> dict[Aim, str]:
        found = {}
        if outcome.wall_s > patience():
            load = f"a load of {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
            found[Aim.TIME] = f"{outcome.wall_s:.2f} s are more than {patience():.1f} s, at {load}"
        if outcome.peak_mb > self.limits.memory_mb + SLACK_MB:
            found[Aim.MEMORY] = f"{outcome.peak_mb:.0f} MB resident"
        return found

    def _told(self, steps: list[Step]) -> dict[Aim, str]:
        """What the answers give away."""
        found = {}
        for step in steps:
            text = f"{step.observation} {step.info} {step.error}"
            leaked = [name for name, value in self.around.secrets.items() if value in text]
            if leaked:
                found[Aim.SECRET] = f"told: {leaked}"
            if step.observation.startswith("REACHED"):
                found[Aim.TOKEN] = step.observation[:100]
            if step.error is not None and step.error.fault == "host":
                found[Aim.BLAME] = str(step.error)
            if step.error is None and not self._allowed(step):
                found[Aim.BEYOND] = f"accepted: {str(step)[:300]}"
        return found

    def _allowed(self, step: Step) -> bool:
        limits = self.limits
        whole = (type(step.observation), type(step.reward), type(step.terminated), type(step.truncated), step.instance)
        return (
            whole == (str, float, bool, bool, 0)
            and len(step.observation) <= limits.obs_chars
            and math.isfinite(step.reward)
            and abs(step.reward) <= limits.abs_reward
            and len(msgspec.json.encode(step.info)) <= limits.info_bytes
            and _depth(step.info) <= 100
        )

    def _left(self, family: set[int]) -> dict[Aim, str]:
        """Processes that were not there before; they are ended."""
        deadline = time.monotonic() + BURIAL_S
        while (left := descendants(os.getpid()) - family) and time.monotonic() < deadline:
            time.sleep(0.005)
        for pid in left:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return {Aim.SURVIVOR: f"{len(left)} processes"} if left else {}

    def _others(self) -> dict[Aim, str]:
        """Whether the neighbour goes on where it was, and the next program answers rightly."""
        self.turns += 1
        answer = self.peer.step([(0, self.around.secrets["peer"])])[0]
        if answer.observation != str(self.turns):
            self.peer.close()
            self._greet_peer()
            return {Aim.NEXT: f"the neighbour answers {answer}, not {self.turns}"}
        after = self.sandbox.open(NEXT)
        first = after.reset([(0, 1)])[0]
        answer = first if first.error else after.step([(0, "x")])[0]
        after.close()
        if (answer.observation, answer.reward, answer.info) != (_right_answer(), 0.5, {"action": "x"}):
            return {Aim.NEXT: f"the next program answers {answer}"}
        return {}

    def _greet_peer(self) -> None:
        self.peer: EnvProcess = self.sandbox.open(PEER)
        self.peer.reset([(0, 1)])
        self.turns = 1
        self.peer.step([(0, self.around.secrets["peer"])])


def patience() -> float:
    """A crowded machine gets more time, as much as it is crowded, but no more than `CROWDED` times as much: the sandbox
    too gives longer to a worker that waits for a core."""
    return PATIENCE_S * min(CROWDED, max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1)))


def _depth(value: object) -> int:
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + max(map(_depth, parts), default=0)


def _right_answer() -> str:
    drawn = random.Random(5)
    return json.dumps([drawn.random(), drawn.getrandbits(40), math.sqrt(2), 3, ["a", "b"], 3])
