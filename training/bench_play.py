"""Benchmark `play`: where the time of a training step goes, on the shipped recipe and warm start.

    nox -s bench -- play [--recipe spade] [--steps 12] [--set a.b=v]

A few steps of the recipe are run as `train` runs them, and its validation once; that is spread over the steps between
two validations. *Inside environments* is everything of the agent's plays that is not the model: starting programs,
frames, waiting. The command fails when environments take more than a tenth of a step, the validator of programs or the
validation suite more than a quarter, or when more than a tenth of the update's tokens is padding.
"""

import argparse
import tempfile
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Sequence, cast

import torch

from ..harness import jsonl
from ..harness.engine import LocalEngine
from ..harness.errors import ExitCode, InputError
from ..harness.store import METRICS, RunFolder
from ..harness.types import Completion, Model, Request
from .finish import validate
from .loop import train_step
from .recipe import Recipe, load_recipe
from .run import Run, RunState, opened
from .selfplay import SelfPlay

LIMITS = {"inside environments": 0.10, "validator and leak check": 0.25, "validation suite": 0.25}
"""Highest share of a step."""
PADDING_LIMIT = 0.10


@dataclass
class Timed:
    """A model that counts the wall seconds spent in `generate`."""

    model: Model
    seconds: float = 0.0

    def generate(self, requests: Sequence[Request]) -> list[Completion]:
        """What the model draws."""
        began = time.perf_counter()
        try:
            return self.model.generate(requests)
        finally:
            self.seconds += time.perf_counter() - began

    def forget(self) -> None:
        """As the model does."""
        self.model.forget()


@dataclass(frozen=True, kw_only=True)
class Measured:
    """Wall seconds a step by part, and the padding of the updates."""

    parts: dict[str, float]
    padding: float
    """Share of the updates' tokens, the mean over the steps."""
    worst_padding: float
    waiting: float = 0.0
    """Of the seconds inside environments, those spent waiting for their answers."""
    shares: dict[str, float] = field(init=False)

    def __post_init__(self) -> None:
        total = sum(self.parts.values())
        object.__setattr__(self, "shares", {name: seconds / total for name, seconds in self.parts.items()})


def measure(recipe: Recipe, steps: int) -> Measured:
    """Run the first steps of the recipe in a folder that is thrown away. InputError for a row that designs nothing."""
    with tempfile.TemporaryDirectory() as place, RunFolder(Path(place) / "run", recipe) as folder:
        with opened(recipe) as run:
            source = run.source
            if not isinstance(source, SelfPlay):
                raise InputError(f"the row {recipe.row!r} writes no environments; measure one that does, as spade.")
            writer, player = Timed(source.designer.model), Timed(run.engine)
            source.designer = replace(source.designer, model=writer)
            run = replace(run, engine=cast(LocalEngine, player))
            state, saving = _steps(run, folder, steps)
            drawn = player.seconds
            began = time.perf_counter()
            validate(run, replace(state, step=recipe.evaluation.validate_every))
            validating = (time.perf_counter() - began) / recipe.evaluation.validate_every
        rows = jsonl.read(folder.path / METRICS)
    seconds = {name: sum(_seconds(row)[name] for row in rows) / steps for name in _seconds(rows[0])}
    padding = [float(str(row["padding_share"])) for row in rows if row["update_skipped"] is None]
    if not padding:
        raise InputError(f"none of {steps} steps had anything to train on; give more --steps.")
    parts = {
        "designer writes": writer.seconds / steps,
        "validator and leak check": seconds["supply"] - writer.seconds / steps,
        "agent answers": drawn / steps,
        "inside environments": seconds["play"] - drawn / steps,
        "update": seconds["update"],
        "validation suite": validating,
        "checkpoint": saving / steps,
    }
    return Measured(
        parts=parts, padding=sum(padding) / len(padding), worst_padding=max(padding), waiting=seconds["programs"]
    )


def _steps(run: Run, folder: RunFolder, steps: int) -> tuple[RunState, float]:
    """The state after those steps, and the seconds their checkpoints took."""
    state, saving = RunState(), 0.0
    for step in range(steps):
        state = train_step(run, state, step, folder)
        began = time.perf_counter()
        run.save(folder, state)
        saving += time.perf_counter() - began
    return state, saving


def _seconds(row: jsonl.Row) -> dict[str, float]:
    return cast(dict[str, float], row["seconds"])


def report(measured: Measured) -> list[str]:
    """The lines that are printed."""
    total = sum(measured.parts.values())
    lines = [f"a step takes {total * 1e3:.0f} ms"]
    for name, share in measured.shares.items():
        limit = LIMITS.get(name)
        verdict = "" if limit is None else f"   at most {limit:.0%}: {'ok' if share <= limit else 'TOO MUCH'}"
        lines.append(f"  {name:<26}{measured.parts[name] * 1e3:7.1f} ms {share:6.1%}{verdict}")
    lines.append(f"  (waiting for answers of environments {measured.waiting * 1e3:.1f} ms of those)")
    verdict = "ok" if measured.padding <= PADDING_LIMIT else "TOO MUCH"
    lines.append(
        f"padding of the update {measured.padding:.1%} of its tokens (worst step {measured.worst_padding:.1%})"
        f"   at most {PADDING_LIMIT:.0%}: {verdict}"
    )
    return lines


def passed(measured: Measured) -> bool:
    """Whether every limit is kept."""
    return measured.padding <= PADDING_LIMIT and all(measured.shares[name] <= most for name, most in LIMITS.items())


def main() -> int:
    """Print the shares; exit code 1 when a limit is not kept."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recipe", default="spade")
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--set", dest="overrides", action="append", default=[], metavar="a.b=value")
    args = parser.parse_args()
    torch.set_num_threads(1)
    recipe = load_recipe(args.recipe, args.overrides)
    most = min(recipe.steps, recipe.evaluation.validate_every) - 1
    if not 0 < args.steps <= most:
        parser.error(f"--steps is {args.steps}; give 1 to {most}, so that no validation falls into them.")
    measured = measure(recipe, args.steps)
    print("\n".join(report(measured)))
    return int(ExitCode.OK if passed(measured) else ExitCode.VERDICT_FAIL)


if __name__ == "__main__":
    raise SystemExit(main())
