"""What was measured, as digests: weights, configuration, tokenizer, template, engine. Never a name.

Digests are sha256 over the files' bytes. Of one weight file it is what `sha256sum` prints; of several it is that of the
lines `sha256sum` prints for them, in the order of their names. An endpoint's weights cannot be seen: its identity says
what the server says of itself and is marked as not verified, so nothing may be taken from a cache by it.
"""

import hashlib
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Mapping, Sequence

TOKENIZER_FILES = (
    "added_tokens.json", "merges.txt", "special_tokens_map.json", "tokenizer.json", "tokenizer.model",
    "tokenizer_config.json", "vocab.json", "vocab.txt",
)  # fmt: skip
VOLATILE = ("_name_or_path", "_model_name_or_path", "transformers_version", "torch_dtype", "dtype", "use_cache")
"""Keys of config.json that say nothing about the model; the dtype it is run in stands in the identity itself."""
_known: dict[tuple[str, int, int], str] = {}


@dataclass(frozen=True, kw_only=True, slots=True)
class Identity:
    """See the module. Empty digests are of parts that nobody can see."""

    engine: str
    """transformers, vllm or openai."""
    engine_version: str
    weights: str = ""
    config: str = ""
    tokenizer: str = ""
    template: str = ""
    """Empty of a model that has none."""
    generation: Mapping[str, object] = field(default_factory=dict)
    """The ids that end a turn, and how tools are shown."""
    dtype: str = ""
    verified: bool = True
    """False where the server is taken at its word."""
    told: Mapping[str, object] = field(default_factory=dict)
    """What the server says of itself, and how it was asked."""

    def record(self) -> dict[str, object]:
        """As it is written to a run folder."""
        return asdict(self)

    @property
    def digest(self) -> str:
        """First 16 hex digits over all of it: equal for the same model under the same engine."""
        return hashlib.sha256(json.dumps(self.record(), sort_keys=True, default=str).encode()).hexdigest()[:16]


def file_digest(path: Path) -> str:
    """sha256 of a file, read once as long as its size and time stay what they are."""
    stat = path.stat()
    key = (str(path.resolve()), stat.st_size, stat.st_mtime_ns)
    if key not in _known:
        with path.open("rb") as file:
            _known[key] = hashlib.file_digest(file, "sha256").hexdigest()
    return _known[key]


def files_digest(paths: Sequence[Path]) -> str:
    """One digest of several files: that of the only one, or of the list `sha256sum` would print."""
    if len(paths) == 1:
        return file_digest(paths[0])
    lines = "".join(f"{file_digest(path)}  {path.name}\n" for path in sorted(paths, key=lambda path: path.name))
    return hashlib.sha256(lines.encode()).hexdigest() if lines else ""


def tokenizer_digest(folder: Path) -> str:
    """Of the files that make up a tokenizer."""
    return files_digest([folder / name for name in TOKENIZER_FILES if (folder / name).is_file()])


def config_digest(folder: Path) -> str:
    """Of config.json without the keys that change from one saving to the next."""
    config = json.loads((folder / "config.json").read_bytes())
    kept = {key: value for key, value in config.items() if key not in VOLATILE}
    return hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()
