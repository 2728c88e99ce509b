"""The evaluation's verbs, and what they leave; plain functions for the tests of any benchmark."""

import contextlib
import gzip
import io
import json
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from spadework.harness.cli import main

HERE = Path(__file__).parent
WORD = re.compile(r"[^\W_]+")
ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})|\\[nrt]")


def command(*words: str) -> list[str]:
    """The words of a command line, as `spadework` would be called."""
    return [sys.executable, "-m", "spadework.harness", *words]


def environment(**more: str) -> dict[str, str]:
    """With the toy benchmark in reach and one thread a process."""
    return {**os.environ, "PYTHONPATH": str(HERE), "OMP_NUM_THREADS": "1", **more}


def spadework(*words: str, cwd: Path | None = None, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a verb to its end: in this process, or in one of its own where it needs another folder or variables."""
    if cwd is None and not variables:
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main(words)
        return subprocess.CompletedProcess(words, code, out.getvalue(), err.getvalue())
    return subprocess.run(
        command(*words), env=environment(**variables), cwd=cwd, capture_output=True, text=True, timeout=300
    )


def evaluate(out: Path, *words: str, model: str = "clever_model", **variables: str) -> subprocess.CompletedProcess[str]:
    """The toy benchmark by a scripted model."""
    return spadework(*evaluation(out, *words, model=model), **variables)


def evaluation(out: Path, *words: str, model: str = "clever_model") -> list[str]:
    """The words of that command."""
    task = () if "--task" in words else ("--task", "arithmetic:SUMS")
    return ["eval", "--engine", "scripted", "--model", f"arithmetic:{model}", *task, "--out", str(out), *words]


def records(out: Path, name: str = "arithmetic") -> list[dict[str, Any]]:
    """The lines of a task's records."""
    return [json.loads(line) for line in (out / "records" / f"{name}.jsonl").read_text().splitlines()]


def scores(out: Path) -> dict[str, Any]:
    """What was written last."""
    found: dict[str, Any] = json.loads((out / "scores.json").read_text())
    return found


def quoted(problems: Mapping[str, str], places: Iterable[Path], window: int = 8) -> list[str]:
    """`FILE: PROBLEM` for every file under these folders that holds `window` words in a row of a problem's text.

    Looks into zip and gzip files (`.eval` logs are zip files), through JSON's escapes, and past punctuation and case.
    """
    known: dict[str, str] = {}
    for name, text in problems.items():
        words = [word.lower() for word in WORD.findall(text)]
        for start in range(max(1, len(words) - window + 1)):
            known[" ".join(words[start : start + window])] = name
    sizes = {len(text.split()) for text in known}
    found = set()
    for where, text in texts(places):
        for plain in {text, ESCAPE.sub(_unescaped, text)}:
            words = [word.lower() for word in WORD.findall(plain)]
            for size in sizes:
                for start in range(len(words) - size + 1):
                    name = known.get(" ".join(words[start : start + size]))
                    if name is not None:
                        found.add(f"{where}: {name}")
    return sorted(found)


def texts(places: Iterable[Path]) -> Iterator[tuple[str, str]]:
    """Every file under these folders as text, members of archives one by one."""
    for place in places:
        for path in sorted([place] if place.is_file() else place.rglob("*")):
            if not path.is_file():
                continue
            data = path.read_bytes()
            if zipfile.is_zipfile(path):
                with zipfile.ZipFile(path) as archive:
                    for member in archive.namelist():
                        yield f"{path}!{member}", archive.read(member).decode("utf-8", "replace")
            elif data[:2] == b"\x1f\x8b":
                yield str(path), gzip.decompress(data).decode("utf-8", "replace")
            else:
                yield str(path), data.decode("utf-8", "replace")


def _unescaped(match: re.Match[str]) -> str:
    return chr(int(match[1], 16)) if match[1] else " "
