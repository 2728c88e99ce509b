"""The system calls that get through: two lists, and the filter program made of them.

The server's list serves to fork and confine; a worker's serves to compute, to read its questions and to write its
answers. Whatever is not listed fails with EPERM; a call by another calling convention (32 bit, x32) kills the process.
Source: seccomp(2), linux/filter.h. `filter_program` is pure; `install` needs NO_NEW_PRIVS.
"""

import ctypes
import errno
import struct
from typing import NamedTuple

from .kernel import AUDIT_ARCH, CLONE_ANY_NEW, CLONE_THREAD, MACHINE, NUMBERS, PR_SET_SECCOMP, prctl

PROT_EXEC = 4
CLONE_VM = 0x100
REQUESTS, ANSWERS = 3, 4
"""The two descriptors of a worker: questions are read from the first, answers written to the second."""


class Rule(NamedTuple):
    """A call that gets through when the masked low half of one argument has one value (always, with mask 0).

    Several rules of one name let through what any of them does.
    """

    name: str
    argument: int = 0
    mask: int = 0
    value: int = 0


ANY = 0xFFFFFFFF
_FUTEX_WAIT, _FUTEX_WAKE, _FUTEX_WAIT_BITSET, _FUTEX_WAKE_BITSET, _FUTEX_COMMAND = 0, 1, 9, 10, 0x7F
_WAKE, _WAIT = (
    tuple(Rule("futex", 1, _FUTEX_COMMAND, command) for command in commands)
    for commands in ((_FUTEX_WAKE, _FUTEX_WAKE_BITSET), (_FUTEX_WAIT, _FUTEX_WAIT_BITSET))
)
"""All that locks need; requeueing and priority inheritance have been ways into the kernel. An environment's process has
one thread, which waits for nobody: without `_WAIT` it cannot sleep, and all the time that it takes is CPU time."""
_COMPUTE = (
    Rule("mmap", 2, PROT_EXEC), Rule("mprotect", 2, PROT_EXEC), Rule("munmap"), Rule("mremap"), Rule("madvise"),
    Rule("brk"), *_WAKE, Rule("clock_gettime"), Rule("clock_getres"), Rule("gettimeofday"), Rule("time"),
    Rule("getpid"), Rule("gettid"), Rule("getrandom"), Rule("rt_sigreturn"), Rule("sigaltstack"), Rule("setitimer"),
    Rule("getitimer"), Rule("sched_yield"), Rule("restart_syscall"), Rule("exit"), Rule("exit_group"),
)  # fmt: skip
WORKER = (Rule("read", 0, ANY, REQUESTS), Rule("write", 0, ANY, ANSWERS), *_COMPUTE)
SCRIPT = (
    *WORKER, *_WAIT, Rule("clone", 0, CLONE_THREAD | CLONE_ANY_NEW, CLONE_THREAD), Rule("set_robust_list"),
    Rule("rseq"), Rule("rt_sigprocmask"), Rule("nanosleep"), Rule("clock_nanosleep"),
)  # fmt: skip
"""A worker's list, and threads and sleep: people write `threading.Thread(target=main)` to get a larger stack. A program
that may wait for a lock can sleep anyway; the wall clock of the host ends both."""
SERVER = (
    Rule("read"), Rule("write"), Rule("close"), Rule("recvmsg"), Rule("sendmsg"), Rule("poll"), *_COMPUTE, *_WAIT,
    Rule("clone", 0, CLONE_VM | CLONE_ANY_NEW), Rule("wait4"), Rule("waitid"), Rule("kill"), Rule("pidfd_open"),
    Rule("close_range"), Rule("dup2"), Rule("dup3"), Rule("pipe2"), Rule("fcntl"), Rule("prctl"), Rule("seccomp"),
    Rule("prlimit64"), Rule("setrlimit"), Rule("getrlimit"), Rule("getrusage"), Rule("setpgid"), Rule("getppid"),
    Rule("rt_sigaction"), Rule("rt_sigprocmask"), Rule("set_robust_list"), Rule("rseq"),
)  # fmt: skip

_LOAD, _AND, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x06
_KILL, _ALLOW, _ERRNO = 0x80000000, 0x7FFF0000, 0x00050000
_OFFSET_NUMBER, _OFFSET_ARCH, _OFFSET_ARGUMENTS = 0, 4, 16
_X32 = 0x40000000
"""x32 calls carry this bit in their number."""


def filter_program(rules: tuple[Rule, ...], machine_name: str) -> bytes:
    """The BPF program, 8 bytes an instruction. Raises KeyError for a machine whose numbers are not known."""
    numbers = NUMBERS[machine_name]
    code = [(_LOAD, 0, 0, _OFFSET_ARCH), (_EQUAL, 1, 0, AUDIT_ARCH[machine_name]), (_RETURN, 0, 0, _KILL)]
    code += [(_LOAD, 0, 0, _OFFSET_NUMBER), (_AT_LEAST, 0, 1, _X32), (_RETURN, 0, 0, _KILL)]
    for rule in rules:
        if rule.name in numbers:
            code += _allow(numbers[rule.name], rule)
    # glibc falls back from clone3, whose flags a filter cannot see, to clone only on ENOSYS.
    code += [(_EQUAL, 0, 1, numbers["clone3"]), (_RETURN, 0, 0, _ERRNO | errno.ENOSYS)]
    code += [(_RETURN, 0, 0, _ERRNO | errno.EPERM)]
    return b"".join(struct.pack("<HBBI", *instruction) for instruction in code)


def _allow(number: int, rule: Rule) -> list[tuple[int, int, int, int]]:
    if not rule.mask:
        return [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _ALLOW)]
    return [
        (_EQUAL, 0, 5, number), (_LOAD, 0, 0, _OFFSET_ARGUMENTS + 8 * rule.argument), (_AND, 0, 0, rule.mask),
        (_EQUAL, 0, 1, rule.value), (_RETURN, 0, 0, _ALLOW), (_LOAD, 0, 0, _OFFSET_NUMBER),
    ]  # fmt: skip


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]


def install(rules: tuple[Rule, ...]) -> None:
    """Filter this process and its children from now on. Raises OSError where the kernel or the machine has none."""
    if MACHINE not in NUMBERS:
        raise OSError(f"no system call numbers are known for {MACHINE}")
    code = filter_program(rules, MACHINE)
    program = _Program(len(code) // 8, code)
    prctl(PR_SET_SECCOMP, 2, ctypes.byref(program))
