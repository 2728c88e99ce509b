"""The host's ends of one worker's pipes, and one poll loop over many of them.

Both ends are non-blocking: a stuck worker can delay an exchange up to its deadline and no longer. A worker that is
ready to run and got little of the processor is not stuck: on a crowded machine it is given more time.
"""

import math
import os
import select
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import Iterable

from .frames import HEADER, pack

CHUNK = 1 << 16
DYING_S, CLOSING_S = 1.0, 5.0
"""How long the death of a worker that has closed its pipe, or was killed, is waited for."""
EXTENSIONS = 10
"""How often a starved worker's deadline is put off, unless it used a deadline's worth of CPU time meanwhile."""
BUSY_SHARE = 0.5
"""A worker that used this share of the deadline as CPU time was not starved."""
TICK_S = 0.1
"""How often the CPU time of a worker with a limit on it is looked at."""


class Channel:
    """Frames to one worker and back, one question at a time. `failure` says why there will be no answer any more."""

    def __init__(self, requests: int, answers: int, pidfd: int, number: int, server: object = None) -> None:
        """`number` is the worker's process number as its `server` counts; `pid` is the same process as we count."""
        self.requests, self.answers, self.pidfd, self.number, self.server = requests, answers, pidfd, number, server
        self.pid = _pid_of(pidfd)
        self.cpu_asked = self.cpu_at_start = self.cpu_seen = 0.0
        self.waits_seen: dict[str, float] = {}
        self.cpu_limit_s = math.inf
        """CPU seconds of its life at which the worker is killed by us, whatever it did to its own clocks."""
        self.may_sleep = False
        """Whether what runs there is let to sleep and to wait."""
        self.outgoing: memoryview = memoryview(b"")
        self.incoming = bytearray()
        self.answer_limit = 0
        self.waiting = False
        self.failure = ""
        """Empty, "hang", "starved", "cpu", "crash" or "protocol"."""
        for descriptor in (requests, answers):
            os.set_blocking(descriptor, False)

    def ask(self, payload: bytes, answer_limit: int) -> None:
        """Start an exchange: the question is on its way when this returns, as far as the pipe takes it."""
        assert not self.waiting, "one question at a time"
        self.post(payload)
        self.expect(answer_limit)

    def post(self, payload: bytes) -> None:
        """Send a frame that has no answer of its own."""
        self.outgoing = memoryview(bytes(self.outgoing) + pack(payload))
        self.write()

    def expect(self, answer_limit: int) -> None:
        """Wait for an answer of at most so many bytes."""
        self.answer_limit, self.waiting = answer_limit, True
        self.cpu_asked = self.cpu_at_start = self.cpu_s()
        self.waits_seen = {}

    def write(self) -> None:
        """Send what the pipe takes now. A dead worker is noticed where its answer is read."""
        try:
            while self.outgoing:
                self.outgoing = self.outgoing[os.write(self.requests, self.outgoing) :]
        except BlockingIOError:
            pass
        except BrokenPipeError:
            self.outgoing = memoryview(b"")

    def read(self) -> None:
        """Take what has come; ends the waiting when the answer is whole, too long, or will not come."""
        try:
            chunk = os.read(self.answers, CHUNK)
        except BlockingIOError:
            return
        if not chunk:
            # A worker that is dying has closed its pipe a moment before; one that lives on has broken the protocol.
            self._fail("crash" if self.dies(DYING_S) else "protocol")
            return
        self.incoming += chunk
        if len(self.incoming) < HEADER.size:
            return
        size = HEADER.unpack_from(self.incoming)[0] + HEADER.size
        if size > self.answer_limit + HEADER.size or len(self.incoming) > size:
            self._fail("protocol")
        elif len(self.incoming) == size:
            self.waiting = False

    def answer(self) -> bytes:
        """The payload of the answer that has come."""
        assert not self.waiting and not self.failure
        payload = bytes(self.incoming[HEADER.size :])
        self.incoming.clear()
        return payload

    def used_s(self) -> float:
        """CPU seconds since the question."""
        return self.cpu_s() - self.cpu_asked

    def expire(self, starved: bool) -> None:
        """The deadline passed; where the worker got too little of the processor it is not its fault."""
        self._fail("starved" if starved else "hang")

    def abandon(self) -> None:
        """The caller was interrupted and will not hear the answer: the worker is of no use any more."""
        self._fail("crash")

    def overdrawn(self) -> bool:
        """Whether the worker has used up its CPU time; it is killed for it."""
        if self.cpu_s() < self.cpu_limit_s:
            return False
        self._fail("cpu")
        return True

    def starved(self, wall_s: float) -> bool:
        """Whether the worker got little of the processor although it would have used it: less than half of `wall_s`
        since it was asked, and it wanted more in the last `wall_s`.

        One that cannot sleep is ready whenever it runs; of one that can, the kernel's count of its threads' waiting
        decides, which a program cannot drive up on a machine with a core to spare. Asked once a deadline; at the first
        one all waiting of the worker's life counts, which can put the verdict off by one.
        """
        threads, before, used = self._threads(), self.waits_seen, self.cpu_s() - self.cpu_at_start
        self.waits_seen = {name: wait for name, (_, wait) in threads.items()}
        waited = max((wait - before.get(name, 0.0) for name, wait in self.waits_seen.items()), default=0.0)
        ready = not self.may_sleep and any(state == "R" for state, _ in threads.values())
        return used < BUSY_SHARE * wall_s and (ready or waited >= BUSY_SHARE * wall_s)

    def _threads(self) -> dict[str, tuple[str, float]]:
        """Each thread's state, and the seconds that it has stood ready in its life (second field of schedstat)."""
        threads = {}
        with suppress(OSError):
            for task in Path(f"/proc/{self.pid}/task").iterdir():
                state = (task / "stat").read_text().rpartition(")")[2].split()[0]
                threads[task.name] = (state, int((task / "schedstat").read_text().split()[1]) / 1e9)
        return threads

    def cpu_s(self) -> float:
        """CPU seconds of the worker's life, by its POSIX clock; as last seen once it is gone."""
        if self.pid >= 0:
            with suppress(OSError):
                self.cpu_seen = time.clock_gettime((~self.pid << 3) | 2)
        return self.cpu_seen

    def _fail(self, why: str) -> None:
        self.cpu_s()
        self.failure, self.waiting = why, False
        self.kill()

    def kill(self) -> None:
        """SIGKILL, to exactly this process (a pidfd is never another one)."""
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)

    def dies(self, wall_s: float) -> bool:
        """Wait for the worker's death, at most so long; whether it is dead."""
        poll = select.poll()
        poll.register(self.pidfd, select.POLLIN)
        return bool(poll.poll(wall_s * 1000))

    def close(self) -> None:
        """Kill the worker and close this side; returns when it is dead."""
        self.kill()
        self.dies(CLOSING_S)
        for descriptor in (self.requests, self.answers, self.pidfd):
            os.close(descriptor)


def _pid_of(pidfd: int) -> int:
    """The number, in our own process namespace, of the process behind a pidfd; -1 when it is gone or unknown."""
    with suppress(OSError):
        for line in Path(f"/proc/self/fdinfo/{pidfd}").read_text().splitlines():
            if line.startswith("Pid:"):
                return int(line.split()[1])
    return -1


def exchange(channels: Iterable[Channel], wall_s: float) -> None:
    """Carry every started exchange to its end: an answer, or a `failure`. A worker has `wall_s` seconds,
    put off while it starves."""
    waiting = {channel.answers: channel for channel in channels if channel.waiting}
    writing = {channel.requests: channel for channel in waiting.values() if channel.outgoing}
    poll = select.poll()
    for descriptor in waiting:
        poll.register(descriptor, select.POLLIN)
    for descriptor in writing:
        poll.register(descriptor, select.POLLOUT)
    deadline, extensions = time.monotonic() + wall_s, 0
    limited = [channel for channel in waiting.values() if channel.cpu_limit_s < math.inf]
    tick = TICK_S if limited else math.inf
    while waiting:
        for descriptor, _event in poll.poll(max(0.0, min(deadline - time.monotonic(), tick)) * 1000):
            _attend(descriptor, waiting, writing, poll)
        for channel in limited:
            if channel.waiting and channel.overdrawn():
                _forget(channel.answers, waiting, poll)
        if time.monotonic() >= deadline:  # whatever has come: an answer that trickles in is none
            deadline, extensions = deadline + wall_s, extensions + 1
            for channel in list(waiting.values()):
                starved, used = channel.starved(wall_s), channel.used_s()
                if extensions > EXTENSIONS or not starved or used >= wall_s:
                    channel.expire(starved and used < BUSY_SHARE * wall_s)
                    _forget(channel.answers, waiting, poll)


def _attend(descriptor: int, waiting: dict[int, Channel], writing: dict[int, Channel], poll: "select.poll") -> None:
    if descriptor in writing:
        channel = writing[descriptor]
        channel.write()
        if not channel.outgoing:
            _forget(descriptor, writing, poll)
    elif descriptor in waiting:
        channel = waiting[descriptor]
        channel.read()
        if not channel.waiting:
            _forget(descriptor, waiting, poll)


def _forget(descriptor: int, channels: dict[int, Channel], poll: "select.poll") -> None:
    del channels[descriptor]
    poll.unregister(descriptor)
