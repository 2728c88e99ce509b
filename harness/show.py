"""`spadework show RUN` and `spadework envs RUN`: what a run folder holds, for people.

Reads the folder and writes nothing; a run in progress can be looked at.
"""

from argparse import Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.table import Table
from rich.text import Text

from . import jsonl
from .config import flatten
from .console import Terminal, printable
from .errors import ExitCode
from .evaluation.report import print_run
from .evaluation.settings import is_evaluation
from .provenance import sandbox_lines
from .store import CONFIG, ENVIRONMENTS, METRICS, PROVENANCE, RECORDS, SUMMARY, find_run, read_document

DASH = "-"
"""What stands where nothing was measured."""
ALARMS = "alarms"
"""Key of a metrics line: what began or ended at its step."""


def show_command(arguments: Namespace) -> ExitCode:
    """Print state, config, last metrics and summary of `arguments.run`."""
    run = find_run(arguments.run)
    console = Terminal()
    if is_evaluation(read_document(run / CONFIG)):
        print_run(run, console)
        return ExitCode.OK
    for title, values in sections(run).items():
        console.print(pairs(title, values))
    return ExitCode.OK


def envs_command(arguments: Namespace) -> ExitCode:
    """List the environments `arguments.run` generated; with `arguments.all` the rejected proposals too."""
    run = find_run(arguments.run)
    rows = jsonl.read(run / ENVIRONMENTS)
    shown = rows if arguments.all else [row for row in rows if row.get("valid")]
    console = Terminal()
    console.print(environments_table(shown))
    print(f"{len(rows)} proposals, {sum(bool(row.get('valid')) for row in rows)} accepted.")
    return ExitCode.OK


def sections(run: Path) -> dict[str, Mapping[str, object]]:
    """What `show` prints: title to values, in order."""
    config, metrics = read_document(run / CONFIG), jsonl.read(run / METRICS)
    finished = (run / SUMMARY).is_file()
    state: dict[str, object] = {
        "state": "finished" if finished else "not finished; the command that began it continues it",
        "steps": len(metrics),
        "config digest": config.get("digest"),
        "environments": len(jsonl.read(run / ENVIRONMENTS)),
        "sandbox": "; ".join(sandbox_lines(run / PROVENANCE)),
    }
    for lines in sorted((run / RECORDS).glob("*.jsonl")):
        state[f"records {lines.stem}"] = len(jsonl.read(lines))
    found: dict[str, Mapping[str, object]] = {run.name: state, "config": _settings(config)}
    if told := alarms(metrics):
        found["alarms"] = told
    if metrics:
        found["last metrics"] = {name: value for name, value in metrics[-1].items() if name != ALARMS}
    if finished:
        summary = read_document(run / SUMMARY)
        found["summary"] = flatten({name: value for name, value in summary.items() if name != ALARMS})
    return found


def alarms(metrics: Sequence[jsonl.Row]) -> dict[str, object]:
    """Every alarm of a run by its step, in order; empty where there was none."""
    found: dict[str, object] = {}
    for row in metrics:
        told = row.get(ALARMS)
        for one in told if isinstance(told, list) else ():
            found[f"step {row.get('step')}, {one.get('alarm')} {one.get('event')}"] = one.get("text")
    return found


def pairs(title: str, values: Mapping[str, object]) -> Table:
    """A two-column table of names and values."""
    table = Table(title=title, title_justify="left", show_header=False, box=None)
    for name, value in values.items():
        table.add_row(Text(name), Text(cell(value)))
    return table


def environments_table(rows: Sequence[jsonl.Row]) -> Table:
    """One line an environment: step, id, skill, win rate, regret, then its hint, or why it was rejected."""
    table = Table("step", "id", "skill", "win rate", "regret", "hint, or why rejected", box=None)
    for row in rows:
        last = row.get("hint") if row.get("valid") else f"rejected: {row.get('reason')}"
        values = (row.get("step"), row.get("id"), row.get("skill"), row.get("win_rate"), row.get("regret"), last)
        table.add_row(*(Text(cell(value)) for value in values))
    return table


def cell(value: object) -> str:
    """A value as text: a dash for nothing, three decimals for a fraction, three digits for one that is smaller."""
    if value is None or value == "":
        return DASH
    if isinstance(value, float):
        return f"{value:.3g}" if 0 < abs(value) < 0.001 else f"{value:.3f}"
    return printable(str(value))


def _settings(config: jsonl.Row) -> dict[str, object]:
    resolved = config.get("config")
    return flatten(resolved) if isinstance(resolved, dict) else {}
