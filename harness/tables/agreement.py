"""Tables that share a method must show the same figure for it.

A figure is known by scale, row and what is measured, whatever its column is called. It is compared as it is printed in
the CSV, with tables built in the same call and with those that lie in the folder where the table goes.
"""

import csv
from collections.abc import Iterator, Sequence
from io import StringIO
from pathlib import Path
from typing import NamedTuple

from ..errors import InputError
from .result import TableResult
from .text import csv_text

SUFFIX = ".csv"


class Figure(NamedTuple):
    """One figure of one table, as the CSV has it."""

    table: str
    key: tuple[str, str, str]
    """Scale, row, measure."""
    shown: tuple[str, str, str]
    """Value and interval."""
    evidence: str
    runs: str


def check_agreement(tables: Sequence[TableResult], out: Path) -> None:
    """Raises InputError for the first figure that two tables show differently: those given, and those in `out` that
    are not built now.
    """
    built = {table.spec.name for table in tables}
    texts = [(table.spec.name, csv_text(table)) for table in tables]
    texts += [
        (str(path), path.read_text(encoding="utf-8"))
        for path in sorted(out.glob(f"*{SUFFIX}"))
        if path.stem not in built
    ]
    known: dict[tuple[str, str, str], Figure] = {}
    for name, text in texts:
        for figure in _figures(name, text):
            other = known.setdefault(figure.key, figure)
            if other.shown != figure.shown:
                raise InputError(_disagreement(other, figure))


def _figures(table: str, text: str) -> Iterator[Figure]:
    """The figures of a CSV of ours; none of any other file, nor of a cell without a number."""
    for row in csv.DictReader(StringIO(text)):
        if row.get("measure") and row.get("value"):
            yield Figure(
                table=table, key=(row["scale"], row["row"], row["measure"]),
                shown=(row["value"], row["low"], row["high"]), evidence=row["evidence"], runs=row["runs"],
            )  # fmt: skip


def _disagreement(first: Figure, second: Figure) -> str:
    _, row, measure = first.key
    shown = " and ".join(
        f"{figure.table} has {figure.shown[0]} [{figure.shown[1]}, {figure.shown[2]}]" for figure in (first, second)
    )
    if first.runs != second.runs:
        why = f"the first is of the runs {first.runs}, the second of {second.runs}"
    elif first.evidence != second.evidence:
        why = "the runs have changed in between"
    else:
        why = "they are of the same evidence, so one was made by another version"
    return f"row {row!r}, {measure}: {shown}; {why}; build both again in one call, from the same runs."
