"""BFCL v4's 800 multi-turn entries, read by bfcl-eval's own loader in its own environment, its data checked first.

The package is made available on first use (`harness.sidecar_home`); nothing of it is imported here.
"""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from ..harness.errors import InputError
from ..harness.requirements import Requirements
from ..harness.sidecar import Sidecar
from ..harness.sidecar_home import SidecarHome, sidecar_home
from ..harness.types import Message, Tool

VERSION = "2026.3.23"
BFCL_EVAL = Requirements(
    name="bfcl-eval", pins=(f"bfcl-eval=={VERSION}", "filelock==3.20.0", "mpmath==1.3.0", "tenacity==9.1.2")
)
"""Loader, executor and checker need no more of the package's own pins; tenacity is imported and not used."""
CATEGORIES = ("base", "miss_func", "miss_param", "long_context")
SCRIPT = Path(__file__).parent / "bfcl_entries.py"
DIGESTS = {
    "BFCL_v4_multi_turn_base.json": "1a21a995d06fd6f20ba55de7bced30ef953ec35e998f502ec2ecf4d66ef1c43a",
    "BFCL_v4_multi_turn_long_context.json": "78c3268c5cc8e97c0f4ec6c811b3b9a2bba14323b1830b7a874b06d822749324",
    "BFCL_v4_multi_turn_miss_func.json": "87d28ce10e37d864b72de85d5732eef2a867b241d6c1c99b4ae682c9e3ea921c",
    "BFCL_v4_multi_turn_miss_param.json": "f0c66dda3795f5f53e3e1c0cc8ba0246b6761c8f58bdba8317203bf451ab8838",
    "possible_answer/BFCL_v4_multi_turn_base.json": "1fee67823b317571649177dd89d63969feaae4e810cc7448ee55ba797fb7c8fc",
    "possible_answer/BFCL_v4_multi_turn_long_context.json": (
        "e82aa0e839c39d23c64a05834f7ae024d7c9738ec21738ecee78dc876e3d0d18"
    ),
    "possible_answer/BFCL_v4_multi_turn_miss_func.json": (
        "69e679b806d1c871b05393a4b95583bb973248e5b8d96c2d7f4ca05e29fc32e6"
    ),
    "possible_answer/BFCL_v4_multi_turn_miss_param.json": (
        "59c442901779e2c31c33abcd566d032e03736e5ad8069de2fe05489873046ecf"
    ),
}
"""sha256 of the data in PyPI's bfcl-eval 2026.3.23, the same bytes as ShishirPatil/gorilla at 6ea5797."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Function:
    """A function that the model may call, as the package documents it and as a tool."""

    doc: Mapping[str, Any]
    tool: Tool

    @property
    def parameters(self) -> tuple[str, ...]:
        """Their names in order."""
        return tuple(self.doc["parameters"]["properties"])


@dataclass(frozen=True, kw_only=True, slots=True)
class Words:
    """What the protocol says by itself."""

    system: tuple[str, str]
    """Of the prompting mode, around the list of functions."""
    more: str
    """In the place of the user, when withheld functions come."""
    more_prompting: tuple[str, str]
    """The same in the prompting mode, around those functions."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One conversation, not yet played."""

    id: str
    category: str
    turns: tuple[tuple[Message, ...], ...]
    """What the user says; nothing in a turn in which withheld functions come."""
    functions: tuple[Function, ...]
    withheld: Mapping[int, tuple[Function, ...]]
    """Turn to the functions that come with it."""
    initial_config: Mapping[str, Any]
    involved_classes: tuple[str, ...]
    gold: tuple[tuple[str, ...], ...]
    """The package's own calls, turn by turn."""
    words: Words

    @property
    def told(self) -> dict[str, object]:
        """What the executor needs to know."""
        classes = list(self.involved_classes)
        return {"id": self.id, "initial_config": self.initial_config, "involved_classes": classes}

    @property
    def parameters(self) -> dict[str, tuple[str, ...]]:
        """Function to the names of its parameters, the withheld ones too."""
        known = (*self.functions, *(function for more in self.withheld.values() for function in more))
        return {function.tool.name: function.parameters for function in known}


def bfcl_home() -> SidecarHome:
    """The package's environment. Raises InputError when it cannot be made or holds other data."""
    home = sidecar_home(BFCL_EVAL)
    folder = home.site_packages / "bfcl_eval" / "data"
    wrong = [name for name, digest in DIGESTS.items() if _digest(folder / name) != digest]
    if wrong:
        raise InputError(
            f"the data of bfcl-eval in {home.folder} are not those of {VERSION} ({', '.join(wrong)}); "
            "remove that folder and run the same command again."
        )
    return home


@contextmanager
def package(home: SidecarHome) -> Iterator[Sidecar]:
    """The package itself, asked by `bfcl_entries.py`."""
    with (
        tempfile.TemporaryDirectory() as scratch,  # it makes folders for results when it is imported
        Sidecar(home, SCRIPT, environment={"BFCL_PROJECT_ROOT": scratch}) as sidecar,
    ):
        yield sidecar


def load_entries(home: SidecarHome, categories: Sequence[str] = CATEGORIES) -> list[Entry]:
    """All entries of these categories in the package's order. Raises SidecarError."""
    with package(home) as sidecar:
        return [
            entry
            for category in categories
            for entry in _entries(sidecar.ask({"category": f"multi_turn_{category}"}), category)
        ]


def _digest(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


def _entries(told: Any, category: str) -> list[Entry]:
    words = Words(
        system=tuple(told["system"]), more=told["more"], more_prompting=tuple(told["more_prompting"]),
    )  # fmt: skip
    functions = {key: Function(doc=doc, tool=_tool(told["tools"][key])) for key, doc in told["docs"].items()}

    def entry(one: Any) -> Entry:
        return Entry(
            id=one["id"], category=category, words=words,
            turns=tuple(tuple(Message(role=m["role"], content=m["content"]) for m in turn) for turn in one["question"]),
            functions=tuple(functions[key] for key in one["functions"]),
            withheld={int(turn): tuple(functions[key] for key in keys) for turn, keys in one["withheld"].items()},
            initial_config=one["initial_config"], involved_classes=tuple(one["involved_classes"]),
            gold=tuple(map(tuple, one["gold"])),
        )  # fmt: skip

    return [entry(one) for one in told["entries"]]


def _tool(told: Any) -> Tool:
    return Tool(name=told["name"], description=told["description"], parameters=told["parameters"])
