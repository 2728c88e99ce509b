"""A worker died while it played: start another, play every instance again from its log, and find the culprit.

The pending calls are asked again one at a time. An instance that brings the new worker down alone is the culprit and
fails with the kind of its fall; the others go on as if nothing had happened. An instance that answers otherwise the
second time cannot be continued and fails as nondeterministic. A program with several culprits is given up. What was
the host's fault has no culprit; it is tried again as long as the process may be started.
"""

from typing import Callable

from .conversation import Conversation, Items, Log, converse
from .launch import SandboxUnavailable
from .limits import ErrorKind, Step, error_of, failed_by

RECOVERABLE = frozenset({
    ErrorKind.HANG, ErrorKind.CPU_EXHAUSTED, ErrorKind.EARLY_EXIT, ErrorKind.CRASH, ErrorKind.FORBIDDEN,
    ErrorKind.MEMORY, ErrorKind.PROTOCOL, ErrorKind.KILLED, ErrorKind.SERVER_DIED,
})  # fmt: skip
"""Falls of a process; the other fatal errors are verdicts."""


def fallen(process: Conversation) -> bool:
    """Whether the process fell while it played, or by the host's fault, and may be started again."""
    return (
        process.recover
        and process.error is not None
        and process.error.kind in RECOVERABLE
        and (process.played or process.error.fault == "host")
        and process.culprits < process.limits.culprits
        and process.respawns < process.limits.respawns
    )


def recover(process: Conversation, ask: Callable[[Items], None], items: Items) -> dict[int, Step]:
    """What the pending calls answer after all, by instance; a call that is missing was not to be had."""
    answers: dict[int, Step] = {}
    proved = len(items) == 1 and _proved(process)
    for number, told in items:
        if not proved and not _ask_alone(process, ask, (number, told), answers):
            break
        if process.error is not None:
            process.logs.pop(number, None)
            process.culprits += 1
            answers[number] = failed_by(number, process.error)
    revive(process)
    return answers


def _proved(process: Conversation) -> bool:
    """Whether a process that fell during one call alone fell by that call, and not by what others had piled up."""
    assert process.error is not None
    return process.error.fault == "program" and process.error.kind not in (ErrorKind.CPU_EXHAUSTED, ErrorKind.MEMORY)


def _ask_alone(
    process: Conversation, ask: Callable[[Items], None], item: tuple[int, object], answers: dict[int, Step]
) -> bool:
    """Ask one call of a process that stands again, until it answers or falls by it. False when it stands no more."""
    while revive(process):
        ask([item])
        converse([process])
        answers.update(process.take())
        if process.error is None or process.error.fault == "program":
            return True
    return False


def revive(process: Conversation) -> bool:
    """Start the process again if it fell, and replay its instances. Whether it stands."""
    while fallen(process):
        logs, error = process.logs, process.error
        process.respawns += 1
        try:
            (channel,) = process.sandbox.fork(1, process.life_left_s)
            process.error, process.logs = None, {}
            process.start(channel)
            replay(process, logs)
            error = process.error
        except SandboxUnavailable as unavailable:
            error = error_of(ErrorKind.SERVER_DIED, str(unavailable))
            break
        finally:
            process.error = error
            if error is not None:
                process.logs = logs
    return process.error is None


def replay(process: Conversation, logs: dict[int, Log]) -> None:
    """Tell a new worker all that the instances were told before. Those that answer otherwise are out of play."""
    converse([process])
    process.take()
    if process.error is not None or not logs:
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
            process.lost[number] = error_of(ErrorKind.NONDETERMINISTIC, message)
