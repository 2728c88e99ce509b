"""A run beside a reference, benchmark by benchmark: what is compared, and what is a refusal.

Another preset, scorer, task or number of samples is refused and the keys are named. What the run was asked for and did
not score is incomplete; what it was not asked for is missing; a benchmark that the reference lacks is only told of.
What it is not: a test, a reader of files.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .. import config
from ..comparing.columns import Column
from ..errors import InputError
from ..means import item_means
from .decision import Evidence
from .recording import Recorded, stamp_of
from .reference import ColumnEntry, Reference


@dataclass(frozen=True, kw_only=True)
class Paired:
    """Everything a gate can say something about."""

    evidence: tuple[Evidence, ...]
    incomplete: dict[str, str]
    missing: tuple[str, ...]
    new: tuple[str, ...]
    notes: tuple[str, ...]


def pair(reference: Reference, found: Recorded, margins: dict[str, float], where: Path) -> Paired:
    """`margins` are shares by benchmark of the reference. Raises InputError where the two may not be compared."""
    columns = found.subject.columns
    asked = {*columns, *found.unscored}
    if not asked & reference.columns.keys():
        raise InputError(
            f"{found.subject.label} and {where} share no benchmark (the run has {', '.join(sorted(asked))}, the "
            f"reference {', '.join(sorted(reference.columns))}); evaluate the reference's benchmarks, or give another "
            "--reference."
        )
    if refused := _refusals(reference, found):
        raise InputError(
            f"{found.subject.label} was not measured as {where} was ({'; '.join(refused)}); evaluate it in the same "
            "way, or, after a decision, make it the reference with --update."
        )
    whole = [name for name in reference.columns if name in columns and name not in found.unscored]
    return Paired(
        evidence=tuple(_evidence(columns[name], reference.columns[name], margins[name], where) for name in whole),
        incomplete={name: found.unscored[name] for name in reference.columns if name in found.unscored},
        missing=tuple(name for name in reference.columns if name not in asked),
        new=tuple(name for name in columns if name not in reference.columns),
        notes=(*found.subject.notes, *_models(reference, found)),
    )  # fmt: skip


def _refusals(reference: Reference, found: Recorded) -> list[str]:
    told = []
    for name, column in found.subject.columns.items():
        if name in reference.columns:
            keys = config.difference(reference.columns[name].stamp(), stamp_of(column))
            told += [f"{name} differs in {', '.join(keys)}"] if keys else []
    return told


def _evidence(column: Column, entry: ColumnEntry, margin: float, where: Path) -> Evidence:
    if set(column.listed.items) != entry.items.keys():
        raise InputError(
            f"{where} holds other items of {column.name} than the run, under the same digest; take it from git again, "
            "or make the run the reference with --update."
        )
    means_IK = np.array([entry.items[item].means for item in column.listed.items], dtype=np.float64)
    return Evidence(
        name=column.name, run_SI=item_means(column.values_SIR()), reference_KI=means_IK.T, strata_I=column.strata_I,
        margin=margin,
    )  # fmt: skip


def _models(reference: Reference, found: Recorded) -> list[str]:
    """Which parts of the models' identity changed; another model is what a gate is for."""
    if not reference.runs or not found.runs:
        return []
    keys = config.difference(reference.runs[-1].models, found.runs[-1].models)
    return [f"the model differs from the reference's in {', '.join(keys)}"] if keys else []
