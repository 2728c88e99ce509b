"""A corpus from a user's own JSONL file or from a data set of the Hugging Face Hub.

A record's text is its `text`, or its `orig_doc` as the released corpora call it; other keys are ignored. A record
without text is a bad line: an error with its number, or, when the caller asks for bad lines to be skipped, a count.
"""

import json
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Iterable, Mapping

from ..harness.errors import InputError
from .corpus import Corpus, Cutting, Document, Need, build

TEXT_KEYS = ("text", "orig_doc")
UNSTATED = "not stated"


@dataclass(frozen=True, kw_only=True, slots=True)
class HubData:
    """A data set of the Hub, pinned by its revision."""

    name: str
    revision: str
    """Commit of the data set; a branch could change under the run."""
    split: str = "train"
    subset: str | None = None
    licence: str = UNSTATED


def from_jsonl(
    path: Path,
    cutting: Cutting,
    need: Need | None = None,
    *,
    skip_bad: bool = False,
    licence: str = UNSTATED,
) -> Corpus:
    """The corpus of a JSONL file, UTF-8, one record a line; blank lines are no records.

    Raises `InputError` for an unreadable file, for a bad line (by number) unless `skip_bad`, and for no passage.
    """
    try:
        lines = path.read_bytes().removeprefix(b"\xef\xbb\xbf").split(b"\n")
    except OSError as error:
        raise InputError(f"corpus file {path} cannot be read ({error.strerror}): check the path.") from error
    documents: list[Document] = []
    bad = 0
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            documents.append(Document(text=_line_text(line), source=path.name, licence=licence))
        except ValueError as error:
            bad += 1
            if not skip_bad:
                raise InputError(
                    f"{path}, line {number}: {error}: repair the line, or set skip_bad = true to leave bad lines out."
                ) from error
    if not documents:
        raise InputError(f"corpus file {path} is empty ({bad} bad lines): give a file with at least one record.")
    return build(documents, cutting, need, {path.name: bad})


def from_hub(data: HubData, cutting: Cutting, need: Need | None = None, *, skip_bad: bool = False) -> Corpus:
    """The corpus of one split of a Hub data set. Needs the `datasets` library and, the first time, the network.

    Raises `InputError` when the library or the data set cannot be had, for a record without text unless `skip_bad`, and
    for no passage.
    """
    source = f"{data.name}@{data.revision}" + (f":{data.subset}" if data.subset else "") + f"[{data.split}]"
    documents: list[Document] = []
    bad = 0
    for number, record in enumerate(_hub_records(data), start=1):
        try:
            documents.append(Document(text=record_text(record), source=source, licence=data.licence))
        except ValueError as error:
            bad += 1
            if not skip_bad:
                raise InputError(
                    f"{source}, record {number}: {error}: choose another data set, or set skip_bad = true."
                ) from error
    if not documents:
        raise InputError(f"data set {source} is empty ({bad} bad records): choose another data set.")
    return build(documents, cutting, need, {source: bad})


def record_text(record: object) -> str:
    """The text of a record. Raises `ValueError` that says what is wrong with it."""
    if not isinstance(record, Mapping):
        raise ValueError("is no JSON object")
    values = [record[key] for key in TEXT_KEYS if record.get(key) is not None]
    if not values:
        raise ValueError(f"has neither {' nor '.join(repr(key) for key in TEXT_KEYS)}")
    if not isinstance(values[0], str) or not values[0].strip():
        raise ValueError("has a text that is empty or no string")
    return values[0]


def _line_text(line: bytes) -> str:
    try:
        record = json.loads(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise ValueError("is not UTF-8") from error
    except json.JSONDecodeError as error:
        raise ValueError(f"is not JSON ({error.msg})") from error
    except RecursionError as error:
        raise ValueError("is nested too deeply") from error
    return record_text(record)


def _hub_records(data: HubData) -> Iterable[object]:
    try:
        load_dataset = import_module("datasets").load_dataset
    except ImportError as error:
        raise InputError("a corpus from the Hub needs the datasets library: pip install datasets.") from error
    try:
        records: Iterable[object] = load_dataset(data.name, data.subset, split=data.split, revision=data.revision)
    except (OSError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise InputError(
            f"data set {data.name!r} cannot be loaded ({reason}): check name, subset, split, revision and network."
        ) from error
    return records
