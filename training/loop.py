"""The training loop, and the verb `spadework train RECIPE`.

One step: the source supplies environments; the agent plays them; rewards become advantages; the source gives back
its own samples; one update; a look at the run's health; one line of metrics; one checkpoint. The rows of the table
differ in the source alone. A run that was killed goes on at the next step and leaves the same bytes as one that was
not: seeds depend on (seed, step, index), and everything else lies in the checkpoint.
"""

import argparse
import signal
import time
from pathlib import Path
from types import FrameType
from typing import Callable

import torch

from ..harness.errors import ExitCode, TrainingStopped
from ..harness.progress import ProgressDisplay
from ..harness.sandbox import Policy as SandboxPolicy
from ..harness.store import SUMMARY, RunFolder, read_document
from .advantages import agent_advantages
from .figures import of_step, update_line
from .finish import finish, validate
from .organism import gate_line, resolve
from .recipe import Recipe, load_recipe
from .run import Run, RunState, opened
from .watch import watch

Report = Callable[[int, int, str], None]
"""(steps done, steps in all, a few words)."""
Say = Callable[[str], None]
"""A sentence that people should see: an alarm that begins or ends."""


def train(
    recipe: Recipe,
    out: Path,
    *,
    fresh: bool = False,
    report: Report = lambda done, total, text: None,
    say: Say = lambda text: None,
    sandbox_policy: SandboxPolicy | None = None,
) -> None:
    """Train and evaluate one run in its folder; a finished one is left as it is. The sandbox's policy is no part of the
    recipe: what it gave is recorded in the provenance.
    """
    torch.set_num_threads(1)
    with RunFolder(out, recipe, fresh=fresh) as folder:
        if folder.summary() is not None:
            report(recipe.steps, recipe.steps, "finished before")
            return
        with opened(recipe, sandbox_policy) as run:
            folder.sandboxed(run.sandbox.report)
            state = run.restore(folder)
            folder.resume(state.step)
            steps = recipe.steps if run.source is not None else 0
            for step in range(state.step, steps):
                state = train_step(run, state, step, folder)
                run.save(folder, state)
                report(step + 1, steps, _words(state))
                for told in state.health.told_at(step):
                    say(f"step {step + 1}: {told['text']}")
            finish(run, state, folder, lambda text: report(steps, steps, text))


def train_step(run: Run, state: RunState, step: int, folder: RunFolder) -> RunState:
    """One step of the method; the state after it."""
    began = time.perf_counter()
    source = run.source
    assert source is not None
    supply = source.supply(step)
    supplied = time.perf_counter()
    waited = run.sandbox.waited_s
    episodes = run.play(supply)
    played, in_programs = time.perf_counter(), run.sandbox.waited_s - waited
    agent = agent_advantages(episodes, run.recipe.advantages)
    own = source.learn(step, episodes)
    samples = [*agent.samples, *own]
    stats = run.policy.update(samples)
    run.engine.forget()
    updated = time.perf_counter()
    figures = of_step(episodes, agent, supply.counts)
    line = {**figures.line, **run.source_figures(), **update_line(stats)}
    state = state.after(step, supply.programs, figures, skipped=stats.skipped is not None)
    state, health = watch(run, state, step, episodes, line)
    watched = time.perf_counter()
    state, validated = validate(run, state)
    ended = time.perf_counter()
    state = state.spent(ended - began)
    folder.metrics(step, {
        **line, **health, **validated,
        "seconds": {"supply": supplied - began, "play": played - supplied, "programs": in_programs,
                    "update": updated - played, "health": watched - updated, "validate": ended - watched},
    })  # fmt: skip
    stops = state.empty_windows >= run.recipe.stop_after_empty
    if (step + 1) % run.recipe.window == 0 or step + 1 == run.recipe.steps or stops:
        folder.environments(run.source_report(step))
    if stops:
        raise _nothing_valid(state, folder)
    return state


def train_command(args: argparse.Namespace) -> ExitCode:
    """`spadework train RECIPE [--set a.b=v] [--out DIR] [--seed N] [--fresh] [--insecure]`."""
    recipe = load_recipe(args.recipe, args.overrides, args.seed)
    out = args.out or Path("results/runs") / recipe.scale / recipe.row / f"seed{recipe.seed}"
    with ProgressDisplay() as display, interruptible():
        display.note(gate_line(resolve(recipe.organism), recipe.checkpoint, recipe.require_gates))
        train(
            recipe,
            out,
            fresh=args.fresh,
            report=lambda done, total, text: display.update(recipe.row, done, total, text),
            say=lambda text: display.note(f"{recipe.row}: {text}"),
            sandbox_policy=SandboxPolicy(insecure=args.insecure),
        )
    for line in (*corpus_lines(out), f"finished: {out}"):
        print(line)
    return ExitCode.OK


def corpus_lines(out: Path) -> list[str]:
    """What was kept of the corpus and why, from the summary of a finished run; none for a row without passages."""
    kept = read_document(out / SUMMARY).get("corpus")
    return [str(line) for line in kept] if isinstance(kept, list) else []


class interruptible:  # noqa: N801
    """SIGTERM is treated like Ctrl-C, so that a scheduler's stop leaves a whole run folder too."""

    def __enter__(self) -> None:
        self._old = signal.signal(signal.SIGTERM, self._raise)

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGTERM, self._old)

    @staticmethod
    def _raise(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt


def _nothing_valid(state: RunState, folder: RunFolder) -> TrainingStopped:
    return TrainingStopped(
        f"{state.empty_windows} window{'s' * (state.empty_windows > 1)} in a row had no valid program; look at the "
        f"reasons with `spadework envs {folder.path} --all`, then start from a better checkpoint or raise "
        "designer.attempts."
    )


def _words(state: RunState) -> str:
    words = [] if state.last_return is None else [f"return {state.last_return:.2f}"]
    words += [] if state.best is None else [f"validation {state.best:.3f} at {state.chosen}"]
    alarms = [alarm.name for alarm in state.health.active]
    return "  ".join([*words, *([f"ALARM {', '.join(alarms)}"] if alarms else [])])
