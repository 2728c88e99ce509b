"""From a task's name to its benchmark and its presets: names of `tasks/benchmarks.py`, or a user's own `module:object`.

Only what is asked for is imported, so a benchmark whose package is not installed fails alone and with one sentence.
"""

import importlib
import importlib.util
from dataclasses import dataclass
from pathlib import Path

from ..benchmark import Benchmark
from ..errors import InputError, nearest
from .presets import Protocols, read_protocols

LISTING = "spadework.tasks.benchmarks"
"""A string: this layer imports nothing of the one above."""
PRESETS = "presets"
"""Folder beside a benchmark's module."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """A benchmark with its protocols, not yet loaded."""

    name: str
    reference: str
    """`module:object`."""
    benchmark: Benchmark
    protocols: Protocols


def listed() -> dict[str, str]:
    """Name to `module:object` of the benchmarks that come with the house."""
    found: dict[str, str] = importlib.import_module(LISTING).BENCHMARKS
    return found


def check_name(name: str) -> None:
    """Raises InputError with the nearest name for a task that nobody knows; imports none."""
    known = listed()
    if ":" not in name and name not in known:
        raise InputError(f"unknown task {name!r}{nearest(name, known)}; the tasks are {', '.join(known)}.")


def resolve(name: str) -> Task:
    """The task of that name, imported. Raises InputError when it is unknown or a package is missing."""
    check_name(name)
    reference = listed().get(name, name)
    benchmark = _imported(name, reference)
    protocols = protocols_of(benchmark, reference)
    return Task(name=benchmark.name, reference=reference, benchmark=benchmark, protocols=protocols)


def protocols_of(benchmark: Benchmark, reference: str) -> Protocols:
    """The presets that lie beside a benchmark's module."""
    spec = importlib.util.find_spec(reference.partition(":")[0])
    assert spec is not None and spec.origin is not None, "the module was imported from a file"
    return read_protocols(Path(spec.origin).parent / PRESETS / f"{benchmark.name}.toml")


def _imported(name: str, reference: str) -> Benchmark:
    module, _, attribute = reference.partition(":")
    try:
        found: Benchmark | None = getattr(importlib.import_module(module), attribute, None)
    except ModuleNotFoundError as error:
        if error.name == module and module.startswith("spadework."):
            raise InputError(f"task {name!r} is not built yet in this version; leave it out.") from None
        raise InputError(
            f"task {name!r} needs {error.name!r}, which is not installed; "
            "install it, for the benchmarks that come with spadework by pip install 'spadework[eval]'."
        ) from None
    if found is None:
        raise InputError(f"{module} has no {attribute!r}; name the benchmark's object as MODULE:OBJECT.")
    return found
