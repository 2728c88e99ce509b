"""The fork server: imports what programs may use, jails itself, tries the jail out, forks a worker for each program.

Runs in the jailed interpreter; nothing of the trainer is in its memory, its environment or its descriptors, and it
holds no program itself. Orders on the control socket are nine bytes: a letter and two numbers. "f" (MiB, CPU
seconds), with two pipe ends, forks a worker; the answer is its process number and a pidfd. "w" (process number, 0) asks
how a worker ended; the answer is its wait status, or -1. When the socket closes the server kills everything and ends.
"""

import errno
import gc
import importlib
import json
import os
import signal
import socket
from contextlib import suppress
from typing import Any, Callable

import msgspec

from . import probes
from .frames import FORK, NUMBER, ORDER, pack
from .jail import Bounds, Jail, confine_server, confine_worker, follow, rlimits, shut_server, shut_worker
from .layers import ServerSetup

REMEMBERED = 512
"""How many ended workers the server can still tell of."""
ROLES = {"environment": "jail.worker", "script": "jail.script"}
"""A role has `prepare(setup)` (imports, before the jail shuts), `arm(limits)` (signal handlers, in the worker),
`RULES` (its system calls), `THREADS` (how many its user may have) and `serve(prepared, armed)`."""


def main(setup_text: str, control_fd: int) -> None:
    """Serve until the host closes the control socket."""
    setup = msgspec.json.decode(setup_text, type=ServerSetup)
    with socket.socket(fileno=control_fd) as control:
        server = Server(control, setup)
        report = json.dumps(server.confine()).encode()
        control.sendmsg([pack(report)])
        server.serve()


class Server:
    """Forks confined workers, buries them, and remembers how they ended."""

    def __init__(self, control: socket.socket, setup: ServerSetup) -> None:
        self.control, self.setup, self.jail = control, setup, Jail(policy=setup.policy)
        self.role = importlib.import_module(ROLES[setup.role])
        self.prepared: Any = self.role.prepare(setup)
        self.ended: dict[int, int] = {}
        gc.collect()
        gc.freeze()

    def confine(self) -> dict[str, tuple[str, str]]:
        """Put the layers on and try them out; a layer's name to its state and detail."""
        confine_server(self.jail)
        shut_server(self.jail, self.role.RULES)
        self.jail.record(self.self_test())
        return {layer: (state.state, state.detail) for layer, state in self.jail.states.items()}

    def self_test(self) -> dict[str, str]:
        """What a worker, made like any other and thrown away, found inside the jail."""
        bounds = Bounds(self.setup.limits.memory_mb, self.setup.limits.life_cpu_s, self.role.THREADS)
        requests, unused = os.pipe()
        findings, answers = os.pipe()
        pid = self.fork(requests, answers, bounds, lambda: self.probe(bounds))
        for descriptor in (requests, unused, answers):
            os.close(descriptor)
        text = b"".join(iter(lambda: os.read(findings, 4096), b""))
        os.close(findings)
        if pid < 0:
            raise OSError(-pid, os.strerror(-pid))
        os.waitpid(pid, 0)
        found: dict[str, str] = json.loads(text or b"{}")
        return found

    def probe(self, bounds: Bounds) -> None:
        """The life of the worker that tries the jail out."""
        found = probes.before_filter(rlimits(bounds))
        shut_worker(self.jail, self.role.RULES)
        os.write(4, json.dumps(found | probes.after_filter()).encode())

    def serve(self) -> None:
        """Carry out orders until the socket closes."""
        signal.signal(signal.SIGCHLD, lambda _number, _frame: self.bury())
        while True:
            message, descriptors, _flags, _address = socket.recv_fds(self.control, ORDER.size, 2)
            if not message:
                break
            order, first, second = ORDER.unpack(message)
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
            if order == FORK:
                self.start(descriptors[0], descriptors[1], Bounds(first, second, self.role.THREADS))
            else:
                self.control.sendmsg([NUMBER.pack(self.status(first))])
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
        self.kill_all()

    def start(self, requests: int, answers: int, bounds: Bounds) -> None:
        """A worker for the host: its number and a pidfd go back, made before it can be buried; or minus the errno."""
        pid = self.fork(requests, answers, bounds, self.work)
        ours = [os.pidfd_open(pid)] if pid > 0 else []
        socket.send_fds(self.control, [NUMBER.pack(pid)], ours)
        for descriptor in (*ours, requests, answers):
            os.close(descriptor)

    def fork(self, requests: int, answers: int, bounds: Bounds, life: Callable[[], None]) -> int:
        """The number of a new child, which confines itself, lives its `life` and ends; minus the errno without one."""
        server = os.getpid()
        try:
            pid = os.fork()
        except OSError as error:
            return -(error.errno or errno.EAGAIN)
        if pid == 0:
            follow(server)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
            confine_worker(self.jail, requests, answers, bounds)
            life()
            os._exit(0)
        return pid

    def work(self) -> None:
        """The life of a worker that the host asked for."""
        armed = self.role.arm(self.setup.limits)
        shut_worker(self.jail, self.role.RULES)
        self.role.serve(self.prepared, armed)

    def status(self, pid: int) -> int:
        """How a worker that is ending has ended, as a wait status; -1 when nobody knows."""
        if pid not in self.ended:
            with suppress(ChildProcessError):
                os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        self.bury()
        return self.ended.pop(pid, -1)

    def bury(self) -> None:
        """Bury ended workers, and kill whatever they left in their process group."""
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
        with suppress(ChildProcessError):
            while (found := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)) is not None:
                kill_group(found.si_pid)
                self.ended[found.si_pid] = os.waitpid(found.si_pid, 0)[1]
        while len(self.ended) > REMEMBERED:
            del self.ended[next(iter(self.ended))]
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def kill_all(self) -> None:
        """Kill and bury every child, adopted ones too. The first process of a namespace takes all along as it ends."""
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        while children := child_pids():
            for pid in children:
                kill_group(pid)
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)


def kill_group(pid: int) -> None:
    """SIGKILL to a worker's process group; an adopted orphan may lead none."""
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


def child_pids() -> list[int]:
    """This process's children, from the kernel's own list; none where that cannot be read any more."""
    try:
        with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as listing:
            return [int(pid) for pid in listing.read().split()]
    except OSError:
        return []
