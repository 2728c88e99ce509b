"""What was asked for, resolved and loaded before any model: tasks, presets, items; every fault is collected, then told.

It reads the data and writes nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from ..benchmark import Benchmark, Preset, TaskItem
from ..errors import InputError
from .boundary import attempt
from .due import items_digest, picked
from .registry import Task, check_name, resolve
from .run import Cell
from .settings import TaskSettings
from .suites import suite


@dataclass(frozen=True, kw_only=True)
class Wish:
    """What a user asked for, as it stands on the command line."""

    suites: Sequence[str] = ()
    tasks: Sequence[str] = ()
    presets: Sequence[str] = ()
    """`NAME` for every task, `TASK=NAME` for one."""
    data: Sequence[str] = ()
    """`DIR` for every task, `TASK=DIR` for one."""
    limit: Sequence[str] = ()
    """`N` for every task, `TASK=N` for one."""
    repeats: int | None = None
    user: str | None = None
    judge: str | None = None


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The cells that can run, and why the others cannot."""

    cells: list[Cell] = field(default_factory=list)
    missing: dict[str, str] = field(default_factory=dict)


def make_plan(wish: Wish) -> Plan:
    """Resolve and load every task. Raises InputError for a wrong name or option; what a task lacks is in `missing`."""
    limits = wanted(wish)
    presets, data = by_task(wish.presets, limits), by_task(wish.data, limits)
    plan = Plan()
    for name, limit in limits.items():
        try:
            task = resolve(name)
        except InputError as error:
            plan.missing[name] = str(error)
            continue
        preset, changed = _changed(task.protocols.preset(presets.get(name, presets.get(""))), wish)
        folder = data.get(name, data.get(""))
        loaded = _Loaded()
        reason = attempt(
            partial(_load, loaded, task.benchmark, preset, Path(folder) if folder else None),
            closed=task.benchmark.closed,
        )
        if reason:
            plan.missing[task.name] = reason
        else:
            settings = _settings(task, preset, changed, loaded, limit)
            items = picked(loaded.items, limit)
            plan.cells.append(Cell(name=task.name, benchmark=task.benchmark, settings=settings, items=items))
    _refuse_idle(wish, plan)
    return plan


def _refuse_idle(wish: Wish, plan: Plan) -> None:
    """A user or a judge that was named and would never be asked: who names one believes that the score rests on it."""
    for role, named in (("user", wish.user), ("judge", wish.judge)):
        asked = any(getattr(cell.settings.preset, role) for cell in plan.cells)
        if named is not None and not asked and not plan.missing:
            raise InputError(f"--{role} names a {role} and the tasks and presets asked for have none; leave it out.")


@dataclass
class _Loaded:
    items: list[TaskItem] = field(default_factory=list)
    unverified: str = ""


def _load(loaded: _Loaded, benchmark: Benchmark, preset: Preset, data: Path | None) -> None:
    loaded.items += benchmark.load(preset, data)
    items_digest(loaded.items)
    if not loaded.items:
        raise InputError(f"{benchmark.name} has no item in this slice; correct the preset or the data.")
    loaded.unverified = benchmark.unverified(preset, data)


def wanted(wish: Wish) -> dict[str, int | None]:
    """Task to its limit, in the order they were named. Raises InputError for an unknown suite or no task at all."""
    if wish.repeats is not None:
        _counted(str(wish.repeats))
    limits: dict[str, int | None] = {}
    for name in wish.suites:
        found = suite(name)
        for task in found.tasks:
            limits.setdefault(task, found.limit)
    for task in wish.tasks:
        check_name(task)
        limits[task] = None
    if not limits:
        raise InputError("nothing to evaluate; give --suite or --task.")
    told = {task: _counted(text) for task, text in by_task(wish.limit, limits).items()}
    return {task: told.get(task, told.get("", limit)) for task, limit in limits.items()}


def _counted(text: str) -> int:
    number = int(text) if text.isdecimal() else 0
    if number < 1:
        raise InputError(f"--limit and --repeats take numbers from 1 on, not {text}; leave them out for all.")
    return number


def refusal(plan: Plan) -> str:
    """One text that names everything that is missing."""
    lines = "\n".join(f"  {name}: {reason}" for name, reason in plan.missing.items())
    return (
        f"{len(plan.missing)} of {len(plan.missing) + len(plan.cells)} tasks cannot run:\n{lines}\n"
        "mend that, or give --allow-missing to run the others."
    )


def by_task(words: Sequence[str], tasks: Mapping[str, object]) -> dict[str, str]:
    """`TASK=VALUE` by task, a bare value under the empty name. Raises InputError for a task that is not asked for."""
    found: dict[str, str] = {}
    for word in words:
        task, sign, value = word.partition("=")
        if sign and task not in tasks and "/" not in task:
            raise InputError(
                f"{word!r} is for task {task!r}, which is not asked for; the tasks are {', '.join(tasks)}."
            )
        found[task if sign and task in tasks else ""] = value if sign and task in tasks else word
    return found


def _changed(preset: Preset, wish: Wish) -> tuple[Preset, tuple[str, ...]]:
    """The preset as it will be played, and the keys that differ from it."""
    played = preset
    if wish.repeats is not None:
        played = replace(played, repeats=wish.repeats)
    if wish.user is not None and preset.user:
        played = replace(played, user=wish.user)
    if wish.judge is not None and preset.judge:
        played = replace(played, judge=wish.judge)
    changed = (key for key in ("repeats", "user", "judge") if getattr(played, key) != getattr(preset, key))
    return played, tuple(changed)


def _settings(
    task: Task, preset: Preset, changed: tuple[str, ...], loaded: _Loaded, limit: int | None
) -> TaskSettings:
    items = picked(loaded.items, limit)
    return TaskSettings(
        reference=task.reference, preset=preset, changed=changed, scorer_version=task.benchmark.scorer_version,
        closed=task.benchmark.closed, limit=limit, n_items=len(items), items=items_digest(items),
        unverified=loaded.unverified,
    )  # fmt: skip
