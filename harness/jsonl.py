"""JSON lines: appended whole, read with tolerance for a torn end, cut back to a step.

A line is written by one call and ends in a newline, so a kill can tear the last line only. Bytes after the last newline
are that torn line: readers ignore them and `mend` removes them. Anything else that is not JSON is damage and an error.
"""

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import BinaryIO

import msgspec

from .atomic import disk_refused, write_atomic
from .errors import InputError

Row = dict[str, object]
"""One line as it lies on disk."""
BLOCK = 1 << 16


def append(path: Path, rows: Iterable[Mapping[str, object]]) -> None:
    """Add rows at the end, all of them or none. Numbers that are not finite are written as null."""
    data = b"".join(msgspec.json.encode(row) + b"\n" for row in rows)
    if not data:
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _append_bytes(path, data)
    except OSError as error:
        raise disk_refused(path, error) from error


def replace(path: Path, rows: Iterable[Mapping[str, object]]) -> None:
    """The file with these rows and no others, atomically."""
    write_atomic(path, b"".join(msgspec.json.encode(row) + b"\n" for row in rows))


def read(path: Path) -> list[Row]:
    """Every whole line; none without a file. Raises `InputError` with the line number of a damaged one."""
    return [_decoded(line, number, path) for number, line in enumerate(_whole_lines(path), start=1)]


def mend(path: Path) -> None:
    """Remove a torn last line, if there is one."""
    if path.is_file():
        with path.open("rb+") as file:
            end = file.seek(0, os.SEEK_END)
            whole = _last_line_end(file, end)
            if whole < end:
                file.truncate(whole)


def cut(path: Path, step: int) -> None:
    """Drop the lines whose `step` is at or after `step`, atomically; the kept lines keep their bytes.

    Lines without a step stay. Steps count from 0, so `cut(path, s)` leaves what the first s steps wrote.
    """
    keep(path, lambda row: _before(row, step))


def keep(path: Path, wanted: Callable[[Row], bool]) -> int:
    """Drop the lines that are not wanted, atomically, and say how many; the kept lines keep their bytes."""
    lines = _whole_lines(path)
    kept = [line for number, line in enumerate(lines, start=1) if wanted(_decoded(line, number, path))]
    if len(kept) < len(lines):
        write_atomic(path, b"".join(kept))
    return len(lines) - len(kept)


def _last_line_end(file: BinaryIO, end: int) -> int:
    """Where the last newline ends, read from the end in blocks: a file may be larger than the memory."""
    while end > 0:
        start = max(0, end - BLOCK)
        file.seek(start)
        newline = file.read(end - start).rfind(b"\n")
        if newline >= 0:
            return start + newline + 1
        end = start
    return 0


def _append_bytes(path: Path, data: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
    before, written = os.fstat(descriptor).st_size, 0
    try:
        while written < len(data):
            written += os.write(descriptor, data[written:])
    finally:
        if written < len(data):
            os.ftruncate(descriptor, before)
        os.close(descriptor)


def _before(row: Row, step: int) -> bool:
    at = row.get("step")
    return not isinstance(at, int) or at < step


def _whole_lines(path: Path) -> list[bytes]:
    if not path.is_file():
        return []
    lines = path.read_bytes().splitlines(keepends=True)
    return lines[:-1] if lines and not lines[-1].endswith(b"\n") else lines


def _decoded(line: bytes, number: int, path: Path) -> Row:
    try:
        return msgspec.json.decode(line, type=Row)
    except msgspec.DecodeError as error:
        raise InputError(f"{path}, line {number}: {error}; remove that line, or start over with --fresh.") from None
