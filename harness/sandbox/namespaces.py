"""Namespaces: an empty read-only root, no network, process numbers, host name and shared memory of its own.

Root takes them directly; another user (or a root without the right) through a user namespace. Containers often forbid
both, so this layer is wanted, not required.
"""

import os

from .kernel import (
    CLONE_NEWIPC,
    CLONE_NEWNET,
    CLONE_NEWNS,
    CLONE_NEWPID,
    CLONE_NEWUSER,
    CLONE_NEWUTS,
    mount,
    syscall,
    unmount,
    unshare,
)  # fmt: skip

_ALL = CLONE_NEWIPC | CLONE_NEWNET | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWUTS
_READ_ONLY, _NO_SUID, _NO_DEV, _NO_EXEC, _REMOUNT, _RECURSIVE, _PRIVATE = 1, 2, 4, 8, 32, 0x4000, 0x40000
_DETACH = 2


def enter() -> str:
    """Leave the host's namespaces; children are in a process namespace of their own. Returns how it was done.

    Raises OSError where the kernel refuses; what was left by then stays left.
    """
    how = _unshare()
    mount(None, b"/", None, _RECURSIVE | _PRIVATE)
    mount(b"none", b"/tmp", b"tmpfs", _NO_SUID | _NO_DEV | _NO_EXEC, b"size=4k,mode=555")
    os.chdir("/tmp")
    here = b"."
    syscall("pivot_root", here, here)
    unmount(here, _DETACH)
    os.chdir("/")
    mount(None, b"/", None, _REMOUNT | _READ_ONLY | _NO_SUID | _NO_DEV | _NO_EXEC)
    return how


def _unshare() -> str:
    if os.getuid() == 0:
        try:
            unshare(_ALL)
            return "as root"
        except PermissionError:
            pass
    user, group = os.getuid(), os.getgid()
    unshare(_ALL | CLONE_NEWUSER)
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
            file.write(text)
    return "by a user namespace"
