"""One program in a process of its own: `EnvProcess`; and many of them at once: `load_all`, `reset_all`, `step_all`,
`close_all`.

The host's half of the conversation. It keeps the books (which instances are in play, whose fault a failure is) and
believes nothing a worker says beyond what the schema and the limits allow.
"""

import time
from typing import TYPE_CHECKING, Iterable, Mapping, Sequence

import msgspec

from .channel import Channel, exchange
from .frames import ProtocolError, ResetFrame, StepFrame, decode_reply, reply_bytes
from .limits import EnvError, ErrorKind, Step

if TYPE_CHECKING:
    from .host import Sandbox

_encode = msgspec.json.Encoder().encode


class EnvProcess:
    """One program in a process of its own, with any number of instances, each a fresh execution of its module.

    After a fatal error (`error` is set) every call answers with that error; other programs never notice.
    """

    def __init__(self, sandbox: "Sandbox", source: str) -> None:
        self._sandbox, self._limits = sandbox, sandbox.limits
        self._expected: list[int] = []
        self._live: set[int] = set()
        self._loading = False
        self._channel: Channel | None = None
        self.error: EnvError | None = None
        payload = source.encode("utf-8", "surrogatepass")
        if len(payload) > self._limits.source_bytes:
            limit = f"{len(payload)} bytes of source are more than {self._limits.source_bytes}"
            self.error = _program(ErrorKind.SOURCE_TOO_LARGE, limit)
        elif not _is_text(source):
            self.error = _program(ErrorKind.SYNTAX, "the source holds lone surrogates")
        self._payload = payload

    def start(self, channel: Channel) -> None:
        """Send the source to the worker that was started for it (by the sandbox, once)."""
        assert self._channel is None and self.error is None, "a process is started once, and only for a sound source"
        self._channel, self._loading = channel, True
        channel.ask(self._payload, reply_bytes(0, self._limits))

    def load(self) -> EnvError | None:
        """Wait until the program is loaded; the error when it is none."""
        load_all([self])
        return self.error

    def reset(self, items: Sequence[tuple[int, int]]) -> list[Step]:
        """(instance, seed) pairs to their first observations, in the same order."""
        return reset_all({self: items})[self]

    def step(self, items: Sequence[tuple[int, str]]) -> list[Step]:
        """(instance, action) pairs to the answers, in the same order. An instance stays until it is reset again."""
        return step_all({self: items})[self]

    def close(self) -> None:
        """Kill the process. Closing twice is fine."""
        if self._channel is not None:
            self._channel.close()
            self._channel = None
        self.error = self.error or EnvError(kind=ErrorKind.CLOSED, fault="host", message="the process was closed")
        self._sandbox.forget(self)

    def _ask_reset(self, items: Sequence[tuple[int, int]]) -> None:
        self._live.difference_update(number for number, _seed in items)
        self._ask(ResetFrame(items=list(items)), [number for number, _seed in items])

    def _ask_step(self, items: Sequence[tuple[int, str]]) -> None:
        longest = self._limits.action_chars
        known = [(number, _encodable(action[:longest])) for number, action in items if number in self._live]
        self._ask(StepFrame(items=known), [number for number, _action in known])

    def _ask(self, frame: ResetFrame | StepFrame, expected: list[int]) -> None:
        assert len(set(expected)) == len(expected), "an instance stands once in a call"
        self._expected = expected
        if self.error is None and expected:
            assert self._channel is not None
            self._channel.ask(_encode(frame), reply_bytes(len(expected), self._limits))

    def _take(self) -> dict[int, Step]:
        """The steps of the last exchange by instance; empty when the process failed."""
        channel = self._channel
        if self.error is not None or channel is None or not (self._loading or self._expected):
            return {}
        self._loading, expected, self._expected = False, self._expected, []
        if channel.failure:
            self.error = self._failure(channel.failure)
            return {}
        try:
            self.error, steps = decode_reply(channel.answer(), expected, self._limits)
        except ProtocolError as broken:
            channel.kill()
            self.error, steps = _program(ErrorKind.PROTOCOL, str(broken)), []
        answered = {step.instance: step for step in steps}
        self._live.update(answered)
        self._live.difference_update([step.instance for step in steps if step.error is not None])
        return answered

    def _failure(self, why: str) -> EnvError:
        if not self._sandbox.alive():
            return EnvError(kind=ErrorKind.SERVER_DIED, fault="host", message="the sandbox server died")
        texts = {
            "hang": f"no answer within {self._limits.frame_wall_s:g} s", "crash": "the process died",
            "protocol": "the process answered out of turn or too much",
        }  # fmt: skip
        return _program(ErrorKind(why), texts[why])

    def _step(self, number: int, steps: Mapping[int, Step]) -> Step:
        if number in steps:
            return steps[number]
        misuse = EnvError(kind=ErrorKind.MISUSE, fault="host", message=f"instance {number} is not in play")
        return Step(
            instance=number, observation="", reward=float("nan"), terminated=False, truncated=False,
            error=self.error or misuse,
        )  # fmt: skip


def close_all(processes: Iterable[EnvProcess]) -> None:
    """`EnvProcess.close` of many at once: all are killed before the first is waited for."""
    closing = list(processes)
    for process in closing:
        if process._channel is not None:
            process._channel.kill()
    for process in closing:
        process.close()


def load_all(processes: Sequence[EnvProcess]) -> None:
    """Wait until every program is loaded, or failed to (see `EnvProcess.error`)."""
    loading = [process for process in processes if process._loading and process.error is None]
    _exchange(loading)
    for process in loading:
        process._take()


def reset_all(batch: Mapping[EnvProcess, Sequence[tuple[int, int]]]) -> dict[EnvProcess, list[Step]]:
    """`EnvProcess.reset` of many programs at once: every question is written before the first answer is read."""
    load_all(list(batch))
    for process, items in batch.items():
        process._ask_reset(items)
    return _answers(batch)


def step_all(batch: Mapping[EnvProcess, Sequence[tuple[int, str]]]) -> dict[EnvProcess, list[Step]]:
    """`EnvProcess.step` of many programs at once: every question is written before the first answer is read."""
    load_all(list(batch))
    for process, items in batch.items():
        process._ask_step(items)
    return _answers(batch)


def _answers(
    batch: Mapping[EnvProcess, Sequence[tuple[int, int]]] | Mapping[EnvProcess, Sequence[tuple[int, str]]],
) -> dict[EnvProcess, list[Step]]:
    _exchange(list(batch))
    answers: dict[EnvProcess, list[Step]] = {}
    for process, items in batch.items():
        steps = process._take()
        answers[process] = [process._step(item[0], steps) for item in items]
    return answers


def _exchange(processes: Sequence[EnvProcess]) -> None:
    channels = [process._channel for process in processes if process._channel is not None and process.error is None]
    if channels:
        began = time.perf_counter()
        exchange(channels, processes[0]._limits.frame_wall_s)
        processes[0]._sandbox.waited_s += time.perf_counter() - began


def _program(kind: ErrorKind, message: str) -> EnvError:
    return EnvError(kind=kind, fault="program", message=message)


def _encodable(action: str) -> str:
    return action if action.isascii() else action.encode("utf-8", "replace").decode("utf-8")


def _is_text(source: str) -> bool:
    return source.isascii() or source == source.encode("utf-8", "replace").decode("utf-8")
