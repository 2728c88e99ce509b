"""Plays episodes of tau2 as a task of inspect-ai: the agent under test, a simulated user, and a judge where one counts.

Prompts, functions and the order of turns are those of inspect-evals: the user begins, each side calls its functions
until it says something, and the user's mark ends it. Its own loop is not used: it prints what goes wrong, goes on as
if nothing had been, and counts neither steps nor errors.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import TYPE_CHECKING

from ..harness.benchmark import CUT_SHORT, Due, Players, Preset, Scored, Sink
from ..harness.errors import InputError
from ..harness.types import Completion, Outcome, ToolCall
from .tau2_data import Problem, problem_of
from .thinking import spoken

if TYPE_CHECKING:
    from .tau2_verdict import Event
    from .tau2_world import World

VERSION = "1"
"""Of the scorer: it changes whenever a verdict may change."""
OVER = ("###STOP###", "###TRANSFER###", "###OUT-OF-SCOPE###")
"""Marks with which the simulated user ends the conversation."""
NO_USER = "tau2 needs a simulated user; name its model with --user or in the preset."
NO_JUDGE = "{} retail tasks need a judge; name its model with --judge or in the preset."


@dataclass(kw_only=True)
class Played:
    """A sample and its episode, as far as it has been played."""

    problem: Problem
    preset: Preset
    events: list["Event"] = field(default_factory=list)
    met: tuple[bool, ...] | None = None
    turn: str = "user"
    """`user` or `assistant`."""
    over: bool = False
    ended: Outcome | None = None
    """What ended it before its end."""
    detail: str = ""
    steps: int = 0
    """Messages and answers to calls, of both sides."""
    errors: int = 0
    turns: dict[str, int] = field(default_factory=lambda: {"user": 0, "assistant": 0})
    world: "World | None" = None

    def hear(self, completion: Completion) -> list[tuple[ToolCall, str]]:
        """A message of the side whose turn it is; the calls in it, answered."""
        self.turns[self.turn] += 1
        self.steps += 1
        if completion.finish in CUT_SHORT:
            return self._broken(CUT_SHORT[completion.finish], completion.error or f"it ended with {completion.finish}")
        said = spoken(completion.text)
        if not completion.calls and not (said or "").strip():
            why = "the thinking block is never closed" if said is None else "neither a text nor a call"
            return self._broken(Outcome.NO_ANSWER, why)
        answers = self._called(completion.calls) if completion.calls else []
        if not completion.calls:
            self._said((said or "").strip())
        most = int(self.preset.options.get("max_errors", 10))
        if self.errors >= most:
            self.over = True
        elif self.steps >= self.preset.max_turns and not self.over:
            self.over, self.ended = True, Outcome.TRUNCATED
            self.detail = f"no end after {self.preset.max_turns} steps"
        return answers

    def _said(self, text: str) -> None:
        from .tau2_verdict import Event

        self.events.append(Event(by=self.turn, text=text))
        if self.turn == "user" and any(mark in text for mark in OVER):
            self.over = True
        self.turn = "assistant" if self.turn == "user" else "user"

    def _called(self, calls: Sequence[ToolCall]) -> list[tuple[ToolCall, str]]:
        from .tau2_verdict import Event
        from .tau2_world import FAILED, World

        self.world = self.world or World(self.problem)
        answers = []
        for call in calls:
            self.events.append(Event(by=self.turn, call=call.name, arguments=call.arguments))
            answers.append((call, self.world.call(self.turn, call.name, call.arguments)))
            self.steps += 1
            self.errors += answers[-1][1].startswith(FAILED)
        return answers

    def _broken(self, outcome: Outcome, why: str) -> list[tuple[ToolCall, str]]:
        """A message that ends the episode; the user's is no fault of the agent."""
        self.over = True
        by_agent = self.turn == "assistant"
        self.ended = outcome if by_agent else Outcome.INFRA_ERROR
        self.detail = why if by_agent else f"the simulated user gave no reply ({why})"
        return []

    def scored(self, due: Due, completions: Sequence[Completion]) -> Scored:
        """The result. Blocks while the episode is played again."""
        from .tau2_verdict import Recorded, as_answer, judged

        recorded = Recorded(events=tuple(self.events), met=self.met)
        facts: dict[str, float | int | str] = {
            "steps": self.steps, "turns": self.turns["assistant"], "user_turns": self.turns["user"],
            "call_errors": self.errors, "version": self.problem.version,
        }  # fmt: skip
        usage = [one.usage for one in completions if one.usage is not None]
        facts["prompt_tokens"] = sum(one.prompt_tokens for one in usage)
        facts["completion_tokens"] = sum(one.completion_tokens for one in usage)
        outcome, detail = self.ended, self.detail
        if outcome is None:
            verdict = judged(self.problem, recorded, int(self.preset.options.get("max_errors", 10)))
            outcome, detail = verdict.outcome, verdict.detail
            facts["action_checks"] = verdict.actions
            facts |= {f"part_{part.lower()}": int(right) for part, right in verdict.parts.items()}
        self.world = None
        return Scored(
            item=due.item.id, category=due.item.category, repeat=due.repeat, outcome=outcome,
            score=float(outcome is Outcome.RIGHT) if outcome.scored else None,
            answer=as_answer(recorded) if self.ended is None else None, gold=due.item.gold, detail=detail, facts=facts,
        )  # fmt: skip


def play(due: Sequence[Due], preset: Preset, players: Players, sink: Sink) -> None:
    """Play the samples; every one of them reaches the sink. Raises InputError where a user or a judge is missing."""
    from inspect_ai.dataset import Sample
    from inspect_ai.solver import Generate, Solver, TaskState, solver

    from ..harness.adapters.inspect_ai import Staging
    from ..harness.adapters.inspect_ai import play as play_staged
    from ..harness.adapters.inspect_model import PLAYING, Playing
    from .tau2_talk import converse

    if players.user is None:
        raise InputError(NO_USER)
    judges = sum(bool(problem_of(one.item).judged) for one in due)
    if judges and players.judge is None:
        raise InputError(NO_JUDGE.format(judges))
    episodes = {
        (one.item.id, one.repeat): Played(problem=problem_of(one.item), preset=preset) for one in due
    }  # fmt: skip

    def conversation() -> Solver:
        async def solve(state: TaskState, _generate: Generate) -> TaskState:
            playing = PLAYING.get()
            await converse(episodes[playing.due.item.id, playing.due.repeat], state)
            return state

        return solve

    async def judge(playing: Playing, _state: TaskState) -> Scored:
        one = episodes.pop((playing.due.item.id, playing.due.repeat))
        return one.scored(playing.due, playing.completions)

    def sample(one: Due) -> Sample:
        problem = problem_of(one.item)
        return Sample(input=problem.name, target=one.item.gold, metadata={"domain": problem.domain})

    staging = Staging(
        name=preset.benchmark, version=VERSION, sample=sample, solver=solver(conversation)(), judge=judge,
        metadata=_metadata(preset),
    )  # fmt: skip
    play_staged(staging, due, preset, players, sink)


def _metadata(preset: Preset) -> dict[str, str]:
    """Of the log."""
    return {
        "preset": preset.name, "source": preset.source, "scorer": preset.scorer, "user": preset.user,
        "judge": preset.judge, "spadework": version("spadework"), "tasks": str(preset.slice.get("version", "")),
    }  # fmt: skip
