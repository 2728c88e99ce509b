"""What a program sees: its builtins, the modules it may import, and a `random` of its own for each instance.

This keeps honest programs deterministic and apart from each other; it is **not** a wall. Python objects lead to
everything the interpreter holds, so a hostile program gets past it. The walls are the layers of jail.py.
Runs in the jailed interpreter; standard library only.
"""

import builtins
import importlib
import random
import sys
from types import CodeType, ModuleType
from typing import Any, Mapping, Sequence

MODULE_NAME = "environment"

REMOVED = frozenset({
    "open", "input", "breakpoint", "exec", "eval", "compile", "help", "exit", "quit", "copyright", "credits", "license",
    "id", "__import__", "__loader__", "__spec__", "__debug__",
})  # fmt: skip
"""`id` goes because addresses differ from one server to the next."""

RANDOM_METHODS = tuple(name for name in random.__all__ if name not in ("Random", "SystemRandom"))


class ForbiddenModule(ImportError):
    """An import outside the allow-list."""


class Instance:
    """The private state of one instance outside its own objects: where its random numbers come from."""

    __slots__ = ("env", "seed", "_entropy")

    def __init__(self, seed: int) -> None:
        self.env: Any = None
        self.seed = seed
        self._entropy: random.Random | None = None

    def entropy(self) -> int:
        """What an unseeded generator gets instead of the system's entropy."""
        if self._entropy is None:
            self._entropy = random.Random(f"entropy {self.seed}")
        return self._entropy.getrandbits(64)


class Current:
    """Which instance is being called. There is one per worker."""

    instance = Instance(0)


class ProgramRandom(random.Random):
    """`random.Random` that asks the current instance where the original would ask the system."""

    def __init__(self, x: Any = None) -> None:
        super().__init__(Current.instance.entropy() if x is None else x)

    def seed(self, a: Any = None, version: int = 2) -> None:
        """Seed; without a value, from the instance."""
        super().seed(Current.instance.entropy() if a is None else a, version)


def random_module(generator: random.Random) -> ModuleType:
    """A module that looks like `random` and draws from one generator."""
    module = ModuleType("random")
    module.__dict__.update({name: getattr(generator, name) for name in RANDOM_METHODS})
    module.__dict__.update(Random=ProgramRandom, SystemRandom=ProgramRandom)
    return module


def _facade(name: str) -> ModuleType:
    """The public, non-module names of a module: a change to it stays in the worker, and it leads to no other module."""
    real = importlib.import_module(name)
    facade = ModuleType(name)
    for key, value in vars(real).items():
        if not key.startswith("_") and not isinstance(value, ModuleType):
            facade.__dict__[key] = value
    return facade


_NUMPY = ("_core._methods", "_core._dtype", "_core._internal", "_core._exceptions", "dtypes", "exceptions", "ma")
LAZY = {"datetime": ("_strptime",), "numpy": tuple(f"numpy.{name}" for name in _NUMPY)}
"""Modules that a permitted one imports when it is first used; in the jail nothing can be imported any more."""


def load_facades(modules: Sequence[str]) -> dict[str, ModuleType]:
    """Import every permitted module now. Raises ImportError for one that is not installed."""
    for name in (lazy for module in modules for lazy in LAZY.get(module, ())):
        importlib.import_module(name)
    facades = {name: _facade(name) for name in modules}
    for name, facade in facades.items():
        parent, _, child = name.rpartition(".")
        if parent in facades:
            setattr(facades[parent], child, facade)
    return facades


def _discard(*_values: object, **_options: object) -> None:
    """`print`: a program has nobody to talk to."""


def _importer(modules: Mapping[str, ModuleType]) -> Any:
    def restricted_import(
        name: str,
        globals: Mapping[str, object] | None = None,
        locals: Mapping[str, object] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        if type(fromlist) is list and name in sys.modules:
            return sys.modules[name]  # the interpreter's own C code (datetime, numpy, re), which asks by way of us
        module = modules.get(name) if level == 0 else None
        if module is None:
            raise ForbiddenModule(f"a program may not import {name!r}; permitted are {', '.join(modules)}")
        return module if fromlist else modules[name.partition(".")[0]]

    return restricted_import


BASE_BUILTINS = {key: value for key, value in vars(builtins).items() if key not in REMOVED} | {"print": _discard}


SHARED_SEED = 0
"""Seeds the one `random` of a program whose instances share it."""


def execute(code: CodeType, facades: Mapping[str, ModuleType], instance: Instance) -> dict[str, Any]:
    """Execute a program's module for one instance and return its names. Raises whatever the program raises."""
    modules = {**facades, "random": random_module(ProgramRandom(instance.seed))}
    module = ModuleType(MODULE_NAME)
    sys.modules[MODULE_NAME] = module
    names = module.__dict__
    names["__builtins__"] = {**BASE_BUILTINS, "__import__": _importer(modules)}
    exec(code, names)
    return names


def environment_class(names: Mapping[str, Any]) -> str | None:
    """The last class defined here whose name ends in `Env` and that no other class defined here derives from."""
    own = [value for value in names.values() if isinstance(value, type) and value.__module__ == MODULE_NAME]
    leaves = [cls for cls in own if not any(other is not cls and cls in other.__mro__ for other in own)]
    found = [cls.__name__ for cls in leaves if cls.__name__.endswith("Env") and names.get(cls.__name__) is cls]
    return found[-1] if found else None
