"""Models with a prompt format of their own, which no chat template expresses: named here, resolved when one is opened.

A folder says which it is in `spadework.json`, {"organism": NAME}; a training run says it in its config. Such a model is
played by its `Dialect` and takes token ids only. This module knows the names, and nothing of the organisms.
"""

from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

import msgspec

from ..dialect import Dialect
from ..errors import InputError, nearest

CHAT = "chat"
"""The organism of every pretrained chat model: its format is its template, and a run of one opens as such a model."""
ORGANISMS = {
    "nano": "spadework.training.nano.organism:NanoOrganism",
    CHAT: "spadework.training.chat.organism:ChatOrganism",
}
MARK = "spadework.json"


class Organism(Protocol):
    """What opening a model asks of an organism; training asks more."""

    def folder(self, checkpoint: str) -> Path:
        """Where a shipped checkpoint, or a folder of one, lies. InputError with the nearest name otherwise."""
        ...

    def dialect(self, checkpoint: str) -> Dialect:
        """Its prompt format."""
        ...


class _Mark(msgspec.Struct):
    organism: str


def organism(name: str) -> Organism:
    """The organism of that name. InputError with the nearest one otherwise."""
    check_organism(name)
    module, _, attribute = ORGANISMS[name].partition(":")
    return cast(Organism, getattr(import_module(module), attribute)())


def check_organism(name: str) -> None:
    """InputError with the nearest name when there is no such organism. Imports nothing."""
    if name not in ORGANISMS:
        raise InputError(f"there is no organism {name!r}{nearest(name, ORGANISMS)}; use {', '.join(ORGANISMS)}.")


def declared(folder: Path) -> str:
    """The organism that a folder names; empty of an ordinary model."""
    path = folder / MARK
    if not path.is_file():
        return ""
    try:
        name = msgspec.json.decode(path.read_bytes(), type=_Mark).organism
    except msgspec.DecodeError as error:
        raise InputError(f'{path} is damaged ({error}); it holds {{"organism": NAME}}.') from None
    check_organism(name)
    return name
