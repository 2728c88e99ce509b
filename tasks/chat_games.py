"""Playing text games by conversation: the program's observations are the user's messages, the replies are the actions.

It is `harness.episode` for models that are asked in messages: all games in lock-step, programs in the sandbox, one
`generate` a turn for the games that are alive. It knows no benchmark and extracts nothing itself.

| what happened                                    | outcome                              |
|--------------------------------------------------|--------------------------------------|
| the program ended the game                       | RIGHT for a reward of 1, else WRONG  |
| the program or the turn limit cut the game       | WRONG                                |
| a reply was cut, refused, or had no room         | TRUNCATED, REFUSED, CONTEXT_OVERFLOW |
| no completion came, or the host failed           | INFRA_ERROR                          |
| the program failed                               | SCORER_ERROR                         |
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ..harness.benchmark import CUT_SHORT
from ..harness.returns import WIN, episode_return
from ..harness.sandbox import EnvProcess, Sandbox, Step, close_all, reset_all, step_all
from ..harness.types import Completion, Message, Model, Outcome, Program, Request, Sampling


@dataclass(frozen=True, kw_only=True, slots=True)
class Game:
    """One game to be played. Every request carries `sample_seed`."""

    program: Program
    seed: int
    sample_seed: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Table:
    """What all games of a call share."""

    model: Model
    sandbox: Sandbox
    sampling: Sampling
    opening: tuple[Message, ...] = ()
    """Messages before the first observation."""
    action: Callable[[str], str] = str.strip
    """From a reply to the action in it."""


@dataclass(kw_only=True, slots=True)
class Played:
    """One game as far as it has come; `outcome` is None while it goes on."""

    number: int
    game: Game
    messages: list[Message]
    actions: list[str] = field(default_factory=list)
    completions: list[Completion] = field(default_factory=list)
    outcome: Outcome | None = None
    reward: float | None = None
    detail: str = ""

    def end(self, outcome: Outcome, reward: float | None, detail: str = "") -> None:
        """The game is over."""
        self.outcome, self.reward, self.detail = outcome, reward, detail


def play_games(games: Sequence[Game], table: Table) -> list[Played]:
    """Play all games to their end, in order."""
    programs = {game.program.id: game.program.source for game in games}
    processes = dict(zip(programs, table.sandbox.open_all(list(programs.values())), strict=True))
    played = [Played(number=number, game=game, messages=list(table.opening)) for number, game in enumerate(games)]
    try:
        resets: dict[EnvProcess, list[tuple[int, int]]] = {}
        for one in played:
            resets.setdefault(processes[one.game.program.id], []).append((one.number, one.game.seed))
        _observe(played, reset_all(resets))
        while alive := [one for one in played if one.outcome is None]:
            steps: dict[EnvProcess, list[tuple[int, str]]] = {}
            for one in _act(alive, table):
                steps.setdefault(processes[one.game.program.id], []).append((one.number, one.actions[-1]))
            _observe(played, step_all(steps))
    finally:
        close_all(processes.values())
    table.model.forget()
    return played


def _act(alive: Sequence[Played], table: Table) -> list[Played]:
    """One reply for each game; those whose reply is an action."""
    completions = table.model.generate(
        [
            Request(messages=tuple(one.messages), sampling=table.sampling, seed=one.game.sample_seed)
            for one in alive
        ]
    )  # fmt: skip
    for one, completion in zip(alive, completions, strict=True):
        one.completions.append(completion)
        if completion.finish in CUT_SHORT:
            outcome = CUT_SHORT[completion.finish]
            one.end(outcome, 0.0 if outcome.scored else None, completion.error)
        else:
            one.messages.append(Message(role="assistant", content=completion.text))
            one.actions.append(table.action(completion.text))
    return [one for one in alive if one.outcome is None]


def _observe(played: Sequence[Played], answers: dict[EnvProcess, list[Step]]) -> None:
    """What the programs said to a reset or to the last actions."""
    for step in (step for steps in answers.values() for step in steps):
        one = played[step.instance]
        if step.error is not None:
            fault = Outcome.SCORER_ERROR if step.error.fault == "program" else Outcome.INFRA_ERROR
            one.end(fault, None, str(step.error))
        elif step.terminated:
            reward = episode_return([step.reward], terminated=True)
            one.end(Outcome.RIGHT if reward >= WIN else Outcome.WRONG, reward)
        elif step.truncated or len(one.actions) >= one.game.program.max_turns:
            one.end(Outcome.WRONG, 0.0)
        else:
            one.messages.append(Message(role="user", content=step.observation.strip()))
