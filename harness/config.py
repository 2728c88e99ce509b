"""Settings as data: strict TOML in, frozen values out.

A section is a subclass of `Section` (`class Optimiser(Section, frozen=True, kw_only=True)`). Its defaults are the
paper's setting, so a key in a file is somebody's choice. The steps are separate, so that recipes can be differences:

    read_table(path) -> merge(base, delta) -> override(table, ["a.b=1"]) -> build(Recipe, table, where=path)

Whatever a user can get wrong (file, key, type, `--set` text) is one `InputError` sentence. This module knows no recipe.
"""

import json
import math
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import inspect

from .errors import InputError, nearest

Table = dict[str, object]
"""A TOML table before it is checked."""

BARE_WORD = re.compile(r"[A-Za-z_./~][\w.:/@+-]*")
BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
PLACE = re.compile(r"^(?P<what>.*?)(?: - at `\$\.?(?P<key>.*)`)?$", re.DOTALL)


class Section(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of every settings struct: immutable, by keyword, no unknown keys."""


SectionT = TypeVar("SectionT", bound=msgspec.Struct)


def read_table(path: Path) -> Table:
    """The raw table of a TOML file. A missing file offers the nearest name in its folder."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        names = [p.name for p in path.parent.glob("*.toml")] if path.parent.is_dir() else []
        raise InputError(f"no file {path}{nearest(path.name, names)}; give the path of a TOML file.") from None
    except (IsADirectoryError, PermissionError) as error:
        raise InputError(f"cannot read {path}: {error.strerror}; give the path of a readable TOML file.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is not valid TOML: {error}; correct that line.") from None


def merge(base: Mapping[str, object], delta: Mapping[str, object]) -> Table:
    """`base` with `delta` laid over it: tables are merged key by key, everything else is replaced."""
    merged: Table = dict(base)
    for key, value in delta.items():
        old = merged.get(key)
        merged[key] = merge(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return merged


def override(table: Mapping[str, object], assignments: Iterable[str]) -> Table:
    """`table` with `--set a.b=value` texts applied in order."""
    result: Table = dict(table)
    for text in assignments:
        key, sign, value = text.partition("=")
        parts = [part.strip() for part in key.split(".")]
        if not sign or not all(BARE_KEY.fullmatch(part) for part in parts):
            raise InputError(f"--set {text!r} names no key; write it as --set section.key=value.")
        _refuse_through_value(result, parts, text)
        delta: object = _literal(value.strip(), text)
        for part in reversed(parts):
            delta = {part: delta}
        assert isinstance(delta, dict)
        result = merge(result, delta)
    return result


def build(kind: type[SectionT], table: Mapping[str, object], *, where: Path | str) -> SectionT:
    """A checked, frozen `kind` from a table. `where` opens the message of an error.

    Raises `InputError` for an unknown key (nearest offered), a missing one, a wrong type, a number not finite.
    """
    _refuse_unknown(inspect.type_info(kind), table, (), where)
    _refuse_infinite(table, (), where)
    try:
        return msgspec.convert(table, kind)
    except msgspec.ValidationError as error:
        raise InputError(_sentence(str(error), where)) from None


def digest(config: msgspec.Struct) -> str:
    """First 16 hex digits of the sha256 over the canonical JSON (sorted keys, defaults included)."""
    return sha256(msgspec.json.encode(_plain(config), order="sorted")).hexdigest()[:16]


def difference(a: msgspec.Struct | Mapping[str, object], b: msgspec.Struct | Mapping[str, object]) -> list[str]:
    """Dotted keys whose values differ, sorted. A list that differs anywhere is one key."""
    left, right = flatten(_plain(a)), flatten(_plain(b))
    absent = object()
    return sorted(key for key in left.keys() | right.keys() if left.get(key, absent) != right.get(key, absent))


def flatten(table: Mapping[str, object], prefix: tuple[str, ...] = ()) -> Table:
    """Dotted keys and their values; an empty table is a value, a list too."""
    flat: Table = {}
    for key, value in table.items():
        path = (*prefix, key)
        flat.update(flatten(value, path) if isinstance(value, dict) and value else {".".join(path): value})
    return flat


def dump_json(config: msgspec.Struct) -> str:
    """The resolved config as indented JSON with a newline at its end."""
    return json.dumps(_plain(config), indent=2, ensure_ascii=False) + "\n"


def dump_toml(config: msgspec.Struct | Mapping[str, object]) -> str:
    """The resolved config as TOML that `read_table` and `build` take back; a key that is None is left out."""
    return "\n".join(_toml_lines(_plain(config), ())).strip("\n") + "\n"


def _plain(config: msgspec.Struct | Mapping[str, object]) -> Table:
    """As it lies on disk: JSON's own types, so that a tuple and the list read back are the same value."""
    plain = msgspec.json.decode(msgspec.json.encode(config))
    assert isinstance(plain, dict)
    return plain


def _literal(text: str, assignment: str) -> object:
    try:
        parsed = tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError:
        parsed = {}
    if set(parsed) == {"value"}:
        return parsed["value"]
    if BARE_WORD.fullmatch(text):
        return text
    raise InputError(f"--set {assignment!r} has no TOML value after the equals sign; put a text in double quotes.")


def _refuse_through_value(table: Mapping[str, object], parts: Sequence[str], assignment: str) -> None:
    here: object = table
    for depth, part in enumerate(parts[:-1], start=1):
        here = here.get(part, {}) if isinstance(here, dict) else {}
        if not isinstance(here, dict):
            name = ".".join(parts[:depth])
            raise InputError(f"--set {assignment!r}: {name!r} is a value, not a section; set {name}=... itself.")


def _refuse_unknown(kind: inspect.Type, value: object, path: tuple[str, ...], where: Path | str) -> None:
    if isinstance(kind, inspect.UnionType):
        kind = _chosen(kind, value)
    if isinstance(kind, inspect.StructType) and isinstance(value, Mapping):
        known = {field.encode_name: field.type for field in kind.fields}
        for key, inner in value.items():
            if key == kind.tag_field:
                continue
            if key not in known:
                name = ".".join((*path, key))
                raise InputError(f"{where}: unknown key {name!r}{nearest(key, known)}; take it out or correct it.")
            _refuse_unknown(known[key], inner, (*path, key), where)
    elif isinstance(kind, inspect.LiteralType) and value not in kind.values:
        choices = [str(choice) for choice in kind.values]
        hint = nearest(str(value), choices)
        name = ".".join(path)
        raise InputError(f"{where}: key {name!r}: {value!r} is no choice{hint}; use one of {', '.join(choices)}.")
    elif isinstance(kind, inspect.DictType) and isinstance(value, Mapping):
        for key, inner in value.items():
            _refuse_unknown(kind.value_type, inner, (*path, str(key)), where)
    elif isinstance(kind, inspect.ListType | inspect.VarTupleType) and isinstance(value, list):
        for index, inner in enumerate(value):
            _refuse_unknown(kind.item_type, inner, (*path, str(index)), where)


def _chosen(kind: inspect.UnionType, value: object) -> inspect.Type:
    """The member of a union that the value is meant for: the struct of its tag, else the first table-like member."""
    tables = [t for t in kind.types if isinstance(t, inspect.StructType | inspect.DictType)]
    if isinstance(value, Mapping):
        for member in tables:
            if isinstance(member, inspect.StructType) and value.get(member.tag_field or "", ...) == member.tag:
                return member
        if len(tables) == 1:
            return tables[0]
    return inspect.AnyType()


def _refuse_infinite(value: object, path: tuple[str, ...], where: Path | str) -> None:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            _refuse_infinite(inner, (*path, str(key)), where)
    elif isinstance(value, list):
        for inner in value:
            _refuse_infinite(inner, path, where)
    elif isinstance(value, float) and not math.isfinite(value):
        raise InputError(f"{where}: {'.'.join(path)!r} is {value}; give a finite number.")


def _sentence(message: str, where: Path | str) -> str:
    match = PLACE.match(message)
    assert match is not None
    key, what = match["key"], match["what"]
    what = what[:1].lower() + what[1:]
    return f"{where}: {f'key {key!r}: ' if key else ''}{what}; correct the value in the file or in --set."


def _toml_lines(table: Mapping[str, object], path: tuple[str, ...]) -> list[str]:
    values = {key: value for key, value in table.items() if not isinstance(value, dict) and value is not None}
    lines = [f"{_toml_key(key)} = {_toml_value(value)}" for key, value in values.items()]
    if path and (lines or not table):
        lines.insert(0, f"\n[{'.'.join(map(_toml_key, path))}]")
    for key, value in table.items():
        if isinstance(value, dict):
            lines += _toml_lines(value, (*path, key))
    return lines


def _toml_key(key: str) -> str:
    return key if BARE_KEY.fullmatch(key) else _toml_value(key)


def _toml_value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, list):
        return f"[{', '.join(map(_toml_value, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_toml_key(k)} = {_toml_value(v)}" for k, v in value.items() if v is not None) + "}"
    assert isinstance(value, int | float), f"{type(value).__name__} has no TOML form here"
    return repr(value)
