"""Benchmarks as tasks of inspect-ai, on any engine: samples from memory, results to our sink, a log for `inspect view`.

    play(Staging(name=..., sample=..., solver=generate(), judge=...), due, preset, players, sink)

The solver plays a sample with inspect's means, the judge says what it is worth; that reaches the sink at once. What a
sample raises is that sample's, and its siblings go on: an infrastructure error until it was to be judged, a scorer
error after that. The log (`Players.logs`) holds what the `Staging` shows and nothing else of a closed benchmark.
"""

import asyncio
import os
import tempfile
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from multiprocessing.pool import ThreadPool
from pathlib import Path

import inspect_ai
from inspect_ai import Task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import EvalLog
from inspect_ai.model import Model as InspectModel
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver

from ..benchmark import Due, Players, Preset, Scored, Sink
from ..evaluation.quotes import quotes, windows
from ..types import Outcome
from .inspect_calm import calm
from .inspect_model import PLAYING, Gate, Playing, Port, PortAPI, config_of

AT_A_TIME = 128
"""Requests that wait for the models at a time; they answer as many of them together as suits them."""
JUDGES = os.cpu_count() or 1
"""Threads for judges, beside those that wait for models."""
WITHHELD = "(quotes the problem)"
Judge = Callable[[Playing, TaskState], Awaitable[Scored]]
"""What the completions, or the state in which inspect left the sample, are worth."""


@dataclass(frozen=True, kw_only=True)
class Staging:
    """How one benchmark is played with inspect."""

    name: str
    sample: Callable[[Due], Sample]
    """What the solver begins with and the log shows; its id is set here."""
    solver: Solver | Sequence[Solver]
    judge: Judge
    version: str = "1"
    metadata: Mapping[str, object] = field(default_factory=dict)
    problem: Callable[[Due], str] | None = None
    """The text that may not stand in the log, for a closed benchmark."""


def play(staging: Staging, due: Sequence[Due], preset: Preset, players: Players, sink: Sink) -> None:
    """Play the samples; every one of them reaches the sink, the failed ones too. Raises KeyboardInterrupt."""
    if not due:
        return
    closed = staging.problem is not None
    with ThreadPool(min(len(due), AT_A_TIME) + JUDGES) as pool:  # daemons: an interrupt waits for none of them
        stage = Stage(staging, due, sink)
        gate = Gate(stage.company)
        main = Port(players.model, preset.sampling, gate, pool, closed)
        others = {"user": players.user, "judge": players.judge}
        sampling = preset.user_sampling or preset.sampling
        roles = {role: Port(model, sampling, gate, pool, closed) for role, model in others.items() if model is not None}
        _evaluate(stage, main, roles, players.logs)


def in_thread(judge: Callable[[Playing], Scored], workers: int) -> Judge:
    """A judge that works, or waits for a sandbox, without holding up the others; `workers` at a time."""
    places = asyncio.Semaphore(workers)

    async def judged(playing: Playing, state: TaskState) -> Scored:
        async with places:
            return await playing.port.run(judge, playing)

    return judged


class Stage:
    """The samples of one `play`, and how far they are."""

    def __init__(self, staging: Staging, due: Sequence[Due], sink: Sink) -> None:
        self.staging, self.sink = staging, sink
        self.due = {f"{one.item.id}/{one.repeat}": one for one in due}
        self.playing: dict[str, Playing] = {}
        self.done = 0

    def company(self) -> int:
        """Samples that may still ask for something."""
        return len(self.due) - self.done

    def samples(self) -> list[Sample]:
        """In the order in which they are due."""
        made = []
        for name, due in self.due.items():
            sample = self.staging.sample(due)
            sample.id = name
            made.append(sample)
        return made

    def enter(self, name: str, port: Port) -> Playing:
        """A sample begins."""
        self.playing[name] = Playing(due=self.due[name], port=port)
        return self.playing[name]

    async def judged(self, name: str, state: TaskState) -> Score:
        """A sample's result, which reaches the sink; and what inspect's log shows of it."""
        playing = self.playing[name]
        playing.judging = True
        self.done += 1
        scored = await self.staging.judge(playing, state)
        self.tell(playing, scored)
        return self._shown(playing.due, scored)

    def tell(self, playing: Playing, scored: Scored) -> None:
        """To the sink, once."""
        playing.told = True
        self.sink.put(scored, playing.completions)

    def settle(self, log: EvalLog) -> None:
        """The samples that inspect gave up."""
        owed = {name: due for name, due in self.due.items() if not self._told(name)}
        if not owed:
            return  # the samples of a log are read anew from its file, which takes as long as a third of the playing
        errors = {str(sample.id): sample.error for sample in log.samples or ()}
        whole = log.error.message if log.error is not None else "inspect left it out"
        for name, due in owed.items():
            playing = self.playing.get(name)
            error = errors.get(name)
            detail = error.message if error is not None else whole
            if playing is None:
                self.sink.put(unscored(due, Outcome.INFRA_ERROR, detail), [])
            else:  # what was broken off with all the others (a log that could not be written) is no fault of its scorer
                faulty = playing.judging and error is not None
                outcome = Outcome.SCORER_ERROR if faulty else Outcome.INFRA_ERROR
                self.tell(playing, unscored(due, outcome, playing.failure or detail))

    def _told(self, name: str) -> bool:
        return name in self.playing and self.playing[name].told

    def _shown(self, due: Due, scored: Scored) -> Score:
        answer, detail = scored.answer, scored.detail
        if self.staging.problem is not None:
            problem = windows(self.staging.problem(due))
            answer = WITHHELD if answer is not None and quotes(answer, problem) else answer
            detail = WITHHELD if quotes(detail, problem) else detail
        metadata = {"outcome": str(scored.outcome), "category": scored.category, "repeat": scored.repeat}
        if scored.score is None:
            return Score.unscored(reason=str(scored.outcome), answer=answer, explanation=detail, metadata=metadata)
        return Score(value=scored.score, answer=answer, explanation=detail, metadata=metadata)


def unscored(due: Due, outcome: Outcome, detail: str) -> Scored:
    """The result of a sample that came to no verdict."""
    item = due.item
    return Scored(
        item=item.id, category=item.category, repeat=due.repeat, outcome=outcome, score=None, answer=None,
        gold=item.gold, detail=detail,
    )  # fmt: skip


def _inspect_model(name: str, port: Port, own: bool) -> InspectModel:
    return InspectModel(PortAPI(name, port, own), config_of(port.sampling))


def _evaluate(stage: Stage, port: Port, roles: Mapping[str, Port], logs: Path | None) -> None:
    """Run inspect. Its own screens, limits and retries are off: ours are elsewhere."""

    def entering() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            PLAYING.set(stage.enter(str(state.sample_id), port))
            return state

        return solve

    def verdict() -> Scorer:
        async def score(state: TaskState, target: Target) -> Score:
            return await stage.judged(str(state.sample_id), state)

        return score

    staging = stage.staging
    chain = [staging.solver] if callable(staging.solver) else list(staging.solver)
    with calm(), tempfile.TemporaryDirectory(prefix="spadework-log-") as nowhere:
        task = Task(
            name=staging.name, version=staging.version, dataset=MemoryDataset(stage.samples(), name=staging.name),
            setup=solver(entering)(), solver=chain, scorer=scorer(metrics=[mean()], name="verdict")(verdict)(),
            metadata=dict(staging.metadata),
        )  # fmt: skip
        count = len(stage.due)
        others = {role: _inspect_model(role, other, own=False) for role, other in roles.items()}
        found: list[EvalLog] = inspect_ai.eval(
            task, model=_inspect_model("model", port, own=True), model_roles=others or None,
            log_dir=str(logs or nowhere), log_format="eval", log_level="error", log_realtime=False, log_images=False,
            display="none", score_display=False, ctl_server=False, acp_server=False, fail_on_error=False,
            retry_on_error=0, max_samples=count, max_connections=count, max_tasks=1,
        )  # fmt: skip
        if not found or found[0].status == "cancelled":
            raise KeyboardInterrupt  # inspect swallows it
        stage.settle(found[0])  # it reads the samples from the log
