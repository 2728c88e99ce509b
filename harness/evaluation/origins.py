"""What the provenance of an evaluation adds: the scorers' sources, the packages they rest on, the accelerators.

A scorer's digest is that of its module's source and of the modules of its own package that it imports, so that a change
anywhere in a verdict's own code is seen even where nobody raised the version.
"""

import ast
import importlib.util
import subprocess
from collections.abc import Iterable
from hashlib import sha256
from importlib import metadata
from pathlib import Path

from ..sidecar_home import key_of, sidecar_home
from .run import Cell

QUERY = ("nvidia-smi", "--query-gpu=name,memory.total,driver_version", "--format=csv,noheader")


def origins(cells: Iterable[Cell]) -> dict[str, object]:
    """One entry beside those of every run."""
    cells = list(cells)
    packages = sorted({name for cell in cells for name in cell.benchmark.packages})
    return {
        "scorers": {cell.name: source_digest(cell.settings.reference.partition(":")[0]) for cell in cells},
        "benchmark_packages": {name: _version(name) for name in packages},
        "environments": {
            key_of(needed): sidecar_home(needed).versions() for cell in cells for needed in cell.benchmark.environments
        },
        "accelerators": accelerators(),
    }


def source_digest(module: str) -> str:
    """First 16 hex digits of the sha256 over a module and the modules of its package that it imports, by name."""
    sources: dict[str, bytes] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        path = _file(name)
        if path is None or name in sources:
            continue
        sources[name] = path.read_bytes()
        waiting += _siblings(name, sources[name])
    whole = b"\0".join(name.encode() + b"\0" + sources[name] for name in sorted(sources))
    return sha256(whole).hexdigest()[:16]


def accelerators() -> list[str]:
    """Name, memory and driver of each NVIDIA device; none where its tool is missing or fails."""
    try:
        done = subprocess.run(QUERY, capture_output=True, text=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError):
        return []
    return [line.strip() for line in done.stdout.splitlines() if line.strip()]


def _siblings(name: str, source: bytes) -> list[str]:
    """Modules that may be files of the same package: `from .x import y`, `from . import x`."""
    package = name.rpartition(".")[0]
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.level == 1 and package:
            found += [f"{package}.{node.module}"] if node.module else [f"{package}.{one.name}" for one in node.names]
    return found


def _file(module: str) -> Path | None:
    spec = importlib.util.find_spec(module)
    return Path(spec.origin) if spec is not None and spec.origin and spec.origin.endswith(".py") else None


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
