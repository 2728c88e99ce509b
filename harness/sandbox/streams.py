"""Standard input and output in memory, and the usual ways around them: `open(0)`, `os.read(0, n)`, "/dev/stdin".

A jailed process has no descriptors 0 to 2 and opens no file. Programs of contests expect both to be there; for their
sake a few functions of `os`, `io` and `builtins` answer for the three numbers. This is a convenience for honest
programs, and no wall. Runs in the jailed interpreter.
"""

import builtins
import errno
import io
import os
import resource
import stat
import sys
from contextlib import suppress
from typing import Any, Callable

NAMES = {f"{folder}{number}": number for folder in ("/dev/fd/", "/proc/self/fd/") for number in range(3)} | {
    "/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2,
}  # fmt: skip
READ_AT_ONCE = 1 << 16
_OPEN_OPTIONS = ("buffering", "encoding", "errors", "newline", "closefd", "opener")


class Source:
    """The whole of standard input, and how far it has been read."""

    def __init__(self, data: bytes) -> None:
        self.data, self.position = data, 0

    def take(self, size: int) -> bytes:
        """The next `size` bytes, or all that are left with -1."""
        end = len(self.data) if size < 0 else self.position + size
        taken = self.data[self.position : end]
        self.position += len(taken)
        return taken


class Sink:
    """What was written, up to a limit. At the first byte beyond it, `full` is called."""

    def __init__(self, limit: int, full: Callable[[], None]) -> None:
        self.kept, self.limit, self.full, self.cut = bytearray(), limit, full, False

    def add(self, data: Any) -> int:
        """Keep what there is room for; how many bytes were given."""
        size, room = len(data), self.limit - len(self.kept)
        self.kept += data[:room]
        if size > room:
            self.cut = True
            self.full()
        return size


class Inlet(io.RawIOBase):
    """Standard input as a file; closing one leaves the others open."""

    name = "<stdin>"

    def __init__(self, source: Source) -> None:
        self.source = source

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        return 0

    def readinto(self, buffer: Any) -> int:
        taken = self.source.take(len(buffer))
        buffer[: len(taken)] = taken
        return len(taken)

    def readall(self) -> bytes:
        return self.source.take(-1)


class Outlet(io.RawIOBase):
    """Standard output or error as a file."""

    def __init__(self, number: int, sink: Sink) -> None:
        self.name, self.number, self.sink = ("<stdin>", "<stdout>", "<stderr>")[number], number, sink

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self.number

    def write(self, data: Any) -> int:
        return self.sink.add(memoryview(data).cast("B"))


class Streams:
    """The three streams of a run, put in the place of the interpreter's own."""

    def __init__(self, stdin: bytes, out: Sink, err: Sink) -> None:
        self.source, self.sinks = Source(stdin), {1: out, 2: err}
        self.open_file, self.stat, self.read, self.write = builtins.open, os.fstat, os.read, os.write
        self.opened: list[Any] = []
        sys.stdin = sys.__stdin__ = self.file(0, "r", "surrogateescape", newline="\n")  # type: ignore[misc]
        sys.stdout = sys.__stdout__ = self.file(1, "w", "strict", newline="\n")  # type: ignore[misc]
        sys.stderr = sys.__stderr__ = self.file(2, "w", "backslashreplace", newline="\n")  # type: ignore[misc]

    def take_over(self) -> None:
        """Let the functions that open, read and write by number know these streams."""
        names: dict[str, Any] = {"open": self.opener}
        vars(builtins).update(names)
        vars(io).update(names)
        vars(os).update(read=self.read_number, write=self.write_number, fstat=self.stat_number)
        # Programs raise their own limits first; here the limits are the caller's, and the stack is large already.
        vars(resource).update(setrlimit=lambda *_: None, getrlimit=lambda _: (resource.RLIM_INFINITY,) * 2)

    def file(self, number: int, mode: str, errors: str | None, encoding: str = "utf-8", **options: Any) -> Any:
        """A text file on one of the three."""
        text = io.TextIOWrapper(self.buffer(number), encoding=encoding, errors=errors, **options)
        text.mode = mode  # type: ignore[misc]
        self.opened.append(text)
        return text

    def buffer(self, number: int) -> Any:
        """A binary file on one of the three."""
        if number == 0:
            return io.BufferedReader(Inlet(self.source), READ_AT_ONCE)
        return io.BufferedWriter(Outlet(number, self.sinks[number]))

    def flush(self) -> None:
        """Write out what is held back in the files that were made here."""
        for file in self.opened:
            with suppress(ValueError, RuntimeError, OSError):  # closed, or in the middle of being written to
                file.flush()

    def opener(self, file: Any, mode: str = "r", *rest: Any, **named: Any) -> Any:
        """`open`, for the three streams; any other file is not there, as the kernel will not say."""
        number = NAMES.get(file) if isinstance(file, str) else file
        try:
            if isinstance(number, int) and 0 <= number <= 2:
                return self.stream(number, mode, **dict(zip(_OPEN_OPTIONS, rest)), **named)
            return self.open_file(file, mode, *rest, **named)
        except PermissionError as error:
            if set(mode) & set("wax+"):
                raise error from None
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), file) from None

    def stream(
        self, number: int, mode: str, buffering: int = -1, encoding: str | None = None, errors: str | None = None,
        newline: str | None = None, **_named: Any,
    ) -> Any:  # fmt: skip
        """One of the three streams once more, as `open` would give it."""
        if "b" not in mode:
            return self.file(number, mode, errors, encoding=encoding or "utf-8", newline=newline)
        self.opened.append(binary := self.buffer(number) if buffering else self.buffer(number).raw)
        return binary

    def read_number(self, number: int, size: int) -> bytes:
        """`os.read`."""
        return self.source.take(size) if number == 0 else self.read(number, size)

    def write_number(self, number: int, data: Any) -> int:
        """`os.write`."""
        return self.sinks[number].add(memoryview(data).cast("B")) if number in self.sinks else self.write(number, data)

    def stat_number(self, number: int) -> os.stat_result:
        """`os.fstat`: regular files, standard input of the size that is left."""
        if number not in (0, 1, 2):
            return self.stat(number)
        left = len(self.source.data) - self.source.position if number == 0 else 0
        return os.stat_result((stat.S_IFREG | 0o600, 0, 0, 1, 0, 0, left, 0, 0, 0))
