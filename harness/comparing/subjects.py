"""Reading a subject: a run folder, several of them joined by commas, a folder of seeds, a packed row, or a name.

    results/runs/qwen              an evaluation, or one training run
    results/runs/nano/spade        a folder with seed0, seed1, ...: one method over seeds
    results/reference/nano/spade.json.gz   the packed copy of such a folder
    run-a,run-b,run-c              runs that are taken for seeds of one subject
    spade                          any of these, found under results/runs or results/reference

What it is not: a judge of what may be compared with what (`pairing`). It refuses only what does not belong together
within one subject.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from .. import jsonl
from ..answers import Answers
from ..errors import InputError, nearest
from ..evaluation.due import group_of
from ..evaluation.records import Record, read_records
from ..evaluation.report import read_scores
from ..evaluation.settings import EvaluationSettings, TaskSettings, from_document, is_evaluation
from ..provenance import insecure_lines
from ..store import CONFIG, PROVENANCE, RECORDS, SUMMARY, read_document
from ..tables.pack import ITEMS, read_packed
from ..tables.runs import Run, read_run
from .columns import UNPLAYED, Column, ItemList, Stamp, Subject, code_of, stacked

RUNS, PACKED = Path("results/runs"), Path("results/reference")
PACKED_SUFFIX = ".json.gz"
HELD_OUT = "held-out"
"""Name of a training run's columns: with the mode behind it where it is not greedy, and the checkpoint where it is not
the chosen one."""


def read_subject(text: str, root: Path = Path()) -> Subject:
    """The subject that a word of the command line names. Raises InputError with the nearest name, naming the file for
    damage, and for runs that cannot be one subject."""
    parts = [part for part in text.split(",") if part]
    if len(parts) > 1:
        return _joined([read_subject(part, root) for part in parts], text)
    path = _found(text, root)
    if path.name.endswith(PACKED_SUFFIX):
        row = path.name.removesuffix(PACKED_SUFFIX)
        return _trained(_packed(path, row), row, path)
    if (path / CONFIG).is_file():
        return _single(path)
    seeds = sorted(path.glob("seed*/" + CONFIG), key=lambda found: _number(found.parent.name))
    return _joined([_single(found.parent) for found in seeds], path.name)


def _found(text: str, root: Path) -> Path:
    for path in (root / text, root / RUNS / text):
        if (path / CONFIG).is_file() or next(path.glob("seed*/" + CONFIG), None):
            return path
    if text.endswith(PACKED_SUFFIX) and (root / text).is_file():
        return root / text
    names: list[str] = []
    for base, pattern in ((root / RUNS, CONFIG), (root / PACKED, "*" + PACKED_SUFFIX)):
        for found in sorted(base.rglob(pattern)) if base.is_dir() else ():
            if found.name == ITEMS:
                continue
            whole = found.parent if found.name == CONFIG else found
            row = whole.parent if whole.name.startswith("seed") else whole
            name = row.name.removesuffix(PACKED_SUFFIX)
            if text in (name, str(row.relative_to(base)).removesuffix(PACKED_SUFFIX)):
                return row
            names.append(name)
    raise InputError(
        f"no run {text!r}{nearest(text, names)}; give a run folder, a folder with seed0, seed1, ..., or a name under "
        f"{RUNS}."
    )


def _single(path: Path) -> Subject:
    document = read_document(path / CONFIG)
    if is_evaluation(document):
        return _evaluated(path, from_document(document, str(path)))
    if not (path / SUMMARY).is_file():
        raise InputError(f"{path} is not finished; the command that began it continues it.")
    return _trained([read_run(path)], path.name, path)


def _evaluated(path: Path, settings: EvaluationSettings) -> Subject:
    scores = read_scores(path)
    reasons = {} if scores is None else {one.task: one.overall.reason for one in scores.tasks}
    columns = {}
    for name, task in settings.tasks.items():
        lines = path / RECORDS / f"{name}.jsonl"
        records = read_records(jsonl.read(lines), str(lines))
        if records:
            columns[name] = _column(name, task, settings.seed, records, reasons.get(name, ""))
    if not columns:
        raise InputError(f"{path} holds no record; the command that began it continues it.")
    notes = [] if scores is not None else [f"{path} is not finished"]
    notes += [f"{path}: {name} could not run, {reason}" for name, reason in settings.missing.items()]
    return Subject(
        label=path.name, runs=(str(path),), kind="evaluation", columns=columns,
        notes=(*notes, *_insecure(insecure_lines(path / PROVENANCE))),
    )  # fmt: skip


def _column(name: str, task: TaskSettings, seed: int, records: Sequence[Record], reason: str) -> Column:
    first = {record.item: record for record in records}
    items = tuple(sorted(first))
    places = {item: number for number, item in enumerate(items)}
    # Items without any record cannot be named; those samples are counted by the score, and the column is incomplete.
    outcomes = np.full((1, len(items), task.preset.repeats), UNPLAYED, dtype=np.uint8)
    rewards = np.full(outcomes.shape, np.nan)
    for record in records:
        place = 0, places[record.item], record.repeat
        outcomes[place] = code_of(record.outcome)
        if record.outcome.scored and record.reward is not None:
            rewards[place] = record.reward
    changed = f"*({', '.join(task.changed)})" if task.changed else ""
    if not reason and len(items) < task.n_items:
        reason = f"{len(items):,} of {task.n_items:,} items were played"
    return Column(
        name=name, seeds=(seed,), outcomes_SIR=outcomes, rewards_SIR=rewards, reason=reason,
        stamp=Stamp(
            preset=task.preset.name + changed, scorer=task.scorer_version, task=task.items, limit=task.limit
        ),
        listed=ItemList(items=items, categories=tuple(group_of(first[item].category) for item in items)),
        golds=tuple(first[item].gold for item in items), weigh=task.preset.mean,
    )  # fmt: skip


def _packed(path: Path, row: str) -> list[Run]:
    scale = path.parent.name
    return list(read_packed(path.parent, [row], scale).runs[row])


def _trained(runs: Sequence[Run], label: str, path: Path) -> Subject:
    """The subject of training runs of one row, in the order of their seeds."""
    keys = list(dict.fromkeys(key for run in runs for key in run.answers))
    columns = {}
    for key in keys:
        checkpoint, _, mode = key.partition(".")
        name = " ".join([HELD_OUT, *(word for word in (mode, checkpoint) if word not in ("greedy", "chosen"))])
        found = [(run, answers) for run in runs if (answers := run.answered(checkpoint, mode)) is not None]
        if len(found) == len(runs):
            columns[name] = stacked([_held_out(name, mode, run, answers) for run, answers in found])
    notes = [line for run in runs for line in _insecure(list(run.insecure))]
    return Subject(
        label=label, runs=(str(path),), kind="training", columns=columns, notes=tuple(dict.fromkeys(notes)),
        trained=any(run.summary.steps for run in runs),
    )  # fmt: skip


def _held_out(name: str, mode: str, run: Run, answers: Answers) -> Column:
    return Column(
        name=name, stamp=Stamp(preset=mode, scorer="win", task=run.summary.task_digest), listed=answers.listed,
        golds=("",) * len(answers.listed.items), seeds=(run.summary.seed,), outcomes_SIR=answers.outcomes_IR[None],
        rewards_SIR=answers.rewards_IR[None], weigh="categories", bounds=(-1.0, 1.0),
    )  # fmt: skip


def _joined(parts: Sequence[Subject], label: str) -> Subject:
    """Several subjects of one seed each as one of several seeds. Raises InputError for what does not fit."""
    if not parts:
        raise InputError(f"{label} holds no finished run; train or evaluate it first.")
    if len(parts) == 1:
        return Subject(**{**_fields(parts[0]), "label": label})
    shared = [name for name in parts[0].columns if all(name in part.columns for part in parts)]
    if not shared:
        raise InputError(f"the runs of {label} share no benchmark; give runs of one method on the same benchmarks.")
    columns = {name: _agreeing([part.columns[name] for part in parts], parts) for name in shared}
    lost = sorted({name for part in parts for name in part.columns} - set(shared))
    notes = [note for part in parts for note in part.notes]
    notes += [f"{label}: {name} is not in every run and is left out" for name in lost]
    return Subject(
        label=label, runs=tuple(run for part in parts for run in part.runs), kind=parts[0].kind, columns=columns,
        trained=any(part.trained for part in parts), notes=tuple(dict.fromkeys(notes)),
    )  # fmt: skip


def _agreeing(columns: Sequence[Column], parts: Sequence[Subject]) -> Column:
    first = columns[0]
    seen: dict[int, str] = {}
    for column, part in zip(columns, parts, strict=True):
        where = f"{part.runs[0]} and {parts[0].runs[0]}"
        if (column.stamp, column.listed) != (first.stamp, first.listed):
            raise InputError(
                f"{where} are no two seeds of one subject: {first.name} has other items, another preset or another "
                "scorer; evaluate both in the same way."
            )
        for seed in column.seeds:
            if seed in seen:
                raise InputError(f"{part.runs[0]} and {seen[seed]} both have seed {seed}; give each run once.")
            seen[seed] = part.runs[0]
    return stacked(columns)


def _fields(subject: Subject) -> Mapping[str, object]:
    return {name: getattr(subject, name) for name in subject.__dataclass_fields__}


def _insecure(lines: Sequence[str]) -> list[str]:
    return [f"its sandbox was not safe: {line}" for line in lines]


def _number(name: str) -> int:
    digits = name.removeprefix("seed")
    return int(digits) if digits.isdecimal() else -1
