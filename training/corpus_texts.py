"""The built-in texts: a named list of files inside pinned dependencies, each with the sha256 it must have.

Nothing is copied into this repository: a text is read from the installed package at first use. A text that is missing or
has changed is an error that names it and the version it was taken from; another text is never put in its place.
`python_topics` (the language reference inside the standard library) is keyed by Python version and is not in the default.
"""

import gzip
import json
import platform
import re
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from importlib import import_module
from importlib.metadata import PackageNotFoundError, distribution
from typing import Callable, Mapping, Sequence

from ..harness.errors import InputError, nearest

CODE = re.compile(r"```.*?```|`[^`]*`|\\\[.*?\\\]|\\\(.*?\\\)|\$\$.*?\$\$", re.DOTALL)
"""Code spans and formulas in Markdown prose: no words in them."""
TOPICS_SHA256: Mapping[str, str] = {}
"""sha256 of `pydoc_data.topics` by Python version (`3.11.7`)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NamedText:
    """One text of the list. `read` turns the file's bytes into paragraphs separated by blank lines."""

    package: str
    version: str
    path: str
    """Where the file lies, from the folder that holds the installed package."""
    sha256: str
    """Of the file as it is installed, before `read`."""
    licence: str
    read: Callable[[bytes], str]


def _book(data: bytes) -> str:
    """A Project Gutenberg book without the header, licence and credits around it."""
    text = data.decode("utf-8").replace("\r\n", "\n")
    body = text.split("*** START OF", 1)[1].split("\n", 1)[1].split("End of Project Gutenberg", 1)[0]
    story = body.split("ideas.]", 1)[1] if "ideas.]" in body else body
    return _paragraphs(re.split(r"\n\s*\n", story))


def _records(key: str) -> Callable[[bytes], str]:
    """The prose of one field of a gzipped JSONL file, one paragraph a record, code and formulas left out."""

    def read(data: bytes) -> str:
        rows = [json.loads(line) for line in gzip.decompress(data).decode("utf-8").splitlines()]
        return _paragraphs([CODE.sub(" ", row[key]) for row in rows])

    return read


def _paragraphs(parts: Sequence[str]) -> str:
    cleaned = (" ".join(part.replace("_", " ").split()) for part in parts)
    return "\n\n".join(part for part in cleaned if part)


RG = "reasoning-gym"
CODEIO_SHA = "a088810cf4d020279ec50dc5e64f25b7eccc8a428a6f76a25c70c126e4370f33"
TEXTS: Mapping[str, NamedText] = {
    "in_the_year_2889": NamedText(
        package=RG, version="0.1.25", path="reasoning_gym/data/in_the_year_2889.txt", sha256="e9048bcd282207d6f093bff92b3ad7c94689352205105c3716f0fdf5e245a25c",
        licence="public domain (Project Gutenberg eBook 19362)", read=_book,
    ),
    "codeio_tasks": NamedText(
        package=RG, version="0.1.25", path="reasoning_gym/data/codeio.jsonl.gz", sha256=CODEIO_SHA,
        licence="Apache-2.0 (reasoning-gym)", read=_records("task_description"),
    ),
    "codeio_inputs": NamedText(
        package=RG, version="0.1.25", path="reasoning_gym/data/codeio.jsonl.gz", sha256=CODEIO_SHA,
        licence="Apache-2.0 (reasoning-gym)", read=_records("input_output_spec"),
    ),
}
"""Every built-in text by name."""
DEFAULT_TEXTS = ("in_the_year_2889", "codeio_tasks", "codeio_inputs")


def builtin_text(names: Sequence[str] = DEFAULT_TEXTS) -> list[tuple[str, str]]:
    """(name, text) of the named texts, paragraphs separated by blank lines.

    Raises `InputError` when a name is unknown, or its text is missing or differs from the listed sha256.
    """
    return [(name, _text(name)) for name in names]


def licence(name: str) -> str:
    """Under which terms the named text was published."""
    return "PSF-2.0" if name == "python_topics" else TEXTS[name].licence


@lru_cache(maxsize=16)
def _text(name: str) -> str:
    if name == "python_topics":
        return _python_topics()
    if name not in TEXTS:
        raise InputError(f"no built-in text is called {name!r}{nearest(name, TEXTS)}: use one of {', '.join(TEXTS)}.")
    entry = TEXTS[name]
    return entry.read(verified(name, entry))


def verified(name: str, entry: NamedText) -> bytes:
    """The file's bytes, or an `InputError` that names the text and the version it was taken from."""
    remedy = f"install {entry.package}=={entry.version}"
    try:
        path = distribution(entry.package).locate_file(entry.path)
        with open(str(path), "rb") as file:
            data = file.read()
    except (PackageNotFoundError, OSError) as error:
        raise InputError(f"built-in text {name!r} ({entry.path}) is missing ({error}): {remedy}.") from error
    if sha256(data).hexdigest() != entry.sha256:
        installed = distribution(entry.package).version
        raise InputError(
            f"built-in text {name!r} ({entry.path}, installed {entry.package} {installed}) is not the text of version "
            f"{entry.version}, its sha256 differs: {remedy}."
        )
    return data


def _python_topics() -> str:
    """The language reference of this Python; each version has its own text, so its sha256 is listed by version."""
    version = platform.python_version()
    topics: dict[str, str] = import_module("pydoc_data.topics").topics
    text = _paragraphs([part for key in sorted(topics) for part in re.split(r"\n\s*\n", topics[key])])
    if TOPICS_SHA256.get(version) not in (None, sha256(text.encode()).hexdigest()):
        raise InputError(f"built-in text 'python_topics' differs from the one of Python {version}: reinstall Python.")
    return text
