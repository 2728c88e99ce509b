"""The database of airline or retail as one world has it: entries are everybody's until they are touched, then copied.

Reading one of these databases takes half a second and hashing it another, several times an episode; a task touches a
handful of its thousands of entries. Two databases are equal by upstream's hash exactly if they differ from the one on
disk in the same entries and in the same way, so that difference is what is compared.
"""

import gzip
import json
from copy import deepcopy
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from .tau2_package import TAU2_DATA_DIR, FlightDB, RetailDB

KINDS: dict[str, type[Any]] = {"airline": FlightDB, "retail": RetailDB}
"""Domains with one database."""


class Touched(dict[str, Any]):
    """A table whose entries are shared; who takes one by its key gets a copy, which is this table's from then on.

    The functions of tau2 change only what they took like that, and only read where they go through all of them.
    """

    def __init__(self, shared: dict[str, Any]) -> None:
        super().__init__(shared)
        self._shared = shared

    def __getitem__(self, key: str) -> Any:
        found = super().__getitem__(key)
        if found is self._shared.get(key):
            found = deepcopy(found)
            self[key] = found
        return found

    def get(self, key: str, default: Any = None) -> Any:
        """As of any dictionary, with a copy."""
        try:
            return self[key]
        except KeyError:
            return default

    def difference(self) -> dict[str, Any]:
        """What is not as it was, by key; None where it is gone."""
        own = {key: entry.model_dump() for key, entry in self.items() if entry is not self._shared.get(key)}
        before = {key: self._shared[key].model_dump() for key in own.keys() & self._shared.keys()}
        gone = dict.fromkeys(self._shared.keys() - self.keys())
        return {key: entry for key, entry in own.items() if entry != before.get(key)} | gone


def database(domain: str) -> Any:
    """A database of one's own."""
    whole = _whole(domain)
    tables = {name: Touched(getattr(whole, name)) for name in type(whole).model_fields}
    return KINDS[domain].model_construct(**tables)


def digest(one: Any) -> str:
    """The same for databases that are equal, and only for them."""
    tables = {name: getattr(one, name).difference() for name in type(one).model_fields}
    return sha256(json.dumps(tables, sort_keys=True, default=str).encode()).hexdigest()


@lru_cache(maxsize=len(KINDS))
def _whole(domain: str) -> Any:
    """As it is on disk, read past the package's own way, which leaves a file in the folder for temporary files."""
    path = Path(TAU2_DATA_DIR) / "domains" / domain / "db.json.gz"
    return KINDS[domain].model_validate_json(gzip.decompress(path.read_bytes()))
