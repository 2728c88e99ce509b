"""An evaluation as a table in the terminal: one row a task, its categories below it, every outcome that is not plain.

It reads `scores.json`, or the records of a run that is not finished; `private/` is never opened.
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from .. import jsonl
from ..console import printable
from ..errors import InputError
from ..provenance import sandbox_lines
from ..store import CONFIG, METRICS, PROVENANCE, RECORDS, SCORES, read_document
from ..types import Outcome
from .forecast import Forecast, Rates, cost, seconds
from .preflight import Finding
from .records import read_records
from .scores import Cell, Estimate, TaskScore
from .settings import EvaluationSettings, TaskSettings, from_document

PLAIN = (Outcome.RIGHT, Outcome.WRONG)
DASH = "-"
MODEL = "model"
"""The role of the model under test."""
EXAMPLES = 3
"""Items named of a fault."""


class Scores(msgspec.Struct, frozen=True, kw_only=True):
    """`scores.json`: what was measured, of what, and whether anything is missing."""

    digest: str
    """Of the config."""
    complete: bool
    tasks: list[TaskScore]
    missing: dict[str, str]
    """Tasks that could not run, with the reason."""
    models: dict[str, dict[str, Any]]
    """Identity of each by its role, and under `unsent` what of the sampling was not honoured, by task."""


def read_scores(run: Path) -> Scores | None:
    """The scores of a run folder, None while there are none."""
    path = run / SCORES
    if not path.is_file():
        return None
    try:
        return msgspec.json.decode(path.read_bytes(), type=Scores)
    except msgspec.DecodeError as error:
        raise InputError(f"{path} is damaged ({error}); make it again with `spadework score`.") from None


def print_run(run: Path, console: Console) -> None:
    """What `spadework show` prints of an evaluation."""
    settings = from_document(read_document(run / CONFIG), str(run))
    scores = read_scores(run)
    _line(console, f"{settings.model}  ({settings.engine}, seed {settings.seed})")
    if scores is None:
        _line(console, "not finished; the command that began it continues it")
        console.print(progress_table(run, settings))
    else:
        print_scores(scores, console)
    print_spent(run, console)
    for word in sandbox_lines(run / PROVENANCE):
        _line(console, f"sandbox: {word}")


def print_spent(run: Path, console: Console) -> None:
    """One line for each task that was played: wall time, and what the model under test was asked for."""
    sums: dict[str, Counter[str]] = {}
    for row in jsonl.read(run / METRICS):
        tasks = row.get("tasks")
        for name, part in (tasks if isinstance(tasks, dict) else {}).items():
            sums.setdefault(name, Counter()).update({"seconds": part["seconds"], **part.get(MODEL, {})})
    for name, spent in sums.items():
        _line(
            console,
            f"{name}: {spent['seconds']:,.0f} s, {spent['requests']:,} requests, {spent['prompt_tokens']:,} prompt "
            f"tokens, {spent['completion_tokens']:,} new ones",
        )


def print_scores(scores: Scores, console: Console) -> None:
    """The table, and below it one line for each task with what a reader must know beside the number."""
    console.print(scores_table(scores.tasks))
    unsent = scores.models.get("unsent", {})
    for task in scores.tasks:
        if words := remarks(task, unsent.get(task.task, ())):
            _line(console, f"{task.task}: {words}")
    for name, reason in scores.missing.items():
        _line(console, f"{name}: FAILED, {reason}")


def scores_table(tasks: Sequence[TaskScore]) -> Table:
    """Scores in percent with their 95 % interval."""
    table = Table("task", "preset", "scorer", "score", "95 % interval", "n", "outcomes", box=None, pad_edge=False)
    for task in tasks:
        numbers, counts = _numbers(task.overall), Text(_counts(task.overall))
        table.add_row(task.task, task.stamp, Text(task.scorer_version), *numbers, counts)
        for name, cell in task.categories.items():
            table.add_row(Text(f"  {name}"), "", "", *_numbers(cell), Text(_counts(cell)), style="dim")
    return table


def progress_table(run: Path, settings: EvaluationSettings) -> Table:
    """Counts of a run that is not finished; no score, since what is missing is not a random part."""
    table = Table("task", "preset", "played", "outcomes", box=None, pad_edge=False)
    for name, task in settings.tasks.items():
        path = run / RECORDS / f"{name}.jsonl"
        records = read_records(jsonl.read(path), str(path))
        counted = Counter(str(record.outcome) for record in records)
        words = ", ".join(f"{count:,} {outcome}" for outcome, count in sorted(counted.items()))
        table.add_row(name, task.stamp, f"{len(records):,} of {task.n_samples:,}", Text(words))
    return table


def print_findings(findings: Sequence[Finding], console: Console) -> None:
    """What the preflight found: one row a player, and below what must not be and what is excused."""
    table = Table("task", "player", "played", "right", "excused", "verdict", box=None, pad_edge=False)
    for one in findings:
        excused = str(len(one.excused) or DASH)
        table.add_row(one.task, one.player, str(one.played), str(one.right), excused, one.verdict)
    console.print(table)
    for one in findings:
        if not one.sound:
            _line(console, f"FAILED {verdict(one)}")
        for why, count in Counter(one.excused).items():
            _line(console, f"{one.task}, {one.player}: {count} excused, {why}")
        if one.note:
            _line(console, f"{one.task}, {one.player}: {one.note}")


def forecast_table(parts: Sequence[Forecast], rates: Rates) -> Table:
    """What the tasks would cost."""
    table = Table("task", "samples", "requests", "tokens", "at most", "hours", "cost", box=None, pad_edge=False)
    for one in parts:
        time, money = seconds(one, rates), cost(one, rates)
        requests = f"{one.requests:,}" + (f" + {one.other_requests:,}" if one.other_requests else "")
        table.add_row(
            one.task, f"{one.samples:,}", requests, f"{one.prompt_tokens + one.likely_tokens:,}",
            f"{one.prompt_tokens + one.most_tokens:,}", DASH if time is None else f"{time / 3600:.1f}",
            DASH if money is None else f"{money:,.2f}",
        )  # fmt: skip
    return table


def forecast_line(whole: Forecast, rates: Rates) -> str:
    """One line for people."""
    words = [f"forecast: {whole.requests:,} requests, {whole.prompt_tokens + whole.likely_tokens:,} tokens"]
    words.append(f"at most {whole.prompt_tokens + whole.most_tokens:,}")
    time, money = seconds(whole, rates), cost(whole, rates)
    words += [] if time is None else [f"{time / 3600:.1f} hours"]
    words += [] if money is None else [f"cost {money:,.2f}"]
    return ", ".join(words)


def verdict(finding: Finding) -> str:
    """What must not be, with a few items."""
    shown = "; ".join(finding.faults[:EXAMPLES])
    more = f"; and {len(finding.faults) - EXAMPLES} more" if len(finding.faults) > EXAMPLES else ""
    return f"{finding.task}, {finding.player}: {shown}{more}"


def remarks(task: TaskScore, unsent: Sequence[str] = ()) -> str:
    """What a reader must know beside the number. `unsent` is what of the sampling the engine did not honour."""
    cell, words = task.overall, []
    if cell.reason:
        words.append(cell.reason if cell.value is not None else f"FAILED, {cell.reason}")
    if cell.value is not None and not cell.complete:
        words.append(f"incomplete: {cell.n_scored:,} scored of {cell.n_samples:,}")
        words.append(f"{percent(cell.value_all)} with the others as not right")
    if task.failure:
        words.append(f"most failures say: {task.failure}")
    words += _slice(task)
    if task.unverified:
        words.append(f"data NOT verified, {task.unverified}")
    if task.changed:
        words.append("changed: " + ", ".join(task.changed))
    words += [f"{role} {name}" for role, name in (("user", task.preset.user), ("judge", task.preset.judge)) if name]
    if unsent:
        words.append(f"the engine did not honour {', '.join(unsent)}")
    if task.partial is not None:
        words.append(f"partial scores {_ranged(task.partial)}")
    for mark, passes in (("@", task.pass_at), ("^", task.pass_hat)):
        words += [", ".join(f"pass{mark}{k} {_ranged(one)}" for k, one in passes.items() if k > 1)] if passes else []
    if task.repeat_sd is not None:
        words.append(f"standard deviation between repeats {percent(task.repeat_sd)}")
    return "; ".join(words)


def percent(value: float | None) -> str:
    """A share in percent."""
    return DASH if value is None else f"{100 * value:.1f}"


def _ranged(found: Estimate) -> str:
    return f"{percent(found.value)} ({percent(found.low)} to {percent(found.high)})"


def _line(console: Console, text: str) -> None:
    console.print(Text(printable(text)), soft_wrap=True)


def _slice(task: TaskScore) -> list[str]:
    whole = task.preset.slice.get("items")
    return [f"{task.n_items:,} of {whole:,} items"] if isinstance(whole, int) and whole != task.n_items else []


def _numbers(cell: Cell) -> tuple[str, str, str]:
    if cell.value is None:
        return DASH, "", f"{cell.n_scored:,}/{cell.n_samples:,}"
    n = f"{cell.n_samples:,}" if cell.complete else f"{cell.n_scored:,}/{cell.n_samples:,}"
    return percent(cell.value), f"{percent(cell.low)} to {percent(cell.high)}", n


def _counts(cell: Cell) -> str:
    rest = {name: count for name, count in cell.counts.items() if name not in PLAIN}
    return ", ".join(f"{count:,} {name}" for name, count in rest.items())


def stamp_line(name: str, task: TaskSettings) -> str:
    """One line a task before it runs."""
    closed = ", no text of it is stored" if task.closed else ""
    doubt = f"; data NOT verified, {task.unverified}" if task.unverified else ""
    return f"{name}: {task.stamp}, {task.n_items:,} items x {task.preset.repeats}{closed}{doubt}"
