"""The sandbox's values: limits, what an environment answers, and whose fault a failure is.

Standard library only: the host and the jailed interpreter both load this file. No behaviour lives here.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal, Mapping

Fault = Literal["program", "host"]
"""A program's fault counts against its writer; a host's fault never does, and what it hit is tried again."""


class ErrorKind(StrEnum):
    """What went wrong with a program, or with the machinery around it (the last three)."""

    SOURCE_TOO_LARGE = "source_too_large"
    SYNTAX = "syntax"
    FORBIDDEN_MODULE = "forbidden_module"
    LOAD = "load"
    """The module raised while it was executed."""
    CONTRACT = "contract"
    """No class, wrong signature, or an answer of the wrong shape, type, size or range."""
    EXCEPTION = "exception"
    """`__init__`, `reset` or `step` raised."""
    EXIT = "exit"
    """The program asked the interpreter to exit."""
    TIMEOUT = "timeout"
    """More CPU time than one call may use; the other instances go on."""
    HANG = "hang"
    """No answer before the host's deadline: the process was killed, every instance with it."""
    MEMORY = "memory"
    CRASH = "crash"
    """The process died, every instance with it."""
    PROTOCOL = "protocol"
    """The process answered something that is not an answer, and was killed."""
    MISUSE = "misuse"
    """The caller named an instance that was never reset, or is over."""
    SERVER_DIED = "server_died"
    CLOSED = "closed"


HOST_KINDS = frozenset({ErrorKind.MISUSE, ErrorKind.SERVER_DIED, ErrorKind.CLOSED})


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


@dataclass(frozen=True, kw_only=True, slots=True)
class EnvError:
    """One failure, as data. `message` holds text of the program and is not to be trusted."""

    kind: ErrorKind
    fault: Fault
    message: str

    def __str__(self) -> str:
        return f"env_error:{self.kind}: {self.message}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """One answer of one instance; a reset has reward 0.0. With an `error` the reward is NaN and the text empty."""

    instance: int
    observation: str
    reward: float
    terminated: bool
    truncated: bool
    info: Mapping[str, object] = field(default_factory=dict)
    error: EnvError | None = None


def failed(instance: int, kind: ErrorKind, message: str) -> Step:
    """The step of an instance that failed."""
    fault: Fault = "host" if kind in HOST_KINDS else "program"
    error = EnvError(kind=kind, fault=fault, message=message)
    return Step(instance=instance, observation="", reward=float("nan"), terminated=False, truncated=False, error=error)
