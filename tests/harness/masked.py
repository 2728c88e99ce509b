"""A machine without a system call: a command run under a filter of the kernel that lets single calls fail."""

import ctypes
import errno
import os
import struct
import subprocess
import sys
from types import MappingProxyType
from typing import Mapping

from spadework.harness.sandbox.kernel import NUMBERS, PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, prctl

MACHINE = os.uname().machine
UNSHARE = {"x86_64": 272, "aarch64": 97}[MACHINE]
LANDLOCK = NUMBERS[MACHINE]["landlock_create_ruleset"]
PRCTL = NUMBERS[MACHINE]["prctl"]
PIDFD_OPEN = NUMBERS[MACHINE]["pidfd_open"]
LOAD, EQUAL, RETURN, FAIL, ALLOW = 0x20, 0x15, 0x06, 0x00050000, 0x7FFF0000

NOTHING: Mapping[str, str] = MappingProxyType({})


def without(number: int, code: int = errno.ENOSYS) -> None:
    """This process and its children get this error from that call. Of prctl only PR_SET_SECCOMP fails."""
    test = [(LOAD, 0, 0, 0), (EQUAL, 0, 1, number), (RETURN, 0, 0, FAIL | code)]
    if number == PRCTL:
        test = [(LOAD, 0, 0, 0), (EQUAL, 0, 3, number), (LOAD, 0, 0, 16), (EQUAL, 0, 1, PR_SET_SECCOMP),
                (RETURN, 0, 0, FAIL | code)]  # fmt: skip
    code_bytes = b"".join(struct.pack("<HBBI", *one) for one in [*test, (RETURN, 0, 0, ALLOW)])

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]

    prctl(PR_SET_NO_NEW_PRIVS, 1)
    prctl(PR_SET_SECCOMP, 2, ctypes.byref(Program(len(code_bytes) // 8, code_bytes)))


def spadework(
    *words: str,
    lacking: int | None = None,
    code: int = errno.ENOSYS,
    stdin: str = "",
    environ: Mapping[str, str] = NOTHING,
) -> subprocess.CompletedProcess[str]:
    """The command on a machine that lacks a call, in a terminal of 80 columns."""
    return subprocess.run(
        [sys.executable, "-m", "spadework.harness", *words], capture_output=True, text=True, timeout=120, input=stdin,
        env={**os.environ, "COLUMNS": "80", **environ},
        preexec_fn=None if lacking is None else lambda: without(lacking, code),
    )  # fmt: skip
