"""The validator: source text in, a `ValidEnvironment` or a typed `Rejected` out; many candidates at once.

    with Sandbox() as sandbox:
        verdicts = validate(sources, sandbox)

Gates, cheap first, all inside sandbox processes: size and text; load; contract on one ordinary episode, which ends
within the turn cap and whose steps are fast enough; odd actions (empty, long, unicode, digits) do no harm; the same
seed gives the same episode whatever goes on around it (`Disturbance`); seeds give different first observations; players
that do nothing sensible do not win most instances. That nothing ever paid is marked and is no reason to reject: what is
not checked is that the task can be solved.

An ordinary candidate has two processes. The one has the episode first and again amid the odd and senseless plays, the
other, on another server, amid two more episodes: a program that is the same everywhere passes all four disturbances at
once. Only when an episode differs are they tried one by one, each in fresh processes, to say which it was. A failure of
the host is tried again, alone, and is never a verdict on the program.
"""

from typing import Sequence

from .batch import load_all
from .host import Sandbox
from .intake import decoded
from .judging import Candidate, after_first, after_load, after_rest, candidate, differing, judge, too_slow, valid
from .limits import ErrorKind, Isolation
from .process import EnvProcess, close_all
from .trials import Trial, exploring, literals_of, play_trials, reset_trials, saying, step_trials
from .verdict import Disturbance, Gate, Rejected, ValidationSettings, Verdict

SAME_IN_ANY_ISOLATION = frozenset({Gate.TEXT, Gate.LOAD})
MEASUREMENTS = 3
"""Of a step's CPU time before a program is called too slow; the least counts, because noise only adds."""
EXPLORERS_AT_ONCE = 8


def validate(
    sources: Sequence[str | bytes], sandbox: Sandbox, settings: ValidationSettings | None = None
) -> list[Verdict]:
    """The verdict on every candidate, in order; equal sources are examined once."""
    settings = settings or ValidationSettings()
    sandbox.sibling()
    texts = [decoded(source) for source in sources]
    verdicts: dict[str, Verdict] = {}
    unique = list(dict.fromkeys(texts))
    for start in range(0, len(unique), settings.together):
        verdicts.update(_verdicts(unique[start : start + settings.together], sandbox, settings))
    for source, verdict in list(verdicts.items()):
        if isinstance(verdict, Rejected) and verdict.fault == "host":
            verdicts.update(_verdicts([source], sandbox, settings))
    return [verdicts[source] for source in texts]


def _verdicts(sources: Sequence[str], sandbox: Sandbox, settings: ValidationSettings) -> dict[str, Verdict]:
    """With "auto", whatever passes with a module for each instance passes; some do not need it."""
    if settings.isolation != "auto":
        return _examine(sources, sandbox, settings, settings.isolation)
    verdicts = _examine(sources, sandbox, settings, "shared")
    failed = [
        source
        for source, verdict in verdicts.items()
        if isinstance(verdict, Rejected) and verdict.gate not in SAME_IN_ANY_ISOLATION
    ]
    return verdicts | _examine(failed, sandbox, settings, "module")


def _examine(
    sources: Sequence[str], sandbox: Sandbox, settings: ValidationSettings, isolation: Isolation
) -> dict[str, Verdict]:
    """All gates on a handful of candidates at once."""
    processes = sandbox.open_all(sources, isolation=isolation, recover=False)
    everyone = [candidate(source, process, settings) for source, process in zip(sources, processes, strict=True)]
    try:
        load_all(processes)
        for one in everyone:
            one.verdict = after_load(one)
        _first_episodes(_undecided(everyone), settings)
        _later_episodes(_undecided(everyone), sandbox, settings, isolation)
        _attribute(_undecided(everyone), sandbox, settings, isolation)
        for one in _undecided(everyone):
            one.verdict = judge(one, settings)
        _explore(_undecided(everyone), settings)
    finally:
        close_all(processes)
    return {one.source: one.verdict or valid(one, settings, isolation) for one in everyone}


def _undecided(candidates: Sequence[Candidate]) -> list[Candidate]:
    return [one for one in candidates if one.verdict is None]


def _first_episodes(candidates: Sequence[Candidate], settings: ValidationSettings) -> None:
    """One ordinary episode of every candidate, alone in its fresh process; a slow one is measured again."""
    _measure(candidates, [[one.first] for one in candidates], settings)
    for one in candidates:
        one.verdict = after_first(one, settings)
    for _ in range(MEASUREMENTS - 1):
        slow = [one for one in _undecided(candidates) if too_slow(one, settings)]
        earlier = [one.step_cpu_s for one in slow]
        _measure(slow, [[Trial(one.first.seed, one.first.player)] for one in slow], settings)
        for one, before in zip(slow, earlier):
            one.step_cpu_s = min(one.step_cpu_s, before)
    for one in _undecided(candidates):
        one.verdict = too_slow(one, settings)


def _later_episodes(
    candidates: Sequence[Candidate], sandbox: Sandbox, settings: ValidationSettings, isolation: Isolation
) -> None:
    """Everything else that an ordinary candidate is played with."""
    if not candidates:
        return
    sources = [one.source for one in candidates]
    others = sandbox.sibling().open_all(sources, isolation=isolation, recover=False)
    try:
        _measure(candidates, [[trial for _, trial in one.rest] for one in candidates], settings)
        play_trials({other: one.elsewhere for one, other in zip(candidates, others, strict=True)}, settings.max_turns)
    finally:
        close_all(others)
    for one in candidates:
        one.verdict = after_rest(one, settings) or too_slow(one, settings)


def _measure(candidates: Sequence[Candidate], trials: Sequence[list[Trial]], settings: ValidationSettings) -> None:
    """Play, and note the mean CPU time of a step; contention for the processor does not count."""
    batch = {one.process: played for one, played in zip(candidates, trials, strict=True)}
    reset_trials(batch)
    before = {process: process.cpu_s for process in batch}
    step_trials(batch, settings.max_turns)
    for one in candidates:
        steps = sum(len(trial.steps) - 1 for trial in batch[one.process])
        one.step_cpu_s = max(0.0, one.process.cpu_s - before[one.process]) / max(1, steps)


def _attribute(
    candidates: Sequence[Candidate], sandbox: Sandbox, settings: ValidationSettings, isolation: Isolation
) -> None:
    """Reject those whose episode differed, with the disturbances that change it."""
    suspects = [one for one in candidates if differing(one)]
    found: dict[str, list[Disturbance]] = {one.source: [] for one in suspects}
    for disturbance in Disturbance if suspects else ():
        server = sandbox.sibling() if disturbance is Disturbance.OTHER_SERVER else sandbox
        processes = server.open_all(list(found), isolation=isolation, recover=False)
        try:
            for one, again in zip(suspects, _disturbed(processes, disturbance, settings)):
                error = again.steps[-1].error
                if again.seen() != one.first.seen() and (error is None or error.fault == "program"):
                    found[one.source].append(disturbance)
        finally:
            close_all(processes)
    for one in suspects:
        changing = tuple(found[one.source]) or differing(one)
        one.verdict = Rejected(
            gate=Gate.DETERMINISM, kind=ErrorKind.NONDETERMINISTIC, disturbances=changing,
            detail=f"the same seed and actions gave another episode: {', '.join(changing)}",
        )  # fmt: skip


def _disturbed(processes: Sequence[EnvProcess], disturbance: Disturbance, settings: ValidationSettings) -> list[Trial]:
    """The ordinary episode of fresh processes under one disturbance and no other."""
    ordinary, (seed, before, after) = saying(settings.ordinary), settings.seeds[:3]
    if disturbance is Disturbance.CARRY_OVER:
        play_trials({process: [Trial(before, ordinary)] for process in processes}, settings.max_turns)
    seeds = [before, seed, after] if disturbance is Disturbance.INTERLEAVED else [seed]
    batch = {process: [Trial(one, ordinary) for one in seeds] for process in processes}
    play_trials(batch, settings.max_turns)
    return [trials[len(seeds) // 2] for trials in batch.values()]


def _explore(candidates: Sequence[Candidate], settings: ValidationSettings) -> None:
    """Look for pay where there was none yet. What goes wrong here rejects nobody: the gates are passed."""
    for number in range(0, settings.explorers, EXPLORERS_AT_ONCE):
        unpaid = [one for one in candidates if not one.paid]
        batch = {one.process: _explorers(one, number, settings) for one in unpaid}
        play_trials(batch, settings.max_turns)
        for one in unpaid:
            one.explored += batch[one.process]


def _explorers(one: Candidate, start: int, settings: ValidationSettings) -> list[Trial]:
    literals, seeds = literals_of(one.source), settings.seeds
    numbers = range(start, min(start + EXPLORERS_AT_ONCE, settings.explorers))
    return [Trial(seeds[number % len(seeds)], exploring(number, literals)) for number in numbers]
