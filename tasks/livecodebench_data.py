"""The problems of LiveCodeBench from the files of `livecodebench/code_generation_lite`, a line each in memory.

A release is files: `files = "test6"` is test6.jsonl, `"test1-test6"` all of them (test1 is called test.jsonl). A
problem's tests are many megabytes, so they stay where they are and are read when they are needed. Private tests are a
pickle in the official format; one that asks for anything but text is refused before anything is made of it.
"""

import base64
import binascii
import io
import json
import pickle
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, NoReturn

import msgspec

from ..harness.errors import InputError

CHECKSUMS = {"test6.jsonl": "9f81d35f7f9404e94d8cce14c77658385bb8861652f1de282b651ff53f05b2f3"}
"""sha256 of files at revision 0fe84c3912ea0c4d4a78037083943e8f0c4dd505, where it is known."""
SOURCE = "livecodebench/code_generation_lite at 0fe84c3912ea0c4d4a78037083943e8f0c4dd505"
ALL = "test1-test6"
SOLUTIONS = "solutions.jsonl"
LARGEST = 1 << 30
"""Bytes of the tests of one problem, unpacked."""
_FILES = re.compile(r"test([1-6])(?:-test([1-6]))?")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")


class Test(NamedTuple):
    """One test: what is put in, and what must come out."""

    given: str
    wanted: str


class Place(NamedTuple):
    """Where a problem's line lies."""

    path: Path
    start: int
    length: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Problem:
    """One problem in memory, without its tests."""

    question: str = field(repr=False)
    starter: str = field(repr=False)
    function: str
    """The method of `Solution` that is called; empty for a program that reads standard input."""
    difficulty: str
    date: str
    number: str
    """The problem's own id."""
    tests_digest: str
    place: Place


class Row(msgspec.Struct):
    """A line of the official files."""

    question_content: str
    question_id: str
    contest_date: str
    starter_code: str
    difficulty: str
    public_test_cases: str
    private_test_cases: str
    metadata: str


class _Case(msgspec.Struct):
    """A test as it is written."""

    input: str
    output: str
    testtype: str


class _Solution(msgspec.Struct):
    """A program that is known to be right."""

    question_id: str
    code: str


class _OnlyText(pickle.Unpickler):
    """Reads a pickle of one text. Everything that a pickle may do beyond that begins with one of these two."""

    def find_class(self, module: str, name: str) -> NoReturn:
        raise pickle.UnpicklingError(f"it asks for {module}.{name}")

    def persistent_load(self, pid: Any) -> NoReturn:
        raise pickle.UnpicklingError("it asks for an object from elsewhere")


def read_problems(data: Path | None, part: Mapping[str, str | int]) -> list[Problem]:
    """The problems of a slice: `files`, and `start` and `end` of the contests' dates, both included.

    `data` is the folder with the official files, or one file of that format, whatever its name. Raises InputError that
    names every file that is missing or wrong, and the line of a problem that cannot be read.
    """
    start, end = (_date(part, name) for name in ("start", "end"))
    problems = []
    for path in _paths(data, str(part.get("files", ALL))):
        _check(path)
        for place, row in _rows(path):
            if start <= row.contest_date and (not end or row.contest_date <= f"{end}T00:00:00"):
                problems.append(_problem(place, row))
    numbers = [problem.number for problem in problems]
    twice = sorted({number for number in numbers if numbers.count(number) > 1})
    if twice:
        raise InputError(f"problems {', '.join(twice)} stand twice in {data}; take the second ones out.")
    return problems


def read_tests(problem: Problem) -> list[Test]:
    """Public and private tests in their order. Raises InputError when the file is another one by now."""
    place = problem.place
    try:
        with place.path.open("rb") as file:
            file.seek(place.start)
            row = _parsed(file.read(place.length), place)
    except OSError as error:
        raise InputError(f"cannot read {place.path} ({error.strerror}); put it back.") from None
    if _tests_digest(row) != problem.tests_digest:
        raise InputError(f"{place.path} was changed while it was used; start again.")
    cases = _cases(row.public_test_cases, place) + _cases(_private(row, place), place)
    return [Test(case.input, case.output) for case in cases]


def read_solution(problem: Problem) -> str | None:
    """The program of `solutions.jsonl` in the same folder, if there is one. Raises InputError for a damaged line."""
    path = problem.place.path.with_name(SOLUTIONS)
    if not path.is_file():
        return None
    for number, line in enumerate(path.read_bytes().split(b"\n"), start=1):
        try:
            solution = msgspec.json.decode(line, type=_Solution) if line.strip() else None
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise InputError(f"{path}, line {number}: {error}; write question_id and code.") from None
        if solution is not None and solution.question_id == problem.number:
            return solution.code
    return None


def _paths(data: Path | None, files: str) -> list[Path]:
    """The files of a slice. Raises InputError naming all that are missing."""
    match = _FILES.fullmatch(files)
    if match is None:
        raise InputError(f"livecodebench has no files {files!r}; write test6, or test1-test6 for all of them.")
    numbers = range(int(match[1]), int(match[2] or match[1]) + 1)
    names = [f"test{number}.jsonl" if number > 1 else "test.jsonl" for number in numbers]
    if data is None:
        raise InputError(f"livecodebench needs {', '.join(names)} of {SOURCE}; give --data DIR with these files.")
    paths = [data] if data.is_file() else [data / name for name in names]
    missing = [str(path) for path in paths if not path.is_file()]
    if missing:
        raise InputError(f"no file {', '.join(missing)}; take it from {SOURCE}.")
    return paths


def unverified(data: Path | None, part: Mapping[str, str | int]) -> str:
    """Which files of a slice that was read have no checksum that could have been compared; empty where all have."""
    unknown = [path.name for path in _paths(data, str(part.get("files", ALL))) if path.name not in CHECKSUMS]
    return f"no checksum is known of {', '.join(unknown)}" if unknown else ""


def _check(path: Path) -> None:
    wanted = CHECKSUMS.get(path.name)
    if wanted is not None:
        with path.open("rb") as file:
            found = _digest(file)
        if found != wanted:
            raise InputError(f"{path} has sha256 {found} where {wanted} is wanted; take it anew from {SOURCE}.")


def _digest(file: BinaryIO) -> str:
    digest = sha256()
    while block := file.read(1 << 20):
        digest.update(block)
    return digest.hexdigest()


def _rows(path: Path) -> Iterator[tuple[Place, Row]]:
    """Every line with its place; its private tests are known to be text."""
    with path.open("rb") as file:
        start = 0
        for line in file:
            place = Place(path, start, len(line))
            start += len(line)
            if line.strip():
                row = _parsed(line, place)
                _private(row, place)
                yield place, row


def _parsed(line: bytes, place: Place) -> Row:
    try:
        return msgspec.json.decode(line, type=Row)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{_where(place)}: no problem in the official format ({error}); take the file anew.") from None


def _problem(place: Place, row: Row) -> Problem:
    try:
        metadata = json.loads(row.metadata)
        function = str(metadata.get("func_name") or "")
    except (ValueError, AttributeError):
        raise InputError(f"{_where(place)}: its metadata is no JSON object; take the file anew.") from None
    return Problem(
        question=row.question_content, starter=row.starter_code, function=function, difficulty=row.difficulty,
        date=row.contest_date[:10], number=row.question_id, tests_digest=_tests_digest(row), place=place,
    )  # fmt: skip


def _tests_digest(row: Row) -> str:
    digest = sha256()
    for text in (row.public_test_cases, row.private_test_cases, row.metadata):
        digest.update(text.encode("utf-8", "surrogatepass"))
        digest.update(b"\0")
    return digest.hexdigest()


def _cases(text: str, place: Place) -> list[_Case]:
    try:
        return msgspec.json.decode(text, type=list[_Case])
    except (msgspec.DecodeError, UnicodeEncodeError) as error:
        raise InputError(f"{_where(place)}: its tests cannot be read ({error}); take the file anew.") from None


def _private(row: Row, place: Place) -> str:
    """The JSON text of the private tests: as it is, or base64 of zlib of a pickle of it."""
    packed = row.private_test_cases
    if packed.lstrip().startswith("["):
        return packed
    try:
        unpacker = zlib.decompressobj()
        pickled = unpacker.decompress(base64.b64decode(packed, validate=True), LARGEST)
        if unpacker.unconsumed_tail or not unpacker.eof:
            raise pickle.UnpicklingError(f"it is cut off, or larger than {LARGEST >> 20} MiB")
        text = _OnlyText(io.BytesIO(pickled)).load()
    except (binascii.Error, zlib.error, pickle.UnpicklingError, EOFError, *_BROKEN) as error:
        raise InputError(
            f"{_where(place)}: its private tests are no pickle of a text ({error}); nothing of it was used, "
            "take the file anew."
        ) from None
    if not isinstance(text, str):
        raise InputError(
            f"{_where(place)}: its private tests are a pickle of a {type(text).__name__} where only a text may be; "
            "nothing of it was used, take the file anew."
        )
    return text


_BROKEN = (ValueError, IndexError, KeyError, TypeError, AttributeError, OverflowError, MemoryError)
"""What a damaged pickle may raise."""


def _where(place: Place) -> str:
    return f"{place.path}, byte {place.start}"


def _date(part: Mapping[str, str | int], name: str) -> str:
    """A day, or an empty text. Raises InputError for anything else."""
    text = str(part.get(name, ""))
    if text and not _DATE.fullmatch(text):
        raise InputError(f"the slice's {name} is {text!r}; write a day as 2025-02-01.")
    return text
