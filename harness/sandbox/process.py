"""One program in a process of its own: `EnvProcess`, what callers have in hand. The talk itself is conversation.py."""

from typing import TYPE_CHECKING, Iterable, Sequence

from .batch import load_all, reset_all, step_all
from .conversation import Conversation
from .limits import EnvError, ErrorKind, Isolation, Step, error_of

if TYPE_CHECKING:
    from .host import Sandbox


class EnvProcess(Conversation):
    """One program in a process of its own, with any number of instances.

    When the process dies it is started again (see recovery.py). After a fatal error (`error` is set) every call answers
    with that error; other programs never notice. An instance is named by any int; two in one call raise ValueError.
    """

    def __init__(
        self, sandbox: "Sandbox", source: str | bytes, isolation: Isolation = "module", recover: bool = True
    ) -> None:
        super().__init__(sandbox, source, isolation, recover)

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
        if self.channel is not None:
            self.channel.close()
            self.channel = None
        self.error = self.error or error_of(ErrorKind.CLOSED, "the process was closed")
        self.sandbox.forget(self)

    def kill(self) -> None:
        """Kill the process without waiting."""
        if self.channel is not None:
            self.channel.kill()


def close_all(processes: Iterable[EnvProcess]) -> None:
    """`EnvProcess.close` of many at once: all are killed before the first is waited for."""
    closing = list(processes)
    for process in closing:
        process.kill()
    for process in closing:
        process.close()
