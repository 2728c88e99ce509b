"""A worker died while it played: start another, play every instance again from its log, and find the culprit.

The pending calls are asked again one at a time. An instance that brings the new worker down alone is the culprit and
fails with the kind of its fall; the others go on as if nothing had happened. An instance that answers otherwise the
second time cannot be continued and fails as nondeterministic. A program with several culprits is given up.
"""

from typing import Callable

from .launch import SandboxUnavailable
from .limits import EnvError, ErrorKind, Step
from .process import EnvProcess, Items, Log, converse, failed_by

RECOVERABLE = frozenset({
    ErrorKind.HANG, ErrorKind.CPU_EXHAUSTED, ErrorKind.EARLY_EXIT, ErrorKind.CRASH, ErrorKind.FORBIDDEN,
    ErrorKind.PROTOCOL, ErrorKind.KILLED, ErrorKind.SERVER_DIED,
})  # fmt: skip
"""Falls of a process; the other fatal errors are verdicts."""


def fallen(process: EnvProcess) -> bool:
    """Whether the process fell while it played and may be started again."""
    return (
        process.recover
        and process.played
        and process.error is not None
        and process.error.kind in RECOVERABLE
        and process.culprits < process.limits.culprits
    )


def recover(process: EnvProcess, ask: Callable[[Items], None], items: Items) -> dict[int, Step]:
    """What the pending calls answer after all, by instance; a call that is missing was not to be had."""
    answers: dict[int, Step] = {}
    for number, told in items:
        if not revive(process):
            break
        ask([(number, told)])
        converse([process])
        answers.update(process.take())
        if process.error is not None:
            process.logs.pop(number, None)
            process.culprits += 1
            answers[number] = failed_by(number, process.error)
    revive(process)
    return answers


def revive(process: EnvProcess) -> bool:
    """Start the process again if it fell, and replay its instances. Whether it stands."""
    while fallen(process) and process.respawns < process.limits.respawns:
        logs, process.logs = process.logs, {}
        process.respawns += 1
        try:
            (channel,) = process.sandbox.fork(1)
        except SandboxUnavailable as unavailable:
            process.error = EnvError(kind=ErrorKind.SERVER_DIED, fault="host", message=str(unavailable))
            return False
        process.error = None
        process.start(channel)
        replay(process, logs)
        if process.error is not None:
            process.logs = logs
    return process.error is None


def replay(process: EnvProcess, logs: dict[int, Log]) -> None:
    """Tell a new worker all that the instances were told before. Those that answer otherwise are out of play."""
    converse([process])
    process.take()
    if not logs:
        return
    process.ask_reset([(number, log.seed) for number, log in logs.items()])
    converse([process])
    process.take()
    for turn in range(max(len(log.actions) for log in logs.values())):
        items = [(number, log.actions[turn]) for number, log in logs.items() if turn < len(log.actions)]
        process.ask_step(items)
        converse([process])
        process.take()
    if process.error is not None:
        return
    for number, log in logs.items():
        again = process.logs.get(number)
        if again is None or again.answers != log.answers:
            process.logs.pop(number, None)
            message = "it answered otherwise when it was played again after its process had died"
            process.lost[number] = EnvError(kind=ErrorKind.NONDETERMINISTIC, fault="program", message=message)
