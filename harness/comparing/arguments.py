"""The command line of `compare`. The standard library alone, so that `--help` needs nothing else."""

import argparse


def compare_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `compare`."""
    parser.add_argument(
        "runs", nargs="+", metavar="RUN",
        help="the reference first, then what is compared with it: run folders, folders of seeds, packed rows, names "
        "under results/runs; A,B,C joins runs as the seeds of one method, NAME=RUN names it",
    )  # fmt: skip
    parser.add_argument("--metric", choices=("right", "reward"), default="right", help="share of right items (default)")
    parser.add_argument(
        "--column", action="append", default=[], metavar="NAME",
        help="only this benchmark or held-out column, * for any text; repeatable",
    )  # fmt: skip
    parser.add_argument("--mode", choices=("greedy", "sampled"), help="held-out play of training runs (default greedy)")
    parser.add_argument("--checkpoint", choices=("chosen", "last"), help="of training runs (default chosen)")
    parser.add_argument("--by-category", action="store_true", help="also every category of each column")
    parser.add_argument(
        "--margin", type=float, metavar="M",
        help="say what it takes to tell a difference of M (points for right, units for reward), not of the size seen",
    )  # fmt: skip
    parser.add_argument(
        "--allow", action="append", default=[], metavar="WHAT",
        help="compare although these differ: preset, scorer, items; repeatable, or separated by commas",
    )  # fmt: skip
    parser.add_argument("--flips", default="10", metavar="N", help="items that changed to list a column, or all")
    parser.add_argument("--format", choices=("text", "md"), default="text", help="md is for a pull request")
    parser.add_argument("--json", metavar="FILE", help="write everything for machines; - prints it and nothing else")
