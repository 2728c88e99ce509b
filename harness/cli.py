"""The command `spadework VERB`: reads arguments, runs one verb, turns our errors into one sentence and an exit code.

Verbs are named by strings and imported only when they run, so `--help` needs the standard library alone.
Each verb is a function of the parsed arguments that returns an `ExitCode`; it prints its own results.
"""

import argparse
import importlib
import logging
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

from .comparing.arguments import compare_arguments
from .errors import ExitCode, InputError, SpadeworkError, nearest
from .evaluation.arguments import eval_arguments, preflight_arguments, score_arguments
from .gate.arguments import check_arguments

Arguments = argparse.Namespace
Command = Callable[[Arguments], ExitCode]


class Parser(argparse.ArgumentParser):
    """An argparse parser whose complaints are ours: one sentence, no usage page."""

    def error(self, message: str) -> NoReturn:
        """Raise what argparse would have printed."""
        raise InputError(f"{message}; see `{self.prog} --help`.")


def train_arguments(parser: Parser) -> None:
    """Arguments of `train`."""
    parser.add_argument("recipe", help="name of a recipe (nano) or path of a TOML file")
    parser.add_argument("--set", dest="overrides", action="append", default=[], metavar="a.b=value", help="set a key")
    parser.add_argument("--out", type=Path, help="run folder (default: results/runs/<scale>/<row>/seed<N>)")
    parser.add_argument("--seed", type=int, help="seed of the run (default: the recipe's)")
    parser.add_argument("--fresh", action="store_true", help="remove what is in the run folder and start over")
    _insecure_switch(parser)


def table_arguments(parser: Parser) -> None:
    """Arguments of `table`."""
    parser.add_argument(
        "file", type=Path, nargs="+", help="table definition, for example results/ablations.toml; several must agree"
    )
    parser.add_argument("--format", metavar="md|tex|csv|html", help="only this one (default: all)")
    parser.add_argument("--out", type=Path, help="folder for the files (default: tables/ beside the definition)")
    parser.add_argument("--pack", action="store_true", help="also write the compact copy of the runs that git keeps")
    parser.add_argument("--scale", help="build it from the runs of this scale")
    parser.add_argument("--no-time", action="store_true", help="leave the columns of time out")
    parser.add_argument("--allow-incomplete", action="store_true", help="exit 0 although a cell is missing")


def show_arguments(parser: Parser) -> None:
    """Arguments of `show`."""
    parser.add_argument("run", help="run folder, or its id under results/runs")


def play_arguments(parser: Parser) -> None:
    """Arguments of `play`."""
    parser.add_argument("env", help="path of an environment's Python file, or with --run its id")
    parser.add_argument("--run", help="take the environment from this run")
    parser.add_argument("--seed", type=int, default=0, help="instance to play (default 0)")
    parser.add_argument("--hint", action="store_true", help="show its hint first")
    _insecure_switch(parser)


def envs_arguments(parser: Parser) -> None:
    """Arguments of `envs`."""
    parser.add_argument("run", help="run folder, or its id under results/runs")
    parser.add_argument("--all", action="store_true", help="rejected proposals too, with the reason")


def reproduce_arguments(parser: Parser) -> None:
    """Arguments of `reproduce`."""
    parser.add_argument("--rows", type=_words, help="only these rows, separated by commas (default: all)")
    parser.add_argument("--seeds", type=int, default=1, help="seeds per row (default 1; the publishable run has 5)")
    parser.add_argument("--scale", choices=("nano", "smoke"), default="nano", help="smoke is the short run of CI")
    parser.add_argument("--fresh", action="store_true", help="start every row over")
    _insecure_switch(parser)
    parser.add_argument("--allow-incomplete", action="store_true", help="exit 0 although a cell is missing")


def report_arguments(parser: Parser) -> None:
    """Arguments of `report`."""
    parser.add_argument("runs", nargs="+", metavar="RUN", help="run folder, folder of seeds, packed row, or NAME=RUN")
    parser.add_argument("--out", type=Path, help="the HTML file (default: report-LABELS.html in this folder)")


def doctor_arguments(parser: Parser) -> None:
    """Arguments of `doctor`."""
    parser.add_argument("--json", action="store_true", help="print JSON for machines")


VERBS: dict[str, tuple[str, str]] = {
    "train": ("spadework.training.loop:train_command", "train a recipe; the same command continues a stopped run"),
    "table": ("spadework.harness.tables.table:table_command", "build a table from the runs on disk"),
    "show": ("spadework.harness.show:show_command", "one run: its state, its config, its last figures"),
    "play": ("spadework.harness.play:play_command", "play a generated environment yourself, in the terminal"),
    "envs": ("spadework.harness.show:envs_command", "a run's environments with win rate, regret and hint"),
    "reproduce": (
        "spadework.training.reproduce:reproduce_command",
        "train and evaluate the ablation table's rows",
    ),
    "eval": (
        "spadework.harness.evaluation.evaluate:eval_command",
        "evaluate a model on benchmarks; the same command continues a stopped run",
    ),
    "score": ("spadework.harness.evaluation.rescore:score_command", "score a run again from its stored answers"),
    "compare": (
        "spadework.harness.comparing.compare:compare_command",
        "compare runs with the first one named, item by item: compare BASE NEW [NEW ...]",
    ),
    "check": (
        "spadework.harness.gate.verb:check_command",
        "the gate of a CI: a run against a reference; exit code 0 pass, 1 fail, 3 underpowered, 4 incomplete",
    ),
    "preflight": (
        "spadework.harness.evaluation.check:preflight_command",
        "check that the graders know right from wrong, and forecast the cost",
    ),
    "report": (
        "spadework.harness.report.command:report_command",
        "one HTML file of runs: table, curves, differences, samples, environments, settings",
    ),
    "doctor": (
        "spadework.harness.doctor:doctor_command",
        "what this machine gives: layers of the sandbox, engines, devices, data",
    ),
}
WORKING = ("train", "reproduce", "eval")
"""Verbs that are not done when their reader goes away; the others have then said enough."""
UNIX = ("fcntl", "resource")
"""Modules of the standard library that Windows lacks."""
ARGUMENTS: dict[str, Callable[[Parser], None]] = {
    "train": train_arguments,
    "table": table_arguments,
    "show": show_arguments,
    "play": play_arguments,
    "envs": envs_arguments,
    "reproduce": reproduce_arguments,
    "eval": eval_arguments,
    "score": score_arguments,
    "compare": compare_arguments,
    "check": check_arguments,
    "preflight": preflight_arguments,
    "report": report_arguments,
    "doctor": doctor_arguments,
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line (default: the process's) and return its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    logging.getLogger("matplotlib").setLevel(logging.WARNING)  # it would tell of its font cache
    try:
        arguments = parse(words)
        return int(command(arguments.verb)(arguments))
    except SpadeworkError as error:
        print(f"spadework: {error}", file=sys.stderr)
        return int(error.exit_code)
    except KeyboardInterrupt:
        rest = "; the same command goes on from the saved state" if words[0] in WORKING else ""
        print(f"spadework: interrupted{rest}.", file=sys.stderr)
        return int(ExitCode.INTERRUPTED)
    except BrokenPipeError:
        _drop_output()
        if words[0] not in WORKING:
            return int(ExitCode.OK)
        print("spadework: nobody reads the output; the same command goes on from the saved state.", file=sys.stderr)
        return int(ExitCode.INTERRUPTED)


def _drop_output() -> None:
    """What is left to print goes nowhere, so that Python's own flush at the end does not complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def parse(words: Sequence[str]) -> Arguments:
    """The parsed arguments, `verb` among them. Raises `InputError`; an unknown verb offers the nearest."""
    verb = words[0] if words and not words[0].startswith("-") else None
    if verb is not None and verb not in VERBS:
        raise InputError(f"unknown verb {verb!r}{nearest(verb, VERBS)}; the verbs are {', '.join(VERBS)}.")
    parser = Parser(prog="spadework", description="Measure models, and train one that designs its own environments.")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    for name, (_, summary) in VERBS.items():
        ARGUMENTS[name](verbs.add_parser(name, help=summary, description=summary, allow_abbrev=False))
    return parser.parse_args(words)


def command(verb: str) -> Command:
    """The function of a verb, imported now. Raises `InputError` when a package it needs is not installed."""
    module, _, function = VERBS[verb][0].partition(":")
    try:
        found: Command = getattr(importlib.import_module(module), function)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("spadework"):
            raise
        if error.name in UNIX:
            raise InputError(
                f"`spadework {verb}` does not run on {sys.platform} (there is no module {error.name!r}); run it in a "
                "Linux container or a virtual machine."
            ) from None
        raise InputError(
            f"`spadework {verb}` needs the package {error.name!r}, which is not installed; "
            "install spadework with its dependencies, for example pip install 'spadework[report]'."
        ) from None
    return found


def _insecure_switch(parser: Parser) -> None:
    """The switch of every verb that runs programs a model wrote."""
    parser.add_argument(
        "--insecure", action="store_true",
        help="run programs that a model wrote although the sandbox lacks a layer that it must have; results say so",
    )  # fmt: skip


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]
