"""Data files that a user provides: found, checked against their digests, and every fault told in one sentence.

For benchmarks whose data do not come with a package. It reads files into memory and writes none.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from ..errors import InputError


@dataclass(frozen=True, kw_only=True, slots=True)
class DataFile:
    """One file that a benchmark reads."""

    name: str
    """Path below the data folder."""
    digests: tuple[str, ...] = ()
    """sha256 of the versions that are known; empty takes any."""
    source: str
    """Where it can be had, for people."""


def read_files(folder: Path | None, files: Sequence[DataFile], *, option: str = "--data") -> dict[str, bytes]:
    """Name to content. Raises InputError naming every file that is missing, unreadable or another one."""
    if folder is None:
        names = ", ".join(f"{file.name} (from {file.source})" for file in files)
        raise InputError(f"no data folder was given for {names}; give it with {option}.")
    read: dict[str, bytes] = {}
    faults = []
    for file in files:
        try:
            read[file.name] = (folder / file.name).read_bytes()
        except OSError as error:
            reason = "is not there" if isinstance(error, FileNotFoundError) else f"cannot be read ({error.strerror})"
            faults.append(f"{folder / file.name} {reason}; it comes from {file.source}")
            continue
        digest = sha256(read[file.name]).hexdigest()
        if file.digests and digest not in file.digests:
            faults.append(
                f"{folder / file.name} is another file (sha256 {digest}, expected {' or '.join(file.digests)}); "
                f"take it again from {file.source}"
            )
    if faults:
        raise InputError("; ".join(faults) + ".")
    return read
