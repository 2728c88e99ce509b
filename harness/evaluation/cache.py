"""Completions that were drawn before: a model's answers on disk, keyed by what determines them and never by a name.

The key is a digest over the model's identity (weights, chat template, engine and its version), prompt, tools, sampling
and seed; a model whose weights are unknown, as behind an endpoint, is not cached. The file holds digests and
completions, no prompt. It is not for closed benchmarks: a completion may repeat its problem. Processes may share it.
"""

import sqlite3
import threading
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from ..atomic import disk_refused
from ..errors import IncompleteError, InputError
from ..types import Completion, Finish, Model, Request

WAIT_S = 30.0
TABLE = "CREATE TABLE IF NOT EXISTS completions (key BLOB PRIMARY KEY, completion BLOB NOT NULL) WITHOUT ROWID"


class CompletionCache:
    """One database file. Use as a context manager."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(path, timeout=WAIT_S, isolation_level=None, check_same_thread=False)
            self._database.execute(TABLE)
        except OSError as error:
            raise disk_refused(path, error) from error
        except sqlite3.Error as error:
            raise self._damaged(error) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._database.close()

    def get(self, key: bytes) -> Completion | None:
        """What was drawn for this key."""
        try:
            with self._lock:
                row = self._database.execute("SELECT completion FROM completions WHERE key = ?", (key,)).fetchone()
            return None if row is None else msgspec.json.decode(row[0], type=Completion)
        except (sqlite3.Error, msgspec.DecodeError) as error:
            raise self._damaged(error) from None

    def put(self, drawn: Iterable[tuple[bytes, Completion]]) -> None:
        """Keep completions, all or none; what is known stays as it is."""
        rows = [(key, msgspec.json.encode(completion)) for key, completion in drawn]
        try:
            with self._lock:
                self._database.execute("BEGIN IMMEDIATE")
                try:
                    self._database.executemany("INSERT OR IGNORE INTO completions VALUES (?, ?)", rows)
                    self._database.execute("COMMIT")
                except sqlite3.Error:
                    self._database.execute("ROLLBACK")
                    raise
        except sqlite3.Error as error:
            raise IncompleteError(
                f"cannot write {self.path} ({error}), what was there before is whole; "
                "free some room there and run the same command again."
            ) from None

    def _damaged(self, error: Exception) -> InputError:
        return InputError(f"{self.path} is no cache of completions ({error}); remove it or name another.")


class CachedModel:
    """A model that is asked only for what was never drawn. `hits` counts what was not asked."""

    def __init__(self, model: Model, cache: CompletionCache, identity: str) -> None:
        self.model, self.cache, self.identity = model, cache, identity
        self.hits = 0

    def generate(self, requests: Sequence[Request]) -> list[Completion]:
        """Completions in the order of the requests. A failure is never kept."""
        keys = [request_key(self.identity, request) for request in requests]
        found = [self.cache.get(key) for key in keys]
        missing = [number for number, completion in enumerate(found) if completion is None]
        self.hits += len(requests) - len(missing)
        drawn = self.model.generate([requests[number] for number in missing]) if missing else []
        good = [(keys[n], one) for n, one in zip(missing, drawn, strict=True) if one.finish is not Finish.FAILED]
        if good:
            self.cache.put(good)
        made = dict(zip(missing, drawn, strict=True))
        return [made[number] if completion is None else completion for number, completion in enumerate(found)]

    def forget(self) -> None:
        """As the model does."""
        self.model.forget()


def identity_digest(identity: Mapping[str, object]) -> str | None:
    """The part of a key that stands for the model; None when its weights are not known and nothing may be cached."""
    if not identity.get("weights"):
        return None
    return sha256(msgspec.json.encode(dict(identity), order="sorted")).hexdigest()


def request_key(identity: str, request: Request) -> bytes:
    """Digest of a request to a model; session and time limit do not change what is drawn."""
    asked = (identity, request.ids, request.messages, request.tools, request.sampling, request.seed)
    return sha256(msgspec.json.encode(asked, order="sorted")).digest()
