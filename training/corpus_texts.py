"""The built-in texts: a named list of files inside pinned dependencies, each with the sha256 it must have.

Nothing is copied into this repository: a text is read from the installed package at first use, in memory only. A text
that is missing or has changed is an error that names it and the version it was taken from; another text is never put in
its place. `python_topics`, the language reference inside the standard library, has a sha256 for each Python version and
is not in the default.
"""

import gzip
import json
import platform
import re
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from importlib import import_module
from importlib.metadata import distribution, version
from pathlib import Path
from typing import Callable, Mapping, Sequence

from ..harness.errors import InputError, nearest

RG = "reasoning-gym"
BOOK = "reasoning_gym/data/in_the_year_2889.txt"
CODEIO = "reasoning_gym/data/codeio.jsonl.gz"
CODEIO_SHA = "a088810cf4d020279ec50dc5e64f25b7eccc8a428a6f76a25c70c126e4370f33"
ANSWER_FORMAT = " Give the result as your final answer. Do not include units."
BLANK_LINE = re.compile(r"\n\s*\n")
BLOCK = re.compile(r"```.*?```|\\\[.*?\\\]|\$\$.*?\$\$", re.DOTALL)
"""Code blocks and displayed formulas in Markdown: left out."""
MARK = re.compile(r"`|\\\(|\\\)|\*\*")
"""Marks around inline code, formulas and bold words: the words stay."""
TOPICS_SHA256: Mapping[str, str] = {
    "3.11.7": "64b8e97ada7ff80263867dc52744944a5974740f765dc4b2686acfbdb3d6edd0",
    "3.12.1": "22674e06bcbff81bad3e9c884e416ffa9633fbee14dc2cdc07da2f628e5be18a",
    "3.13.0": "277f70f043614a60bad3d1c8e9763583861948ae60263ab56befa430be5c4f1c",
}
"""sha256 of the text `python_topics` by Python version."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NamedText:
    """One text of the list. `fetch` gets bytes from the installed package, `read` turns them into paragraphs."""

    package: str
    version: str
    place: str
    """Where it lies inside the package, for people."""
    sha256: str
    """Of the bytes as fetched, before `read`."""
    licence: str
    fetch: Callable[[], bytes]
    read: Callable[[bytes], str]


def _file(package: str, path: str) -> Callable[[], bytes]:
    """The file's bytes, found without importing the package."""
    return lambda: Path(str(distribution(package).locate_file(path))).read_bytes()


def _questions() -> bytes:
    """The first 800 word problems of reasoning-gym's gsm_symbolic at seed 0, one a paragraph, as it generates them."""
    dataset = import_module("reasoning_gym").create_dataset("gsm_symbolic", size=800, seed=0)
    return _paragraphs([dataset[i]["question"].removesuffix(ANSWER_FORMAT) for i in range(800)]).encode()


def _book(data: bytes) -> str:
    """A Project Gutenberg book without the header, licence and credits around it."""
    text = data.decode("utf-8").replace("\r\n", "\n")
    body = text.split("*** START OF", 1)[1].split("\n", 1)[1].split("End of Project Gutenberg", 1)[0]
    story = body.split("ideas.]", 1)[1] if "ideas.]" in body else body
    return _paragraphs(BLANK_LINE.split(story))


def _records(key: str) -> Callable[[bytes], str]:
    """The prose of one field of a gzipped JSONL file, one paragraph a record."""

    def read(data: bytes) -> str:
        rows = [json.loads(line) for line in gzip.decompress(data).decode("utf-8").splitlines()]
        return _paragraphs([MARK.sub("", BLOCK.sub(" ", row[key])) for row in rows])

    return read


def _paragraphs(parts: Sequence[str]) -> str:
    cleaned = (" ".join(part.replace("_", " ").split()) for part in parts)
    return "\n\n".join(part for part in cleaned if part)


TEXTS: Mapping[str, NamedText] = {
    "in_the_year_2889": NamedText(
        package=RG,
        version="0.1.25",
        place=BOOK,
        sha256="e9048bcd282207d6f093bff92b3ad7c94689352205105c3716f0fdf5e245a25c",
        licence="public domain (Project Gutenberg eBook 19362)",
        fetch=_file(RG, BOOK),
        read=_book,
    ),
    "codeio_tasks": NamedText(
        package=RG,
        version="0.1.25",
        place=CODEIO,
        sha256=CODEIO_SHA,
        licence="Apache-2.0 (reasoning-gym)",
        fetch=_file(RG, CODEIO),
        read=_records("task_description"),
    ),
    "codeio_inputs": NamedText(
        package=RG,
        version="0.1.25",
        place=CODEIO,
        sha256=CODEIO_SHA,
        licence="Apache-2.0 (reasoning-gym)",
        fetch=_file(RG, CODEIO),
        read=_records("input_output_spec"),
    ),
    "gsm_questions": NamedText(
        package=RG,
        version="0.1.25",
        place="dataset gsm_symbolic, seed 0, 800 questions",
        sha256="cf00ff4287a08c15b6f2c0cdff2a694c6e8d007dcb02e3e5a4e583b32447eb9d",
        licence="Apache-2.0 (reasoning-gym)",
        fetch=_questions,
        read=lambda data: data.decode(),
    ),
}
"""Every built-in text by name."""
DEFAULT_TEXTS = ("in_the_year_2889", "codeio_tasks", "gsm_questions")


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
        known = [*TEXTS, "python_topics"]
        raise InputError(f"no built-in text is called {name!r}{nearest(name, known)}: use one of {', '.join(known)}.")
    entry = TEXTS[name]
    return entry.read(verified(name, entry))


def verified(name: str, entry: NamedText) -> bytes:
    """The file's bytes, or an `InputError` that names the text and the version it was taken from."""
    remedy = f"install {entry.package}=={entry.version}"
    try:
        data = entry.fetch()
    except (ImportError, OSError) as error:
        raise InputError(f"built-in text {name!r} ({entry.place}) is missing ({error}): {remedy}.") from error
    if sha256(data).hexdigest() != entry.sha256:
        raise InputError(
            f"built-in text {name!r} ({entry.place}, installed version {version(entry.package)}) is not the text of "
            f"version {entry.version}, its sha256 differs: {remedy}."
        )
    return data


def wanting() -> dict[str, str]:
    """What is wrong with the built-in texts, by name; empty when all of them are there as listed."""
    found = {}
    for name, entry in TEXTS.items():
        try:
            verified(name, entry)
        except InputError as error:
            found[name] = str(error)
    return found


def _python_topics() -> str:
    """The language reference of this Python: each version has its own text, listed by version."""
    python = platform.python_version()
    topics: dict[str, str] = import_module("pydoc_data.topics").topics
    text = _paragraphs([part for key in sorted(topics) for part in BLANK_LINE.split(topics[key])])
    if TOPICS_SHA256.get(python) != sha256(text.encode()).hexdigest():
        raise InputError(
            f"built-in text 'python_topics' of Python {python} is not one of the listed texts: use Python "
            f"{' or '.join(TOPICS_SHA256)}, or another text."
        )
    return text
