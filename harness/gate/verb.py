"""`spadework check RUN --reference FILE`: the gate of a CI. Exit code 0 pass, 1 fail, 3 underpowered, 4 incomplete.

    spadework check results/runs/eval/mine --reference results/reference/mine.json --junit gate.xml
    spadework check results/runs/eval/mine --reference results/reference/mine.json --update
"""

import math
import os
from argparse import Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.table import Table
from rich.text import Text

from ..comparing.subjects import read_subject
from ..console import Terminal, printable
from ..errors import ExitCode, InputError, nearest
from .decision import Verdict, decide
from .outcome import HEADS, Outcome, incomplete_line, missing_line, outcome_of
from .pairing import pair
from .recording import Recorded, as_reference, recorded, with_runs
from .reference import Reference, read_reference, write_reference
from .written import write

MARGIN = 2.0
"""Points."""
COLOURS = {Verdict.PASS: "green", Verdict.UNDERPOWERED: "yellow"}


def check_command(arguments: Namespace) -> ExitCode:
    """Measure a run against a reference, or make it the reference."""
    if not 0 < arguments.alpha <= 0.5:
        raise InputError(f"--alpha is {arguments.alpha}; give a probability above 0 and at most .5.")
    if arguments.add and not arguments.update:
        raise InputError("--add is a part of --update; give both, or neither.")
    margins = read_margins(arguments.margin)
    found = recorded(read_subject(arguments.run))
    if arguments.update:
        return update(found, arguments.reference, margins, add=arguments.add)
    outcome = gate(found, read_reference(arguments.reference), margins, arguments)
    show(outcome, Terminal())
    write(outcome, arguments.junit, arguments.summary, os.environ)
    return outcome.code


def gate(found: Recorded, reference: Reference, margins: Mapping[str, float], arguments: Namespace) -> Outcome:
    """The verdicts on every benchmark of the reference."""
    names = list(reference.columns)
    _refuse_unknown(margins, names)
    points = {name: margins.get(name, reference.margins.get(name, margins.get("", MARGIN))) for name in names}
    shares = {name: value / 100 for name, value in points.items()}
    paired = pair(reference, found, shares, arguments.reference)
    without = [incomplete_line(name, reason) for name, reason in paired.incomplete.items()]
    without += [missing_line(name) for name in paired.missing]
    notes = [*paired.notes, *(f"{name} is new: the reference does not have it" for name in paired.new)]
    told = Outcome(
        run=found.subject.label, reference=arguments.reference.name, alpha=arguments.alpha, lines=(), notes=tuple(notes)
    )
    return outcome_of(names, decide(paired.evidence, arguments.alpha), without, told)


def update(found: Recorded, path: Path, margins: Mapping[str, float], *, add: bool) -> ExitCode:
    """Write the reference; margins by benchmark of the old one stay."""
    _refuse_unknown(margins, found.subject.columns)
    old = read_reference(path) if path.is_file() and add else None
    if add and old is None:
        raise InputError(f"there is no reference {path} to add to; leave out --add.")
    reference = as_reference(found, {**_old_margins(path), **_stored(margins, found.subject.columns)})
    reference = reference if old is None else with_runs(old, reference, path)
    write_reference(path, reference)
    items = ", ".join(f"{name} ({len(column.items):,} items)" for name, column in reference.columns.items())
    print(f"{path}: {len(reference.runs)} run{'s' * (len(reference.runs) > 1)}, {items}.")
    return ExitCode.OK


def _old_margins(path: Path) -> dict[str, float]:
    """Margins of the file that is replaced; none where it is missing or of no use any more."""
    try:
        return read_reference(path).margins
    except InputError:
        return {}


def _stored(margins: Mapping[str, float], names: Sequence[str] | Mapping[str, object]) -> dict[str, float]:
    """What `--margin` says of the reference's benchmarks; a number for all is one for each."""
    every = dict.fromkeys(names, margins[""]) if "" in margins else {}
    return {**every, **{name: margin for name, margin in margins.items() if name}}


def read_margins(words: Sequence[str]) -> dict[str, float]:
    """`POINTS` under an empty name and `BENCHMARK=POINTS` under the benchmark's."""
    margins: dict[str, float] = {}
    for word in words:
        name, _, text = word.rpartition("=")
        try:
            points = float(text)
        except ValueError:
            points = math.nan
        if not 0 < points < 100:
            raise InputError(f"--margin {word!r}: give points above 0 and below 100, as 2 or BENCHMARK=3.")
        margins[name] = points
    return margins


def _refuse_unknown(margins: Mapping[str, float], names: Sequence[str] | Mapping[str, object]) -> None:
    for name in margins:
        if name and name not in names:
            raise InputError(f"--margin: no benchmark {name!r}{nearest(name, names)}; there is {', '.join(names)}.")


def show(outcome: Outcome, console: Terminal) -> None:
    """The table and its sentences."""
    table = Table(*HEADS, box=None, pad_edge=False)
    for line in outcome.lines:
        *cells, verdict = (Text(printable(cell)) for cell in line.cells())
        verdict.stylize(COLOURS.get(line.verdict, "bold red"))
        table.add_row(*cells, verdict)
    console.print(table)
    for words in (*(line.sentence for line in outcome.lines), *outcome.notes, outcome.rates(), outcome.headline()):
        console.print(Text(printable(words)), soft_wrap=True)
