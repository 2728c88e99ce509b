"""A run is a folder that reproduces itself.

    results/runs/<id>/
        lock                 held (flock) while a process works on the run; its pid
        config.json          {"digest", "config"}: the resolved settings, written first
        provenance.json      one entry for each installation, machine or sandbox that worked on the run
        metrics.jsonl        one line a step, for machines
        environments.jsonl   one line a proposed environment, accepted or not
        records/<name>.jsonl one line a sample, whole or not at all
        checkpoint/<name>    replaced atomically; a full disk leaves the old one
        summary.json         written last: its presence means the run is finished

An evaluation has no steps. It leaves, beside lock, config, provenance and records:

        models.json          the identity of each model: digests, engine, never a name alone
        retries.jsonl        one line a sample that failed by the infrastructure and was played again
        rescored.jsonl       one line a verdict that scoring again has changed
        logs/<name>/         what a benchmark's package writes in its own format
        private/<name>.jsonl whole completions, only where asked for; git ignores the folder, no report reads it
        scores.json          written last

Steps count from 0. A checkpoint "at step s" holds the state after s steps; `resume(s)` removes every line of step s and
later, so a continued run leaves the same bytes as one that was never stopped. The meaning of rows is the writer's.
"""

import fcntl
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from . import config as settings
from . import jsonl
from .atomic import SUFFIX, replacing, write_atomic
from .errors import InputError, nearest
from .provenance import provenance, read_provenance, sandbox_record
from .sandbox import SandboxReport

LOCK, CONFIG, PROVENANCE, SUMMARY = "lock", "config.json", "provenance.json", "summary.json"
SANDBOX = "sandbox"
"""Key of an entry of the provenance."""
METRICS, ENVIRONMENTS, RECORDS, CHECKPOINT = "metrics.jsonl", "environments.jsonl", "records", "checkpoint"
SCORES, MODELS, RETRIES, RESCORED = "scores.json", "models.json", "retries.jsonl", "rescored.jsonl"
LOGS, PRIVATE = "logs", "private"
REMOVAL_ORDER = (
    SUMMARY, SCORES, CHECKPOINT, PRIVATE, LOGS, RECORDS, METRICS, ENVIRONMENTS, RETRIES, RESCORED, MODELS, PROVENANCE,
    CONFIG,
)  # fmt: skip
"""The config goes last, so that a removal that was interrupted is still a run folder and can be removed again."""


class RunFolder:
    """One run on disk, locked for this process until `close` (or the end of the `with` block)."""

    def __init__(
        self, path: Path, config: msgspec.Struct, *, fresh: bool = False, origins: Mapping[str, object] | None = None
    ) -> None:
        """Open `path` for this config, making it if need be; `fresh` removes what an earlier run left there and
        `origins` is what else belongs into the provenance.

        Raises `InputError` when another process works on it, when it belongs to another config (the keys are named) or
        when it is no run folder.
        """
        self.path = path
        self.new = not (path / CONFIG).is_file()
        """Whether this process made it."""
        self.digest = settings.digest(config)
        _refuse_foreign(path)
        self._lock = _locked(path)
        try:
            if fresh:
                _remove(path)
            for partial in path.rglob(f".*{SUFFIX}"):
                partial.unlink()
            self._settle_config(config)
            self._here = {**provenance(), **(origins or {})}
            self._new_here = self._settle_provenance()
            for lines in path.rglob("*.jsonl"):
                jsonl.mend(lines)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let another process have the folder."""
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def discard(self) -> None:
        """Take the folder away, with everything that belongs to a run, and let it go."""
        _remove(self.path)
        (self.path / LOCK).unlink(missing_ok=True)
        with suppress(OSError):
            self.path.rmdir()
        self.close()

    def resume(self, step: int) -> None:
        """Remove what steps `step` and later wrote (metrics, environments, records, summary); 0 removes all of it."""
        (self.path / SUMMARY).unlink(missing_ok=True)
        for lines in self.path.rglob("*.jsonl"):
            jsonl.cut(lines, step)

    def metrics(self, step: int, numbers: Mapping[str, object]) -> None:
        """Append the line of one step. A number that is not finite is written as null."""
        jsonl.append(self.path / METRICS, [{"step": step, **numbers}])

    def environments(self, rows: Iterable[Mapping[str, object]]) -> None:
        """Append proposed environments; each row carries its `step`."""
        jsonl.append(self.path / ENVIRONMENTS, rows)

    def records(self, name: str, rows: Iterable[Mapping[str, object]]) -> None:
        """Append samples to `records/<name>.jsonl`; rows made during training carry their `step`."""
        jsonl.append(self.path / RECORDS / f"{name}.jsonl", rows)

    def read_records(self, name: str) -> list[jsonl.Row]:
        """The samples of `records/<name>.jsonl`; none when there is no such file."""
        return jsonl.read(self.path / RECORDS / f"{name}.jsonl")

    def private(self, name: str, rows: Iterable[Mapping[str, object]]) -> None:
        """Append to `private/<name>.jsonl`; git is told to ignore the folder wherever it lies."""
        folder = self.path / PRIVATE
        if not (folder / ".gitignore").is_file():
            write_atomic(folder / ".gitignore", "*\n")
        jsonl.append(folder / f"{name}.jsonl", rows)

    def reconfigure(self, config: msgspec.Struct) -> None:
        """Replace the settings, for a verb that has changed what is stored so that it fits them."""
        self.digest = settings.digest(config)
        write_atomic(self.path / CONFIG, _document({"digest": self.digest, "config": config}))

    def settle(self, name: str, document: Mapping[str, object]) -> None:
        """Add keys to a document; those that are there must be equal, else it is an InputError that names them."""
        path = self.path / name
        known = read_document(path) if path.is_file() else {}
        shared = document.keys() & known.keys()
        if keys := settings.difference({k: known[k] for k in shared}, {k: document[k] for k in shared}):
            raise InputError(
                f"{path} tells of others (they differ in {', '.join(keys)}); "
                "give --fresh to start over there, or another --out."
            )
        write_atomic(path, _document({**known, **document}))

    def save_checkpoint(self, name: str, data: bytes, *, sync: bool = False) -> None:
        """Replace `checkpoint/<name>`, all or nothing. `sync` also survives a power cut and costs a disk flush."""
        write_atomic(self.path / CHECKPOINT / name, data, sync=sync)

    @contextmanager
    def replacing_checkpoint(self, name: str) -> Iterator[Path]:
        """A path to write a large checkpoint to; it takes its place when the block ends well."""
        with replacing(self.path / CHECKPOINT / name) as partial:
            yield partial

    def load_checkpoint(self, name: str) -> bytes | None:
        """The bytes of `checkpoint/<name>`, None when nothing was saved yet."""
        path = self.path / CHECKPOINT / name
        return path.read_bytes() if path.is_file() else None

    def write_summary(self, summary: Mapping[str, object]) -> None:
        """Write the last file of a run; after it the run counts as finished."""
        write_atomic(self.path / SUMMARY, _document(summary))

    def unfinish(self) -> None:
        """Remove what says that the run is finished, because it goes on."""
        for name in (SUMMARY, SCORES):
            (self.path / name).unlink(missing_ok=True)

    def write_scores(self, scores: Mapping[str, object]) -> None:
        """Write the last file of an evaluation."""
        write_atomic(self.path / SCORES, _document(scores))

    def sandboxed(self, report: SandboxReport) -> None:
        """Record the sandbox that this process works with, in the provenance; one that is known is not added again."""
        known = read_provenance(self.path / PROVENANCE)
        entry = {**self._here, SANDBOX: sandbox_record(report)}
        if entry not in known:
            # What an earlier process recorded without a sandbox stays: nobody knows which one it had.
            mine = self._new_here and self._here in known
            self._write_provenance([*(other for other in known if not mine or other != self._here), entry])
            self._new_here = False

    def summary(self) -> jsonl.Row | None:
        """The summary of a finished run, None while it is not finished."""
        return read_document(self.path / SUMMARY) if (self.path / SUMMARY).is_file() else None

    def _settle_config(self, config: msgspec.Struct) -> None:
        path = self.path / CONFIG
        if not path.is_file():
            write_atomic(path, _document({"digest": self.digest, "config": config}))
            return
        theirs = read_document(path)
        if theirs.get("digest") != self.digest:
            old = theirs.get("config")
            keys = settings.difference(old if isinstance(old, dict) else {}, config)
            raise InputError(
                f"{self.path} holds a run of another config (it differs in {', '.join(keys) or 'its digest'}); "
                "give --fresh to start over there, or another --out."
            )

    def _settle_provenance(self) -> bool:
        """Whether nothing of this installation and machine was known before."""
        known = read_provenance(self.path / PROVENANCE)
        new = self._here not in [{key: entry[key] for key in entry if key != SANDBOX} for entry in known]
        if new:
            self._write_provenance([*known, self._here])
        return new

    def _write_provenance(self, entries: list[jsonl.Row]) -> None:
        write_atomic(self.path / PROVENANCE, json.dumps(entries, indent=2) + "\n")


def seed_of(folder: Path) -> int | None:
    """The seed in the name of a folder `seed<N>`; None for a folder of another name."""
    digits = folder.name.removeprefix("seed")
    return int(digits) if folder.name.startswith("seed") and digits.isdecimal() else None


def seed_folders(folder: Path, holding: str = CONFIG) -> dict[int, Path]:
    """The folders `seed0`, `seed1`, ... of a method that hold this file, in the order of their seeds."""
    holders = [path.parent for path in folder.glob(f"seed*/{holding}") if path.is_file()]
    found = {seed: path for path in holders if (seed := seed_of(path)) is not None}
    return dict(sorted(found.items()))


def find_run(name: str, root: Path = Path("results/runs")) -> Path:
    """The folder of a run given by path or by its id under `root`. Raises `InputError` with the nearest id."""
    for path in (Path(name), root / name):
        if (path / CONFIG).is_file():
            return path
    known = [str(found.parent.relative_to(root)) for found in sorted(root.rglob(CONFIG))] if root.is_dir() else []
    raise InputError(f"no run {name!r}{nearest(name, known)}; give a run folder or an id that lies under {root}.")


def read_document(path: Path) -> jsonl.Row:
    """A JSON object from a file. Raises `InputError` when it is missing or damaged."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=jsonl.Row)
    except FileNotFoundError:
        raise InputError(f"no file {path}; give the folder of a run.") from None
    except msgspec.DecodeError as error:
        raise _damaged(path, error) from None


def _damaged(path: Path, error: msgspec.DecodeError) -> InputError:
    return InputError(f"{path} is damaged ({error}); start the run over with --fresh.")


def _document(value: Mapping[str, object]) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n"


def _locked(path: Path) -> int:
    try:
        path.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise InputError(f"cannot make the run folder {path} ({error.strerror}); give another --out.") from None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.pread(descriptor, 32, 0).decode(errors="replace").strip() or "unknown"
        os.close(descriptor)
        raise InputError(f"process {holder} works on {path}; wait for its end or give another --out.") from None
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
    return descriptor


def _refuse_foreign(path: Path) -> None:
    """Never write into, or remove, a folder that is not ours."""
    if not path.is_dir():
        return
    others = [entry.name for entry in path.iterdir() if entry.name != LOCK and not entry.name.endswith(SUFFIX)]
    if others and not (path / CONFIG).is_file():
        raise InputError(f"{path} is not empty and holds no run (for example {sorted(others)[0]}); give another --out.")


def _remove(path: Path) -> None:
    for name in REMOVAL_ORDER:
        entry = path / name
        if entry.is_dir():
            shutil.rmtree(entry)
        else:
            entry.unlink(missing_ok=True)
