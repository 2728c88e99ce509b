"""Plays episodes of ACEBench-Agent: as a task of inspect-ai, or all of them in lock-step where it is not installed.

Both drive the same state machine and make the same results; the first leaves a log that `inspect view` opens.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

from ..harness.benchmark import CUT_SHORT, Due, Players, Preset, Scored, Sink
from ..harness.errors import InputError
from ..harness.types import Completion, Finish, Message, Model, Outcome, Request, Sampling
from .acebench_data import problem_of
from .acebench_episode import EXTRACTIONS, PROMPTINGS, Episode
from .acebench_verdict import as_answer, judged
from .thinking import spoken

VERSION = "2"
"""Of the scorer: it changes whenever a verdict may change."""
NO_USER = "multi_turn needs a simulated user; name its model with --user or in the preset."


@dataclass(kw_only=True)
class Played:
    """A sample and its episode."""

    due: Due
    episode: Episode
    preset: Preset
    completions: list[Completion] = field(default_factory=list)
    """Of the agent."""
    user_turns: int = 0
    ended: Outcome | None = None
    """What ended it before its end."""
    detail: str = ""

    @property
    def alive(self) -> bool:
        """Whether a reply is awaited."""
        return self.ended is None and self.episode.turn != "over"

    def hear_agent(self, completion: Completion) -> None:
        """One reply of the model under test; a cut one ends the episode."""
        self.completions.append(completion)
        if completion.finish in CUT_SHORT:
            self.ended, self.detail = CUT_SHORT[completion.finish], completion.error
            return
        said = self.episode.extraction.said(completion.text)
        if said is None:
            self.ended, self.detail = Outcome.NO_ANSWER, "the thinking block is never closed"
        else:
            self.episode.hear(said)

    def hear_user(self, text: str, finish: Finish, error: str = "") -> None:
        """One reply of the simulated user, who may think too; where it has none, nothing is known of the agent."""
        self.user_turns += 1
        said = spoken(text)
        if finish in (Finish.STOP, Finish.LENGTH, Finish.CALLS) and said is not None:
            self.episode.hear(said.strip())
        else:
            self.ended, self.detail = (
                Outcome.INFRA_ERROR,
                f"the simulated user gave no reply ({finish}) {error}".strip(),
            )

    def scored(self) -> Scored:
        """The result."""
        item, episode = self.due.item, self.episode
        verdict = judged(episode.problem, episode.attempts, episode.extraction, self.preset.scorer)
        outcome = self.ended or verdict.outcome
        usage = [one.usage for one in self.completions if one.usage is not None]
        facts: dict[str, float | int | str] = {
            "process_accuracy": verdict.process_accuracy, "calls": verdict.calls, "malformed_calls": verdict.malformed,
            "messages": episode.messages, "turns": len(self.completions), "user_turns": self.user_turns,
            "prompt_tokens": sum(one.prompt_tokens for one in usage),
            "completion_tokens": sum(one.completion_tokens for one in usage),
        }  # fmt: skip
        return Scored(
            item=item.id, category=item.category, repeat=self.due.repeat, outcome=outcome,
            score=float(outcome is Outcome.RIGHT) if outcome.scored else None, answer=as_answer(episode.attempts),
            gold=item.gold, detail=self.detail if self.ended else verdict.detail, facts=facts,
        )  # fmt: skip


def opened(due: Sequence[Due], preset: Preset, players: Players) -> list[Played]:
    """Episodes at their beginning. Raises InputError where they need a user and there is none."""
    if players.user is None and any(problem_of(one.item).several_turns for one in due):
        raise InputError(NO_USER)
    prompting, extraction = PROMPTINGS[preset.prompt], EXTRACTIONS[preset.extraction]
    return [
        Played(
            due=one, episode=Episode(problem_of(one.item), prompting, extraction, preset.max_turns), preset=preset
        )
        for one in due
    ]  # fmt: skip


def play_together(due: Sequence[Due], preset: Preset, players: Players, sink: Sink) -> None:
    """All episodes in lock-step: one `generate` for all agents whose turn it is, then one for all users."""
    alive = opened(due, preset, players)
    while alive:
        users = [one for one in alive if one.episode.turn == "user"]
        if users:
            assert players.user is not None
            for one, said in zip(users, _said(users, players.user, user_sampling(preset)), strict=True):
                one.hear_user(said.text, said.finish, said.error)
        agents = [one for one in alive if one.alive and one.episode.turn == "agent"]
        for one, said in zip(agents, _said(agents, players.model, preset.sampling), strict=True):
            one.hear_agent(said)
        for one in alive:
            if not one.alive:
                sink.put(one.scored(), one.completions)
        alive = [one for one in alive if one.alive]


def user_sampling(preset: Preset) -> Sampling:
    """The simulated user's own, or the agent's where the preset names none."""
    return preset.user_sampling or preset.sampling


def _said(asked: Sequence[Played], model: Model, sampling: Sampling) -> list[Completion]:
    requests = [Request(messages=one.episode.asked(), sampling=sampling, seed=one.due.seed) for one in asked]
    return model.generate(requests) if requests else []


def play_inspected(due: Sequence[Due], preset: Preset, players: Players, sink: Sink) -> None:
    """The same as a task of inspect-ai."""
    from inspect_ai.dataset import Sample
    from inspect_ai.solver import Generate, Solver, TaskState, solver

    from ..harness.adapters.inspect_ai import Staging, play
    from ..harness.adapters.inspect_model import PLAYING, Playing

    episodes = {(one.due.item.id, one.due.repeat): one for one in opened(due, preset, players)}

    def of(playing: Playing) -> Played:
        return episodes[playing.due.item.id, playing.due.repeat]

    def conversation() -> Solver:
        async def solve(state: TaskState, _generate: Generate) -> TaskState:
            playing = PLAYING.get()
            await _converse(of(playing), playing.completions, state)
            return state

        return solve

    async def judge(playing: Playing, _state: TaskState) -> Scored:
        return of(playing).scored()

    def sample(one: Due) -> Sample:
        problem = problem_of(one.item)
        return Sample(input=problem.question, target=one.item.gold, metadata={"item": problem.name})

    metadata = {
        "preset": preset.name, "source": preset.source, "scorer": preset.scorer, "user": preset.user,
        "spadework": version("spadework"),
    }  # fmt: skip
    staging = Staging(
        name=preset.benchmark, version=VERSION, sample=sample, solver=solver(conversation)(), judge=judge,
        metadata=metadata,
    )  # fmt: skip
    play(staging, due, preset, players, sink)


async def _converse(one: Played, completions: Sequence[Completion], state: Any) -> None:
    """Play an episode to its end; inspect's state shows the last exchange, its log all of them."""
    from inspect_ai.model import get_model

    while one.alive:
        agent = one.episode.turn == "agent"
        state.messages = [_inspected(message) for message in one.episode.asked()]
        state.output = await (get_model() if agent else get_model(role="user")).generate(state.messages)
        if agent:
            one.hear_agent(completions[-1])
        else:
            one.hear_user(state.output.completion, _finish(state.output.stop_reason), state.output.error or "")


def _inspected(message: Message) -> Any:
    from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageUser

    kinds: dict[str, Any] = {"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}
    return kinds[message.role](content=message.content)


def _finish(reason: str) -> Finish:
    return {"content_filter": Finish.REFUSED, "model_length": Finish.CONTEXT}.get(reason, Finish.STOP)
