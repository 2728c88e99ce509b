"""Config and provenance of all sides key by key: the keys that differ first. Pure."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..config import flatten
from .values import RunFiles, Side

ABSENT = "–"


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One key with a value for each side."""

    key: str
    values: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Keys whose values differ between the sides, and those that agree."""

    differing: tuple[Setting, ...]
    equal: tuple[Setting, ...]


def config_settings(sides: Sequence[Side]) -> Settings:
    """The resolved settings of the runs."""
    return _split([[run.config for run in side.runs] for side in sides])


def origin_settings(sides: Sequence[Side]) -> Settings:
    """Where the runs come from: packages, commit, machine, sandbox, models. A run in several sittings has several."""
    return _split([[origin for run in side.runs for origin in _origins(run)] for side in sides])


def _origins(run: RunFiles) -> list[Mapping[str, object]]:
    models = {f"model.{key}": value for key, value in run.models.items()}
    entries = [flatten(entry) for entry in run.origins] or ([{}] if models else [])
    return [{**entry, **models} for entry in entries]


def _split(sides: Sequence[Sequence[Mapping[str, object]]]) -> Settings:
    keys = sorted({key for tables in sides for table in tables for key in table})
    found = [Setting(key=key, values=tuple(_said(tables, key) for tables in sides)) for key in keys]
    return Settings(
        differing=tuple(one for one in found if len(set(one.values)) > 1),
        equal=tuple(one for one in found if len(set(one.values)) == 1),
    )


def _said(tables: Sequence[Mapping[str, object]], key: str) -> str:
    """The value of a key in all runs of a side: one, or those there are, in their order."""
    values = [text(table[key]) if key in table else ABSENT for table in tables]
    return " | ".join(dict.fromkeys(values)) or ABSENT


def text(value: object) -> str:
    """A value of a config as people write it."""
    return value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False)
