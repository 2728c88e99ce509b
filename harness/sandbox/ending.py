"""How a worker ended, in the sandbox's words: whose fault it was, by its wait status. Values only."""

import os
import signal

from .limits import EnvError, ErrorKind, error_of

UNKNOWN = -1
"""The wait status of a worker of which nobody knows how it ended."""

_NAMES = {number.value: number.name for number in signal.Signals}
_BY_SIGNAL = {
    "SIGSYS": (ErrorKind.FORBIDDEN, "it used a calling convention that the jail refuses"),
    "SIGXCPU": (ErrorKind.CPU_EXHAUSTED, "it used up the CPU time of its whole life"),
    "SIGKILL": (ErrorKind.KILLED, "somebody killed it; the machine may be out of memory"),
}


def ending(failure: str, status: int, wall_s: float) -> EnvError:
    """The error of a worker that gave no answer in `wall_s`: the channel's word `failure`, its wait status."""
    if failure == "hang":
        return error_of(ErrorKind.HANG, f"no answer within {wall_s:g} s")
    if failure == "starved":
        return error_of(ErrorKind.KILLED, "it got too little of a crowded processor to answer")
    if failure == "cpu":
        return error_of(ErrorKind.TIMEOUT, "more CPU time than it may use")
    if failure == "protocol":
        return error_of(ErrorKind.PROTOCOL, "the process answered out of turn or too much")
    if status == UNKNOWN:
        return error_of(ErrorKind.CRASH, "the process died")
    if os.WIFEXITED(status):
        return error_of(ErrorKind.EARLY_EXIT, f"the process ended itself with code {os.WEXITSTATUS(status)}")
    number = os.WTERMSIG(status)
    name = _NAMES.get(number, f"signal {number}")
    kind, message = _BY_SIGNAL.get(name, (ErrorKind.CRASH, f"it died by {name}"))
    return error_of(kind, message)
