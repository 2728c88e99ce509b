"""The file of GPQA-Diamond: found, decrypted in memory, checked by its sha256, and read; nothing of it is ever written.

The authors ask that the questions are not posted in plain text. They publish them as an encrypted zip whose password
stands in their README; the user gives it in an environment variable, and no message here quotes a row.
"""

import csv
import io
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from ..harness.errors import InputError

PASSWORD, VOUCHED = "SPADEWORK_GPQA_PASSWORD", "SPADEWORK_GPQA_SHA256"
"""Environment variables: of the zip, and the sha256 of one more file that the user vouches for."""
MEMBER = "gpqa_diamond.csv"
PLACES = ("gpqa/dataset.zip", f"gpqa/{MEMBER}", "dataset.zip", MEMBER)
SOURCE = "dataset.zip of github.com/idavidrein/gpqa"
KNOWN = {
    "461ae7329f15a3e35f8184d2dac24b990f34fdf12f366ca4062d8e6638cd08dc": 198,
    "41d1213cd7a4998605a26c2798500652572007161b3a92817ba46b35befcd305": 198,
    "2d877698e30ca338bad2f83a42c036e43a2db589c98c4bdc9b6e3c920ca82190": 8,
}
"""sha256 to number of questions: the authors' zip, the csv of OpenAI's simple-evals, invented questions for tests."""
QUESTIONS = 198
"""Of the genuine ones."""
COLUMNS = ("Question", "Correct Answer", "Incorrect Answer 1", "Incorrect Answer 2", "Incorrect Answer 3")
DOMAIN = "High-level domain"


@dataclass(frozen=True, slots=True)
class Row:
    """One question in memory, its options in the file's order: the right one first."""

    question: str = field(repr=False)
    options: tuple[str, str, str, str] = field(repr=False)
    domain: str


def read_rows(data: Path | None, environment: Mapping[str, str]) -> list[Row]:
    """The questions in the file's order. `data` is a zip, a csv, or a folder that holds one.

    Raises InputError that names the file and the remedy.
    """
    path = _found(data)
    content = path.read_bytes()
    digest = sha256(content).hexdigest()
    if digest not in KNOWN and digest != environment.get(VOUCHED):
        raise InputError(
            f"{path} has sha256 {digest}, which is none of the known files; take {SOURCE}, "
            f"or set {VOUCHED} to this number if you know that it is right."
        )
    if zipfile.is_zipfile(io.BytesIO(content)):
        content = _decrypted(content, path, environment.get(PASSWORD, ""))
    rows = _parsed(content, path)
    if len(rows) != KNOWN.get(digest, len(rows)):
        raise InputError(f"{path} holds {len(rows)} questions where {KNOWN[digest]} are known; take {SOURCE}.")
    return rows


def doubt(data: Path | None, environment: Mapping[str, str]) -> str:
    """Why the questions of a file that was read are not known to be GPQA's; empty where they are."""
    path = _found(data)
    digest = sha256(path.read_bytes()).hexdigest()
    if digest not in KNOWN:
        return f"{path.name} is vouched for by {VOUCHED} alone"
    return "" if KNOWN[digest] == QUESTIONS else f"{path.name} holds invented questions, for tests"


def _found(data: Path | None) -> Path:
    if data is None:
        raise InputError(f"GPQA is read from a file of yours; give --data DIR with DIR/{PLACES[0]} ({SOURCE}).")
    if data.is_file():
        return data
    found = [data / place for place in PLACES if (data / place).is_file()]
    if not found:
        folders = [folder for folder in (data / "gpqa", data) if folder.is_dir()]
        files = [path for folder in folders for path in sorted(folder.iterdir()) if "gpqa" in path.stem]
        found = [path for path in files if path.suffix in (".zip", ".csv")]
    if not found:
        raise InputError(f"no file {data / PLACES[0]} ({SOURCE}), and no {MEMBER} beside it; put one there.")
    return found[0]


def _decrypted(content: bytes, path: Path, password: str) -> bytes:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        member = next((one for one in archive.infolist() if Path(one.filename).name == MEMBER), None)
        if member is None:
            raise InputError(f"{path} holds no {MEMBER}; take {SOURCE}.")
        if member.flag_bits & 1 and not password:
            raise InputError(f"{path} is encrypted; set {PASSWORD} to the password that its authors' README tells.")
        try:
            return archive.read(member, pwd=password.encode())
        except (RuntimeError, zipfile.BadZipFile, zlib.error):
            raise InputError(
                f"{path} does not open with this password; set {PASSWORD} to the one that its authors' README tells."
            ) from None
        except NotImplementedError:
            raise InputError(
                f"{path} is encrypted in a way that Python cannot read; unpack it to {MEMBER} yourself."
            ) from None


def _parsed(content: bytes, path: Path) -> list[Row]:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{path} is no UTF-8 text; take {SOURCE}.") from None
    reader = csv.DictReader(io.StringIO(text, newline=""))
    lacking = [column for column in COLUMNS if column not in (reader.fieldnames or ())]
    if lacking:
        raise InputError(f"{path} has no column {', '.join(lacking)}; take {SOURCE}.")
    rows = []
    try:
        for number, row in enumerate(reader, start=1):
            question, *options = (row[column] for column in COLUMNS)
            if not all(isinstance(text, str) and text.strip() for text in (question, *options)):
                raise InputError(f"{path}, question {number}: an empty field; take {SOURCE}.")
            a, b, c, d = options
            rows.append(Row(question, (a, b, c, d), (row.get(DOMAIN) or "all").strip() or "all"))
    except csv.Error:
        raise InputError(f"{path} is no table of comma-separated values; take {SOURCE}.") from None
    return rows
