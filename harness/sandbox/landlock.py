"""Landlock, deny-all: this process opens no file, binds and connects no TCP port, and signals nobody outside.

Source: the kernel's userspace-api/landlock. No rule is ever added, so nothing is allowed by exception.
"""

import ctypes

from .kernel import syscall

_FS_BITS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
"""How many file rights an ABI knows; later ones know as many as the last."""
_NET_BITS, _SCOPE_BITS = 0b11, 0b11
"""bind and connect (ABI 4); abstract unix sockets and signals (ABI 6)."""
_VERSION = 1


def restrict() -> int:
    """Deny everything the kernel's Landlock knows; returns its ABI. Raises OSError where there is none."""
    abi = syscall("landlock_create_ruleset", None, 0, _VERSION)
    rights = (1 << _FS_BITS[min(abi, max(_FS_BITS))]) - 1
    fields = [rights, *([_NET_BITS] if abi >= 4 else []), *([_SCOPE_BITS] if abi >= 6 else [])]
    attributes = (ctypes.c_uint64 * len(fields))(*fields)
    ruleset = syscall("landlock_create_ruleset", ctypes.byref(attributes), ctypes.sizeof(attributes), 0)
    syscall("landlock_restrict_self", ruleset, 0)
    return abi
