"""System call numbers by machine, and the calls to the kernel that the standard library lacks.

Runs in the jailed interpreter. Numbers: the kernel's asm/unistd_64.h (x86-64) and asm-generic/unistd.h (aarch64;
written from the header, not run on such a machine so far).
"""

import ctypes
import os

AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_X86_64 = {
    "read": 0, "write": 1, "close": 3, "poll": 7, "mmap": 9, "mprotect": 10, "munmap": 11, "brk": 12,
    "rt_sigaction": 13, "rt_sigprocmask": 14, "rt_sigreturn": 15, "sched_yield": 24, "mremap": 25, "madvise": 28,
    "dup2": 33, "nanosleep": 35, "getitimer": 36, "setitimer": 38, "getpid": 39, "sendmsg": 46, "recvmsg": 47,
    "clone": 56, "exit": 60, "wait4": 61, "kill": 62, "fcntl": 72, "gettimeofday": 96, "getrlimit": 97,
    "getrusage": 98, "setpgid": 109, "getppid": 110, "capset": 126, "sigaltstack": 131, "pivot_root": 155,
    "prctl": 157, "setrlimit": 160, "gettid": 186, "time": 201, "futex": 202, "restart_syscall": 219,
    "clock_gettime": 228, "clock_getres": 229, "clock_nanosleep": 230, "exit_group": 231, "tgkill": 234, "waitid": 247,
    "set_robust_list": 273, "dup3": 292, "pipe2": 293, "prlimit64": 302, "seccomp": 317, "getrandom": 318, "rseq": 334,
    "pidfd_open": 434, "clone3": 435, "close_range": 436, "landlock_create_ruleset": 444,
    "landlock_restrict_self": 446,
}  # fmt: skip
_AARCH64 = {
    "dup3": 24, "fcntl": 25, "pivot_root": 41, "close": 57, "pipe2": 59, "read": 63, "write": 64, "capset": 91,
    "exit": 93, "exit_group": 94, "waitid": 95, "futex": 98, "set_robust_list": 99, "nanosleep": 101, "getitimer": 102,
    "setitimer": 103, "clock_gettime": 113, "clock_getres": 114, "clock_nanosleep": 115, "sched_yield": 124,
    "restart_syscall": 128, "kill": 129, "tgkill": 131, "sigaltstack": 132, "rt_sigaction": 134, "rt_sigprocmask": 135,
    "rt_sigreturn": 139, "setpgid": 154, "getrlimit": 163, "setrlimit": 164, "getrusage": 165, "prctl": 167,
    "gettimeofday": 169, "getpid": 172, "getppid": 173, "gettid": 178, "sendmsg": 211, "recvmsg": 212, "brk": 214,
    "munmap": 215, "mremap": 216, "clone": 220, "mmap": 222, "mprotect": 226, "madvise": 233, "wait4": 260,
    "prlimit64": 261, "seccomp": 277, "getrandom": 278, "rseq": 293, "pidfd_open": 434, "clone3": 435,
    "close_range": 436, "landlock_create_ruleset": 444, "landlock_restrict_self": 446,
}  # fmt: skip
NUMBERS = {"x86_64": _X86_64, "aarch64": _AARCH64}
"""A name that a machine lacks (poll and dup2 on aarch64) is not needed there."""

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_CAPBSET_DROP = 1, 4, 22, 24
PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS, PR_GET_NO_NEW_PRIVS = 36, 38, 39
CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC = 0x00020000, 0x04000000, 0x08000000
CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x10000000, 0x20000000, 0x40000000
CLONE_THREAD = 0x00010000
CLONE_ANY_NEW = 0x7E020080
"""Every flag that asks for a namespace: CLONE_NEWNS to CLONE_NEWNET, CLONE_NEWCGROUP, CLONE_NEWTIME."""
CAPABILITY_VERSION_3 = 0x20080522
HIGHEST_CAPABILITY = 63

MACHINE = os.uname().machine
"""This machine's name as the kernel tells it, as in `NUMBERS`."""

_libc = ctypes.CDLL(None, use_errno=True)


def prctl(option: int, value: int = 0, pointer: object = None) -> int:
    """prctl(2). Raises OSError when the kernel refuses."""
    nothing = ctypes.c_ulong(0)
    return _checked(f"prctl {option}", _libc.prctl(option, ctypes.c_ulong(value), pointer or nothing, nothing, nothing))


def syscall(name: str, *arguments: object) -> int:
    """A system call by its name; integers are passed as 64 bits. Raises OSError when it fails or has no number here."""
    number = NUMBERS.get(MACHINE, {}).get(name)
    if number is None:
        raise OSError(f"{name} has no number here ({MACHINE})")
    wide = [ctypes.c_long(part) if isinstance(part, int) else part for part in arguments]
    return _checked(name, _libc.syscall(ctypes.c_long(number), *wide))


def unshare(flags: int) -> None:
    """unshare(2). Raises OSError."""
    _checked("unshare", _libc.unshare(flags))


def mount(source: bytes | None, target: bytes, kind: bytes | None, flags: int, data: bytes | None = None) -> None:
    """mount(2). Raises OSError."""
    _checked("mount", _libc.mount(source, target, kind, ctypes.c_ulong(flags), data))


def unmount(target: bytes, flags: int) -> None:
    """umount2(2). Raises OSError."""
    _checked("umount2", _libc.umount2(target, flags))


def drop_capabilities() -> None:
    """Give up every capability, and the right to gain one. Raises OSError when the kernel keeps any."""
    for capability in range(HIGHEST_CAPABILITY + 1):
        try:
            prctl(PR_CAPBSET_DROP, capability)
        except OSError:
            # Either the kernel knows no such capability, or it is not ours to drop; the next call is what counts.
            continue
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION_3, 0)
    syscall("capset", ctypes.byref(header), ctypes.byref((ctypes.c_uint32 * 6)()))


def _checked(name: str, result: int) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{name}: {os.strerror(code)}")
    return result
