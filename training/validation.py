"""The validator: source text in, a valid program or a typed rejection out; many candidates at once.

Gates, cheap first, all inside sandbox workers: size; load; contract on one episode; it ends within the turn cap; odd
actions (empty, long, unicode, digits) do no harm; the same seed gives the same episode (played again later, among other
instances); seeds give different first observations; players that do nothing sensible do not win most instances.
What is not checked: that the task can be solved.
"""

from dataclasses import dataclass
from typing import Callable, Sequence

from ..harness.episode import WIN
from ..harness.sandbox import EnvError, EnvProcess, ErrorKind, Sandbox, Step, close_all, load_all, reset_all, step_all
from ..harness.seeds import text_id
from ..harness.types import Program
from .proposal import Reason, Rejection

Player = Callable[[int, str], str]
"""From turn (0, 1, ...) and last observation to an action."""

REASONS = {
    ErrorKind.EMPTY: Reason.DOES_NOT_LOAD, ErrorKind.ENCODING: Reason.DOES_NOT_LOAD,
    ErrorKind.OBSERVATION: Reason.CONTRACT, ErrorKind.REWARD: Reason.CONTRACT, ErrorKind.INFO: Reason.CONTRACT,
    ErrorKind.FORBIDDEN: Reason.RAISES, ErrorKind.CPU_EXHAUSTED: Reason.TOO_SLOW, ErrorKind.EARLY_EXIT: Reason.RAISES,
    ErrorKind.NONDETERMINISTIC: Reason.NONDETERMINISTIC, ErrorKind.ACTION: Reason.HOST, ErrorKind.KILLED: Reason.HOST,
    ErrorKind.SOURCE_TOO_LARGE: Reason.TOO_LARGE, ErrorKind.SYNTAX: Reason.DOES_NOT_LOAD,
    ErrorKind.FORBIDDEN_MODULE: Reason.DOES_NOT_LOAD, ErrorKind.LOAD: Reason.DOES_NOT_LOAD,
    ErrorKind.CONTRACT: Reason.CONTRACT, ErrorKind.EXCEPTION: Reason.RAISES, ErrorKind.EXIT: Reason.RAISES,
    ErrorKind.TIMEOUT: Reason.TOO_SLOW, ErrorKind.HANG: Reason.TOO_SLOW, ErrorKind.MEMORY: Reason.TOO_SLOW,
    ErrorKind.CRASH: Reason.RAISES, ErrorKind.PROTOCOL: Reason.RAISES, ErrorKind.MISUSE: Reason.HOST,
    ErrorKind.SERVER_DIED: Reason.HOST, ErrorKind.CLOSED: Reason.HOST,
}  # fmt: skip


@dataclass(frozen=True, kw_only=True, slots=True)
class ValidationSettings:
    """How hard a candidate is looked at."""

    max_turns: int = 12
    """Turn cap; every probe must end within it."""
    seeds: tuple[int, ...] = (11, 12, 13, 14, 15)
    """Instance seeds of the probes. The first is the one that is played twice."""
    distinct: int = 2
    """Different first observations wanted among the seeds."""
    free_win_share: float = 0.5
    """A senseless player may win at most this share of the seeds."""
    abs_reward: float = 10.0
    ordinary: tuple[str, ...] = ("1", "yes", "test", "42", "right", "a")
    """Actions of the first episode, one after the other."""
    constants: tuple[str, ...] = ("1", "yes")
    """What the senseless players repeat, beside nothing and the observation."""
    odd: tuple[str, ...] = ("x" * 10_000, "é\u4e2d\U0001f600\u0000\n", "0123456789 -1 1e999 nan")
    together: int = 32
    """Candidates examined at once; each has a process."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Valid:
    """A candidate that passed every gate."""

    id: str
    """First 16 hex digits of the source's sha256."""
    source: str
    max_turns: int
    """The turn cap it was validated with."""

    def program(self, skill: str, hint: str | None = None) -> Program:
        """The environment, under the skill it was written for."""
        return Program(id=self.id, source=self.source, skill=skill, hint=hint, max_turns=self.max_turns)


@dataclass(slots=True)
class Probe:
    """One instance of one candidate and who plays it."""

    seed: int
    player: Player
    steps: list[Step]
    """The reset's step, then one an action."""

    @property
    def over(self) -> bool:
        """No further action is due: it ended, or failed."""
        last = self.steps[-1]
        return last.error is not None or last.terminated or last.truncated

    @property
    def won(self) -> bool:
        """It ended with a reward of 1."""
        return self.steps[-1].terminated and self.steps[-1].reward >= WIN


def validate(
    sources: Sequence[str], sandbox: Sandbox, settings: ValidationSettings | None = None
) -> list[Valid | Rejection]:
    """The verdict on every candidate, in order; equal sources are examined once."""
    settings = settings or ValidationSettings()
    verdicts: dict[str, Valid | Rejection] = {}
    unique = list(dict.fromkeys(sources))
    for start in range(0, len(unique), settings.together):
        verdicts.update(_examine(unique[start : start + settings.together], sandbox, settings))
    failed = [source for source, verdict in verdicts.items() if _hosts_fault(verdict)]
    if failed:
        verdicts.update(_examine(failed, sandbox, settings))
    return [verdicts[source] for source in sources]


def _hosts_fault(verdict: Valid | Rejection) -> bool:
    return isinstance(verdict, Rejection) and verdict.reason is Reason.HOST


def _examine(sources: Sequence[str], sandbox: Sandbox, settings: ValidationSettings) -> dict[str, Valid | Rejection]:
    """All gates on a handful of candidates at once."""
    processes = dict(zip(sources, sandbox.open_all(sources), strict=True))
    try:
        load_all(list(processes.values()))
        first, verdicts = _first_episodes(processes, settings)
        passed = {source: process for source, process in processes.items() if source not in verdicts}
        probes = {source: later_probes(settings) for source in passed}
        play_probes({passed[source]: probes[source] for source in passed}, settings.max_turns, first_instance=1)
        for source, rest in probes.items():
            verdicts[source] = judge(source, first[source], rest, settings)
    finally:
        close_all(processes.values())
    return verdicts


def _first_episodes(
    processes: dict[str, EnvProcess], settings: ValidationSettings
) -> tuple[dict[str, Probe], dict[str, Valid | Rejection]]:
    """One ordinary episode of every candidate, alone in its fresh process; and the verdicts that are already clear."""
    first = {source: _probe(settings.seeds[0], _saying(settings.ordinary)) for source in processes}
    play_probes({process: [first[source]] for source, process in processes.items()}, settings.max_turns)
    verdicts: dict[str, Valid | Rejection] = {}
    for source, probe in first.items():
        rejection = sound(probe, settings)
        if rejection is not None:
            verdicts[source] = rejection
    return first, verdicts


def later_probes(settings: ValidationSettings) -> list[Probe]:
    """The same episode again, then the odd actions, then the senseless players on every seed."""
    again = [_probe(settings.seeds[0], _saying(settings.ordinary))]
    odd = [_probe(settings.seeds[0], _saying((action,))) for action in settings.odd]
    senseless = [_saying(("",)), *(_saying((word,)) for word in settings.constants), _echo]
    return again + odd + [_probe(seed, player) for player in senseless for seed in settings.seeds]


def judge(source: str, first: Probe, rest: Sequence[Probe], settings: ValidationSettings) -> Valid | Rejection:
    """The verdict from what was played. Pure."""
    for probe in rest:
        rejection = sound(probe, settings)
        if rejection is not None:
            return rejection
    if _seen(rest[0]) != _seen(first):
        detail = "the same seed and actions gave another episode the second time"
        return Rejection(reason=Reason.NONDETERMINISTIC, detail=detail)
    senseless = rest[1 + len(settings.odd) :]
    seeds = len(settings.seeds)
    observations = {probe.steps[0].observation for probe in senseless[:seeds]}
    if len(observations) < settings.distinct:
        return Rejection(
            reason=Reason.ONE_INSTANCE, detail=f"{seeds} seeds gave {len(observations)} first observations"
        )
    names = ["", *settings.constants, "the observation"]
    for number, name in enumerate(names):
        won = sum(probe.won for probe in senseless[number * seeds : (number + 1) * seeds])
        if won > settings.free_win_share * seeds:
            return Rejection(
                reason=Reason.FREE_WIN, detail=f"always answering {name!r} wins {won} of {seeds} instances"
            )
    return Valid(id=text_id(source), source=source, max_turns=settings.max_turns)


def sound(probe: Probe, settings: ValidationSettings) -> Rejection | None:
    """Whether one episode kept the contract and ended. Pure."""
    for step in probe.steps:
        if step.error is not None:
            return rejected(step.error)
        if abs(step.reward) > settings.abs_reward:
            return Rejection(
                reason=Reason.REWARD_RANGE, detail=f"a reward of {step.reward:g}, allowed are +-{settings.abs_reward:g}"
            )
    if not probe.over:
        return Rejection(reason=Reason.NO_TERMINATION, detail=f"no end within {settings.max_turns} turns")
    return None


def rejected(error: EnvError) -> Rejection:
    """A sandbox error as a rejection."""
    return Rejection(reason=REASONS[error.kind], detail=f"{error.kind}: {error.message}")


def play_probes(batch: dict[EnvProcess, list[Probe]], max_turns: int, first_instance: int = 0) -> None:
    """Play every probe to its end or the turn cap, all candidates in lock-step. Fills `steps`."""
    if not batch:
        return
    seeds = {
        process: [(number, probe.seed) for number, probe in enumerate(probes, first_instance)]
        for process, probes in batch.items()
    }
    for process, steps in reset_all(seeds).items():
        for probe, step in zip(batch[process], steps):
            probe.steps.append(step)
    for turn in range(max_turns):
        alive = {process: _acting(probes, first_instance, turn) for process, probes in batch.items()}
        alive = {process: items for process, items in alive.items() if items}
        if not alive:
            return
        for process, steps in step_all(alive).items():
            for step in steps:
                batch[process][step.instance - first_instance].steps.append(step)


def _acting(probes: Sequence[Probe], first_instance: int, turn: int) -> list[tuple[int, str]]:
    return [
        (number, probe.player(turn, probe.steps[-1].observation))
        for number, probe in enumerate(probes, first_instance)
        if not probe.over
    ]


def _probe(seed: int, player: Player) -> Probe:
    return Probe(seed=seed, player=player, steps=[])


def _saying(actions: Sequence[str]) -> Player:
    return lambda turn, _observation: actions[turn % len(actions)]


def _echo(_turn: int, observation: str) -> str:
    return observation


def _seen(probe: Probe) -> list[tuple[str, float, bool, bool]]:
    return [(step.observation, step.reward, step.terminated, step.truncated) for step in probe.steps]
