"""The host's half of the talk with one program's process: `Conversation`.

It keeps the books (which instances are in play, what each was told, whose fault a failure is) and believes nothing a
worker says beyond what the schema and the limits allow. Who asks many at once is batch.py, who starts a dead process
again is recovery.py; `EnvProcess` in process.py is what callers have in hand.
"""

import struct
import time
import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Sequence, get_args

import msgspec

from .channel import Channel, exchange
from .frames import LoadFrame, ProtocolError, ResetFrame, StepFrame, decode_reply, reply_bytes
from .intake import decoded, plain, unfit
from .limits import EnvError, ErrorKind, Isolation, Step, error_of, failed, failed_by

if TYPE_CHECKING:
    from .host import Sandbox

_encode = msgspec.json.Encoder().encode
Items = Sequence[tuple[int, Any]]
"""(instance, seed) pairs of a reset, (instance, action) pairs of a step."""
_REST = struct.Struct("<d??")
SEEDS = range(-(2**63), 2**64)
"""What a frame can carry."""


@dataclass(slots=True)
class Log:
    """All that is needed to play one instance again, and to see whether it answers the same."""

    seed: int
    actions: list[str] = field(default_factory=list)
    answers: int = 0
    """Digest of everything it answered."""


class Conversation:
    """One program in a process, with any number of instances. After a fatal error (`error`) nothing is asked."""

    def __init__(self, sandbox: "Sandbox", source: str | bytes, isolation: Isolation, recover: bool) -> None:
        if isolation not in get_args(Isolation):
            raise ValueError(f"isolation is one of {', '.join(get_args(Isolation))}, not {isolation!r}")
        self.sandbox, self.limits, self.recover = sandbox, sandbox.limits, recover
        self.spent_cpu_s = 0.0
        """CPU seconds of the workers that this program has already brought down."""
        self.logs: dict[int, Log] = {}
        """The instances in play."""
        self.lost: dict[int, EnvError] = {}
        """Why an instance is out of play, where there is more to say than that it is."""
        self.respawns, self.culprits = 0, 0
        self.loaded = self.played = False
        self._expected: Items = ()
        self.channel: Channel | None = None
        text = decoded(source)
        self.error: EnvError | None = unfit(text, self.limits.source_bytes)
        self._payload = b"" if self.error else _encode(LoadFrame(source=text, isolation=isolation))

    @property
    def pid(self) -> int | None:
        """Process number of the worker; None while there is none."""
        return None if self.channel is None else self.channel.pid

    @property
    def cpu_s(self) -> float:
        """CPU seconds of the worker so far; 0.0 while there is none."""
        return 0.0 if self.channel is None else self.channel.cpu_s()

    @property
    def life_left_s(self) -> int:
        """CPU seconds that another worker of this program may live: lives cost what one long life may."""
        return max(1, self.limits.life_cpu_s - int(self.spent_cpu_s + self.cpu_s))

    def start(self, channel: Channel) -> None:
        """Send the source to a worker that was started for it; by the sandbox, and again when the last one died."""
        assert self.error is None, "only a sound program is started"
        if self.channel is not None:
            self.spent_cpu_s += self.channel.cpu_s()
            self.channel.close()
        self.channel, self.loaded, self._expected = channel, False, ()
        channel.ask(self._payload, reply_bytes(0, self.limits))

    def ask_reset(self, items: Sequence[tuple[int, int]]) -> None:
        """Write a question; the answer is read by `take`."""
        known = []
        for number, seed in items:
            self.logs.pop(number, None)
            self.lost.pop(number, None)
            if type(seed) is int and seed in SEEDS:
                known.append((number, seed))
            else:
                message = f"a seed must be an int of at most 64 bits, not {_shown(seed)}"
                self.lost[number] = error_of(ErrorKind.MISUSE, message)
        self._ask(ResetFrame(items=known), known)

    def ask_step(self, items: Sequence[tuple[int, str]]) -> None:
        """Write a question about the instances that are in play; the answer is read by `take`."""
        longest = self.limits.action_chars
        known = [(number, plain(action[:longest])) for number, action in items if self._asks(number, action)]
        self._ask(StepFrame(items=known), known)

    def _asks(self, number: int, action: object) -> bool:
        return number in self.logs and isinstance(action, str)

    def _ask(self, frame: ResetFrame | StepFrame, items: Items) -> None:
        if self.error is not None:
            return
        assert self.channel is not None
        if self.loaded and (self.channel.waiting or self._expected):
            self.channel.abandon()
        self._expected = items
        if items and not self.channel.failure:
            self.channel.ask(_encode(frame), reply_bytes(len(items), self.limits))

    def take(self) -> dict[int, Step]:
        """The steps of the last exchange by instance, written into the logs; empty when the process fell."""
        channel, items = self.channel, self._expected
        if self.error is not None or channel is None:
            return {}
        if channel.failure:
            self.error = self.sandbox.fall(channel)
            return {}
        if self.loaded and not items:
            return {}
        try:
            self.error, steps = decode_reply(channel.answer(), [number for number, _ in items], self.limits)
        except ProtocolError as broken:
            channel.kill()
            self.error = error_of(ErrorKind.PROTOCOL, str(broken))
            return {}
        if self.error is not None:
            return {}
        self.loaded = self.played = True
        for (number, told), step in zip(items, steps):
            self._note(number, told, step)
        self._expected = ()
        return {step.instance: step for step in steps}

    def _note(self, number: int, told: int | str, step: Step) -> None:
        if step.error is not None:
            self.logs.pop(number, None)
            return
        if isinstance(told, str):
            log = self.logs[number]
            log.answers = digest(step, log.answers)
            log.actions.append(told)
        else:
            self.logs[number] = Log(seed=told, answers=digest(step, 0))

    def unanswered(self, number: int, told: object) -> Step:
        """The step of an instance that the worker was not asked about."""
        if self.error is not None:
            return failed_by(number, self.error)
        if number in self.lost:
            return failed_by(number, self.lost[number])
        if number in self.logs:
            return failed(number, ErrorKind.ACTION, f"an action must be a str, not {type(told).__name__}")
        return failed(number, ErrorKind.MISUSE, f"instance {number} is not in play")


def digest(step: Step, before: int) -> int:
    """Of an answer and all before it."""
    rest = _REST.pack(step.reward, step.terminated, step.truncated)
    if step.info:
        rest += msgspec.json.encode(step.info, order="deterministic")
    return zlib.crc32(rest, zlib.crc32(step.observation.encode(), before))


def converse(conversations: Sequence[Conversation]) -> None:
    """Carry what was asked of these programs to its end; `take` has the answers.

    Raises ValueError for programs of different limits: they have one deadline.
    """
    if any(one.limits != conversations[0].limits for one in conversations):
        raise ValueError("the programs of one call must have the same limits: ask those of another sandbox apart")
    channels = [one.channel for one in conversations if one.channel is not None and one.error is None]
    if channels:
        began = time.perf_counter()
        exchange(channels, conversations[0].limits.frame_wall_s)
        conversations[0].sandbox.waited_s += time.perf_counter() - began


def _shown(seed: object) -> str:
    return f"one of {seed.bit_length()} bits" if type(seed) is int else type(seed).__name__
