"""Rows of a data set on the Hugging Face Hub, read into memory: no cache, no file, one pinned revision."""

import io
import json
import os
import urllib.error
import urllib.request
from typing import Any

from ..harness.errors import InputError

HUB = "https://huggingface.co"
TIME_LIMIT_S = 60.0
LARGEST = 64 << 20
Row = dict[str, Any]


def offline() -> bool:
    """Whether the user has asked that nothing be fetched."""
    return os.environ.get("HF_HUB_OFFLINE", "").lower() in ("1", "true", "yes", "on")


def hub_rows(name: str, revision: str, remedy: str) -> list[Row]:
    """The rows of the only data file of a data set, its test file where there are several.

    Raises InputError that ends with `remedy`.
    """
    listed = json.loads(fetched(f"{HUB}/api/datasets/{name}/tree/{revision}?recursive=true", remedy))
    paths = sorted(str(entry["path"]) for entry in listed if str(entry["path"]).endswith((".jsonl", ".parquet")))
    chosen = [path for path in paths if "test" in path] or paths
    if len(chosen) != 1:
        raise InputError(f"data set {name} at {revision} has {len(chosen)} data files where one is wanted; {remedy}")
    content = fetched(f"{HUB}/datasets/{name}/resolve/{revision}/{chosen[0]}", remedy)
    if chosen[0].endswith(".jsonl"):
        return [json.loads(line) for line in content.decode("utf-8").splitlines() if line.strip()]
    from pyarrow import parquet

    rows: list[Row] = parquet.read_table(io.BytesIO(content)).to_pylist()
    return rows


def fetched(url: str, remedy: str) -> bytes:
    """What lies at an address. Raises InputError that ends with `remedy`."""
    if offline():
        raise InputError(f"{url} may not be fetched offline; {remedy}")
    try:
        with urllib.request.urlopen(url, timeout=TIME_LIMIT_S) as response:
            content: bytes = response.read(LARGEST + 1)
    except (urllib.error.URLError, OSError, ValueError) as error:
        raise InputError(f"{url} cannot be fetched ({error}); {remedy}") from None
    if len(content) > LARGEST:
        raise InputError(f"{url} is larger than {LARGEST >> 20} MiB; {remedy}")
    return content
