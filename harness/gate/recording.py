"""From a run to a reference: what is kept of it, and what forbids to keep it.

    spadework check RUN --reference FILE --update         the run becomes the reference
    spadework check RUN --reference FILE --update --add   it is added as one more run of the same model or method

Only a complete run is taken. What it is not: a judge of whether the run is good; whoever updates has decided that.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import msgspec

from .. import config
from ..comparing.columns import Column, Subject
from ..comparing.recorded import why_broken_off
from ..errors import IncompleteError, InputError
from ..evaluation.settings import EvaluationSettings, from_document, is_evaluation
from ..means import item_means
from ..store import CONFIG, MODELS, SCORES, read_document
from .reference import FORMAT, STAMP, ColumnEntry, ItemEntry, Reference, RunEntry


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """A subject with what its folders say beside the columns."""

    subject: Subject
    unscored: Mapping[str, str]
    """Benchmarks that were asked for and have no whole number, with the reason."""
    runs: tuple[RunEntry, ...]


def recorded(subject: Subject) -> Recorded:
    """What the run folders of a subject hold. Raises InputError for a damaged one."""
    folders = [Path(run) for run in subject.runs]
    evaluations = {folder: _evaluation(folder) for folder in folders}
    unscored: dict[str, str] = {}
    for folder, settings in evaluations.items():
        if settings is not None:
            unscored |= _without_records(folder, settings, subject)
    unscored |= {name: _why(column) for name, column in subject.columns.items() if not column.complete}
    return Recorded(subject=subject, unscored=unscored, runs=_entries(subject, folders))


def _evaluation(folder: Path) -> EvaluationSettings | None:
    path = folder / CONFIG
    document = read_document(path) if path.is_file() else {}
    return from_document(document, str(folder)) if is_evaluation(document) else None


def _without_records(folder: Path, settings: EvaluationSettings, subject: Subject) -> dict[str, str]:
    """Benchmarks that this run was asked for and that left nothing, or whose run is not finished."""
    reasons = why_broken_off(folder / SCORES)
    found = dict(settings.missing)
    for name in settings.tasks:
        if not (folder / SCORES).is_file():
            found[name] = f"{folder.name} is not finished"
        elif name not in subject.columns:
            found[name] = reasons.get(name) or "not one sample of it was played"
    return found


def _why(column: Column) -> str:
    scored = column.scored_SIR()
    missing = int((~scored).sum())
    counts = f"{missing:,} of {scored.size:,} samples are not scored" if missing else ""
    return "; ".join(word for word in (column.reason, counts) if word)


def _entries(subject: Subject, folders: Sequence[Path]) -> tuple[RunEntry, ...]:
    seeds = next(iter(subject.columns.values())).seeds if subject.columns else ()
    places = folders if len(folders) == len(seeds) else [folders[0]] * len(seeds)
    return tuple(_entry(folder, seed) for folder, seed in zip(places, seeds, strict=True))


def _entry(folder: Path, seed: int) -> RunEntry:
    """A packed row has no config; its file's name then says which it is."""
    document = read_document(folder / CONFIG) if (folder / CONFIG).is_file() else {}
    models = read_document(folder / MODELS) if (folder / MODELS).is_file() else {}
    named = folder.name if folder.is_absolute() else folder.as_posix()
    return RunEntry(run=named, seed=seed, digest=str(document.get("digest", "")), models=models)


def as_reference(found: Recorded, margins: Mapping[str, float]) -> Reference:
    """The reference that the runs make. Raises IncompleteError naming what is not whole."""
    refuse_incomplete(found)
    return Reference(
        format=FORMAT, spadework=metadata.version("spadework"), runs=list(found.runs),
        columns={name: column_entry(column) for name, column in found.subject.columns.items()},
        margins={name: margin for name, margin in margins.items() if name in found.subject.columns},
    )  # fmt: skip


def refuse_incomplete(found: Recorded) -> None:
    """Raises IncompleteError for a run of which a reference would hold a part."""
    if found.unscored:
        told = "; ".join(f"{name}: {reason}" for name, reason in sorted(found.unscored.items()))
        raise IncompleteError(
            f"{', '.join(found.subject.runs)} is incomplete and makes no reference ({told}); "
            "give the command that began it again."
        )


def column_entry(column: Column) -> ColumnEntry:
    """What is kept of a complete column."""
    means_SI = item_means(column.values_SIR())
    listed = zip(column.listed.items, column.listed.categories, means_SI.T.tolist(), strict=True)
    return ColumnEntry(
        **stamp_of(column),  # type: ignore[arg-type]
        items={item: ItemEntry(category=category, means=means) for item, category, means in listed},
    )


def stamp_of(column: Column) -> dict[str, object]:
    """What must be equal on both sides, key by key."""
    values = (
        column.stamp.preset, column.stamp.scorer, column.stamp.task, column.stamp.limit, column.weigh,
        column.outcomes_SIR.shape[2], dict(column.stamp.protocol),
    )  # fmt: skip
    return dict(zip(STAMP, values, strict=True))


def with_runs(reference: Reference, more: Reference, where: Path) -> Reference:
    """The reference with further runs of the same items. Raises InputError where they do not belong together."""
    doubles = [entry.run for entry in more.runs if entry in reference.runs]
    if doubles:
        raise InputError(f"{where} holds {', '.join(doubles)} already; give another run.")
    if reference.columns.keys() != more.columns.keys():
        odd = sorted(reference.columns.keys() ^ more.columns.keys())
        raise InputError(f"{where} and the run do not hold the same benchmarks ({', '.join(odd)}); leave out --add.")
    columns = {}
    for name, column in reference.columns.items():
        other = more.columns[name]
        keys = config.difference(column.stamp(), other.stamp())
        keys += ["items"] if column.items.keys() != other.items.keys() else []
        if keys:
            raise InputError(f"{name} differs from {where} in {', '.join(keys)}; leave out --add for a new reference.")
        items = {
            item: ItemEntry(category=entry.category, means=[*entry.means, *other.items[item].means])
            for item, entry in column.items.items()
        }
        columns[name] = msgspec.structs.replace(column, items=items)
    margins = {**reference.margins, **more.margins}
    return msgspec.structs.replace(more, runs=[*reference.runs, *more.runs], columns=columns, margins=margins)
