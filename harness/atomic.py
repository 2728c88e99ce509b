"""Files that are whole or not there: written beside their place, then renamed over it.

A kill or a full disk at any moment leaves the old file as it was. No locking: one writer a file is the caller's part.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .errors import IncompleteError, InputError

SUFFIX = ".partial"


@contextmanager
def replacing(path: Path, *, sync: bool = True) -> Iterator[Path]:
    """A path to write to; when the block ends well it takes the place of `path`, otherwise it is removed.

    `sync` flushes to the device first, so that even a power cut leaves a whole file. Raises `IncompleteError` when the
    disk refuses (full, read-only), `InputError` when `path` is something else than a file (renaming over a device would
    take it away from everybody).
    """
    if path.exists() and not path.is_file():
        raise InputError(f"{path} is no file and is not replaced; name a file.")
    partial = path.with_name(f".{path.name}{SUFFIX}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            yield partial
            if sync:
                with partial.open("rb+") as file:
                    os.fsync(file.fileno())
            os.replace(partial, path)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        raise disk_refused(path, error) from error


def write_atomic(path: Path, data: bytes | str, *, sync: bool = True) -> None:
    """Replace `path` by `data` (text as UTF-8), all or nothing. Raises `IncompleteError` when the disk refuses."""
    with replacing(path, sync=sync) as partial:
        partial.write_bytes(data.encode() if isinstance(data, str) else data)


def disk_refused(path: Path, error: OSError) -> IncompleteError:
    """The one sentence for a disk that does not take a file."""
    return IncompleteError(
        f"cannot write {path} ({error.strerror or error}), what was there before is whole; "
        "free some room there and run the same command again."
    )
