"""The fork server: a clean interpreter that imports the permitted modules once and forks one worker per program.

Run as a file by the host (`python -s -P -S -B server.py FOLDER LIMITS CONTROL`), never imported by it: nothing of the
trainer is in its memory, its environment or its descriptors. It holds no program itself. A message on the control
socket carries two pipe ends, the answer a pidfd of the new worker. When the socket closes it kills all and ends.
"""

import ctypes
import gc
import importlib
import os
import resource
import signal
import socket
import sys
import warnings
from contextlib import suppress
from types import ModuleType

NOBODY = 65534
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 1, 4, 36, 38
_libc = ctypes.CDLL(None, use_errno=True)


def load_jail(msgspec_folder: str) -> None:
    """Make our files importable as the package `jail`, beside msgspec and the standard library."""
    package = ModuleType("jail")
    package.__path__ = [os.path.dirname(os.path.abspath(__file__))]
    sys.modules["jail"] = package
    sys.path.append(msgspec_folder)


def main() -> None:
    """Announce readiness, then fork a worker for every pair of descriptors that comes in."""
    folder, limits_text, control_fd = sys.argv[1], sys.argv[2], int(sys.argv[3])
    load_jail(folder)
    warnings.simplefilter("ignore")
    worker, namespace, limits_module = (
        importlib.import_module(f"jail.{name}") for name in ("worker", "namespace", "limits")
    )
    import msgspec

    limits = msgspec.json.decode(limits_text, type=limits_module.Limits)
    facades = namespace.load_facades()
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    gc.collect()
    gc.freeze()
    signal.signal(signal.SIGCHLD, lambda _number, _frame: reap())
    with socket.socket(fileno=control_fd) as control:
        control.sendall(b"ready")
        while True:
            message, descriptors, _flags, _address = socket.recv_fds(control, 1, 2)
            if not message:
                break
            pid = fork_worker(control, descriptors[0], descriptors[1], limits.memory_mb, limits.life_cpu_s)
            if pid == 0:
                worker.serve(facades, limits)
                os._exit(0)
    kill_all()


def fork_worker(control: socket.socket, requests: int, answers: int, memory_mb: int, cpu_s: int) -> int:
    """Fork; 0 in the confined child. The parent sends a pidfd of it back, made before the child can be reaped."""
    server = os.getpid()
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    pid = os.fork()
    if pid == 0:
        confine(requests, answers, memory_mb, cpu_s, server)
        return 0
    pidfd = os.pidfd_open(pid)
    socket.send_fds(control, [pid.to_bytes(4, "little")], [pidfd])
    for descriptor in (pidfd, requests, answers):
        os.close(descriptor)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
    return pid


def confine(requests: int, answers: int, memory_mb: int, cpu_s: int, server: int) -> None:
    """Everything a worker loses before it sees a program."""
    os.setpgid(0, 0)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
    # The pipe ends may already sit on 3 or 4: lift both out of the way first.
    high = [os.dup2(descriptor, target) for descriptor, target in ((requests, 60), (answers, 61))]
    null = os.open(os.devnull, os.O_RDWR)
    for target in (0, 1, 2):
        os.dup2(null, target)
    os.dup2(high[0], 3)
    os.dup2(high[1], 4)
    os.closerange(5, resource.getrlimit(resource.RLIMIT_NOFILE)[0])
    drop_user()
    for limit, value in (
        (resource.RLIMIT_AS, memory_mb << 20), (resource.RLIMIT_CPU, cpu_s), (resource.RLIMIT_NPROC, 0),
        (resource.RLIMIT_FSIZE, 0), (resource.RLIMIT_NOFILE, 5), (resource.RLIMIT_CORE, 0),
    ):  # fmt: skip
        resource.setrlimit(limit, (value, value))
    prctl(PR_SET_DUMPABLE, 0)
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    # After the change of user, which clears it; the server may have died in between.
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != server:
        os._exit(1)


def drop_user() -> None:
    """Root becomes nobody: the kernel does not hold root to a number of processes. Without the right to change user
    (a container may take it away) the worker stays as it is."""
    if os.getuid() != 0:
        return
    try:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
    except PermissionError:
        pass


def prctl(option: int, value: int) -> None:
    """prctl(2); OSError when the kernel refuses."""
    if _libc.prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), f"prctl({option}, {value}) was refused")


def reap() -> None:
    """Bury ended workers, and kill whatever they left in their process group. No second burial may begin within one:
    it would take the first one's child away.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    with suppress(ChildProcessError):
        while (ended := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)) is not None:
            kill_group(ended.si_pid)
            os.waitpid(ended.si_pid, 0)
    signal.pthread_sigmask(signal.SIG_SETMASK, before)


def kill_group(pid: int) -> None:
    """SIGKILL to a worker's process group; an adopted orphan may lead none."""
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


def kill_all() -> None:
    """Kill and bury every child, adopted ones too, until none is left."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    while children := child_pids():
        for pid in children:
            kill_group(pid)
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def child_pids() -> list[int]:
    """The server's children, from the kernel's own list."""
    with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as listing:
        return [int(pid) for pid in listing.read().split()]


if __name__ == "__main__":
    main()
