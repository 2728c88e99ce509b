"""Command lines of the evaluation's verbs. The standard library alone, so that `--help` needs nothing else."""

import argparse
from pathlib import Path


def eval_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `eval`."""
    parser.add_argument("--model", required=True, help="checkpoint folder, Hub id, training run, or endpoint")
    parser.add_argument("--engine", default="auto", help="transformers, vllm, openai, scripted; auto goes by the model")
    parser.add_argument(
        "--engine-set", action="append", default=[], metavar="KEY=VALUE", help="an option of the engine, repeatable"
    )
    _what(parser)
    parser.add_argument("--user", metavar="MODEL", help="simulated user, where a task has one")
    parser.add_argument("--judge", metavar="MODEL", help="judge, where a task has one")
    parser.add_argument("--repeats", type=int, metavar="N", help="samples an item (default: the preset's)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the run (default 0)")
    parser.add_argument("--out", type=Path, metavar="DIR", help="run folder (default: results/runs/eval/MODEL-DIGEST)")
    parser.add_argument("--fresh", action="store_true", help="remove what is in the run folder and start over")
    parser.add_argument("--keep-completions", action="store_true", help="keep whole completions in the run's private/")
    parser.add_argument(
        "--cache", type=Path, nargs="?", const=Path("results/cache/completions.sqlite"), metavar="FILE",
        help="take completions drawn before for the same weights, prompt, sampling and seed; never for closed texts",
    )  # fmt: skip
    parser.add_argument("--chunk", type=int, default=128, metavar="N", help="samples handed to a benchmark at a time")
    parser.add_argument("--cap-requests", type=int, metavar="N", help="end the run before more requests")
    parser.add_argument("--cap-tokens", type=int, metavar="N", help="end the run before more tokens, prompts included")
    parser.add_argument("--cap-hours", type=float, metavar="H", help="end the run after so many hours")
    parser.add_argument("--cap-cost", type=float, metavar="X", help="end the run before it costs more; needs --price")
    _rates(parser)
    parser.add_argument("--no-preflight", action="store_true", help="do not check the graders before a long run")
    parser.add_argument(
        "--insecure", action="store_true",
        help="run programs that a model wrote although the sandbox lacks a layer that it must have; results say so",
    )  # fmt: skip


def score_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `score`."""
    parser.add_argument("run", help="run folder of an evaluation, or its id under results/runs")
    parser.add_argument("--data", action="append", default=[], metavar="[TASK=]DIR", help="where the data lie")
    parser.add_argument("--dry-run", action="store_true", help="only say what would change")


def preflight_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `preflight`."""
    parser.add_argument("tasks", nargs="*", metavar="TASK", help="tasks to check (default: every one)")
    _what(parser)
    _rates(parser)


def _what(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--suite", action="append", default=[], help="nano, quick, games or tools; repeatable")
    parser.add_argument("--task", action="append", default=[], help="one task, or a MODULE:OBJECT; repeatable")
    parser.add_argument("--preset", action="append", default=[], metavar="[TASK=]NAME", help="protocol; repeatable")
    parser.add_argument("--data", action="append", default=[], metavar="[TASK=]DIR", help="where the data lie")
    parser.add_argument(
        "--limit", action="append", default=[], metavar="[TASK=]N",
        help="the first N items of each task, or of one, by their hashes; repeatable",
    )  # fmt: skip
    parser.add_argument("--offline", action="store_true", help="use no network")
    parser.add_argument("--allow-missing", action="store_true", help="go on, and exit 0, without tasks that cannot run")


def _rates(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rate", type=float, metavar="T", help="tokens a second, for the forecast of time")
    parser.add_argument("--price", type=prices, metavar="IN,OUT", help="of a million tokens of the model")
    parser.add_argument("--other-price", type=prices, metavar="IN,OUT", help="of a million tokens of user and judge")


def prices(text: str) -> tuple[float, float]:
    """`IN,OUT` as two numbers."""
    first, _, second = text.partition(",")
    return float(first), float(second)
