"""Command line of `check`. The standard library alone, so that `--help` needs nothing else."""

import argparse
from pathlib import Path


def check_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `check`."""
    parser.add_argument("run", help="run folder, a folder of seeds, runs joined by commas, or a name")
    parser.add_argument("--reference", type=Path, required=True, metavar="FILE", help="what it is measured against")
    parser.add_argument(
        "--margin", action="append", default=[], metavar="[BENCHMARK=]POINTS",
        help="the drop that is tolerated (default 2); repeatable, kept in the reference by --update",
    )  # fmt: skip
    parser.add_argument("--alpha", type=float, default=0.05, metavar="A", help="rate of false alarms (default .05)")
    parser.add_argument("--junit", type=Path, metavar="FILE", help="write JUnit XML")
    parser.add_argument("--summary", type=Path, metavar="FILE", help="write a Markdown summary")
    parser.add_argument("--update", action="store_true", help="make the run the reference, if it is complete")
    parser.add_argument("--add", action="store_true", help="with --update: one more run of the same model or method")
