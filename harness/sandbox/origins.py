"""Where the modules live that are to be imported inside a jail: their folders, found without importing anything."""

import importlib.util
import sys
from importlib.machinery import ModuleSpec, PathFinder
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Iterable, Sequence

from ..errors import InputError, nearest

OWN = __name__.partition(".")[0]


def folders(modules: Iterable[str], path: Sequence[str]) -> tuple[str, ...]:
    """The folders to import `modules` from: those of `path` first. Raises InputError for a module that is not there."""
    found = [str(Path(folder).resolve()) for folder in path]
    for name in dict.fromkeys(module.partition(".")[0] for module in modules):
        if name == OWN:
            raise InputError(
                f"modules of {OWN} belong to the host: put what is to run in the jail into a module of its own, in a "
                "folder named by `path`"
            )
        if name not in sys.stdlib_module_names:
            found.append(_folder(name, found))
    return tuple(dict.fromkeys(found))


def _folder(name: str, path: list[str]) -> str:
    spec = PathFinder.find_spec(name, path) or _installed(name)
    places = [] if spec is None else list(spec.submodule_search_locations or [])
    if places:
        return str(Path(places[0]).resolve().parent)
    if spec is not None and spec.origin is not None:
        return str(Path(spec.origin).resolve().parent)
    near = nearest(name, [*sys.stdlib_module_names, *packages_distributions()])
    raise InputError(f"there is no module {name!r} to preload{near}: install it, or name its folder in `path`")


def _installed(name: str) -> ModuleSpec | None:
    try:
        return importlib.util.find_spec(name)
    except ValueError:  # a module that was made by hand
        return None
