"""The self-test: acts that must fail inside the jail, tried at every start. A version number proves nothing.

Runs in the jailed interpreter: some probes on the server while it confines itself, the others in a worker that is made
like any other and then thrown away.
"""

import fcntl
import mmap
import os
import resource
import socket
import sys
from contextlib import closing
from typing import Callable

from .kernel import PR_GET_NO_NEW_PRIVS, prctl
from .layers import CLEAN_ENVIRONMENT, Layer

DESCRIPTORS = {3, 4}
LOOKED_THROUGH = 1024
"""Descriptors that are tried out."""


def require_empty_root() -> None:
    """Raises OSError unless the root folder is empty and loopback cannot be reached."""
    if os.listdir("/"):
        raise OSError(0, "the root folder is not empty")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as peer:
        try:
            peer.connect(("127.0.0.1", 9))
        except OSError:
            return
    raise OSError(0, "there is a network")


def require_no_way_back() -> None:
    """Raises OSError when this process can become root again."""
    try:
        os.setuid(0)
    except PermissionError:
        return
    raise OSError(0, "it can become root again")


def opens_root() -> bool:
    """Whether the root folder, which everybody may read, can be opened."""
    try:
        os.close(os.open("/", os.O_RDONLY | os.O_DIRECTORY))
    except PermissionError:
        return False
    return True


def before_filter(limits: list[tuple[int, int, int]]) -> dict[str, str]:
    """Layers that are looked at before a worker's filter hides them: name to the reason why not, empty if it holds."""
    open_ones = {number for number in range(LOOKED_THROUGH) if _is_open(number)} - DESCRIPTORS
    strange = sorted(set(os.environ) - set(CLEAN_ENVIRONMENT))
    return {
        Layer.INTERPRETER: "modules of the host are loaded" if "spadework" in sys.modules else "",
        Layer.CLEAN_ENV: f"{len(strange)} foreign variables, {strange[0]} among them" if strange else "",
        Layer.CLOSED_FDS: f"descriptors {sorted(open_ones)} are open" if open_ones else "",
        Layer.NO_NEW_PRIVS: "" if prctl(PR_GET_NO_NEW_PRIVS) == 1 else "not set",
        Layer.RLIMITS: _unlimited(limits),
    }


def after_filter() -> dict[str, str]:
    """The list of system calls: the acts that it must refuse."""
    passed = [name for name, act in ACTS.items() if not _refused(act)]
    return {Layer.SECCOMP: f"let through: {', '.join(passed)}" if passed else ""}


def _is_open(descriptor: int) -> bool:
    try:
        fcntl.fcntl(descriptor, fcntl.F_GETFD)
    except OSError:
        return False
    return True


def _unlimited(limits: list[tuple[int, int, int]]) -> str:
    for limit, soft, hard in limits:
        if resource.getrlimit(limit) != (soft, hard):
            return f"limit {limit} is not set"
    memory = next(soft for limit, soft, _hard in limits if limit == resource.RLIMIT_AS)
    try:
        bytearray(memory)
    except MemoryError:
        return ""
    return "memory beyond the limit was given"


def _refused(act: Callable[[], object]) -> bool:
    """Whether the kernel says EPERM; another error means that the call got through to somebody."""
    try:
        act()
    except PermissionError:
        return True
    except OSError:
        return False
    return False


def _fork() -> None:
    pid = os.fork()
    if pid == 0:
        os._exit(0)


def _socket() -> None:
    with closing(socket.socket(socket.AF_INET, socket.SOCK_STREAM)):
        pass


ACTS: dict[str, Callable[[], object]] = {
    "open": lambda: os.open("/", os.O_RDONLY),
    "socket": _socket,
    "fork": _fork,
    "execve": lambda: os.execve("/nothing", ["nothing"], {}),
    "kill": lambda: os.kill(os.getpid(), 0),
    "executable memory": lambda: mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC).close(),
    "reading another descriptor": lambda: os.read(4, 1),
    "prctl": lambda: prctl(PR_GET_NO_NEW_PRIVS),
}
