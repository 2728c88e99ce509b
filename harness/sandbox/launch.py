"""Starting a fork server and hearing which layers it has: the process, its control socket, its report.

The host's side; forkserver.py is the other. A required layer that does not hold ends the start with the reason, or
under `insecure` is warned of at every start; a wanted one is warned of once.
"""

import errno
import logging
import os
import platform
import select
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import msgspec

from ..errors import IncompleteError
from .channel import Channel
from .ending import UNKNOWN, ending
from .frames import FORK, HEADER, NUMBER, ORDER, WHY
from .layers import CLEAN_ENVIRONMENT, Layer, LayerState, SandboxReport, ServerSetup
from .limits import EnvError, ErrorKind, error_of

SERVER = Path(__file__).with_name("server.py")
START_SECONDS, START_PERIODS, WORKING_SHARE = 30.0, 10, 0.02
"""A server that has not spoken after so long is waited for again, so often, while it had this share of a processor: it
imports what a scorer needs, and on a crowded machine that takes minutes."""
AGAIN = "start the command again, and if it says the same see `spadework doctor`"
SYSTEMS = {"darwin": "macOS", "win32": "Windows"}
"""Names of `sys.platform` for people."""
log = logging.getLogger(__name__)
_told: set[str] = set()


class SandboxUnavailable(IncompleteError):
    """The fork server cannot be started here, or a required layer does not hold."""

    def __init__(self, message: str, report: SandboxReport | None = None) -> None:
        """`report` is what the self-test found, where it came so far."""
        super().__init__(message)
        self.report = report


class ForkServer:
    """A running fork server: it forks workers and tells how they ended."""

    def __init__(self, setup: ServerSetup) -> None:
        """Raises SandboxUnavailable with the reason and what to do."""
        if sys.platform != "linux":
            system = SYSTEMS.get(sys.platform, sys.platform)
            raise SandboxUnavailable(
                f"the sandbox needs Linux (seccomp, pidfds) and this is {system}, where it does not run, insecure or "
                "not; run the command in a Linux container or a virtual machine",
                SandboxReport(
                    machine=platform.machine(), kernel=platform.release(),
                    layers={layer: LayerState(state="missing", detail="needs Linux") for layer in Layer},
                ),
            )  # fmt: skip
        if setup.policy.refused:
            raise SandboxUnavailable(
                f"the policy both requires and switches off {', '.join(setup.policy.refused)}; "
                "switch nothing off, or say insecure=True"
            )
        self.control, theirs = socket.socketpair()
        with theirs:
            self.process = self._spawn(setup, theirs.fileno())
        self.control.settimeout(START_SECONDS)
        try:
            self.report = self._report()
            self._judge(setup)
        except BaseException:
            self.stop()
            raise

    def alive(self) -> bool:
        """Whether the server runs. It never speaks unasked, so a readable control socket has been closed."""
        if self.process.poll() is not None:
            return False
        heard = select.poll()
        heard.register(self.control, select.POLLIN)
        return not heard.poll(0)

    def fork(self, memory_mb: int, life_cpu_s: int) -> Channel:
        """One worker, waiting for its first frame. Raises SandboxUnavailable."""
        return self.fork_all(1, memory_mb, life_cpu_s)[0]

    def fork_all(self, count: int, memory_mb: int, life_cpu_s: int) -> list[Channel]:
        """Workers, waiting for their first frames; all are ordered before the first is heard of.

        Raises SandboxUnavailable. A server that was interrupted between order and answer is stopped: nobody could tell
        any more which answer belongs to which order.
        """
        pipes: list[tuple[int, int]] = []
        channels: list[Channel] = []
        try:
            reason = self._order(pipes, count, ORDER.pack(FORK, memory_mb, life_cpu_s))
            for requests, answers in list(pipes):
                number, pidfd = self._worker()
                if pidfd is None:
                    reason = f"({os.strerror(-number if number < 0 else errno.EMFILE)}); {AGAIN}"
                    continue
                channels.append(Channel(requests, answers, pidfd=pidfd, number=number, server=self))
                pipes.remove((requests, answers))
            if not reason:
                return channels
        except (OSError, EOFError) as error:
            reason = f"({self.last_words() if isinstance(error, EOFError | ConnectionError) else error}); {AGAIN}"
            self.stop()
        except BaseException:
            _drop(channels, pipes)
            self.stop()
            raise
        _drop(channels, pipes)
        raise SandboxUnavailable(f"the sandbox server does not fork {reason}")

    def _order(self, pipes: list[tuple[int, int]], count: int, order: bytes) -> str:
        """Order workers and collect our ends of their pipes; the reason when not all could be ordered."""
        try:
            while len(pipes) < count:
                pipes.append(_with_pipes(self.control, order))
        except OSError as error:
            if error.errno not in (errno.EMFILE, errno.ENFILE):
                raise
            return f"({error.strerror}); each program needs three, so close some or raise `ulimit -n`"
        return ""

    def _worker(self) -> tuple[int, int | None]:
        """The next worker ordered: its number as the server counts (minus an errno where there is none), and a pidfd.

        Raises EOFError, OSError.
        """
        message, descriptors, _flags, _address = socket.recv_fds(self.control, NUMBER.size, 1)
        if not message:
            raise EOFError
        return NUMBER.unpack(message)[0], descriptors[0] if descriptors else None

    def fall(self, channel: Channel, wall_s: float) -> EnvError:
        """The error of a worker whose exchange failed. A server that died takes its workers along."""
        if channel.server is self and self.alive():
            status = self.why(channel.number) if channel.failure == "crash" else UNKNOWN
            if status is not None:
                return ending(channel.failure, status, wall_s)
        return error_of(ErrorKind.SERVER_DIED, "the sandbox server died")

    def why(self, number: int) -> int | None:
        """The wait status of a worker that has ended or is just ending; -1 when the server does not know, None when it
        is gone."""
        try:
            self.control.sendall(ORDER.pack(WHY, number, 0))
            return int(NUMBER.unpack(self._exactly(NUMBER.size))[0])
        except (OSError, EOFError):
            self.stop()
            return None
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """End the server, and everything it started with it."""
        self.control.close()
        try:
            self.process.wait(timeout=5.0)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        assert self.process.stderr is not None
        self.process.stderr.close()

    def _spawn(self, setup: ServerSetup, control: int) -> "subprocess.Popen[bytes]":
        off = setup.policy.off
        text = msgspec.json.encode(setup).decode()
        os.set_inheritable(control, True)
        return subprocess.Popen(
            [sys.executable, "-s", "-P", "-S", "-B", str(SERVER), text, str(control)],
            env=None if Layer.CLEAN_ENV in off else CLEAN_ENVIRONMENT, cwd="/", start_new_session=True,
            close_fds=Layer.CLOSED_FDS not in off, pass_fds=(control,) if Layer.CLOSED_FDS not in off else (),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        )  # fmt: skip

    def _report(self) -> SandboxReport:
        if not spoken(self.control, self.process.pid, START_SECONDS):
            raise SandboxUnavailable(f"the sandbox server said nothing for {START_SECONDS:.0f} s and more; {AGAIN}")
        try:
            text = self._exactly(HEADER.unpack(self._exactly(HEADER.size))[0])
        except (OSError, EOFError):
            words = self.last_words()
            missing = words.startswith(("ModuleNotFoundError", "ImportError"))
            remedy = "install it, or take it out of the modules" if missing else "check the Python installation"
            raise SandboxUnavailable(f"the sandbox server did not start ({words}); {remedy}") from None
        states = msgspec.json.decode(text, type=dict[Layer, tuple[str, str]])
        return SandboxReport(
            machine=platform.machine(), kernel=platform.release(),
            layers={layer: LayerState(state=state, detail=detail) for layer, (state, detail) in states.items()},
        )  # fmt: skip

    def _judge(self, setup: ServerSetup) -> None:
        """Refuse, or warn of what is missing."""
        lacking = [layer for layer in setup.policy.needed if layer in self.report.missing]
        reasons = "; ".join(f"{layer}: {self.report.state(layer).detail}" for layer in lacking)
        if lacking and not setup.policy.insecure:
            raise SandboxUnavailable(
                f"this machine does not give the layers that a sandbox must have ({reasons}); use a Linux kernel and "
                "a container profile that give them (`spadework doctor` shows how), or give up the protection with "
                "insecure=True (--insecure)",
                self.report,
            )
        if lacking:
            log.warning(
                "INSECURE: the sandbox starts without layers that it must have (%s). Programs that a model wrote may "
                "read your files and keys and use your network; the record of what is made now says so.", reasons,
            )  # fmt: skip
        elif self.report.missing and self.report.describe() not in _told:
            _told.add(self.report.describe())
            log.warning("sandbox: %s", self.report.describe())

    def _exactly(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            more = self.control.recv(size - len(data))
            if not more:
                raise EOFError
            data += more
        return data

    def last_words(self) -> str:
        """The last line that the server left when it ended."""
        assert self.process.stderr is not None
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=0.5)
        heard = select.poll()  # select.select takes no descriptor above 1,023
        heard.register(self.process.stderr, select.POLLIN)
        if not heard.poll(0):
            return "no reason given"
        lines = os.read(self.process.stderr.fileno(), 1 << 16).decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else "no reason given"


def spoken(control: socket.socket, pid: int, period_s: float) -> bool:
    """Wait until a process speaks or hangs up, as long as it works; False when it is to be given up."""
    heard, used = select.poll(), 0.0
    heard.register(control, select.POLLIN)
    for _ in range(START_PERIODS):
        if heard.poll(period_s * 1000):
            return True
        before, used = used, _cpu_s(pid)
        if used - before < WORKING_SHARE * period_s:
            return False
    return False


def _cpu_s(pid: int) -> float:
    """CPU seconds of a process and of its children, the living and those it has waited for."""
    process = Path(f"/proc/{pid}")
    try:
        fields = (process / "stat").read_text().rpartition(")")[2].split()
        children = (process / "task" / str(pid) / "children").read_text().split()
    except OSError:
        return 0.0
    own = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    return own + sum(_cpu_s(int(child)) for child in children)


def _with_pipes(control: socket.socket, order: bytes) -> tuple[int, int]:
    """Send an order with the far ends of two new pipes; our ends, for requests and for answers. Raises OSError."""
    ends: list[int] = []
    ours: list[int] = []
    try:
        for _ in range(2):
            ends += os.pipe()
        socket.send_fds(control, [order], [ends[0], ends[3]])
        ours = ends[1:3]
        return ends[1], ends[2]
    finally:
        for end in ends:
            if end not in ours:
                os.close(end)


def _drop(channels: list[Channel], pipes: list[tuple[int, int]]) -> None:
    for channel in channels:
        channel.close()
    for end in (end for pair in pipes for end in pair):
        os.close(end)
