"""Programs that reach for processes: making them, ending them, looking into them, and ending themselves in ways that
might be taken for success."""

from spadework.harness.sandbox import ErrorKind

from .hostile import FORBIDDEN, Aim, strike

CRASH, EARLY_EXIT, EXCEPTION = ErrorKind.CRASH, ErrorKind.EARLY_EXIT, ErrorKind.EXCEPTION

BIRTH = (
    strike("fork_bomb", Aim.TOKEN, FORBIDDEN, """
os, time = tool("os"), tool("time")
for count in range(200):
    if os.fork() == 0:
        time.sleep(1)
        os._exit(0)
return "REACHED 200 children"
"""),
    strike("clone_raw", Aim.TOKEN, FORBIDDEN, """
child = kernel(t["calls"]["clone"], 17, 0, 0, 0, 0)
if child == 0: tool("os")._exit(0)
return "REACHED a child"
"""),
    strike("clone3_raw", Aim.TOKEN, (EXCEPTION,), """
ctypes = tool("ctypes")
wanted = (ctypes.c_uint64 * 11)(0, 0, 0, 0, 17)
child = kernel(t["calls"]["clone3"], ctypes.byref(wanted), 88)
if child == 0: tool("os")._exit(0)
return "REACHED a child"
"""),
    strike("thread_bomb", Aim.TOKEN, (EXCEPTION,), """
start, sleep = tool("_thread").start_new_thread, tool("time").sleep
for count in range(50): start(sleep, (0.5,))
return "REACHED 50 threads"
"""),
    strike("orphan", Aim.SURVIVOR, FORBIDDEN, """
os, time = tool("os"), tool("time")
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        signal = tool("signal")
        for number in (1, 2, 15, 27): signal.signal(number, signal.SIG_IGN)
        signal.setitimer(signal.ITIMER_PROF, 0)
        time.sleep(10)
    os._exit(0)
os.wait()
return "a daemon is on its way"
"""),
    strike("exec_sh", Aim.FILE, FORBIDDEN, """
tool("os").execv("/bin/sh", ["sh", "-c", "echo x > " + t["folder"] + "/exec"])
"""),
    strike("exec_at", Aim.FILE, FORBIDDEN, """
ctypes = tool("ctypes")
words = [b"sh", b"-c", b"echo x > " + t["folder"].encode() + b"/execat", None]
kernel(t["calls"]["execveat"], -100, b"/bin/sh", (ctypes.c_char_p * 4)(*words), None, 0)
"""),
    strike("exec_memory", Aim.FILE, FORBIDDEN, """
os = tool("os")
file = os.memfd_create("script", 0)
os.write(file, b"#!/bin/sh\\necho x > " + t["folder"].encode() + b"/memfd\\n")
os.execv(f"/proc/self/fd/{file}", ["script"])
"""),
    strike("os_system", Aim.FILE, (None,), """
return f"ended with {tool('os').system('echo x > ' + t['folder'] + '/system')}"
"""),
    strike("spawn", Aim.FILE, FORBIDDEN, """
os = tool("os")
child = os.posix_spawn("/bin/sh", ["sh", "-c", "echo x > " + t["folder"] + "/spawn"], {})
os.waitpid(child, 0)
"""),
)  # fmt: skip
"""glibc falls back from clone3 on ENOSYS, so that is what it gets; `os.system` reports a failed fork by its number."""

SIGNALS = (
    strike("kill_decoy", Aim.DECOY, FORBIDDEN, "tool('os').kill(t['decoy'], 15)"),
    strike("kill_group", Aim.DECOY, FORBIDDEN, "tool('os').killpg(t['decoy'], 15)"),
    strike("kill_thread", Aim.DECOY, FORBIDDEN, "kernel(t['calls']['tgkill'], t['decoy'], t['decoy'], 9)"),
    strike("kill_pidfd", Aim.DECOY, FORBIDDEN, """
tool("signal").pidfd_send_signal(tool("os").pidfd_open(t["decoy"]), 9)
"""),
    strike("kill_queue", Aim.DECOY, FORBIDDEN, """
ctypes = tool("ctypes")
report = (ctypes.c_int32 * 32)(15, 0, -1)
kernel(t["calls"]["rt_sigqueueinfo"], t["decoy"], 15, ctypes.byref(report))
"""),
    strike("signal_server", Aim.TOKEN, FORBIDDEN, "os = tool('os'); os.kill(os.getppid(), 0); return 'REACHED it'"),
    strike("signal_host", Aim.TOKEN, FORBIDDEN, "tool('os').kill(t['host'], 0); return 'REACHED it'"),
    strike("kill_self", Aim.BLAME, FORBIDDEN, "os = tool('os'); os.kill(os.getpid(), 9)"),
    strike("term_self", Aim.BLAME, FORBIDDEN, "os = tool('os'); os.kill(os.getpid(), 15)"),
)  # fmt: skip

ENDS = (
    strike("exit0", Aim.UNNOTICED, (EARLY_EXIT,), "tool('os')._exit(0)"),
    strike("exit137", Aim.BLAME, (EARLY_EXIT,), "tool('os')._exit(137)"),
    strike("sysexit", Aim.UNNOTICED, (ErrorKind.EXIT,), "raise SystemExit(0)"),
    strike("keyboard", Aim.UNNOTICED, (EXCEPTION,), "raise KeyboardInterrupt"),
    strike("segv", Aim.UNNOTICED, (CRASH,), "tool('ctypes').string_at(16)"),
    strike("abort", Aim.UNNOTICED, (CRASH,), "tool('os').abort()"),
    strike("close_pipes", Aim.UNNOTICED, FORBIDDEN, "os = tool('os'); os.close(3); os.close(4)"),
    strike("swap_pipes", Aim.UNNOTICED, FORBIDDEN, "os = tool('os'); os.dup2(3, 4)"),
    strike("fd_flood", Aim.TOKEN, FORBIDDEN, """
os = tool("os")
held = [os.dup(4) for _ in range(64)]
return "REACHED 64 descriptors"
"""),
)  # fmt: skip

MIGHT = (
    strike("ptrace", Aim.TOKEN, FORBIDDEN, "return gate(t['calls']['ptrace'], 0x4206, t['decoy'], 0, 0)"),
    strike("ptrace_me", Aim.TOKEN, FORBIDDEN, "return gate(t['calls']['ptrace'], 0, 0, 0, 0)"),
    strike("dumpable", Aim.TOKEN, FORBIDDEN, "return gate(t['calls']['prctl'], 4, 1, 0, 0, 0)"),
    strike("outlive_host", Aim.TOKEN, FORBIDDEN, "return gate(t['calls']['prctl'], 1, 0, 0, 0, 0)"),
    strike("own_filter", Aim.TOKEN, FORBIDDEN, "return gate(t['calls']['seccomp'], 2, 0, None)"),
    strike("nice", Aim.TOKEN, FORBIDDEN, "os = tool('os'); os.setpriority(0, 0, 19); return 'REACHED 19'"),
    strike("affinity", Aim.TOKEN, FORBIDDEN, "return gate(t['calls']['sched_setaffinity'], 0, 0, None)"),
    strike("become_root", Aim.TOKEN, FORBIDDEN, "tool('os').setuid(0); return 'REACHED root'"),
    strike("process_group", Aim.TOKEN, FORBIDDEN, "return f\"REACHED {kernel(t['calls']['getpgid'], 0)}\""),
    strike("unshare", Aim.TOKEN, FORBIDDEN, "return gate(t['calls']['unshare'], 0x10000000)"),
    strike("set_namespace", Aim.TOKEN, FORBIDDEN, "return gate(t['calls']['setns'], 4, 0)"),
    strike("chroot", Aim.TOKEN, FORBIDDEN, "tool('os').chroot(t['folder']); return 'REACHED a root of its own'"),
    strike("mount", Aim.TOKEN, FORBIDDEN, "return gate(t['calls']['mount'], b'x', b'/', b'no such kind', 0, None)"),
)  # fmt: skip

ELSEWHERE = (*BIRTH, *SIGNALS, *ENDS, *MIGHT)
