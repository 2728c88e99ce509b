"""Run environments that a language model wrote, outside the trainer: `Sandbox` starts and owns the fork server.

    with Sandbox() as sandbox:
        program = sandbox.open(source)
        program.reset([(0, seed)])
        program.step([(0, "left")])

What holds here: a fresh exec'd interpreter with a clean environment and closed descriptors; a process per program with
limits on address space, CPU time, processes, files, core dumps; no new privileges; user nobody when the host is root;
killed by the host's deadline, when the host dies, and when the server dies; JSON answers checked field by field.

**What it does not stop:** there is no system-call filter, no file-system or network namespace. A program that climbs
out of its restricted names (Python gives many ways) can open sockets and read what user nobody, or the user of an
unprivileged host, may read. It can lie about its own rewards, within their range.

Not thread-safe: one thread owns a sandbox.
"""

import os
import select
import socket
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Self, Sequence

import msgspec

from ..errors import IncompleteError
from .channel import Channel
from .limits import Limits
from .process import EnvProcess, close_all

SERVER = Path(__file__).with_name("server.py")
CLEAN_ENVIRONMENT = {
    "PYTHONHASHSEED": "0", "LC_ALL": "C.UTF-8", "MALLOC_ARENA_MAX": "1", "OMP_NUM_THREADS": "1",
}  # fmt: skip
START_SECONDS = 30.0
TOGETHER = 32
"""Workers asked for before the first answer is read; the socket between us holds more than that."""


class SandboxUnavailable(IncompleteError):
    """The fork server cannot be started here."""


class Sandbox:
    """One fork server; it is started again when it died. Closing kills everything it started."""

    def __init__(self, limits: Limits | None = None) -> None:
        """Default limits when none are given. Raises SandboxUnavailable when the server does not come up."""
        self.limits = limits or Limits()
        self.waited_s = 0.0
        """Wall seconds this process has waited for its programs so far."""
        self._processes: set[EnvProcess] = set()
        self._start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def open(self, source: str) -> EnvProcess:
        """A process for one program. Returns while it still loads; a program that does not load answers with errors."""
        return self.open_all([source])[0]

    def open_all(self, sources: Sequence[str]) -> list[EnvProcess]:
        """A process for each program, in order; the server starts them while the next ones are asked for."""
        if not self.alive():
            self._stop()
            self._start()
        processes = [EnvProcess(self, source) for source in sources]
        startable = [process for process in processes if process.error is None]
        for start in range(0, len(startable), TOGETHER):
            group = startable[start : start + TOGETHER]
            for process, channel in zip(group, self._fork(len(group)), strict=True):
                process.start(channel)
                self._processes.add(process)
        return processes

    def alive(self) -> bool:
        """Whether the server runs. It never speaks unasked, so a readable control socket has been closed."""
        return self._server.poll() is None and not select.select([self._control], [], [], 0.0)[0]

    @property
    def server_pid(self) -> int:
        """Process id of the server; another one after a restart."""
        return self._server.pid

    def close(self) -> None:
        """Kill every process and the server; returns when they are gone. Closing twice is fine."""
        close_all(list(self._processes))
        self._stop()

    def forget(self, process: EnvProcess) -> None:
        """A process was closed."""
        self._processes.discard(process)

    def _fork(self, count: int) -> list[Channel]:
        """New workers, their sources still unsent. Raises SandboxUnavailable when the server does not answer."""
        asked: list[tuple[int, int]] = []
        channels: list[Channel] = []
        reason = "it closed the connection"
        try:
            for _ in range(count):
                asked.append(self._ask_for_worker())
            for requests, answers in asked:
                message, descriptors, _flags, _address = socket.recv_fds(self._control, 4, 1)
                if not message:
                    break
                channels.append(Channel(requests, answers, descriptors[0], int.from_bytes(message, "little")))
        except OSError as error:
            reason = str(error)
        if len(channels) < count:
            for channel in channels:
                channel.close()
            for descriptor in (one for pair in asked[len(channels) :] for one in pair):
                os.close(descriptor)
            raise SandboxUnavailable(f"the sandbox server does not fork ({reason}); start the command again")
        return channels

    def _ask_for_worker(self) -> tuple[int, int]:
        """Our ends of the pipes, for requests and for answers, of a worker that is being started."""
        requests_out, requests_in = os.pipe()
        answers_out, answers_in = os.pipe()
        try:
            socket.send_fds(self._control, [b"f"], [requests_out, answers_in])
        except OSError:
            os.close(requests_in)
            os.close(answers_out)
            raise
        finally:
            os.close(requests_out)
            os.close(answers_in)
        return requests_in, answers_out

    def _start(self) -> None:
        if sys.platform != "linux":
            raise SandboxUnavailable(f"the sandbox needs Linux, this is {sys.platform}; run it in a Linux container")
        self._control, theirs = socket.socketpair()
        assert msgspec.__file__ is not None
        folder, limits = str(Path(msgspec.__file__).parents[1]), msgspec.json.encode(self.limits).decode()
        command = [sys.executable, "-s", "-P", "-S", "-B", str(SERVER), folder, limits, str(theirs.fileno())]
        with theirs:
            self._server = subprocess.Popen(
                command, env=CLEAN_ENVIRONMENT, cwd="/", pass_fds=(theirs.fileno(),), start_new_session=True,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            )  # fmt: skip
        self._control.settimeout(START_SECONDS)
        try:
            ready = self._control.recv(5)
        except TimeoutError:
            ready = b""
        if ready != b"ready":
            reason = self._last_words()
            self._stop()
            raise SandboxUnavailable(f"the sandbox server did not start ({reason}); check the Python installation")

    def _last_words(self) -> str:
        assert self._server.stderr is not None
        if not select.select([self._server.stderr], [], [], 0.5)[0]:
            return "no reason given"
        lines = os.read(self._server.stderr.fileno(), 1 << 16).decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else "no reason given"

    def _stop(self) -> None:
        self._control.close()
        try:
            self._server.wait(timeout=5.0)
        except subprocess.TimeoutExpired:
            self._server.kill()
            self._server.wait()
        assert self._server.stderr is not None
        self._server.stderr.close()
