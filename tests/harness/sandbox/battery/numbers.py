"""System call numbers that the hostile programs use: (x86-64, aarch64).

Those of aarch64 are from asm-generic/unistd.h and were never run.
"""

_CALLS = {
    "bpf": (321, 280), "brk": (12, 214), "clone": (56, 220), "clone3": (435, 435), "epoll_create1": (291, 20),
    "eventfd2": (290, 19), "execveat": (322, 281), "futex": (202, 98), "getpgid": (121, 155), "getpid": (39, 172),
    "getppid": (110, 173),
    "inotify_init1": (294, 26), "io_uring_setup": (425, 425), "ioctl": (16, 29), "keyctl": (250, 219),
    "memfd_create": (319, 279), "mlockall": (151, 230), "mmap": (9, 222), "mount": (165, 40), "mprotect": (10, 226),
    "mq_open": (240, 180), "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265), "openat": (257, 56),
    "openat2": (437, 437), "perf_event_open": (298, 241), "personality": (135, 92), "pidfd_getfd": (438, 438),
    "pidfd_open": (434, 434), "pkey_mprotect": (329, 288), "prctl": (157, 167), "prlimit64": (302, 261),
    "process_vm_readv": (310, 270), "ptrace": (101, 117), "quotactl": (179, 60), "rt_sigqueueinfo": (129, 138),
    "sched_setaffinity": (203, 122), "seccomp": (317, 277), "setns": (308, 268), "shmat": (30, 196),
    "shmctl": (31, 195), "shmget": (29, 194), "socket": (41, 198), "socketpair": (53, 199), "splice": (275, 76),
    "syslog": (103, 116), "tgkill": (234, 131), "timer_create": (222, 107), "unshare": (272, 97),
    "userfaultfd": (323, 282),
}  # fmt: skip
MACHINES = ("x86_64", "aarch64")


def calls(machine: str) -> dict[str, int]:
    """Name to number. Raises ValueError for a machine whose numbers are not known."""
    return {name: numbers[MACHINES.index(machine)] for name, numbers in _CALLS.items()}
