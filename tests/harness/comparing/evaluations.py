"""Run folders of evaluations with outcomes that a test chooses, as `spadework eval` leaves them; and the verb."""

import contextlib
import io
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from spadework.harness.benchmark import Preset, TaskItem
from spadework.harness.cli import main
from spadework.harness.evaluation.records import Record
from spadework.harness.evaluation.report import Scores
from spadework.harness.evaluation.scores import task_score
from spadework.harness.evaluation.settings import EvaluationSettings, TaskSettings
from spadework.harness.types import Outcome, Sampling


@dataclass(frozen=True, kw_only=True)
class Ran:
    """What a verb said."""

    code: int
    out: str
    err: str


def spadework(*words: str | Path) -> Ran:
    """Run a verb in this process; its output is no terminal, and nothing says a width (the test runner does)."""
    out, err = io.StringIO(), io.StringIO()
    width = os.environ.pop("COLUMNS", None)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main([str(word) for word in words])
    finally:
        if width is not None:
            os.environ["COLUMNS"] = width
    return Ran(code=code, out=out.getvalue(), err=err.getvalue())


def compared(*words: str | Path) -> dict[str, Any]:
    """The JSON of a comparison that must succeed."""
    ran = spadework("compare", *words, "--json", "-")
    assert ran.code == 0, ran.err
    found: dict[str, Any] = json.loads(ran.out)
    return found


@dataclass(frozen=True, kw_only=True)
class Task:
    """One benchmark of a run: samples by item, each a list over repeats."""

    samples: Mapping[str, Sequence[Outcome]]
    name: str = "sums"
    preset: str = "official"
    scorer: str = "1"
    digest: str = "d1ge57"
    limit: int | None = None
    mean: str = "items"
    golds: Mapping[str, str] = field(default_factory=dict)
    """Where they are not the item's own name."""

    @property
    def repeats(self) -> int:
        """Samples of an item."""
        return max(len(outcomes) for outcomes in self.samples.values())

    def records(self) -> list[Record]:
        """Its lines; the category is what stands before the dash in the item's name."""
        return [
            Record(
                item=item, category=item.partition("-")[0], repeat=repeat, outcome=outcome,
                reward=float(outcome is Outcome.RIGHT) if outcome.scored else None, scorer=self.scorer,
                answer=f"{item} is {outcome}", gold=self.golds.get(item, f"gold of {item}"),
            )
            for item, outcomes in self.samples.items() for repeat, outcome in enumerate(outcomes)
        ]  # fmt: skip

    def settings(self) -> TaskSettings:
        """Its part of the config."""
        preset = Preset(
            benchmark=self.name, name=self.preset, source="a test", sampling=Sampling(), repeats=self.repeats,
            mean="categories" if self.mean == "categories" else "items",
        )  # fmt: skip
        return TaskSettings(
            reference="tests:NONE", preset=preset, scorer_version=self.scorer, closed=False, limit=self.limit,
            n_items=len(self.samples), items=self.digest,
        )  # fmt: skip


def write_evaluation(run: Path, *tasks: Task, finished: bool = True) -> Path:
    """The folder, finished or as a kill leaves it."""
    settings = EvaluationSettings(model="m", engine="scripted", tasks={task.name: task.settings() for task in tasks})
    (run / "records").mkdir(parents=True)
    (run / "config.json").write_bytes(msgspec.json.encode({"digest": "c0ffee", "config": settings}))
    for task in tasks:
        lines = b"".join(msgspec.json.encode(record) + b"\n" for record in task.records())
        (run / "records" / f"{task.name}.jsonl").write_bytes(lines)
    if finished:
        (run / "scores.json").write_bytes(msgspec.json.encode(_scores(tasks)))
    return run


def _scores(tasks: Iterable[Task]) -> Scores:
    scores = []
    for task in tasks:
        items = [TaskItem(id=item, category=item.partition("-")[0], gold="", payload=None) for item in task.samples]
        scores.append(task_score(task.name, task.settings(), items, task.records()))
    return Scores(digest="c0ffee", complete=True, tasks=scores, missing={}, models={})


def answers(n: int, right: Iterable[int], *, category: str = "all", start: int = 0) -> dict[str, list[Outcome]]:
    """`n` items of one sample, of which those with these numbers are right and the others wrong."""
    good = set(right)
    return {
        f"{category}-{number:05d}": [Outcome.RIGHT if number in good else Outcome.WRONG]
        for number in range(start, start + n)
    }
