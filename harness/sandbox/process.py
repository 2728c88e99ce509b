"""One program in a process of its own: `EnvProcess`.

The host's half of the conversation. It keeps the books (which instances are in play, what each was told, whose fault a
failure is) and believes nothing a worker says beyond what the schema and the limits allow.
"""

import time
import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Iterable, Sequence

import msgspec

from . import batch
from .channel import Channel, exchange
from .frames import LoadFrame, ProtocolError, ResetFrame, StepFrame, decode_reply, reply_bytes
from .intake import decoded, plain, unfit
from .limits import EnvError, ErrorKind, Isolation, Step, failed

if TYPE_CHECKING:
    from .host import Sandbox

_encode = msgspec.json.Encoder().encode
Items = Sequence[tuple[int, Any]]
"""(instance, seed) pairs of a reset, (instance, action) pairs of a step."""


@dataclass(slots=True)
class Log:
    """All that is needed to play one instance again, and to see whether it answers the same."""

    seed: int
    actions: list[str] = field(default_factory=list)
    answers: int = 0
    """Digest of everything it answered."""


class EnvProcess:
    """One program in a process of its own, with any number of instances.

    When the process dies it is started again (see recovery.py). After a fatal error (`error` is set) every call answers
    with that error; other programs never notice.
    """

    def __init__(
        self, sandbox: "Sandbox", source: str | bytes, isolation: Isolation = "module", recover: bool = True
    ) -> None:
        self.sandbox, self.limits, self.recover = sandbox, sandbox.limits, recover
        self.logs: dict[int, Log] = {}
        """The instances in play."""
        self.lost: dict[int, EnvError] = {}
        """Instances that a replay could not bring back."""
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

    def start(self, channel: Channel) -> None:
        """Send the source to a worker that was started for it; by the sandbox, and again when the last one died."""
        assert self.error is None, "only a sound program is started"
        if self.channel is not None:
            self.channel.close()
        self.channel, self.loaded, self._expected = channel, False, ()
        channel.ask(self._payload, reply_bytes(0, self.limits))

    def load(self) -> EnvError | None:
        """Wait until the program is loaded; the error when it is none."""
        batch.load_all([self])
        return self.error

    def reset(self, items: Sequence[tuple[int, int]]) -> list[Step]:
        """(instance, seed) pairs to their first observations, in the same order."""
        return batch.reset_all({self: items})[self]

    def step(self, items: Sequence[tuple[int, str]]) -> list[Step]:
        """(instance, action) pairs to the answers, in the same order. An instance stays until it is reset again."""
        return batch.step_all({self: items})[self]

    def close(self) -> None:
        """Kill the process. Closing twice is fine."""
        if self.channel is not None:
            self.channel.close()
            self.channel = None
        self.error = self.error or EnvError(kind=ErrorKind.CLOSED, fault="host", message="the process was closed")
        self.sandbox.forget(self)

    def kill(self) -> None:
        """Kill the process without waiting."""
        if self.channel is not None:
            self.channel.kill()

    def ask_reset(self, items: Sequence[tuple[int, int]]) -> None:
        """Write a question; the answer is read by `take`."""
        for number, _seed in items:
            self.logs.pop(number, None)
            self.lost.pop(number, None)
        self._ask(ResetFrame(items=list(items)), items)

    def ask_step(self, items: Sequence[tuple[int, str]]) -> None:
        """Write a question about the instances that are in play; the answer is read by `take`."""
        longest = self.limits.action_chars
        known = [(number, plain(action[:longest])) for number, action in items if self._asks(number, action)]
        self._ask(StepFrame(items=known), known)

    def _asks(self, number: int, action: object) -> bool:
        return number in self.logs and isinstance(action, str)

    def _ask(self, frame: ResetFrame | StepFrame, items: Items) -> None:
        if len({number for number, _ in items}) != len(items):
            raise ValueError("an instance may stand only once in a call")
        self._expected = items
        if self.error is None and items:
            assert self.channel is not None
            self.channel.ask(_encode(frame), reply_bytes(len(items), self.limits))

    def take(self) -> dict[int, Step]:
        """The steps of the last exchange by instance, written into the logs; empty when the process fell."""
        channel, items = self.channel, self._expected
        if self.error is not None or channel is None or (self.loaded and not items):
            return {}
        if channel.failure:
            self.error = self.sandbox.fall(channel)
            return {}
        try:
            self.error, steps = decode_reply(channel.answer(), [number for number, _ in items], self.limits)
        except ProtocolError as broken:
            channel.kill()
            self.error = EnvError(kind=ErrorKind.PROTOCOL, fault="program", message=str(broken))
            return {}
        self.loaded, self.played, self._expected = True, True, ()
        for (number, told), step in zip(items, steps):
            self._note(number, told, step)
        return {step.instance: step for step in steps}

    def _note(self, number: int, told: int | str, step: Step) -> None:
        if step.error is not None:
            self.logs.pop(number, None)
            return
        if isinstance(told, str):
            log = self.logs[number]
            log.actions.append(told)
        else:
            log = self.logs[number] = Log(seed=told)
        said = f"{step.reward} {step.terminated} {step.truncated} {step.observation}"
        log.answers = zlib.crc32(said.encode(), log.answers)

    def unanswered(self, number: int, told: object) -> Step:
        """The step of an instance that the worker was not asked about."""
        if self.error is not None:
            return failed_by(number, self.error)
        if number in self.lost:
            return failed_by(number, self.lost[number])
        if number in self.logs:
            return failed(number, ErrorKind.ACTION, f"an action must be a str, not {type(told).__name__}")
        return failed(number, ErrorKind.MISUSE, f"instance {number} is not in play")


def failed_by(number: int, error: EnvError) -> Step:
    """The step of an instance that an error ended."""
    return Step(
        instance=number, observation="", reward=float("nan"), terminated=False, truncated=False, error=error
    )  # fmt: skip


def close_all(processes: Iterable[EnvProcess]) -> None:
    """`EnvProcess.close` of many at once: all are killed before the first is waited for."""
    closing = list(processes)
    for process in closing:
        process.kill()
    for process in closing:
        process.close()


def converse(processes: Sequence[EnvProcess]) -> None:
    """Carry what was asked of these processes to its end; `take` has the answers."""
    channels = [process.channel for process in processes if process.channel is not None and process.error is None]
    if channels:
        began = time.perf_counter()
        exchange(channels, processes[0].limits.frame_wall_s)
        processes[0].sandbox.waited_s += time.perf_counter() - began
