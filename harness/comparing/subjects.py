"""Reading a subject: a run folder, several of them joined by commas, a folder of seeds, a packed row, or a name.

    results/runs/qwen              an evaluation, or one training run
    results/runs/nano/spade        a folder with seed0, seed1, ...: one method over seeds
    results/reference/nano/spade.json.gz   the packed copy of such a folder
    run-a,run-b,run-c              runs that are taken for seeds of one subject
    spade                          any of these, found under results/runs or results/reference
    new=results/runs/qwen-1a2b     any of these under a name of one's own

What it is not: a judge of what may be compared with what (`pairing`). It refuses only what does not belong together
within one subject.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

from ..answers import Answers
from ..errors import InputError, nearest
from ..evaluation.settings import EvaluationSettings, from_document, is_evaluation
from ..provenance import insecure_lines
from ..store import CHECKPOINT, CONFIG, PROVENANCE, SCORES, SUMMARY, read_document, seed_folders, seed_of
from ..tables.pack import ITEMS, read_packed
from ..tables.runs import CHECKPOINTS, MODES, Run, read_run
from .columns import Column, Stamp, Subject, stacked
from .recorded import read_columns

RUNS, PACKED = Path("results/runs"), Path("results/reference")
PACKED_SUFFIX = ".json.gz"
HELD_OUT = "held-out"
"""Name of a training run's columns: with the mode behind it where it is not greedy, and the checkpoint where it is not
the chosen one."""
LABEL_CHARACTERS = 40


def read_subject(text: str, root: Path = Path()) -> Subject:
    """The subject that a word of the command line names. Raises InputError with the nearest name, naming the file for
    damage, and for runs that cannot be one subject."""
    label, runs = named(text, root)
    if label:
        return replace(read_subject(runs, root), label=label)
    if "," in text and not (root / text).exists():
        parts = [read_subject(part, root) for part in text.split(",") if part]
        return _joined(_numbered(parts), _label_of(parts))
    path = _found(text, root)
    if path.name.endswith(PACKED_SUFFIX):
        row = path.name.removesuffix(PACKED_SUFFIX)
        return _trained(_packed(path, row), row, path)
    return _single(path) if (path / CONFIG).is_file() else _folder(path)


def named(text: str, root: Path = Path()) -> tuple[str, str]:
    """The name that somebody gave (`new=RUN`; empty for none), and the runs."""
    label, equals, runs = text.partition("=")
    given = label and equals and not set("/,") & set(label) and not (root / text).exists()
    return (label, runs) if given else ("", text)


def held_out(mode: str, checkpoint: str) -> str:
    """The name of a training run's column."""
    return " ".join([HELD_OUT, *(word for word in (mode, checkpoint) if word not in ("greedy", "chosen"))])


def _found(text: str, root: Path) -> Path:
    """Where it lies: as a path, then under the folder of runs, then as a packed row. A name that stands for several
    runs is refused."""
    for path in (root / text, root / RUNS / text):
        if (path / CONFIG).is_file() or seed_folders(path):
            return path
    if text.endswith(PACKED_SUFFIX) and (root / text).is_file():
        return root / text
    runs, packed = _rows(root / RUNS, CONFIG), _rows(root / PACKED, "*" + PACKED_SUFFIX)
    for known in (runs, packed):
        same = [path for name, path in known if text in (name, path.name.removesuffix(PACKED_SUFFIX))]
        if len(same) > 1:
            raise InputError(f"{text!r} is the name of {', '.join(map(str, same))}; give the path of one.")
        if same:
            return same[0]
    if (root / text).exists():
        raise InputError(
            f"{root / text} holds no run (neither {CONFIG} nor seed0, seed1, ...); give the folder that "
            "`spadework eval` or `spadework train` made."
        )
    names = [path.name.removesuffix(PACKED_SUFFIX) for _, path in (*runs, *packed)]
    raise InputError(
        f"no run {text!r}{nearest(text, names)}; give a run folder, a folder with seed0, seed1, ..., or a name under "
        f"{RUNS}."
    )


def _rows(base: Path, pattern: str) -> list[tuple[str, Path]]:
    """What lies under a folder, each once, with its name relative to it: a folder of seeds stands for its seeds."""
    found: dict[Path, None] = {}
    for path in sorted(base.rglob(pattern)) if base.is_dir() else ():
        if path.name == ITEMS or CHECKPOINT in path.relative_to(base).parts:
            continue
        whole = path.parent if path.name == CONFIG else path
        found[whole if seed_of(whole) is None else whole.parent] = None
    return [(str(path.relative_to(base)).removesuffix(PACKED_SUFFIX), path) for path in found]


def _folder(path: Path) -> Subject:
    """A method over seeds; runs that are not finished are left out and named."""
    done, notes = [], []
    for seed, folder in seed_folders(path).items():
        document = read_document(folder / CONFIG)
        if not is_evaluation(document) and not (folder / SUMMARY).is_file():
            notes.append(f"{folder} is not finished and is left out")
            continue
        part = _single(folder)
        done.append(part if part.kind == "training" else _as_seed(part, seed))
    if not done:
        raise InputError(f"{path} holds no finished run; the command that began it continues it.")
    whole = _joined(done, path.name)
    return replace(whole, notes=(*notes, *whole.notes))


def _single(path: Path) -> Subject:
    document = read_document(path / CONFIG)
    if is_evaluation(document):
        return _evaluated(path, from_document(document, str(path)))
    if not (path / SUMMARY).is_file():
        raise InputError(f"{path} is not finished; the command that began it continues it.")
    return _trained([read_run(path)], short(path), path)


def _evaluated(path: Path, settings: EvaluationSettings) -> Subject:
    columns = read_columns(path, settings)
    if not columns:
        raise InputError(f"{path} holds no record; the command that began it continues it.")
    notes = [] if (path / SCORES).is_file() else [f"{path} is not finished; the command that began it continues it"]
    notes += [f"{path}: {column.name} is incomplete, {column.reason}" for column in columns.values() if column.reason]
    notes += [f"{path}: {name} has no record" for name in settings.tasks if name not in columns]
    notes += [f"{path}: {name} could not run, {reason}" for name, reason in settings.missing.items()]
    return Subject(
        label=short(path), runs=(str(path),), kind="evaluation", columns=columns,
        notes=(*notes, *_insecure(path, insecure_lines(path / PROVENANCE))),
    )  # fmt: skip


def _packed(path: Path, row: str) -> list[Run]:
    runs = list(read_packed(path.parent, [row], path.resolve().parent.name).runs[row])
    if not runs:
        raise InputError(f"{path} holds no run; pack the runs anew with `spadework table FILE --pack`.")
    return runs


def _trained(runs: Sequence[Run], label: str, path: Path) -> Subject:
    """The subject of training runs of one row, in the order of their seeds."""
    columns = {}
    for checkpoint, mode in product(CHECKPOINTS, MODES):
        name = held_out(mode, checkpoint)
        found = [(run, answers) for run in runs if (answers := run.answered(checkpoint, mode)) is not None]
        if len(found) == len(runs):
            columns[name] = stacked([_held_out(name, mode, run, answers) for run, answers in found])
    if not columns:
        raise InputError(f"{path} holds no held-out record; train it again with --fresh.")
    notes = [line for run in runs for line in _insecure(path, run.insecure)]
    return Subject(
        label=label, runs=(str(path),), kind="training", columns=columns, notes=tuple(dict.fromkeys(notes)),
        trained=any(run.summary.steps for run in runs),
    )  # fmt: skip


def _held_out(name: str, mode: str, run: Run, answers: Answers) -> Column:
    return Column(
        name=name, stamp=Stamp(preset=mode, scorer="win", task=run.summary.task_digest), listed=answers.listed,
        golds=("",) * len(answers.listed.items), seeds=(run.summary.seed,), outcomes_SIR=answers.outcomes_IR[None],
        rewards_SIR=answers.rewards_IR[None], weigh="categories", bounds=(-1.0, 1.0),
        texts_SIR=None if answers.texts_IR is None else answers.texts_IR[None],
    )  # fmt: skip


def _numbered(parts: Sequence[Subject]) -> list[Subject]:
    """Evaluations that were joined by hand are seeds in the order they were given: the seed of an evaluation is that of
    its sampling and tells nothing of the training behind its model."""
    if any(part.kind == "training" for part in parts):
        return list(parts)
    return [_as_seed(part, number) if _one_seed(part) else part for number, part in enumerate(parts)]


def _one_seed(part: Subject) -> bool:
    return all(len(column.seeds) == 1 for column in part.columns.values())


def _as_seed(part: Subject, seed: int) -> Subject:
    return replace(part, columns={name: replace(column, seeds=(seed,)) for name, column in part.columns.items()})


def _joined(parts: Sequence[Subject], label: str) -> Subject:
    """Several subjects as one of several seeds. Raises InputError for what does not fit."""
    if len({part.kind for part in parts}) > 1:
        raise InputError(f"{label} joins evaluations and training runs; give runs of one kind.")
    runs = [run for part in parts for run in part.runs]
    if double := next((run for run in runs if runs.count(run) > 1), None):
        raise InputError(f"{double} stands twice in {label}; give each run once.")
    shared = [name for name in parts[0].columns if all(name in part.columns for part in parts)]
    if not shared:
        raise InputError(f"the runs of {label} share no benchmark; give runs of one method on the same benchmarks.")
    columns = {name: _agreeing([part.columns[name] for part in parts], parts) for name in shared}
    lost = sorted({name for part in parts for name in part.columns} - set(shared))
    notes = [note for part in parts for note in part.notes]
    notes += [f"{label}: {name} is not in every run and is left out" for name in lost]
    return Subject(
        label=label, runs=tuple(runs), kind=parts[0].kind, columns=columns,
        trained=any(part.trained for part in parts), notes=tuple(dict.fromkeys(notes)),
    )  # fmt: skip


def _agreeing(columns: Sequence[Column], parts: Sequence[Subject]) -> Column:
    """Columns of one benchmark as one, each seed once, all on the same items by the same protocol."""
    first = columns[0]
    seen: dict[int, str] = {}
    for column, part in zip(columns, parts, strict=True):
        differ = [key for key in ("preset", "protocol", "scorer", "task", "limit") if _differ(key, column, first)]
        if differ or column.listed != first.listed:
            what = f"another {', another '.join(differ)}" if differ else "other items"
            raise InputError(
                f"{part.runs[0]} and {parts[0].runs[0]} cannot be two seeds of one subject: {first.name} has {what}; "
                "evaluate both in the same way and to the end."
            )
        for seed in column.seeds:
            if seed in seen:
                raise InputError(f"{part.runs[0]} and {seen[seed]} both have seed {seed}; give each run once.")
            seen[seed] = part.runs[0]
    return stacked(columns)


def _differ(key: str, one: Column, other: Column) -> bool:
    return bool(getattr(one.stamp, key) != getattr(other.stamp, key))


def short(path: Path) -> str:
    """The folder's name, with the row before it where it is a seed."""
    return path.name if seed_of(path) is None or not path.parent.name else f"{path.parent.name}/{path.name}"


def _label_of(parts: Sequence[Subject]) -> str:
    whole = ",".join(part.label for part in parts)
    return whole if len(whole) <= LABEL_CHARACTERS else f"{parts[0].label} and {len(parts) - 1} more"


def _insecure(path: Path, lines: Sequence[str]) -> list[str]:
    return [f"{path}: its sandbox was not safe: {line}" for line in lines]
