"""The committed copy of a table's evidence: the same answers, metrics and configs, without texts, compressed.

    <folder>/items.json.gz     {"format": 1, "legend": [outcome codes], "lists": {digest: [[item, category], ...]}}
    <folder>/<row>.json.gz     {"format": 1, "row": ..., "runs": [{"summary", "files", "answers"}]}

A run whose sandbox lacked a layer that it must have carries `insecure`, what was lacking, as a fourth key; an
evaluation carries `protocols`, `lacking` and `folders`.
An outcome is one digit, a reward one position in a palette; `config.json` and `metrics.jsonl` go in as they are.
`spadework table` gives the same bytes from here as from the run folders. More than `MAX_BYTES` is refused.
"""

import gzip
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from ..answers import LEGEND, ItemList, Packed, pack, unpack
from ..atomic import write_atomic
from ..errors import InputError
from .reading import read_runs
from .runs import Evidence, Protocol, Run, Summary, agree

FORMAT = 1
MAX_BYTES = 10_000_000
ITEMS = "items.json.gz"


class _Lists(msgspec.Struct, frozen=True, kw_only=True):
    format: int
    legend: list[str]
    lists: dict[str, list[tuple[str, str]]]


class _Run(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    summary: Summary
    files: dict[str, str]
    answers: dict[str, Packed]
    insecure: tuple[str, ...] = ()
    protocols: dict[str, Protocol] = {}
    lacking: dict[str, str] = {}
    folders: dict[str, str] = {}


class _Row(msgspec.Struct, frozen=True, kw_only=True):
    format: int
    row: str
    runs: list[_Run]


PackedT = TypeVar("PackedT", _Lists, _Row)


def pack_runs(runs: Path, folder: Path, rows: Sequence[str], scale: str) -> list[Path]:
    """Write the finished runs of `rows` under `runs` into `folder`; returns the files, which are the same each time.

    Raises InputError when there is nothing to pack or when it would exceed `MAX_BYTES`.
    """
    evidence = read_runs(runs, rows, scale)
    lists = {a.listed.digest: a.listed for run in evidence.every_run() for a in run.answers.values()}
    if not lists:
        raise InputError(f"{runs} holds no finished run to pack; run `spadework reproduce` first.")
    head = _Lists(
        format=FORMAT, legend=list(LEGEND),
        lists={key: list(zip(lists[key].items, lists[key].categories, strict=True)) for key in sorted(lists)},
    )  # fmt: skip
    blobs = {folder / ITEMS: _compressed(head)}
    for row in rows:
        if evidence.runs[row]:
            packed = [_packed(run) for run in evidence.runs[row]]
            blobs[folder / f"{row}.json.gz"] = _compressed(_Row(format=FORMAT, row=row, runs=packed))
    if (size := sum(map(len, blobs.values()))) > MAX_BYTES:
        raise InputError(f"the packed runs take {size:,} bytes, more than {MAX_BYTES:,}; write fewer metrics a step.")
    for stale in set(folder.glob("*.json.gz")) - blobs.keys():
        stale.unlink()
    for path, data in blobs.items():
        write_atomic(path, data)
    return sorted(blobs)


def read_packed(folder: Path, rows: Sequence[str], scale: str) -> Evidence:
    """The evidence in a folder that `pack_runs` wrote. Raises InputError, naming the file, for damage."""
    head = _decoded(folder / ITEMS, _Lists)
    lists = {
        key: ItemList(items=tuple(item for item, _ in pairs), categories=tuple(category for _, category in pairs))
        for key, pairs in head.lists.items()
    }
    runs: dict[str, tuple[Run, ...]] = dict.fromkeys(rows, ())
    for row in rows:
        path = folder / f"{row}.json.gz"
        if path.is_file():
            packed = _decoded(path, _Row).runs
            runs[row] = tuple(_unpacked(run, lists, head.legend, str(path)) for run in packed)
    evidence = Evidence(runs=runs)
    agree(evidence, scale)
    return evidence


def _packed(run: Run) -> _Run:
    answers = {key: pack(run.answers[key]) for key in sorted(run.answers)}
    return _Run(
        summary=run.summary, files=run.files, answers=answers, insecure=run.insecure, protocols=dict(run.protocols),
        lacking=dict(run.lacking), folders=dict(run.folders),
    )  # fmt: skip


def _unpacked(run: _Run, lists: dict[str, ItemList], legend: Sequence[str], where: str) -> Run:
    answers = {key: unpack(packed, lists, legend, f"{where} ({key})") for key, packed in run.answers.items()}
    return Run(
        summary=run.summary, answers=answers, files=run.files, insecure=run.insecure, protocols=run.protocols,
        lacking=run.lacking, folders=run.folders,
    )  # fmt: skip


def _compressed(value: msgspec.Struct) -> bytes:
    return gzip.compress(msgspec.json.encode(value), compresslevel=9, mtime=0)


def _decoded(path: Path, kind: type[PackedT]) -> PackedT:
    try:
        value = msgspec.json.decode(gzip.decompress(path.read_bytes()), type=kind)
    except FileNotFoundError:
        raise InputError(f"no file {path}; run `spadework reproduce`, or take the packed runs from git.") from None
    except (OSError, EOFError, zlib.error, msgspec.DecodeError) as error:
        raise InputError(f"{path} is damaged ({error}); take it from git again or pack the runs anew.") from None
    if value.format != FORMAT:
        raise InputError(f"{path} has format {value.format}, this version reads {FORMAT}; pack the runs anew.")
    return value
