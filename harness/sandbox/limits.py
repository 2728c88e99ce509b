"""The sandbox's values: limits, what an environment answers, and whose fault a failure is.

Standard library and msgspec only: the host and the jailed interpreter both load this file. Nothing is done here.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, Mapping

import msgspec

Isolation = Literal["module", "shared"]
"""Whether each instance has an execution of the module (and a `random`) of its own, or all share one."""

Fault = Literal["program", "host"]
"""A program's fault counts against its writer; a host's fault never does, and what it hit is tried again."""


class ErrorKind(StrEnum):
    """What went wrong with a program, or with the machinery around it (`HOST_KINDS`)."""

    EMPTY = "empty"
    """No source text."""
    SOURCE_TOO_LARGE = "source_too_large"
    ENCODING = "encoding"
    """Bytes that are not UTF-8, NUL characters, lone surrogates."""
    SYNTAX = "syntax"
    FORBIDDEN_MODULE = "forbidden_module"
    LOAD = "load"
    """The module raised while it was executed."""
    CONTRACT = "contract"
    """No class, a wrong signature, an answer of the wrong shape, flags that are not bool."""
    OBSERVATION = "observation"
    """Not a str, too long, or not encodable."""
    REWARD = "reward"
    """Not an int or a float, not finite, or out of range."""
    INFO = "info"
    """Not a dict of plain JSON values, too large, or too deep."""
    EXCEPTION = "exception"
    """`__init__`, `reset` or `step` raised."""
    EXIT = "exit"
    """The program asked the interpreter to exit."""
    FORBIDDEN = "forbidden"
    """The program asked the kernel for something that the jail refuses."""
    TIMEOUT = "timeout"
    """More CPU time than one call may use; the other instances go on."""
    HANG = "hang"
    """No answer before the host's deadline; the process was killed."""
    CPU_EXHAUSTED = "cpu_exhausted"
    """The process used up the CPU time of its whole life."""
    MEMORY = "memory"
    EARLY_EXIT = "early_exit"
    """The process ended itself behind the interpreter's back."""
    CRASH = "crash"
    """The process died by a signal that it brought upon itself."""
    PROTOCOL = "protocol"
    """The process answered something that is not an answer, and was killed."""
    NONDETERMINISTIC = "nondeterministic"
    """The instance answered otherwise when it was played again after its process had died."""
    OUTPUT = "output"
    """A script wrote more than it may; it was ended there."""
    ANSWER = "answer"
    """A called function returned something that is not JSON, or too much of it."""
    MISUSE = "misuse"
    """The caller named an instance that was never reset, or is over."""
    ACTION = "action"
    """The caller's action is not a str; the instance never saw it and goes on."""
    KILLED = "killed"
    """Somebody else killed the process (the machine ran out of memory, a person did it), or it was starved of CPU."""
    SERVER_DIED = "server_died"
    CLOSED = "closed"


HOST_KINDS = frozenset(
    {ErrorKind.MISUSE, ErrorKind.ACTION, ErrorKind.KILLED, ErrorKind.SERVER_DIED, ErrorKind.CLOSED}
)


_BOUNDS: dict[str, tuple[int, int] | tuple[float, float]] = {
    "source_bytes": (1, 2**30), "memory_mb": (64, 2**20), "load_cpu_s": (1e-3, 1e5), "call_cpu_s": (1e-3, 1e5),
    "timeouts": (1, 10**9), "life_cpu_s": (1, 10**9), "frame_wall_s": (1e-3, 1e5), "obs_chars": (1, 2**24),
    "action_chars": (0, 2**24), "info_bytes": (2, 2**24), "message_chars": (0, 2**16), "abs_reward": (1e-9, 1e100),
    "respawns": (0, 10**9), "culprits": (1, 10**9),
}  # fmt: skip
"""The least and the most that each limit can be; an address space under 64 MiB does not hold the interpreter."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """What one program may use. CPU seconds are the worker's own, wall seconds are the host's clock."""

    source_bytes: int = 64_000
    memory_mb: int = 512
    """Address space of one worker, MiB."""
    load_cpu_s: float = 2.0
    """Compiling and executing the module once."""
    call_cpu_s: float = 0.25
    """One `reset` (its module's execution included) or one `step`."""
    timeouts: int = 3
    """A worker is ended at this many exceeded calls, so that a slow program cannot cost a timeout per instance."""
    life_cpu_s: int = 300
    """The whole life of a worker; the kernel enforces it even when the host is gone."""
    frame_wall_s: float = 10.0
    """One exchange with one worker; put off, at most tenfold, while the worker waits for a crowded processor."""
    obs_chars: int = 16_384
    action_chars: int = 100_000
    """Longer actions are cut before they reach the program."""
    info_bytes: int = 4_096
    message_chars: int = 400
    abs_reward: float = 1e4
    respawns: int = 6
    """How often the dead process of one program is started again and its instances replayed."""
    culprits: int = 2
    """A program is given up when so many of its instances have each brought the process down alone."""

    def __post_init__(self) -> None:
        """Raises ValueError, with the name, for a value that means nothing."""
        for name, (least, most) in _BOUNDS.items():
            value, whole = getattr(self, name), type(least) is int
            if type(value) not in ((int,) if whole else (int, float)) or not least <= value <= most:
                kind = "an int" if whole else "a number"
                raise ValueError(f"Limits.{name} is {value!r}; give {kind} from {least:g} to {most:g}")


@dataclass(frozen=True, kw_only=True, slots=True)
class EnvError:
    """One failure, as data. `message` holds text of the program and is not to be trusted."""

    kind: ErrorKind
    fault: Fault
    message: str

    def __str__(self) -> str:
        return f"env_error:{self.kind}: {self.message}"


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One answer of one instance; a reset has reward 0.0. With an `error` the reward is NaN and the text empty.

    A struct, because the host makes one for every step of every program: a frozen dataclass takes twenty times as long.
    """

    instance: int
    observation: str
    reward: float
    terminated: bool
    truncated: bool
    info: Mapping[str, object] = msgspec.field(default_factory=dict)
    error: EnvError | None = None


def error_of(kind: ErrorKind, message: str) -> EnvError:
    """The error of a kind, which says whose fault it is."""
    return EnvError(kind=kind, fault="host" if kind in HOST_KINDS else "program", message=message)


def failed(instance: int, kind: ErrorKind, message: str) -> Step:
    """The step of an instance that failed."""
    return failed_by(instance, error_of(kind, message))


def failed_by(instance: int, error: EnvError) -> Step:
    """The step of an instance that an error ended."""
    return Step(instance=instance, observation="", reward=float("nan"), terminated=False, truncated=False, error=error)
