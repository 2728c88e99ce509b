"""From the words of a command line to the sides of a report: a shell module, it reads run folders and packed rows.

A run that is not finished is shown with what it has, and the report says so. Damage is an InputError that names the
file. Of an evaluation it opens config, provenance, models, scores and records; never `private/` nor `logs/`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec

from .. import jsonl
from ..comparing.columns import Subject
from ..comparing.recorded import DAMAGED
from ..comparing.subjects import PACKED_SUFFIX, RUNS, named, read_subject, short
from ..config import flatten
from ..errors import InputError
from ..evaluation.settings import is_evaluation
from ..lines import decoded
from ..provenance import read_provenance
from ..store import (
    CONFIG,
    ENVIRONMENTS,
    METRICS,
    MODELS,
    PROVENANCE,
    RECORDS,
    SCORES,
    SUMMARY,
    read_document,
    seed_folders,
)  # fmt: skip
from ..tables.pack import read_packed
from .values import RunFiles, Side

NO_CURVES = "it has no line of metrics, so there are no curves"


def read_sides(words: Sequence[str], root: Path = Path()) -> list[Side]:
    """One side a word, with labels that differ. Raises InputError for a run that is not there, or given twice."""
    if twice := [word for word in words if words.count(word) > 1]:
        raise InputError(f"{twice[0]} is given twice; give each run once.")
    sides = [read_side(word, root) for word in words]
    labels = [side.label for side in sides]
    return [
        side if labels.count(side.label) == 1 else replace(side, label=word.rstrip("/"))
        for side, word in zip(sides, words, strict=True)
    ]


def read_side(word: str, root: Path = Path()) -> Side:
    """The side that a word names: a run folder, a folder of seeds, a packed row, several joined by commas, a name."""
    label, runs = named(word, root)
    folders = [folder for part in runs.split(",") if part for folder in _folders(part, root)]
    open_ones = [folder for folder in folders if not _begun_samples(folder)]
    if not open_ones:
        subject = read_subject(word, root)
        return _side(subject.label, subject, [Path(run) for run in subject.runs])
    # Some run has nothing to score yet; the others are scored, and all of them are shown.
    done = [str(folder) for folder in folders if folder not in open_ones]
    own = read_subject(",".join(done), root) if done else None
    label = label or short(Path(runs.rstrip("/")))
    return _side(label, replace(own, label=label) if own else None, folders)


def _folders(part: str, root: Path) -> list[Path]:
    """The run folders of one word, in the order of their seeds; none for a packed row or a name."""
    for path in (root / part, root / RUNS / part):
        if (path / CONFIG).is_file():
            return [path]
        if seeds := seed_folders(path):
            return list(seeds.values())
    return []


def _begun_samples(folder: Path) -> bool:
    """Whether the run has samples that may be scored: a finished training run, or an evaluation with a whole record."""
    if is_evaluation(read_document(folder / CONFIG)):
        return any(_whole_line(path) for path in (folder / RECORDS).glob("*.jsonl"))
    return (folder / SUMMARY).is_file()


def _whole_line(path: Path) -> bool:
    with path.open("rb") as file:
        return file.readline().endswith(b"\n")


def _side(label: str, subject: Subject | None, paths: Sequence[Path]) -> Side:
    runs = [run for path in paths for run in _runs(path)]
    gaps = [f"{run.name} is not finished: the command that began it continues it" for run in runs if _open(run)]
    for column in subject.columns.values() if subject else ():
        if not column.complete:
            scored = int(column.scored_SIR().sum())
            why = column.reason or f"{scored:,} scored of {column.outcomes_SIR.size:,}"
            gaps.append(f"{label}, {column.name}: incomplete, {why}")
    return Side(label=label, subject=subject, runs=tuple(runs), gaps=tuple(gaps))


def _open(run: RunFiles) -> bool:
    return run.state == "not finished"


def _runs(path: Path) -> list[RunFiles]:
    if path.name.endswith(PACKED_SUFFIX):
        return _packed(path)
    document = read_document(path / CONFIG)
    config = document.get("config")
    settings = flatten(config) if isinstance(config, dict) else {}
    seed = settings.get("seed")
    evaluation = is_evaluation(document)
    finished = (path / (SCORES if evaluation else SUMMARY)).is_file()
    figures = read_document(path / SUMMARY).get("metrics") if finished and not evaluation else {}
    metrics, environments = jsonl.read(path / METRICS), jsonl.read(path / ENVIRONMENTS)
    lacks = [] if evaluation or metrics else [NO_CURVES]
    return [RunFiles(
        name=str(path), seed=seed if isinstance(seed, int) else None,
        state="finished" if finished else "not finished", config=settings,
        origins=read_provenance(path / PROVENANCE),
        models=flatten(read_document(path / MODELS)) if (path / MODELS).is_file() else {},
        metrics=metrics, figures=_numbers(figures), environments=environments, lacks=tuple(lacks),
        details=_details(path) if evaluation else {},
    )]  # fmt: skip


class _Told(msgspec.Struct, frozen=True):
    item: str
    repeat: int
    detail: str = ""


def _details(run: Path) -> Mapping[str, Mapping[tuple[str, int], str]]:
    """What the scorers said, of the samples of which they said something. Whole lines only."""
    found = {}
    for path in sorted((run / RECORDS).glob("*.jsonl")):
        lines = decoded(path.read_bytes(), _Told, path, DAMAGED)
        found[path.stem] = {(line.item, line.repeat): line.detail for line in lines if line.detail}
    return found


def _packed(path: Path) -> list[RunFiles]:
    row = path.name.removesuffix(PACKED_SUFFIX)
    found = []
    for run in read_packed(path.parent, [row], path.resolve().parent.name).runs[row]:
        config = _decoded(run.files.get(CONFIG, "{}"), f"{path}, {CONFIG}").get("config")
        lacks = ["the packed copy holds no texts, no environments and no provenance"]
        metrics = [_decoded(line, f"{path}, {METRICS}") for line in run.files.get(METRICS, "").splitlines()]
        found.append(RunFiles(
            name=f"{path}, seed {run.summary.seed}", seed=run.summary.seed, state="packed copy",
            config=flatten(config) if isinstance(config, dict) else {},
            metrics=metrics, figures=_numbers(run.summary.metrics), lacks=(*lacks, *([] if metrics else [NO_CURVES])),
        ))  # fmt: skip
    return found


def _decoded(text: str, where: str) -> jsonl.Row:
    try:
        return msgspec.json.decode(text, type=jsonl.Row)
    except msgspec.DecodeError as error:
        raise InputError(f"{where}: {error}; take the packed copy from git again.") from None


def _numbers(figures: object) -> Mapping[str, float | None]:
    if not isinstance(figures, dict):
        return {}
    return {str(key): value for key, value in figures.items() if value is None or isinstance(value, int | float)}
