"""What a run of a script or of a function may use, and how it ended. Values only.

Standard library only: the host and the jailed interpreter both load this file.
"""

from dataclasses import dataclass

from .limits import ErrorKind, Fault

RESERVE, SPARE_BYTES = 6, 8 << 20
OUT_OF_TIME = frozenset({ErrorKind.TIMEOUT, ErrorKind.HANG, ErrorKind.CPU_EXHAUSTED})


@dataclass(frozen=True, kw_only=True, slots=True)
class RunLimits:
    """What one run may use. A machine that is busy with other things costs it nothing: CPU seconds are its own, and
    the wall clock is put off (at most tenfold) while it waits for a processor.
    """

    cpu_s: float = 6.0
    """CPU seconds of all its threads."""
    wall_s: float | None = None
    """Seconds on the host's clock, for a run that sleeps or waits. None: twice `cpu_s` and a second."""
    memory_mb: int = 1024
    """Address space in MiB beyond what the interpreter and its preloaded modules have taken."""
    source_bytes: int = 1 << 20
    stdout_bytes: int = 8 << 20
    """At the first byte beyond them the run ends as `output`."""
    stderr_bytes: int = 64 << 10
    """What is beyond them is dropped."""
    value_bytes: int = 1 << 20
    """The JSON text of what a called function returns."""
    message_chars: int = 400

    @property
    def wall(self) -> float:
        """The wall seconds that count."""
        return 2 * self.cpu_s + 1 if self.wall_s is None else self.wall_s

    @property
    def reserve_bytes(self) -> int:
        """What the process keeps back, beyond `memory_mb`, to write its answer down: its output, encoded and framed."""
        return RESERVE * (self.stdout_bytes + self.stderr_bytes) + SPARE_BYTES

    def senseless(self) -> str:
        """The name of a limit that is no positive number, or no whole one where it counts things; empty if all are."""
        for name in self.__slots__:
            value = getattr(self, name)
            if name == "wall_s" and value is None:
                continue
            number = type(value) is int or (type(value) is float and name.endswith("_s"))
            if not number or not 0 < value < 1 << 40:
                return name
        return ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Ended:
    """How a run ended. What it wrote, returned or says of itself is its own claim, and not to be trusted."""

    kind: ErrorKind | None
    """None: it came to its end."""
    fault: Fault | None
    """"program" counts against who wrote the script or the argument, "host" against nobody: it was tried twice."""
    message: str
    stdout: str
    stderr: str
    truncated: bool
    """Whether something it wrote is missing."""
    cpu_s: float
    """CPU seconds, by the host's measurement; a process that died may have used up to 0.1 s more."""
    wall_s: float

    @property
    def out_of_time(self) -> bool:
        """Whether it was ended for the time it took, by whatever clock."""
        return self.kind in OUT_OF_TIME


@dataclass(frozen=True, kw_only=True, slots=True)
class RunResult(Ended):
    """How a script ended."""

    exit_code: int | None
    """0, 1 after an exception, or what it gave to `sys.exit`; None when it did not come to its end."""

    @property
    def ok(self) -> bool:
        """It came to its end with code 0."""
        return self.kind is None and self.exit_code == 0


@dataclass(frozen=True, kw_only=True, slots=True)
class CallResult(Ended):
    """How a call ended."""

    value: object
    """What the function returned, as JSON (a tuple is a list); None when there is a `kind`."""

    @property
    def ok(self) -> bool:
        """The function returned."""
        return self.kind is None
