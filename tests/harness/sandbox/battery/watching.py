"""Looking at processes from outside: who descends from whom, and how much memory a worker ever held."""

import threading
from pathlib import Path
from types import TracebackType
from typing import Self

from spadework.harness.sandbox import EnvProcess

EVERY_S = 0.004


def descendants(pid: int) -> set[int]:
    """Every living process below `pid`; one that only waits for its burial does not live."""
    parents: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent = stat.read_text().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        if state != "Z":
            parents[int(stat.parent.name)] = int(parent)
    found = [pid]
    for one in found:
        found += [child for child, parent in parents.items() if parent == one]
    return set(found[1:])


def running(pid: int | None) -> bool:
    """Whether a process lives."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


class Watch:
    """The most resident memory of a program's process, read by a thread of its own while the program runs."""

    def __init__(self, process: EnvProcess) -> None:
        self.process, self.peak_mb = process, 0.0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        while True:
            last = self._over.wait(EVERY_S)
            self.peak_mb = max(self.peak_mb, _peak_mb(self.process.pid))
            if last:
                return


def _peak_mb(pid: int | None) -> float:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return max((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM:")), default=0.0)
