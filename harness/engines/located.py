"""What the name of a model means: a folder, a GGUF file, a training run, a shipped checkpoint, a Hub id, or a server.

    FOLDER, FILE.gguf       a model on disk
    RUN                     a training run of ours (its folder or id): the checkpoint it chose, else its newest
    package:NAME            the model that an installed Python package carries
    ORGANISM:CHECKPOINT     a checkpoint that ships, for example nano:base
    OWNER/NAME              of the Hugging Face Hub
    https://HOST/v1#MODEL   an OpenAI-compatible endpoint (read by `address`)

Whatever is wrong with a name is told here, in one sentence and with the nearest one, before torch is imported.
"""

import importlib.util
import json
import re
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..errors import InputError, nearest
from ..store import CHECKPOINT, CONFIG, SUMMARY, read_document
from .gguf_folder import gguf_file
from .hub import HUB_ID, hub_folder
from .identity import file_digest
from .organisms import CHAT, check_organism, declared, organism
from .weights import check_folder, check_tokenizer

RUNS = Path("results/runs")
SUMS = "SHA256SUMS"
_STEP = re.compile(r"step-(\d+)")


@dataclass(frozen=True, kw_only=True, slots=True)
class Located:
    """A model on this machine's disk."""

    weights: Path
    """The folder whose weights are loaded, or a GGUF file."""
    tokenizer: Path
    """The folder of its tokenizer."""
    organism: str = ""
    checkpoint: str = ""
    """What its organism calls the checkpoint that the prompt format comes from."""
    files: tuple[Path, ...] = field(default=())
    """The weight files."""


def locate(text: str, *, offline: bool = False, revision: str = "") -> Located:
    """See the module. InputError for everything that is no model here."""
    if not text.strip():
        raise InputError("no model is named; give a folder, a run, a Hub id or https://HOST/v1#MODEL.")
    prefix, _, rest = text.partition(":")
    path = Path(text).expanduser()
    if prefix == "package" and rest:
        return _on_disk(_package(rest))
    if rest and not path.exists() and re.fullmatch(r"[a-z]\w*", prefix) and re.fullmatch(r"[\w-]+", rest):
        return _shipped(prefix, rest)
    if path.exists():
        return _on_disk(path)
    if (RUNS / text / CONFIG).is_file():
        return _run(RUNS / text)
    if text.startswith((".", "/", "~")) or text.endswith("/") or text.count("/") > 1 or path.suffix == ".gguf":
        raise InputError(_no_path(path))
    if not HUB_ID.fullmatch(text):
        raise InputError(f"{text!r} names no model{nearest(text, _neighbours())}; give a folder, a run or a Hub id.")
    folder = hub_folder(text, revision, offline=offline, known=_neighbours())
    return _on_disk(folder)


def _on_disk(path: Path) -> Located:
    if path.is_dir() and _is_run(path):
        return _run(path)
    gguf = gguf_file(path)
    if gguf is not None and not (path.is_dir() and (path / "config.json").is_file()):
        return Located(weights=gguf, tokenizer=gguf.parent, files=(gguf,))
    if not path.is_dir():
        raise InputError(f"{path} is a file and no GGUF model; give the model's folder.")
    step = _run_of_step(path)
    if step is not None:
        return _of_run(step, path)
    files = tuple(check_folder(path))
    check_tokenizer(path)
    name = declared(path)
    return Located(weights=path, tokenizer=path, organism=name, checkpoint=str(path) if name else "", files=files)


def _shipped(name: str, checkpoint: str) -> Located:
    check_organism(name)
    return replace(_on_disk(organism(name).folder(checkpoint)), organism=name, checkpoint=checkpoint)


def _package(name: str) -> Path:
    spec = importlib.util.find_spec(name) if name.isidentifier() else None
    if spec is None or not spec.submodule_search_locations:
        raise InputError(f"no Python package {name!r} is installed; pip install it, or give a folder.")
    return Path(next(iter(spec.submodule_search_locations)))


def _is_run(path: Path) -> bool:
    """A run's config.json holds a digest and a config; a model's does not, and a damaged one is taken for a model's."""
    try:
        document = json.loads((path / CONFIG).read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(document, dict) and "digest" in document and isinstance(document.get("config"), dict)


def _run_of_step(path: Path) -> Path | None:
    """The run that a step's folder belongs to."""
    step = path.resolve()
    if not _STEP.fullmatch(step.name) or step.parent.name != CHECKPOINT:
        return None
    run = step.parent.parent
    return run if _is_run(run) else None


def _run(path: Path) -> Located:
    """The checkpoint that the run chose; while it is not finished, its newest."""
    steps = {int(match[1]): one for one in path.glob(f"{CHECKPOINT}/step-*") if (match := _STEP.fullmatch(one.name))}
    chosen: object = max(steps, default=None)
    if (path / SUMMARY).is_file():
        told = read_document(path / SUMMARY).get("checkpoints")
        chosen = told.get("chosen") if isinstance(told, dict) else None
    if isinstance(chosen, int) and chosen in steps:
        return _of_run(path, steps[chosen])
    if chosen == 0:
        return _initial(path)
    raise InputError(f"the run {path} has no checkpoint yet; wait for its first, or give the model it starts from.")


def _of_run(run: Path, step: Path) -> Located:
    """A step's weights with tokenizer and prompt format of the model the run started from."""
    files = tuple(check_folder(step))
    _check_sums(step)
    start = _initial(run)
    return replace(start, weights=step, files=files)


def _initial(run: Path) -> Located:
    config = read_document(run / CONFIG)["config"]
    name, checkpoint = (config.get(key) for key in ("organism", "checkpoint")) if isinstance(config, dict) else ("", "")
    if not isinstance(name, str) or not isinstance(checkpoint, str) or not checkpoint:
        raise InputError(f"{run} is no training run; give a run that `spadework train` made.")
    return locate(checkpoint, offline=True) if name == CHAT else _shipped(name, checkpoint)


def _check_sums(step: Path) -> None:
    """InputError when config or weights are not what the trainer wrote."""
    if not (step / SUMS).is_file():
        return
    wanted = {name: digest for digest, _, name in (line.partition("  ") for line in _lines(step / SUMS))}
    for path in (step / "config.json", step / "model.safetensors"):
        if wanted.get(path.name) != file_digest(path):
            raise InputError(f"the checkpoint {step} is damaged ({path.name} is not what was written); give another.")


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8", errors="replace").splitlines()


def _no_path(path: Path) -> str:
    """The sentence for a path that is not there, with the nearest name where it leaves what exists."""
    parent, wrong = path.parent, path.name
    while not parent.is_dir() and parent != parent.parent:
        parent, wrong = parent.parent, parent.name
    near = nearest(wrong, [entry.name for entry in parent.iterdir()] if parent.is_dir() else [])
    return f"no model at {path}: {parent} holds no {wrong!r}{near}; give the folder of a model or of a run."


def _neighbours() -> list[str]:
    """Names that a misspelt one may have meant: folders here, runs, shipped checkpoints."""
    here = [entry.name for entry in Path().iterdir() if entry.is_dir() and not entry.name.startswith(".")]
    runs = [str(found.parent.relative_to(RUNS)) for found in RUNS.rglob(CONFIG)] if RUNS.is_dir() else []
    return [*here, *runs, "nano:base"]
