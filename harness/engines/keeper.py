"""Keeps a server for somebody: starts it, and ends it with everything it started when that somebody is gone.

    python keeper.py GRACE_SECONDS COMMAND...

Its standard input is the lifeline: when it closes, or when the parent has died (SIGKILL included), the command's
process group gets SIGTERM, after the grace SIGKILL, and so does whatever else descends from it. A file of its own, run
by path, with the standard library alone; it ends with the command's exit code.
"""

import ctypes
import os
import select
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
POLL_S = 0.2


def main(grace_s: float, command: list[str]) -> int:
    """Run the command until it ends or nobody wants it any more."""
    libc = ctypes.CDLL(None)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    parent = os.getppid()
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    wanted = [True]
    signal.signal(signal.SIGTERM, lambda number, frame: wanted.clear())

    def follow() -> None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)

    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, process_group=0, preexec_fn=follow)
    while child.poll() is None and wanted and os.getppid() == parent:
        if select.select([sys.stdin], [], [], POLL_S)[0]:
            break
    end(child, grace_s)
    return child.returncode


def end(child: "subprocess.Popen[bytes]", grace_s: float) -> None:
    """SIGTERM to the group, SIGKILL after the grace, and SIGKILL for what left the group."""
    signal_group(child.pid, signal.SIGTERM)
    try:
        child.wait(grace_s)
    except subprocess.TimeoutExpired:
        signal_group(child.pid, signal.SIGKILL)
        child.wait()
    signal_group(child.pid, signal.SIGKILL)
    while left := descendants(os.getpid()):
        for number in left:
            signal_one(number, signal.SIGKILL)
        reap()
        time.sleep(0.01)


def descendants(root: int) -> list[int]:
    """Processes below `root` that are no zombies; an orphan of the command is the keeper's own child."""
    parents: dict[int, int] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if fields[0] != "Z":
            parents[int(folder.name)] = int(fields[1])
    found, new = set[int](), {root}
    while new:
        new = {number for number, parent in parents.items() if parent in new and number not in found}
        found |= new
    return sorted(found)


def reap() -> None:
    """Take the exit codes of adopted children."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def signal_group(group: int, number: int) -> None:
    """Signal a process group that may be gone."""
    with suppress(ProcessLookupError):
        os.killpg(group, number)


def signal_one(process: int, number: int) -> None:
    """Signal a process that may be gone."""
    with suppress(ProcessLookupError):
        os.kill(process, number)


if __name__ == "__main__":
    code = main(float(sys.argv[1]), sys.argv[2:])
    sys.exit(code if code >= 0 else 128 - code)
