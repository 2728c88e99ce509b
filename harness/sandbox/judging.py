"""From what was played with a candidate to the verdict on it. Pure: nothing is played here, see validation.py."""

from dataclasses import dataclass, field

from ..seeds import text_id
from .limits import EnvError, ErrorKind, Isolation
from .process import EnvProcess
from .trials import Trial, echo, saying
from .verdict import Disturbance, Gate, Rejected, ValidationSettings, ValidEnvironment, Verdict

TEXT_KINDS = frozenset({ErrorKind.EMPTY, ErrorKind.SOURCE_TOO_LARGE, ErrorKind.ENCODING})
RESOURCE_KINDS = frozenset({ErrorKind.TIMEOUT, ErrorKind.HANG, ErrorKind.MEMORY, ErrorKind.CPU_EXHAUSTED})


@dataclass(slots=True)
class Candidate:
    """One source under examination and what was played with it so far."""

    source: str
    process: EnvProcess
    first: Trial
    """The ordinary episode, alone in a fresh process: all others are compared with it."""
    rest: list[tuple[Gate, Trial]]
    """The same again, the odd actions, the senseless players on every seed; with the gate that an error belongs to."""
    elsewhere: list[Trial]
    """Ordinary episodes at once on another server; the one in the middle is the same again."""
    explored: list[Trial] = field(default_factory=list)
    step_cpu_s: float = 0.0
    verdict: Verdict | None = None

    @property
    def played(self) -> list[Trial]:
        """Every trial."""
        return [self.first, *(trial for _, trial in self.rest), *self.elsewhere, *self.explored]

    @property
    def paid(self) -> bool:
        """Something that was tried was paid for."""
        return any(trial.paid for trial in self.played)


def candidate(source: str, process: EnvProcess, settings: ValidationSettings) -> Candidate:
    """A source with all that an ordinary candidate is to be played with."""
    ordinary, seed = saying(settings.ordinary), settings.seeds[0]
    players = [(Gate.ODD_ACTIONS, saying(("",))), *((Gate.PLAY, saying((word,))) for word in settings.constants)]
    players.append((Gate.PLAY, echo))
    return Candidate(
        source=source,
        process=process,
        first=Trial(seed, ordinary),
        rest=[
            (Gate.PLAY, Trial(seed, ordinary)),
            *((Gate.ODD_ACTIONS, Trial(seed, saying((action,)))) for action in settings.odd),
            *((gate, Trial(one, player)) for gate, player in players for one in settings.seeds),
        ],
        elsewhere=[Trial(one, ordinary) for one in (settings.seeds[1], seed, settings.seeds[2])],
    )


def after_load(one: Candidate) -> Rejected | None:
    """The verdict on a program that was not loaded."""
    error = one.process.error
    if error is None:
        return None
    if error.kind in TEXT_KINDS:
        return _rejected(error, Gate.TEXT)
    return _rejected(error, Gate.CONTRACT if error.kind is ErrorKind.CONTRACT else Gate.LOAD)


def after_first(one: Candidate, settings: ValidationSettings) -> Rejected | None:
    """The verdict that the first episode allows already."""
    return _unsound(one.first, Gate.CONTRACT, settings)


def too_slow(one: Candidate, settings: ValidationSettings) -> Rejected | None:
    """The verdict by the time that ordinary steps took."""
    if one.step_cpu_s <= settings.step_cpu_s:
        return None
    detail = f"a step takes {one.step_cpu_s:.3f} s of CPU time, allowed are {settings.step_cpu_s:g} s"
    return Rejected(gate=Gate.SPEED, detail=detail)


def after_rest(one: Candidate, settings: ValidationSettings) -> Rejected | None:
    """The first further episode that broke the contract or had no end."""
    for gate, trial in one.rest:
        rejection = _unsound(trial, gate, settings)
        if rejection is not None:
            return rejection
    # Whatever else went wrong on the other server is a difference, see `differing`.
    error = one.elsewhere[1].steps[-1].error
    if error is not None and (error.fault == "host" or error.kind in RESOURCE_KINDS):
        return _rejected(error, Gate.PLAY)
    return None


def differing(one: Candidate) -> tuple[Disturbance, ...]:
    """Where the episode did not come back the same; by the nearest name, for `_attribute` may find no better one."""
    told = one.first.seen()
    here = (Disturbance.CARRY_OVER,) if one.rest[0][1].seen() != told else ()
    return here + ((Disturbance.OTHER_SERVER,) if one.elsewhere[1].seen() != told else ())


def judge(one: Candidate, settings: ValidationSettings) -> Rejected | None:
    """The verdict on a candidate whose every episode was sound and came back the same."""
    distinct, seeds = _distinct(one, settings), len(settings.seeds)
    if distinct < settings.distinct:
        return Rejected(gate=Gate.VARIETY, detail=f"{seeds} seeds gave {distinct} first observations")
    senseless = _senseless(one, settings)
    for number, name in enumerate(["", *settings.constants, "the observation"]):
        won = sum(trial.won for trial in senseless[number * seeds : (number + 1) * seeds])
        if won > settings.free_win_share * seeds:
            return Rejected(gate=Gate.FREE_WIN, detail=f"always answering {name!r} wins {won} of {seeds} instances")
    return None


def valid(one: Candidate, settings: ValidationSettings, isolation: Isolation) -> ValidEnvironment:
    """The verdict on a candidate that nothing speaks against."""
    return ValidEnvironment(
        id=text_id(one.source), source=one.source, max_turns=settings.max_turns, isolation=isolation,
        step_cpu_s=one.step_cpu_s, distinct=_distinct(one, settings), dead_end=not one.paid,
        disturbances=tuple(Disturbance),
    )  # fmt: skip


def _unsound(trial: Trial, gate: Gate, settings: ValidationSettings) -> Rejected | None:
    """Whether one episode kept the contract and ended; an error belongs to `gate`."""
    for step in trial.steps:
        if step.error is not None:
            return _rejected(step.error, gate)
        if abs(step.reward) > settings.abs_reward:
            detail = f"a reward of {step.reward:g}, allowed are +-{settings.abs_reward:g}"
            return Rejected(gate=Gate.REWARD_RANGE, detail=detail)
    if not trial.over:
        return Rejected(gate=Gate.TERMINATION, detail=f"no end within {settings.max_turns} turns")
    return None


def _rejected(error: EnvError, gate: Gate) -> Rejected:
    return Rejected(gate=gate, kind=error.kind, detail=f"{error.kind}: {error.message}")


def _senseless(one: Candidate, settings: ValidationSettings) -> list[Trial]:
    """One senseless player after the other, each on every seed."""
    return [trial for _, trial in one.rest[1 + len(settings.odd) :]]


def _distinct(one: Candidate, settings: ValidationSettings) -> int:
    return len({trial.steps[0].observation for trial in _senseless(one, settings)[: len(settings.seeds)]})
