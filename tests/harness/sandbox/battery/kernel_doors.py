"""Programs that want machine code of their own, or one of the kernel's rarer doors."""

from spadework.harness.sandbox import ErrorKind

from .hostile import FORBIDDEN, Aim, strike

CODE = """
def run(place):
    code = bytes.fromhex(t["code"])
    ctypes.memmove(place, code, len(code))
    if ctypes.CFUNCTYPE(ctypes.c_int)(place)() == 42: return "REACHED code of its own"
    return "the code ran wrongly"

ctypes, calls = tool("ctypes"), t["calls"]
"""

OWN_CODE = (
    strike("mmap_exec", Aim.TOKEN, FORBIDDEN, CODE + "return run(kernel(calls['mmap'], 0, 4096, 7, 0x22, -1, 0))"),
    strike("mprotect_exec", Aim.TOKEN, FORBIDDEN, CODE + """
place = kernel(calls["mmap"], 0, 4096, 3, 0x22, -1, 0)
kernel(calls["mprotect"], place, 4096, 7)
return run(place)
"""),
    strike("pkey_mprotect_exec", Aim.TOKEN, FORBIDDEN, CODE + """
place = kernel(calls["mmap"], 0, 4096, 3, 0x22, -1, 0)
kernel(calls["pkey_mprotect"], place, 4096, 7, -1)
return run(place)
"""),
    strike("mprotect_high_bits", Aim.TOKEN, FORBIDDEN, CODE + """
place = kernel(calls["mmap"], 0, 4096, 3, 0x22, -1, 0)
raw(calls["mprotect"], place, 4096, 7 | 1 << 32)
kernel(calls["mprotect"], place, 4096, 7)
return run(place)
"""),
    strike("patch_code", Aim.TOKEN, FORBIDDEN, CODE + """
place = ctypes.cast(ctypes.CDLL(None).getppid, ctypes.c_void_p).value
kernel(calls["mprotect"], place & ~4095, 8192, 7)
return run(place)
"""),
    strike("read_implies_exec", Aim.TOKEN, FORBIDDEN, CODE + """
kernel(calls["personality"], 0x0400000)
return run(kernel(calls["mmap"], 0, 4096, 3, 0x22, -1, 0))
"""),
    strike("memfd_two_maps", Aim.TOKEN, FORBIDDEN, CODE + """
file = kernel(calls["memfd_create"], b"x", 0)
tool("os").ftruncate(file, 4096)
writable = kernel(calls["mmap"], 0, 4096, 3, 1, file, 0)
ctypes.memmove(writable, bytes.fromhex(t["code"]), len(t["code"]) // 2)
return run(kernel(calls["mmap"], 0, 4096, 7, 1, file, 0))
"""),
    strike("shm_exec", Aim.TOKEN, FORBIDDEN, CODE + """
held = kernel(calls["shmget"], 0, 4096, 0o1700)
place = kernel(calls["shmat"], held, 0, 0o100000)
raw(calls["shmctl"], held, 0, None)
return run(place)
"""),
    strike("int80", Aim.TOKEN, FORBIDDEN, CODE + """
place = kernel(calls["mmap"], 0, 4096, 7, 0x22, -1, 0)
code = bytes.fromhex("53b814000000cd805bc3")
ctypes.memmove(place, code, len(code))
number = ctypes.CFUNCTYPE(ctypes.c_int)(place)()
return f"REACHED process {number} by the 32-bit door" if number > 0 else "nobody there"
""", x86_only=True),
    strike("x32", Aim.TOKEN, FORBIDDEN, """
return f"REACHED {kernel(t['calls']['getpid'] | 0x40000000)}"
""", x86_only=True),
    strike("x32_old", Aim.TOKEN, FORBIDDEN, "return gate(520 | 0x40000000, b'/bin/sh', None, None)", x86_only=True),
    strike("high_number", Aim.TOKEN, (ErrorKind.EXCEPTION, *FORBIDDEN), """
return f"REACHED {kernel(t['calls']['getppid'] | 1 << 32)}"
"""),
)  # fmt: skip
"""`t["code"]` returns 42; the code of `int80` asks for the process id (20) in the 32-bit way."""

SURFACE = (
    strike("io_uring", Aim.TOKEN, FORBIDDEN, """
return gate(t["calls"]["io_uring_setup"], 4, tool("ctypes").byref((tool("ctypes").c_uint32 * 30)()))
"""),
    strike("bpf", Aim.TOKEN, FORBIDDEN, "return gate(t['calls']['bpf'], 0, None, 0)"),
    strike("userfaultfd", Aim.TOKEN, FORBIDDEN, "return gate(t['calls']['userfaultfd'], 1)"),
    strike("keyctl", Aim.TOKEN, FORBIDDEN, "return gate(t['calls']['keyctl'], 0, -3, 1)"),
    strike("perf_event", Aim.TOKEN, FORBIDDEN, "return gate(t['calls']['perf_event_open'], None, 0, -1, -1, 0)"),
    strike("memfd", Aim.TOKEN, FORBIDDEN, "return gate(t['calls']['memfd_create'], b'x', 0)"),
    strike("ipc_shm", Aim.TOKEN, FORBIDDEN, """
held = kernel(t["calls"]["shmget"], 0, 4096, 0o1700)
raw(t["calls"]["shmctl"], held, 0, None)
return f"REACHED shared memory {held}"
"""),
    strike("ipc_queue", Aim.TOKEN, FORBIDDEN, "return gate(t['calls']['mq_open'], b'none', 0, 0, None)"),
    strike("pipe", Aim.TOKEN, FORBIDDEN, "return f\"REACHED {tool('os').pipe()}\""),
    strike("splice", Aim.TOKEN, FORBIDDEN, "return gate(t['calls']['splice'], 3, None, 4, None, 1, 2)"),
    strike("ioctl", Aim.TOKEN, FORBIDDEN, "return gate(t['calls']['ioctl'], 4, 0x541B, 0)"),
    strike("inotify", Aim.TOKEN, FORBIDDEN, "return gate(t['calls']['inotify_init1'], 0)"),
    strike("eventfd", Aim.TOKEN, FORBIDDEN, "return gate(t['calls']['eventfd2'], 0, 0)"),
    strike("epoll", Aim.TOKEN, FORBIDDEN, "return gate(t['calls']['epoll_create1'], 0)"),
    strike("timer", Aim.TOKEN, FORBIDDEN, """
return gate(t["calls"]["timer_create"], 1, None, tool("ctypes").byref(tool("ctypes").c_int()))
"""),
    strike("lock_memory", Aim.TOKEN, FORBIDDEN, "return gate(t['calls']['mlockall'], 8)"),
    strike("kernel_log", Aim.TOKEN, FORBIDDEN, "return gate(t['calls']['syslog'], 10, None, 0)"),
    strike("host_name", Aim.TOKEN, FORBIDDEN, "return f'REACHED {tool(\"os\").uname()}'"),
    strike("futex_priority", Aim.TOKEN, FORBIDDEN, """
return gate(t["calls"]["futex"], tool("ctypes").byref(tool("ctypes").c_int()), 6, 0, None, None, 0)
"""),
    strike("futex_wait", Aim.TOKEN, FORBIDDEN, """
return gate(t["calls"]["futex"], tool("ctypes").byref(tool("ctypes").c_int()), 0, 1, None, None, 0)
"""),
    strike("futex_requeue", Aim.TOKEN, FORBIDDEN, """
ctypes = tool("ctypes")
return gate(t["calls"]["futex"], ctypes.byref(ctypes.c_int()), 12, 1, 1, ctypes.byref(ctypes.c_int()), 0)
"""),
    strike("quota", Aim.TOKEN, FORBIDDEN, "return gate(t['calls']['quotactl'], 0, None, 0, None)"),
)  # fmt: skip
"""Looked at from the gate: whoever gets as far as a wrong argument is inside."""

KERNEL_DOORS = (*OWN_CODE, *SURFACE)
