"""The layers of the jail as values: what they are called, which must hold, and what this machine gave.

Standard library only: the host and the jailed interpreter both load this file. Nothing is done here; jail.py puts
the layers on, probes.py tries each of them out.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal, Mapping

from .limits import Limits

CLEAN_ENVIRONMENT = {
    "PYTHONHASHSEED": "0", "LC_ALL": "C.UTF-8", "MALLOC_ARENA_MAX": "1", "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}  # fmt: skip
"""All the environment that the jailed interpreter has. The hash seed makes the order of sets the same everywhere."""

DEFAULT_MODULES = (
    "__future__", "abc", "bisect", "cmath", "collections", "collections.abc", "copy", "dataclasses", "decimal", "enum",
    "fractions", "functools", "heapq", "itertools", "json", "math", "numbers", "operator", "random", "re", "statistics",
    "string", "textwrap", "types", "typing", "unicodedata",
)  # fmt: skip


class Layer(StrEnum):
    """One wall. seccomp stops nearly everything that the kernel could be asked for; the wanted ones stop much again."""

    INTERPRETER = "interpreter"
    """A fresh, exec'd interpreter: nothing of the host's memory. Cannot be switched off."""
    CLEAN_ENV = "clean_env"
    """No environment variable of the host."""
    CLOSED_FDS = "closed_fds"
    """No descriptor but the two pipes."""
    NO_NEW_PRIVS = "no_new_privs"
    """No set-uid program gives anything."""
    RLIMITS = "rlimits"
    """Address space, CPU time, processes, files, core dumps."""
    SECCOMP = "seccomp"
    """A list of about thirty system calls that are let through; the others fail."""
    LANDLOCK = "landlock"
    """No file and no TCP port may be opened."""
    NAMESPACES = "namespaces"
    """An empty root folder, no network, process numbers of its own."""
    UID = "uid"
    """Not root."""


REQUIRED = (
    Layer.INTERPRETER, Layer.CLEAN_ENV, Layer.CLOSED_FDS, Layer.NO_NEW_PRIVS, Layer.RLIMITS, Layer.SECCOMP,
)  # fmt: skip
WANTED = (Layer.LANDLOCK, Layer.NAMESPACES, Layer.UID)


@dataclass(frozen=True, kw_only=True, slots=True)
class Policy:
    """Which walls must stand. The default is right for running what a model wrote."""

    require: tuple[Layer, ...] = REQUIRED
    """Without one of these, or of `REQUIRED`, the sandbox refuses to start."""
    off: tuple[Layer, ...] = ()
    """Layers that are deliberately left out: to measure them, and to prove that the hostile programs can win."""
    modules: tuple[str, ...] = DEFAULT_MODULES
    """What a program may import. numpy's submodules are named one by one ("numpy", "numpy.random", ...)."""
    insecure: bool = False
    """Start whatever is missing: warned of at each start, and everything made without a required layer says so."""

    def __post_init__(self) -> None:
        """Layers may be given by their names. Raises ValueError for one that is none, and for a text for a tuple."""
        for name in ("require", "off", "modules"):
            if isinstance(getattr(self, name), str):
                raise ValueError(f"Policy.{name} is the text {getattr(self, name)!r}; give a tuple of names")
        for name in ("require", "off"):
            given = getattr(self, name)
            unknown = [layer for layer in given if layer not in tuple(Layer)]
            if unknown:
                raise ValueError(f"Policy.{name} holds {unknown[0]!r}; the layers are {', '.join(Layer)}")
            object.__setattr__(self, name, tuple(map(Layer, given)))

    @property
    def needed(self) -> tuple[Layer, ...]:
        """The layers that must hold, in the order of `Layer`. `require` adds to them, only `insecure` gives them up."""
        return tuple(layer for layer in Layer if layer in REQUIRED or layer in self.require)

    @property
    def refused(self) -> tuple[Layer, ...]:
        """Layers that are both needed and switched off."""
        return () if self.insecure else tuple(layer for layer in self.needed if layer in self.off)


Role = Literal["environment", "script"]
"""What a server's workers do: play one environment program, or run one piece of code to its end."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ServerSetup:
    """What a fork server is told on its command line."""

    limits: Limits
    policy: Policy
    role: Role = "environment"
    preload: tuple[str, ...] = ()
    """Modules that are imported before the jail shuts, beside those of the role."""
    warm: tuple[str, ...] = ()
    """Functions, as "module:name", that are called once before the jail shuts, for what they import and read."""
    path: tuple[str, ...] = ()
    """Folders that modules are imported from, beside the standard library."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LayerState:
    """What became of one layer. `state` is "held" (tried out at the start, and it held), "off" or "missing"."""

    state: str
    detail: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class SandboxReport:
    """Which layers a started sandbox has, by its self-test."""

    machine: str
    kernel: str
    layers: Mapping[Layer, LayerState] = field(default_factory=dict)

    @property
    def missing(self) -> tuple[Layer, ...]:
        """The layers that do not hold, in the order of `Layer`."""
        return tuple(layer for layer in Layer if self.state(layer).state != "held")

    @property
    def insecure(self) -> bool:
        """Whether a required layer does not hold."""
        return any(layer in REQUIRED for layer in self.missing)

    def state(self, layer: Layer) -> LayerState:
        """What became of one layer; one that was never reported is missing."""
        return self.layers.get(layer, LayerState(state="missing", detail="not reported"))

    def describe(self) -> str:
        """One line for people and for provenance: `all layers hold`, or what does not."""
        if not self.missing:
            return "all layers hold"
        lacking = ", ".join(self._lack(layer) for layer in self.missing)
        return f"{'INSECURE: ' if self.insecure else ''}without {lacking}"

    def _lack(self, layer: Layer) -> str:
        state = self.state(layer)
        return f"{layer} ({state.detail or state.state})"
