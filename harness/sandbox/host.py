"""Run environments that a language model wrote, outside the trainer: `Sandbox` starts and owns the fork server.

    with Sandbox() as sandbox:
        program = sandbox.open(source)
        program.reset([(0, seed)])
        program.step([(0, "left")])

What holds is in `Sandbox.report`, as its self-test found it. **What it does not stop:** a hole in the kernel behind the
thirty system calls that get through; guessing secrets from the processor's timing; a program that lies about its own
rewards, within their range.

Not thread-safe: one thread owns a sandbox.
"""

from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self, Sequence

import msgspec

from .channel import Channel
from .launch import ForkServer, SandboxUnavailable
from .layers import Policy, SandboxReport, ServerSetup
from .limits import EnvError, Isolation, Limits
from .process import EnvProcess, close_all

TOGETHER = 32
"""Workers asked for before the first answer is read; the socket between us holds more than that."""


class Sandbox:
    """One fork server; it is started again when it died. Closing kills everything it started."""

    def __init__(self, limits: Limits | None = None, policy: Policy | None = None) -> None:
        """Default limits and the safe policy when none are given. Raises SandboxUnavailable with the reason."""
        if not isinstance(limits, Limits | None) or not isinstance(policy, Policy | None):
            raise ValueError("a sandbox takes Limits and a Policy, in this order: Sandbox(Limits(...), Policy(...))")
        self.limits, self.policy = limits or Limits(), policy or Policy()
        self.waited_s = 0.0
        """Wall seconds this process has waited for its programs so far."""
        self._processes: set[EnvProcess] = set()
        self._closed = False
        self._sibling: Sandbox | None = None
        self._server = ForkServer(self._setup())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def report(self) -> SandboxReport:
        """Which layers hold, by the self-test of the running server."""
        return self._server.report

    def open(self, source: str | bytes, *, isolation: Isolation = "module", recover: bool = True) -> EnvProcess:
        """A process for one program. Returns while it still loads; a program that does not load answers with errors.

        With `recover`, a process that dies is started again and its instances are replayed, see recovery.py.
        """
        return self.open_all([source], isolation=isolation, recover=recover)[0]

    def open_all(
        self, sources: Sequence[str | bytes], *, isolation: Isolation = "module", recover: bool = True
    ) -> list[EnvProcess]:
        """A process for each program, in order; the server starts them while the next ones are asked for."""
        processes = [EnvProcess(self, source, isolation, recover) for source in sources]
        startable = [process for process in processes if process.error is None]
        try:
            for start in range(0, len(startable), TOGETHER):
                group = startable[start : start + TOGETHER]
                for process, channel in zip(group, self.fork(len(group)), strict=True):
                    self._processes.add(process)
                    process.start(channel)
        except BaseException:
            close_all(processes)
            raise
        return processes

    def alive(self) -> bool:
        """Whether the server runs."""
        return self._server.alive()

    @property
    def server_pid(self) -> int:
        """Process number of the server; another one after a restart."""
        return self._server.process.pid

    def sibling(self) -> "Sandbox":
        """Another server of the same limits and policy: a program that shows addresses answers otherwise there.

        Started at the first call, closed with this one. It stays behind in its process numbers, so that a program
        that reads its own answers otherwise too.
        """
        if self._sibling is None:
            self._sibling = Sandbox(self.limits, self.policy)
            self.fork(1)[0].close()
        return self._sibling

    def close(self) -> None:
        """Kill every process and the server; returns when they are gone. Closing twice is fine."""
        self._closed = True
        close_all(list(self._processes))
        self._server.stop()
        if self._sibling is not None:
            self._sibling.close()

    def forget(self, process: EnvProcess) -> None:
        """A process was closed."""
        self._processes.discard(process)

    def fall(self, channel: Channel) -> EnvError:
        """The error of a worker whose exchange failed."""
        return self._server.fall(channel, self.limits.frame_wall_s)

    def fork(self, count: int, life_cpu_s: int | None = None) -> list[Channel]:
        """New workers, their sources still unsent; a dead server is started again. Raises SandboxUnavailable.

        `life_cpu_s` is what each may use in its whole life, by default the limit.
        """
        life = self.limits.life_cpu_s if life_cpu_s is None else life_cpu_s
        if self._closed:
            raise SandboxUnavailable("the sandbox was closed; make another one")
        if self.alive():
            with suppress(SandboxUnavailable):
                return self._server.fork_all(count, self.limits.memory_mb, life)
        if not self.alive():
            self._server.stop()
            self._server = ForkServer(self._setup())
        return self._server.fork_all(count, self.limits.memory_mb, life)

    def _setup(self) -> ServerSetup:
        assert msgspec.__file__ is not None
        folder = str(Path(msgspec.__file__).parents[1])
        return ServerSetup(limits=self.limits, policy=self.policy, path=(folder,))
