"""An opened run: the model and everything around it, and what a checkpoint holds of it.

`opened` loads in an order in which mistakes of the recipe come first and the model last; what it opens it closes.
"""

from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Iterator, Sequence

import msgspec

from ..harness.dialect import Dialect
from ..harness.engine import LocalEngine
from ..harness.episode import play
from ..harness.sandbox import EnvProcess, Sandbox, close_all
from ..harness.sandbox import Policy as SandboxPolicy
from ..harness.store import RunFolder
from ..harness.types import Episode, Program
from . import checkpoint, sources
from .corpora import open_corpus
from .corpus import Corpus
from .figures import StepFigures, Totals
from .health import Health
from .organism import Organism, gate_line, resolve
from .policy import Policy
from .recipe import Recipe
from .selfplay import SelfPlay
from .source import Source, Supply


@dataclass(frozen=True, kw_only=True, slots=True)
class RunState:
    """Where a run stands after `step` steps, beside weights, optimiser and the source's own state."""

    step: int = 0
    totals: Totals = Totals()
    best: float | None = None
    """Best validation score so far."""
    chosen: int = 0
    """Step of the checkpoint it belongs to; 0 is the initial model."""
    empty_windows: int = 0
    last_return: float | None = None
    programs: dict[str, str] = field(default_factory=dict)
    """Source by id of every program played, in order: what the diversity is computed on."""
    health: Health = Health()

    def after(self, step: int, programs: Sequence[Program], figures: StepFigures, *, skipped: bool) -> "RunState":
        """The state with one more step counted in."""
        played = {**self.programs, **{program.id: program.source for program in programs}}
        empty = 0 if programs else self.empty_windows + ("proposed" in figures.line)
        totals = self.totals.plus(**figures.amounts, skipped_updates=skipped)
        return replace(
            self, step=step + 1, totals=totals, empty_windows=empty, programs=played, last_return=figures.line["return"]
        )

    def choosing(self, score: float) -> "RunState":
        """With the present step as the chosen checkpoint."""
        return replace(self, best=score, chosen=self.step)

    def spent(self, seconds: float) -> "RunState":
        """With the wall time of a step added."""
        return replace(self, totals=self.totals.plus(seconds=seconds))


@dataclass(frozen=True, kw_only=True)
class Run:
    """The opened parts."""

    recipe: Recipe
    organism: Organism
    policy: Policy
    engine: LocalEngine
    dialect: Dialect
    sandbox: Sandbox
    corpus: Corpus | None
    source: Source | None
    gates: str
    """The gates of the initial checkpoint, in one line for people."""
    processes: dict[str, EnvProcess] = field(default_factory=dict)
    """Programs of the last step that are still open, by id; the sandbox ends them."""

    def play(self, supply: Supply) -> list[Episode]:
        """The plays of a step. Programs that are played again in the next step keep their process, unless it failed:
        a run that was resumed in between starts them anew and must see the same.
        """
        wanted = {program.id for program in supply.programs}
        self._end([key for key in self.processes if key not in wanted])
        cap = self.recipe.play.max_tokens
        episodes = play(supply.plays, self.engine, self.dialect, self.sandbox, cap, self.processes)
        self._end([key for key, process in self.processes.items() if process.error is not None])
        return episodes

    def _end(self, programs: Sequence[str]) -> None:
        close_all([self.processes.pop(key) for key in programs])

    def save(self, folder: RunFolder, state: RunState) -> None:
        """The checkpoint after a step, all or nothing; that of the chosen step is kept beside the newest."""
        rest = {"run": state, "source": self.source.state() if self.source else {}}
        policy, record = self.policy.state(copied=False), msgspec.json.encode(rest)
        whole = checkpoint.Checkpoint(step=state.step, policy=policy, record=record)
        checkpoint.save(_checkpoints(folder), whole, self.policy.model, keep=2, protect={state.chosen})

    def restore(self, folder: RunFolder) -> RunState:
        """The state of the last checkpoint, with weights, optimiser and source set to it; a new state without one."""
        newest = checkpoint.latest(_checkpoints(folder))
        if newest is None:
            return RunState()
        saved = checkpoint.load(newest)
        self.policy.restore(saved.policy)
        self.engine.forget()
        record = msgspec.json.decode(saved.record, type=_Record)
        if self.source is not None:
            self.source.restore(record.source)
        return record.run

    def load_weights(self, folder: RunFolder, step: int) -> None:
        """The weights of an earlier step's checkpoint, for evaluation only."""
        weights = checkpoint.load(_checkpoints(folder) / f"step-{step:06d}").policy.weights
        self.policy.set_weights(weights)
        self.engine.forget()

    def source_figures(self) -> dict[str, float | None]:
        """What a designing source says of its window."""
        return self.source.figures() if isinstance(self.source, SelfPlay) else {}

    def source_report(self, step: int) -> list[dict[str, object]]:
        """Lines for environments.jsonl, each with the step that wrote it."""
        rows = self.source.report() if isinstance(self.source, SelfPlay) else []
        return [{**row, "born": row["step"], "step": step} for row in rows]


class _Record(msgspec.Struct, frozen=True, kw_only=True):
    """The loop's part of a checkpoint."""

    run: RunState
    source: dict[str, Any]


def _checkpoints(folder: RunFolder) -> Path:
    return folder.path / "checkpoint"


@contextmanager
def opened(recipe: Recipe, sandbox_policy: SandboxPolicy | None = None) -> Iterator[Run]:
    """Everything a run needs, closed at the end. The sandbox is the safe one unless a policy says otherwise."""
    organism = resolve(recipe.organism)
    gates = gate_line(organism, recipe.checkpoint, recipe.require_gates)
    model, dialect = organism.load(recipe.checkpoint)
    designs = recipe.source.kind in ("self_play", "frozen")
    corpus = open_corpus(recipe.corpus, dialect) if designs else None
    engine = LocalEngine(model, pad_id=dialect.pad_id, decode=dialect.decode)
    policy = Policy(model, recipe.update)
    with Sandbox(policy=sandbox_policy) as sandbox:
        parts = sources.Parts(
            recipe=recipe, organism=organism, model=engine, dialect=dialect, sandbox=sandbox, corpus=corpus
        )
        yield Run(
            recipe=recipe,
            organism=organism,
            policy=policy,
            engine=engine,
            dialect=dialect,
            sandbox=sandbox,
            corpus=corpus,
            source=sources.make(parts),
            gates=gates,
        )
