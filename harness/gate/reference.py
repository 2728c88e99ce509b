"""A reference: what runs to come are measured against, as one JSON file that is committed.

    {"format": "spadework-reference/1",
     "spadework": version that wrote it,
     "runs":    [{"run", "seed", "digest" of its config, "models": identity by role}],
     "margins": {benchmark: points},
     "columns": {benchmark: {"preset", "scorer", "task", "limit", "weigh", "samples", "protocol",
                             "items": {id: {"category", "means": one a run}}}}}

A mean is the share of right answers among the `samples` of an item in one run. One item stands on one line, so that a
change of the file shows which items changed. It holds no text of a problem or of an answer. What it is not: a verdict.
"""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal

import msgspec

from ..atomic import write_atomic
from ..errors import InputError

FORMAT: Final = "spadework-reference/1"
DEPTH = 4
"""Levels of the document that get a line for each entry: the items are the last."""


class RunEntry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where one mean of each item comes from."""

    run: str
    seed: int
    digest: str
    """Of the run's config."""
    models: dict[str, Any] = {}
    """Identity of each model by its role: digests of weights, tokenizer and template, engine."""


class ItemEntry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One item."""

    category: str
    means: list[float]


class ColumnEntry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One benchmark, and under which protocol its means came about."""

    preset: str
    scorer: str
    task: str
    """Digest of ids, categories and golds."""
    limit: int | None
    weigh: Literal["items", "categories"]
    samples: int
    """Of each item in each run."""
    protocol: dict[str, Any] = {}
    """What the preset says, key by key, so that a refusal can name what differs."""
    items: dict[str, ItemEntry]

    def stamp(self) -> dict[str, object]:
        """What a run must have equal to be measured against it."""
        return {key: getattr(self, key) for key in STAMP}


STAMP = ("preset", "scorer", "task", "limit", "weigh", "samples", "protocol")


class Reference(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A whole file."""

    format: Literal["spadework-reference/1"]
    spadework: str
    runs: list[RunEntry]
    margins: dict[str, float] = {}
    """Points by benchmark, where they differ from the gate's."""
    columns: dict[str, ColumnEntry]


def read_reference(path: Path) -> Reference:
    """The reference in a file. Raises InputError with the remedy for one that is missing, damaged or foreign."""
    again = f"take it from git again, or write a new one with `spadework check RUN --reference {path} --update`"
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(
            f"cannot read the reference {path} ({error.strerror}); "
            f"make it from a run with `spadework check RUN --reference {path} --update`."
        ) from None
    try:
        document = msgspec.json.decode(data)
        told = document.get("format") if isinstance(document, dict) else None
        if told != FORMAT:
            raise InputError(f"{path} is of the format {told!r} and this version reads {FORMAT!r}; {again}.")
        reference = msgspec.convert(document, Reference)
    except msgspec.DecodeError as error:
        raise InputError(f"{path} is damaged ({error}); {again}.") from None
    if fault := _fault(reference):
        raise InputError(f"{path} is damaged ({fault}); {again}.")
    return reference


def _fault(reference: Reference) -> str:
    """What a file cannot say although its types are right."""
    if not reference.runs or not reference.columns:
        return "it holds no run" if not reference.runs else "it holds no benchmark"
    for name, margin in reference.margins.items():
        if not (0 < margin < 100):
            return f"the margin of {name} is {margin}, which is no number of points between 0 and 100"
    for name, column in reference.columns.items():
        if not column.items or column.samples < 1:
            return f"{name} holds no item"
        for item, entry in column.items.items():
            if len(entry.means) != len(reference.runs):
                return f"{name}, item {item!r}: {len(entry.means)} means for {len(reference.runs)} runs"
            if not all(math.isfinite(mean) and 0 <= mean <= 1 for mean in entry.means):
                return f"{name}, item {item!r}: a mean lies outside [0, 1]"
    return ""


def write_reference(path: Path, reference: Reference) -> None:
    """Replace the file, all or nothing."""
    document = msgspec.to_builtins(reference)
    assert isinstance(document, dict)
    write_atomic(path, _lines(document, DEPTH, "") + "\n")


def _lines(value: object, depth: int, indent: str) -> str:
    """JSON with a line for each entry of the upper levels."""
    if not isinstance(value, Mapping) or not value or depth == 0:
        return json.dumps(value, ensure_ascii=True, allow_nan=False)
    inner = indent + " "
    entries = (f"{inner}{json.dumps(str(key))}: {_lines(item, depth - 1, inner)}" for key, item in value.items())
    return "{\n" + ",\n".join(entries) + "\n" + indent + "}"
