"""Benchmarks of one question and one answer, played through inspect-ai: what LiveCodeBench and Reasoning-Gym share.

The counterpart of `single_turn.play`, which goes through lm-eval. A closed benchmark's question goes to the port past
inspect, so that its log holds the item's hash in the question's place.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version

from ..harness.benchmark import CUT_SHORT, Due, Players, Preset, Scored, Sink
from ..harness.types import Completion, Message, Outcome
from .single_turn import Judge, Judged, scored

Prompt = Callable[[Due], tuple[Message, ...]]


@dataclass(frozen=True, kw_only=True)
class Turn:
    """What is asked and how it is judged."""

    prompt: Prompt
    judge: Judge
    workers: int = 1
    """Judges at a time; each waits in a thread of its own."""
    version: str = "1"
    """Of the scorer, for the log."""
    problem: Callable[[Due], str] | None = None
    """For a closed benchmark: the text that may not be written."""
    metadata: Mapping[str, object] = field(default_factory=dict)


def play(due: Sequence[Due], turn: Turn, preset: Preset, players: Players, sink: Sink) -> None:
    """Play the samples; all results are in the sink by then."""
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ChatMessage, ChatMessageSystem, ChatMessageUser
    from inspect_ai.solver import Generate, Solver, TaskState, generate, solver

    from ..harness.adapters.inspect_ai import Staging, in_thread
    from ..harness.adapters.inspect_ai import play as play_staged
    from ..harness.adapters.inspect_model import PLAYING, Playing, ask

    def past_inspect() -> Solver:
        async def solve(state: TaskState, _generate: Generate) -> TaskState:
            await ask(turn.prompt(PLAYING.get().due))
            return state

        return solve

    def sample(one: Due) -> Sample:
        if turn.problem is not None:
            return Sample(input=one.item.id, target=one.item.gold)
        kinds: dict[str, type[ChatMessage]] = {"system": ChatMessageSystem, "user": ChatMessageUser}
        asked = [kinds[message.role](content=message.content) for message in turn.prompt(one)]
        return Sample(input=asked, target=one.item.gold)

    def judge(playing: Playing) -> Scored:
        return result(playing.due, playing.completions[-1], turn.judge)

    staging = Staging(
        name=preset.benchmark, version=turn.version, sample=sample, judge=in_thread(judge, turn.workers),
        solver=generate() if turn.problem is None else solver(past_inspect)(), problem=turn.problem,
        metadata={"preset": preset.name, "source": preset.source, "spadework": version("spadework"), **turn.metadata},
    )  # fmt: skip
    play_staged(staging, due, preset, players, sink)


def result(due: Due, completion: Completion, judge: Judge) -> Scored:
    """The result of one completion; one that did not come to its end is not judged."""
    return scored(due, completion, _not_judged if completion.finish in CUT_SHORT else judge)


def _not_judged(due: Due, said: str) -> Judged:
    return Judged(outcome=Outcome.NO_ANSWER, answer=None)
