"""Programs that want more time or more memory than they are given."""

from spadework.harness.sandbox import ErrorKind

from .hostile import FORBIDDEN, STRIKE, TOOLS, Aim, Hostile, strike

TIMEOUT, HANG, MEMORY = ErrorKind.TIMEOUT, ErrorKind.HANG, ErrorKind.MEMORY
CRASH, EXCEPTION = ErrorKind.CRASH, ErrorKind.EXCEPTION

TIME = (
    strike("loop_step", Aim.TIME, (TIMEOUT,), "while True: pass"),
    Hostile(
        name="loop_import", aim=Aim.TIME, kinds=(TIMEOUT,), source=f"{TOOLS}\nwhile True: pass\n{STRIKE}        pass\n"
    ),
    Hostile(
        name="loop_reset", aim=Aim.TIME, kinds=(TIMEOUT,),
        source="class LoopEnv:\n  def reset(self, seed=None):\n    while True: pass\n  def step(self, action): pass\n",
    ),
    strike("loop_swallow", Aim.TIME, (TIMEOUT, HANG), """
while True:
    try:
        while True: pass
    except BaseException: pass
"""),
    strike("loop_finalizer", Aim.TIME, (TIMEOUT, HANG), """
class Endless:
    def __del__(self):
        while True: pass
things = [Endless() for _ in range(1000)]
del things
return "over"
"""),
    strike("sleep", Aim.TIME, FORBIDDEN, "tool('time').sleep(30)"),
    strike("wait_select", Aim.TIME, FORBIDDEN, "tool('select').select([], [], [], 30)"),
    strike("wait_lock", Aim.TIME, (CRASH,), "lock = tool('_thread').allocate_lock(); lock.acquire(); lock.acquire()"),
    strike("nap", Aim.TIME, (CRASH,), "lock = tool('_thread').allocate_lock(); lock.acquire(); lock.acquire(True, 60)"),
    strike("wait_read", Aim.TIME, (HANG,), "while True: tool('os').read(3, 1)"),
    strike("stop_self", Aim.TIME, FORBIDDEN, "os = tool('os'); os.kill(os.getpid(), 19)"),
    strike("c_hang", Aim.TIME, (HANG,), "import itertools\n0.5 in itertools.count(1)"),
    strike("c_loop", Aim.TIME, (TIMEOUT, HANG), "return str((7 ** 10**8) % 10)"),
    strike("redos", Aim.TIME, (TIMEOUT, HANG), "import re\nre.match(r'(a+)+$', 'a' * 60 + 'b')"),
    strike("sort_hang", Aim.TIME, (TIMEOUT, HANG), "sum(iter(int, 1))"),
    strike("str_int", Aim.TIME, (TIMEOUT, HANG), """
tool("sys").set_int_max_str_digits(0)
return str(len(str(1 << 10**8)))
"""),
    strike("clock_off", Aim.TIME, (HANG,), """
signal = tool("signal")
signal.setitimer(signal.ITIMER_PROF, 0)
while True: pass
"""),
    strike("sig_ignore", Aim.TIME, (HANG, TIMEOUT, *FORBIDDEN), """
signal = tool("signal")
signal.signal(signal.SIGPROF, signal.SIG_IGN)
while True: pass
"""),
    strike("sig_block", Aim.TIME, (HANG, TIMEOUT, *FORBIDDEN), """
signal = tool("signal")
signal.pthread_sigmask(signal.SIG_BLOCK, set(range(1, 65)))
while True: pass
"""),
    strike("alarm_storm", Aim.TIME, (TIMEOUT, HANG), """
signal = tool("signal")
signal.setitimer(signal.ITIMER_PROF, 1e-6, 1e-6)
while True: pass
"""),
    strike("wakeup_answers", Aim.BEYOND, FORBIDDEN, """
signal = tool("signal")
signal.set_wakeup_fd(4, warn_on_full_buffer=False)
signal.setitimer(signal.ITIMER_PROF, 0.001, 0.001)
while True: pass
"""),
    strike("alarm_self", Aim.UNNOTICED, (CRASH, ErrorKind.EARLY_EXIT), """
signal = tool("signal")
signal.setitimer(signal.ITIMER_REAL, 0.01)
while True: pass
"""),
    strike("answer_spin", Aim.TIME, (HANG, TIMEOUT, ErrorKind.CPU_EXHAUSTED), """
signal = tool("signal")
signal.setitimer(signal.ITIMER_PROF, 0)
tool("os").write(4, bytes.fromhex(t["honest"]))
while True: pass
""", turns=2),
)  # fmt: skip
"""Two turns of `answer_spin`: the first is answered, by a frame of its own making; the second never."""

SPACE = (
    strike("mem_list", Aim.MEMORY, (MEMORY, TIMEOUT), "kept = []\nfor _ in range(1000): kept.append(b'x' * (1 << 20))"),
    strike("mem_one", Aim.MEMORY, (MEMORY,), "return str(len(b'x' * (1 << 30)))"),
    strike("mem_double", Aim.MEMORY, (MEMORY, TIMEOUT), "text = 'a'\nwhile len(text) < 1 << 30: text += text"),
    strike("mem_dict", Aim.MEMORY, (MEMORY, TIMEOUT), "return str(len({n: [n] for n in range(6_000_000)}))"),
    strike("mem_swallow", Aim.MEMORY, (TIMEOUT, MEMORY, HANG), """
chunks = []
while len(chunks) < 1000:
    try: chunks.append(b"x" * (1 << 20))
    except MemoryError: pass
"""),
    strike("mem_shared", Aim.MEMORY, (EXCEPTION, MEMORY), """
ctypes = tool("ctypes")
size = 1 << 30
place = kernel(t["calls"]["mmap"], 0, size, 3, 0x21, -1, 0)
ctypes.memset(place, 1, size)
return "REACHED a shared gigabyte"
"""),
    strike("mem_growth", Aim.MEMORY, (EXCEPTION, MEMORY), """
ctypes = tool("ctypes")
start = kernel(t["calls"]["brk"], 0)
if raw(t["calls"]["brk"], start + (1 << 30))[0] < start + (1 << 30): raise OSError(12, "refused")
ctypes.memset(start, 1, 1 << 30)
return "REACHED a gigabyte of heap"
"""),
    strike("zip_bomb", Aim.MEMORY, (MEMORY, TIMEOUT, HANG, EXCEPTION, *FORBIDDEN), """
zlib = tool("zlib")
press = zlib.compressobj(9, zlib.DEFLATED, -15)
block = press.compress(bytes(1 << 20)) + press.flush(zlib.Z_FULL_FLUSH)
return str(len(zlib.decompressobj(-15).decompress(block * 1000)))
"""),
    strike("recursion", Aim.UNNOTICED, (CRASH, EXCEPTION, MEMORY, TIMEOUT), """
tool("sys").setrecursionlimit(10**9)
deeper = lambda _: sorted([1], key=deeper)
deeper(1)
"""),
    strike("raise_limit", Aim.TOKEN, FORBIDDEN, """
ctypes = tool("ctypes")
wanted = (ctypes.c_uint64 * 2)(2**64 - 1, 2**64 - 1)
return gate(t["calls"]["prlimit64"], 0, 9, ctypes.byref(wanted), None)
"""),
    strike("obs_huge", Aim.BEYOND, (ErrorKind.OBSERVATION, MEMORY, ErrorKind.TIMEOUT), "return 'x' * 200_000_000"),
)  # fmt: skip
"""`zip_bomb` ends at its import where the interpreter keeps zlib in a file of its own."""

ENDLESS = (*TIME, *SPACE)
