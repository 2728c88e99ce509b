"""What the machine has: processor, cores this process may use, memory. A shell module; it reads the system's own files.

Standard library only. Where a system does not say, the answer is None and never a guess.
"""

import os
import platform
from dataclasses import dataclass
from pathlib import Path, PurePosixPath


@dataclass(frozen=True, kw_only=True, slots=True)
class Cores:
    """How many cores there are, how many this process may run on, and how much of them its control group gets."""

    present: int
    usable: int
    quota: float | None
    """CPU seconds a second; None for no limit."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Memory:
    """Bytes of the machine, and the limit of this process's control group."""

    present: int | None
    limit: int | None


def cpu_model() -> str:
    """The processor's name."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor()


def cores(groups: "Groups | None" = None) -> Cores:
    """See `Cores`."""
    present = os.cpu_count() or 1
    affinity = getattr(os, "sched_getaffinity", None)
    quota = (groups or Groups()).cpu_quota()
    return Cores(present=present, usable=len(affinity(0)) if affinity else present, quota=quota)


def memory(groups: "Groups | None" = None) -> Memory:
    """See `Memory`."""
    try:
        present: int | None = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        present = None
    return Memory(present=present, limit=(groups or Groups()).memory_limit(present))


@dataclass(frozen=True, kw_only=True, slots=True)
class Groups:
    """Linux control groups of both versions. A limit holds for a group and all below it, so the least one counts."""

    root: Path = Path("/sys/fs/cgroup")
    own: Path = Path("/proc/self/cgroup")

    def cpu_quota(self) -> float | None:
        """Version 2 says `quota period` or `max period`; version 1 has a file for each, and -1 for no limit."""
        pairs = [text.split() for text in self._told("", "cpu.max")]
        legacy = self._told("cpu", "cpu.cfs_quota_us"), self._told("cpu", "cpu.cfs_period_us")
        pairs += [[quota, period] for quota, period in zip(*legacy, strict=False)]
        return min((int(quota) / int(period) for quota, period in pairs if quota.isdecimal()), default=None)

    def memory_limit(self, present: int | None) -> int | None:
        """Version 1 writes a huge number for no limit."""
        told = [*self._told("", "memory.max"), *self._told("memory", "memory.limit_in_bytes")]
        limits = [int(text) for text in told if text.isdecimal()]
        return min((limit for limit in limits if present is None or limit < present), default=None)

    def _told(self, controller: str, name: str) -> list[str]:
        """What the files of a name say in this process's group and in those above it; version 2 has no controller."""
        own = self._group(controller)
        roots = [self.root / controller] if controller else [self.root, self.root / "unified"]
        paths = [root / group.relative_to("/") / name for root in roots for group in (own, *own.parents)]
        return [path.read_text().strip() for path in paths if path.is_file()]

    def _group(self, controller: str) -> PurePosixPath:
        """The root where it is not told."""
        try:
            lines = [line.split(":", 2) for line in self.own.read_text().splitlines()]
        except OSError:
            lines = []
        found = (path for _number, controllers, path in lines if controller in controllers.split(","))
        return PurePosixPath(next(found, "/"))
