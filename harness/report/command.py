"""`spadework report RUN [RUN ...] [--out FILE]`: one HTML file that shows the runs beside each other.

A shell module: it reads the runs, writes the file, and says what is incomplete (exit code 4). The first run is the one
that the others are compared with.
"""

import argparse
import logging
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from ..atomic import write_atomic
from ..errors import ExitCode, InputError
from .page import Head, render
from .reading import read_sides
from .values import Side

SUFFIXES = (".html", ".htm")
SHOWN = 60
"""Characters of the default file's name."""


def report_command(args: argparse.Namespace) -> ExitCode:
    """The verb `report`: `runs`, and `out` (None: `<first label>.html`, in the current folder)."""
    sides = read_sides(args.runs)
    out = Path(args.out) if args.out else default_name(sides)
    if out.is_dir() or out.suffix.lower() not in SUFFIXES:
        raise InputError(f"{out} is no name of an HTML file; give --out a path that ends in .html.")
    made = f"spadework {version('spadework')}, {datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
    page = render(sides, Head(title=" · ".join(side.label for side in sides), made=made))
    write_atomic(out, page)
    gaps = [gap for side in sides for gap in side.gaps]
    for gap in gaps:
        logging.warning("incomplete: %s", gap)
    print(f"wrote {out} ({len(page.encode()) / 1e6:.1f} MB)")
    return ExitCode.INCOMPLETE if gaps else ExitCode.OK


def default_name(sides: list[Side]) -> Path:
    """A file in the current folder, named after what it shows."""
    words = "-".join(side.label for side in sides)
    safe = "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in words)
    return Path(f"report-{safe[:SHOWN].strip('._-')}.html")
