"""Evaluations (`spadework eval`) as runs of a table: the folders of one row, one run for each seed.

A row's folder is an evaluation itself or holds several: those of one seed are taken together, so that a model's
benchmarks may lie in folders of their own. An evaluation that is not finished is no run, and says so.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec

from ..answers import Answers, ItemList
from ..comparing.columns import Column
from ..comparing.recorded import read_columns
from ..errors import InputError
from ..evaluation.report import Scores, read_scores
from ..evaluation.settings import from_document, is_evaluation
from ..provenance import insecure_lines
from ..store import CONFIG, PROVENANCE, read_document
from .runs import Protocol, Run, Steps, Summary
from .values import short_digest


def evaluation_folders(folder: Path) -> list[Path]:
    """The evaluations of a row: its own folder, or those directly in it."""
    places = [folder, *sorted(path for path in folder.glob("*") if path.is_dir())]
    return [place for place in places if (place / CONFIG).is_file() and is_evaluation(read_document(place / CONFIG))]


def read_evaluations(folder: Path, row: str) -> tuple[tuple[Run, ...], str]:
    """The runs of a row by seed, and why there is none if there is none. Raises InputError, naming the file, for
    damage and for a benchmark that stands there twice.
    """
    found = {path: read_scores(path) for path in evaluation_folders(folder)}
    done = {path: scores for path, scores in found.items() if scores is not None}
    by_seed: dict[int, Run] = {}
    for path, scores in done.items():
        run = _read(path, row, folder.parent, scores)
        before = by_seed.get(run.summary.seed)
        by_seed[run.summary.seed] = run if before is None else _joined(before, run)
    waiting = [str(path.relative_to(folder.parent)) for path in found if path not in done]
    reason = f"{', '.join(waiting)} not finished" if waiting and not done else ""
    return tuple(by_seed[seed] for seed in sorted(by_seed)), reason


def _read(path: Path, row: str, root: Path, scores: Scores) -> Run:
    document = read_document(path / CONFIG)
    settings = from_document(document, str(path))
    columns = read_columns(path, settings)
    answers = {task: _answers(column) for task, column in columns.items()}
    silent = {task: "no sample was recorded" for task in settings.tasks if task not in columns}
    name, digest = str(path.relative_to(root)), str(document.get("digest", ""))
    return Run(
        summary=Summary(
            row=row, seed=settings.seed, scale="", digest=digest, steps=0,
            metrics=_facts(scores), checkpoints=Steps(chosen=0, last=0), task_digest="",
        ),
        answers=answers, files={}, insecure=tuple(insecure_lines(path / PROVENANCE)),
        protocols={task: _protocol(column, name) for task, column in columns.items()},
        lacking={**silent, **settings.missing}, folders={name: digest},
    )  # fmt: skip


def _answers(column: Column) -> Answers:
    """With the whole category of each item: a benchmark's group may have parts of its own."""
    listed = ItemList(items=column.listed.items, categories=column.parts)
    return Answers(listed=listed, outcomes_IR=column.outcomes_SIR[0], rewards_IR=column.rewards_SIR[0])


def _protocol(column: Column, folder: str) -> Protocol:
    stamp = column.stamp
    rules = short_digest([f"{key} {value}" for key, value in sorted(stamp.protocol.items())])[:8]
    return Protocol(
        preset=stamp.preset, scorer=stamp.scorer, items=stamp.task, limit=stamp.limit, weigh=column.weigh,
        reason=column.reason, folder=folder, rules=rules if stamp.protocol else "",
    )  # fmt: skip


def _facts(scores: Scores) -> dict[str, float | None]:
    """Sums over the benchmarks of the numbers in their records, and each benchmark's own as `task.name`."""
    sums: dict[str, float | None] = {}
    for task in scores.tasks:
        for name, value in task.facts.items():
            sums[name] = (sums.get(name) or 0.0) + value
            sums[f"{task.task}.{name}"] = value
        sums["samples"] = (sums.get("samples") or 0.0) + task.overall.n_samples
    return sums


def _joined(first: Run, second: Run) -> Run:
    if doubled := sorted(first.answers.keys() & second.answers.keys()):
        raise InputError(
            f"{first.id} and {second.id} are of one seed and both hold {doubled[0]}; move one of them away."
        )
    metrics = _summed(first.summary.metrics, second.summary.metrics)
    answers = {**first.answers, **second.answers}
    return replace(
        first, summary=msgspec.structs.replace(first.summary, metrics=metrics), answers=answers,
        protocols={**first.protocols, **second.protocols}, insecure=_unique((*first.insecure, *second.insecure)),
        lacking={task: why for task, why in {**first.lacking, **second.lacking}.items() if task not in answers},
        folders={**first.folders, **second.folders},
    )  # fmt: skip


def _summed(first: Mapping[str, float | None], second: Mapping[str, float | None]) -> dict[str, float | None]:
    return {name: (first.get(name) or 0.0) + (second.get(name) or 0.0) for name in {**first, **second}}


def _unique(lines: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(lines))
