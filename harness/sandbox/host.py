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
from typing import Self

import msgspec

from ..errors import IncompleteError
from .channel import Channel
from .limits import Limits
from .process import EnvProcess

SERVER = Path(__file__).with_name("server.py")
CLEAN_ENVIRONMENT = {
    "PYTHONHASHSEED": "0", "LC_ALL": "C.UTF-8", "MALLOC_ARENA_MAX": "1", "OMP_NUM_THREADS": "1",
}  # fmt: skip
START_SECONDS = 30.0


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
        if not self.alive():
            self._stop()
            self._start()
        process = EnvProcess(self, source)
        self._processes.add(process)
        return process

    def alive(self) -> bool:
        """Whether the server runs. It never speaks unasked, so a readable control socket has been closed."""
        return self._server.poll() is None and not select.select([self._control], [], [], 0.0)[0]

    @property
    def server_pid(self) -> int:
        """Process id of the server; another one after a restart."""
        return self._server.pid

    def close(self) -> None:
        """Kill every process and the server; returns when they are gone. Closing twice is fine."""
        for process in list(self._processes):
            process.close()
        self._stop()

    def fork(self) -> Channel:
        """A new worker, its source still unsent. Raises SandboxUnavailable when the server does not answer."""
        requests_out, requests_in = os.pipe()
        answers_out, answers_in = os.pipe()
        try:
            socket.send_fds(self._control, [b"f"], [requests_out, answers_in])
            message, descriptors, _flags, _address = socket.recv_fds(self._control, 4, 1)
        except OSError as error:
            message, descriptors, reason = b"", [], str(error)
        else:
            reason = "it closed the connection"
        finally:
            os.close(requests_out)
            os.close(answers_in)
        if not message:
            os.close(requests_in)
            os.close(answers_out)
            raise SandboxUnavailable(f"the sandbox server does not fork ({reason}); start the command again")
        return Channel(requests_in, answers_out, descriptors[0], int.from_bytes(message, "little"))

    def forget(self, process: EnvProcess) -> None:
        """A process was closed."""
        self._processes.discard(process)

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
