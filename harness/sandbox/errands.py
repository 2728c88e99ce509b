"""One question to a worker of its own and the way back, over one fork server: what a `Runner` does for every run.

What the host is to blame for (the server died, somebody killed the worker) is tried once more before it is reported.
"""

import resource
import threading
import time
from math import ceil
from pathlib import Path
from typing import NamedTuple

from .channel import Channel, exchange
from .frames import ProtocolError
from .launch import ForkServer, SandboxUnavailable
from .layers import ServerSetup
from .limits import EnvError, ErrorKind, error_of
from .run_frames import End, decode_end, end_bytes
from .runs import RunLimits

GRACE_S = 0.5
"""CPU seconds after its own alarm at which the host ends a worker: for loops that no signal reaches."""
KERNEL_S = 2
"""CPU seconds after the limit at which the kernel ends a worker, should the host be gone."""

ASSUMED_MB = 512
"""Address space of a server whose size cannot be read."""


class Outcome(NamedTuple):
    """How an errand ended: an answer, or an error."""

    end: End | None
    error: EnvError | None
    cpu_s: float
    wall_s: float


class Errands:
    """A fork server of scripts that is started again when it died. Thread-safe."""

    def __init__(self, setup: ServerSetup, workers: int) -> None:
        """`workers` errands run at a time. Raises SandboxUnavailable."""
        self.setup, self.closed = setup, False
        self._control = threading.Lock()
        self._places = threading.BoundedSemaphore(workers)
        self._out: set[Channel] = set()
        self.server = ForkServer(setup)
        self._taken_mb = address_space_mb(self.server.process.pid)

    def run(self, payload: bytes, token: str, limits: RunLimits) -> Outcome:
        """Ask a new worker and wait for its answer; twice when the first error is the host's."""
        with self._places:
            outcome = self._once(payload, token, limits)
            if outcome.error is not None and outcome.error.fault == "host" and not self.closed:
                outcome = self._once(payload, token, limits)
        return outcome

    def close(self) -> None:
        """Kill what is on its way, and the server."""
        self.closed = True
        with self._control:
            for channel in self._out:
                channel.kill()
            self.server.stop()

    def _once(self, payload: bytes, token: str, limits: RunLimits) -> Outcome:
        began = time.monotonic()
        try:
            channel = self._worker(limits)
        except SandboxUnavailable as unavailable:
            died = error_of(ErrorKind.SERVER_DIED, str(unavailable))
            return Outcome(None, died, 0.0, time.monotonic() - began)
        try:
            channel.cpu_limit_s, channel.may_sleep = limits.cpu_s + GRACE_S, True
            channel.ask(payload, end_bytes(limits))
            exchange([channel], limits.wall)
            end, error = self._read(channel, token, limits)
            return Outcome(end, error, channel.cpu_s(), time.monotonic() - began)
        finally:
            with self._control:
                self._out.discard(channel)
            channel.close()

    def _read(self, channel: Channel, token: str, limits: RunLimits) -> tuple[End | None, EnvError | None]:
        if channel.failure:
            with self._control:
                if self.closed:
                    return None, error_of(ErrorKind.CLOSED, "the runner was closed")
                return None, self.server.fall(channel, limits.wall)
        try:
            return decode_end(channel.answer(), token, limits), None
        except ProtocolError as broken:
            return None, error_of(ErrorKind.PROTOCOL, str(broken))

    def _worker(self, limits: RunLimits) -> Channel:
        """A new worker, waiting for its question. Raises SandboxUnavailable."""
        with self._control:
            if self.closed:
                raise SandboxUnavailable("the runner was closed")
            if not self.server.alive():
                self.server.stop()
                self.server = ForkServer(self.setup)
            memory_mb = self._taken_mb + limits.memory_mb + (limits.reserve_bytes >> 20)
            channel = self.server.fork(memory_mb, ceil(limits.cpu_s) + KERNEL_S)
            self._out.add(channel)
            return channel


def address_space_mb(pid: int) -> int:
    """MiB of address space of a process. What it forks begins with as much."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[0])
    except OSError:
        return ASSUMED_MB
    return pages * resource.getpagesize() >> 20
