"""The player: all episodes in lock-step, one `generate` a turn for those that are still alive.

How an episode ends:

| what happened                                       | outcome          | reward                        |
|-----------------------------------------------------|------------------|-------------------------------|
| the program terminated it                           | RIGHT or WRONG   | its last reward, in [-1, 1]   |
| the program, or its `max_turns`, truncated it       | WRONG            | 0.0                           |
| a reply reached its length limit without a stop     | TRUNCATED        | 0.0; the reply is not played  |
| the next reply would not fit into `max_tokens`      | CONTEXT_OVERFLOW | 0.0                           |
| the program failed                                  | SCORER_ERROR     | None: not the agent's doing   |
| the host failed, and again when tried once more     | INFRA_ERROR      | None                          |

RIGHT means terminated with a reward of 1. Without stop tokens every reply has the full length and is played.
Tokens are only ever appended, so a trajectory is exactly what the engine saw and drew.
"""

from dataclasses import dataclass, field
from typing import MutableMapping, Sequence

from .dialect import Dialect
from .returns import WIN, episode_return
from .sandbox import EnvError, EnvProcess, Sandbox, Step, close_all, reset_all, step_all
from .seeds import derive
from .types import Arm, Completion, Episode, Finish, Model, Outcome, Play, Request, Trajectory

Processes = MutableMapping[str, EnvProcess]
"""Open processes by program id. A program is opened where it is missing, or failed by the host's fault."""


@dataclass(slots=True)
class _Running:
    """An episode under way."""

    index: int
    play: Play
    ids: list[int] = field(default_factory=list)
    generated: list[bool] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    actions: list[str] = field(default_factory=list)
    episode: Episode | None = None

    def prompt(self, ids: Sequence[int]) -> None:
        """Append tokens that the policy did not draw."""
        self._append(ids, [0.0] * len(ids), False)

    def reply(self, completion: Completion) -> None:
        """Append what the policy drew."""
        self._append(completion.ids, completion.logprobs, True)

    def _append(self, ids: Sequence[int], logprobs: Sequence[float], drawn: bool) -> None:
        assert len(ids) == len(logprobs), "an engine gives one log-prob a token"
        self.ids.extend(ids)
        self.generated.extend([drawn] * len(ids))
        self.logprobs.extend(logprobs)

    def end(
        self, outcome: Outcome, reward: float | None, *, terminated: bool = False, truncated: bool = False,
        error: str = "",
    ) -> None:  # fmt: skip
        """The episode as it was played."""
        trajectory = Trajectory(
            ids=tuple(self.ids),
            generated=tuple(self.generated),
            logprobs=tuple(self.logprobs),
            temperature=self.play.sampling.temperature,
        )
        self.episode = Episode(
            play=self.play, trajectory=trajectory, reward=reward, outcome=outcome, terminated=terminated,
            truncated=truncated, turns=len(self.actions), actions=tuple(self.actions), error=error,
        )  # fmt: skip


def play(
    plays: Sequence[Play],
    model: Model,
    dialect: Dialect,
    sandbox: Sandbox,
    max_tokens: int | None = None,
    processes: Processes | None = None,
) -> list[Episode]:
    """Play every episode and return them in the order of `plays`.

    `max_tokens` caps prompt, replies and the next reply's allowance together. Processes in `processes` are used and
    left open, and new ones are added; without it every process is closed in the end.
    """
    opened: Processes = {} if processes is None else processes
    try:
        episodes = _round(list(plays), model, dialect, sandbox, max_tokens, opened)
        again = [index for index, episode in enumerate(episodes) if episode.outcome is Outcome.INFRA_ERROR]
        if again:
            replayed = _round([plays[index] for index in again], model, dialect, sandbox, max_tokens, opened)
            for index, episode in zip(again, replayed):
                episodes[index] = episode
    finally:
        if processes is None:
            close_all(opened.values())
    return episodes


def _round(
    plays: list[Play], model: Model, dialect: Dialect, sandbox: Sandbox, max_tokens: int | None, opened: Processes
) -> list[Episode]:
    """One try at every play."""
    running = [_Running(index=index, play=play) for index, play in enumerate(plays)]
    _open(plays, sandbox, opened)
    _observe(running, _reset(running, opened), dialect)
    turn = 0
    while alive := _alive(running, max_tokens):
        completions = model.generate([_request(one, turn) for one in alive])
        acting = [one for one, completion in zip(alive, completions) if _act(one, completion, dialect)]
        _observe(acting, _step(acting, opened), dialect)
        turn += 1
    model.forget()
    return [one.episode for one in running if one.episode is not None]


def _open(plays: Sequence[Play], sandbox: Sandbox, opened: Processes) -> None:
    missing: dict[str, str] = {}
    for play in plays:
        process = opened.get(play.program.id)
        if process is None or (process.error is not None and process.error.fault == "host"):
            if process is not None:
                process.close()
            missing[play.program.id] = play.program.source
    opened.update(zip(missing, sandbox.open_all(list(missing.values())), strict=True))


def _alive(running: Sequence[_Running], max_tokens: int | None) -> list[_Running]:
    """Who plays on; an episode whose next reply has no room ends here."""
    alive = [one for one in running if one.episode is None]
    if max_tokens is not None:
        for one in alive:
            if len(one.ids) + one.play.sampling.max_new_tokens > max_tokens:
                one.end(Outcome.CONTEXT_OVERFLOW, 0.0, truncated=True)
    return [one for one in alive if one.episode is None]


def _request(one: _Running, turn: int) -> Request:
    seed = derive(one.play.sample_seed, "turn", turn)
    return Request(ids=tuple(one.ids), sampling=one.play.sampling, seed=seed, session=one.index)


def _act(one: _Running, completion: Completion, dialect: Dialect) -> bool:
    """Take a reply in; False when it is cut off and therefore no action."""
    one.reply(completion)
    if completion.finish is Finish.LENGTH and one.play.sampling.stop:
        one.end(Outcome.TRUNCATED, 0.0, truncated=True)
        return False
    one.actions.append(dialect.action(dialect.decode(completion.ids)))
    return True


def _reset(running: Sequence[_Running], opened: Processes) -> list[Step]:
    batch: dict[EnvProcess, list[tuple[int, int]]] = {}
    for one in running:
        batch.setdefault(opened[one.play.program.id], []).append((one.index, one.play.seed))
    return _in_order(running, reset_all(batch))


def _step(acting: Sequence[_Running], opened: Processes) -> list[Step]:
    batch: dict[EnvProcess, list[tuple[int, str]]] = {}
    for one in acting:
        batch.setdefault(opened[one.play.program.id], []).append((one.index, one.actions[-1]))
    return _in_order(acting, step_all(batch))


def _in_order(running: Sequence[_Running], answers: dict[EnvProcess, list[Step]]) -> list[Step]:
    steps = {step.instance: step for answer in answers.values() for step in answer}
    return [steps[one.index] for one in running]


def _observe(running: Sequence[_Running], steps: Sequence[Step], dialect: Dialect) -> None:
    """What the program answered to a reset (no action yet) or to the last action."""
    for one, step in zip(running, steps):
        if step.error is not None:
            _fail(one, step.error)
        elif step.terminated:
            reward = episode_return([step.reward], terminated=True)
            one.end(
                Outcome.RIGHT if reward >= WIN else Outcome.WRONG, reward, terminated=True, truncated=step.truncated
            )
        elif step.truncated or len(one.actions) >= one.play.program.max_turns:
            one.end(Outcome.WRONG, 0.0, truncated=True)
        elif one.actions:
            one.prompt(dialect.agent_next(step.observation, one.ids[-1]))
        else:
            hint = one.play.program.hint if one.play.arm is Arm.HINT else None
            one.prompt(dialect.agent_first(step.observation, hint))


def _fail(one: _Running, error: EnvError) -> None:
    one.end(Outcome.SCORER_ERROR if error.fault == "program" else Outcome.INFRA_ERROR, None, error=str(error))
