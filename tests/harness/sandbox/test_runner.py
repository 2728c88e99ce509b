"""Scripts in the sandbox, with real processes: an ordinary program finds a Python, a hostile one only itself."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from spadework.harness.errors import InputError
from spadework.harness.sandbox import ErrorKind, Layer, Policy, RunLimits, Runner, RunResult, run_python
from spadework.harness.sandbox.frames import ProtocolError
from spadework.harness.sandbox.run_frames import decode_end

QUICK = RunLimits(cpu_s=0.5, wall_s=1.5, memory_mb=256, stdout_bytes=1 << 20)


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with Runner(workers=2) as shared:
        yield shared


def served(runner: Runner) -> bool:
    """Whether an ordinary program still gets the right answer."""
    return runner.run_python("print(int(input()) * 2)", "21", RunLimits(cpu_s=5)).stdout == "42\n"


def ended(result: RunResult) -> tuple[ErrorKind | None, str | None]:
    return result.kind, result.fault


IDIOMS = {
    "input": ("print(int(input()) + int(input()))", "3\n4\n"),
    "input without a last newline": ("print(input() + input())", "a\nb"),
    "input with a prompt": ("name = input('Name? '); print('hello', name)", "Ada\n"),
    "input beyond the end": ("try:\n    input()\nexcept EOFError:\n    print('end')", ""),
    "stdin read": ("import sys; print(sum(map(int, sys.stdin.read().split())))", "3 4\n5"),
    "stdin readline": ("import sys\ninput = sys.stdin.readline\nn = int(input())\nprint(n, repr(input()))", "3\nx y\n"),
    "stdin lines": ("import sys\nfor line in sys.stdin: print(line.rstrip()[::-1])", "ab\ncd\n"),
    "stdin readlines": ("import sys; print(sys.stdin.readlines())", "ab\r\ncd"),
    "stdin buffer": ("import sys; print(sum(map(int, sys.stdin.buffer.read().split())))", "3 4"),
    "stdin buffer readline": ("import sys; read = sys.stdin.buffer.readline; print(read(), read(), read())", "a\nb"),
    "open 0": ("print(open(0).read().split())", "x y z"),
    "open 0 lines": ("print([int(line) for line in open(0)])", "1\n2\n"),
    "open 0 binary": ("print(open(0, 'rb').read())", "a\r\nb"),
    "open 0 and input": ("f = open(0)\nprint(f.readline().strip())\nprint(next(f).strip())", "one\ntwo"),
    "open by fileno": ("import sys; print(open(sys.stdin.fileno()).read())", "abc"),
    "os read": ("import os; print(os.read(0, 100))", "abc"),
    "os fdopen": ("import os; print(os.fdopen(0).readline())", "abc\n"),
    "dev stdin": ("print(open('/dev/stdin').read())", "abc"),
    "io open": ("import io; print(io.open(0, encoding='utf-8').read())", "ab\u00e7"),
    "wrapped stdin": ("import io, sys; sys.stdin = io.TextIOWrapper(sys.stdin.buffer); print(input())", "abc"),
    "stdin is no terminal": ("import sys; print(sys.stdin.isatty(), sys.stdout.isatty(), sys.stdin.fileno())", ""),
    "fast io": (
        "import os, sys\nfrom io import BytesIO, IOBase\n"
        "class FastIO(IOBase):\n"
        "    def __init__(self, file):\n"
        "        self._fd = file.fileno(); self.buffer = BytesIO(); self.write = self.buffer.write\n"
        "    def readline(self):\n"
        "        while True:\n"
        "            b = os.read(self._fd, max(os.fstat(self._fd).st_size, 8192))\n"
        "            ptr = self.buffer.tell(); self.buffer.seek(0, 2); self.buffer.write(b); self.buffer.seek(ptr)\n"
        "            if not b or b'\\n' in b: return self.buffer.readline()\n"
        "    def flush(self):\n"
        "        os.write(self._fd, self.buffer.getvalue()); self.buffer.truncate(0), self.buffer.seek(0)\n"
        "class IOWrapper(IOBase):\n"
        "    def __init__(self, file):\n"
        "        self.buffer = FastIO(file); self.flush = self.buffer.flush\n"
        "        self.write = lambda s: self.buffer.write(s.encode('ascii'))\n"
        "        self.readline = lambda: self.buffer.readline().decode('ascii')\n"
        "sys.stdin, sys.stdout = IOWrapper(sys.stdin), IOWrapper(sys.stdout)\n"
        "input = lambda: sys.stdin.readline().rstrip('\\r\\n')\n"
        "print(int(input()) + int(input()))",
        "3\n4\n",
    ),
    "stdout write": ("import sys; sys.stdout.write('a'); sys.stdout.write('b')", ""),
    "stdout buffer": ("import sys; sys.stdout.buffer.write(b'bytes\\n')", ""),
    "os write": ("import os, sys; print('a', end=''); sys.stdout.flush(); os.write(1, b'b')", ""),
    "print flush": ("print('now', flush=True)\nprint(*range(3), sep='-', end='!')", ""),
    "open 1": ("out = open(1, 'w'); out.write('through a file')", ""),
    "reconfigure": ("import sys; sys.stdout.reconfigure(line_buffering=True, encoding='utf-8'); print('\u00e9')", ""),
    "held back until the end": (
        "import atexit, io, sys\nheld = io.StringIO(); sys.stdout = held\n"
        "@atexit.register\ndef write(): sys.__stdout__.write(held.getvalue())\nprint('at last')",
        "",
    ),
    "redirected": (
        "import contextlib, io\nwith contextlib.redirect_stdout(io.StringIO()) as f: print('x')\n"
        "print(f.getvalue() * 2)",
        "",
    ),
    "main guard": ("def main():\n    print(__name__)\nif __name__ == '__main__':\n    main()", ""),
    "a class of main": (
        "from dataclasses import dataclass\nimport pickle, copy\n@dataclass(order=True)\nclass P:\n    x: 'int'\n"
        "print(pickle.loads(pickle.dumps(P(3))), copy.deepcopy(P(4)) > P(3), P.__module__)",
        "",
    ),
    "sys exit": ("import sys; print('a'); sys.exit(0); print('b')", ""),
    "sys exit 3": ("import sys; sys.exit(3)", ""),
    "sys exit beyond every int of C": ("import sys; sys.exit(10**30)", ""),
    "sys exit with words": ("import sys; sys.exit('wrong')", ""),
    "exit": ("print('a'); exit()", ""),
    "quit": ("print('a'); quit(2)", ""),
    "an exception": ("print('a'); 1 / 0", ""),
    "no syntax": ("print('a'", ""),
    "a thread": ("import threading\nthreading.Thread(target=lambda: print('in it')).start()", ""),
    "a slow thread": (
        "import threading, time\ndef late():\n    time.sleep(0.2); print('late')\n"
        "threading.Thread(target=late).start()\nprint('main is over')",
        "",
    ),
    "a thread with a large stack": (
        "import sys, threading\nsys.setrecursionlimit(10**6)\nthreading.stack_size(2**27)\n"
        "def depth(n): return 0 if n == 0 else 1 + max(map(depth, [n - 1]))\n"
        "def main(): print(depth(20000))\nt = threading.Thread(target=main); t.start(); t.join()",
        "",
    ),
    "a daemon is not waited for": (
        "import threading, time\nthreading.Thread(target=time.sleep, args=(60,), daemon=True).start(); print('done')",
        "",
    ),
    "an exception in a thread": ("import threading as t\nx = t.Thread(target=lambda: 1 / 0); x.start(); x.join()", ""),
    "threads with a queue": (
        "import queue, threading\nq = queue.Queue()\n"
        "w = threading.Thread(target=lambda: [q.put(i * i) for i in range(5)]); w.start()\n"
        "print([q.get(timeout=5) for _ in range(5)])",
        "",
    ),
    "a pool of threads": (
        "from concurrent.futures import ThreadPoolExecutor\n"
        "with ThreadPoolExecutor(3) as p: print(list(p.map(abs, [-1, 2])))",
        "",
    ),
    "sleep": ("import time; start = time.time(); time.sleep(0.1); print(0.09 < time.time() - start)", ""),
    "deep recursion": (
        "import sys\nsys.setrecursionlimit(10**6)\ndef depth(n): return 0 if n == 0 else 1 + depth(n - 1)\n"
        "print(depth(50000))",
        "",
    ),
    "recursion without end": ("def f(): f()\ntry: f()\nexcept RecursionError: print('caught')", ""),
    "raised limits": (
        "import resource, sys\nresource.setrlimit(resource.RLIMIT_STACK, resource.getrlimit(resource.RLIMIT_STACK))\n"
        "print('fine')",
        "",
    ),
    "eval and exec": ("exec('x = 3'); print(eval('x + 1'))", ""),
    "a file that is not there": (
        "try:\n    open('input.txt')\nexcept FileNotFoundError: print('no file')\n"
        "import os; print(os.path.exists('input.txt'))",
        "",
    ),
    "arguments": ("import sys; print(len(sys.argv))", ""),
    "unicode": (
        "s = input(); print(len(s), s, s.encode('utf-16-le')[:2], '\u00fc'.encode('latin-1'))", "a\u4e2d\U0001f600\n",
    ),
    "a date": ("from datetime import datetime; print(datetime.strptime('2025-03-01', '%Y-%m-%d').weekday())", ""),
    "star imports": (
        "from math import *\nfrom collections import *\nfrom heapq import *\nfrom bisect import *\n"
        "from itertools import *\nfrom functools import *\nfrom io import *\nfrom builtins import *\n"
        "print(gcd(12, 18), open(0).read())",
        "x",
    ),
    "a module that is not there": ("try:\n    import no_such_module\nexcept ModuleNotFoundError as e: print(e)", ""),
    "surrogates": ("print('\\ud800')", ""),
    "nothing but a comment": ("# thinking", ""),
}  # fmt: skip


@pytest.mark.parametrize("name", IDIOMS)
def test_what_an_interpreter_does_with_a_program_the_runner_does_too(runner: Runner, name: str, tmp_path: Path) -> None:
    """P100 and its kind: whatever people write to read and write is read and written."""
    source, stdin = IDIOMS[name]
    (tmp_path / "program.py").write_text(source, encoding="utf-8")
    bare = subprocess.run(
        [sys.executable, "-I", "-X", "utf8", "program.py"], cwd=tmp_path, input=stdin.encode(), capture_output=True
    )
    ours = runner.run_python(source, stdin, RunLimits(cpu_s=5))
    assert (ours.stdout, ours.exit_code) == (bare.stdout.decode(), bare.returncode)
    assert ours.kind is None or bare.returncode == 1
    last = bare.stderr.decode().strip().splitlines()[-1:]
    assert ours.stderr.strip().splitlines()[-1:] == last


def test_the_harness_gets_text_whatever_bytes_a_program_writes(runner: Runner) -> None:
    result = runner.run_python(r"import sys; sys.stdout.buffer.write(b'\xff\x00ok')", b"\xfe\xff")
    assert result.ok and result.stdout == "\ufffd\x00ok"


def test_input_of_any_bytes_arrives(runner: Runner) -> None:
    echo = "import sys; sys.stdout.buffer.write(sys.stdin.buffer.read())"
    assert runner.run_python(echo, "a\u00e9\u4e2d\U0001f600\0").stdout == "a\u00e9\u4e2d\U0001f600\0"
    assert runner.run_python("import sys; print(len(sys.stdin.read()))", "\ud800").ok
    assert runner.run_python("print(ascii(input()))", b"\xff").stdout == "'\\udcff'\n"


def test_an_input_of_twenty_megabytes_is_read(runner: Runner) -> None:
    numbers = " ".join(str(number) for number in range(2_900_000))
    assert len(numbers) > 20_000_000
    result = runner.run_python("print(sum(map(int, input().split())))", numbers, RunLimits(cpu_s=30))
    assert result.stdout == f"{sum(range(2_900_000))}\n"
    with pytest.raises(InputError, match="memory_mb=64: allow"):
        runner.run_python("print(1)", numbers, RunLimits(memory_mb=64))


def test_standard_error_is_apart_and_bounded(runner: Runner) -> None:
    source = "import sys; print('out'); sys.stderr.write('e' * 10**6)"
    result = runner.run_python(source, "", RunLimits(cpu_s=5, stderr_bytes=1000))
    assert result.ok and result.truncated
    assert (result.stdout, result.stderr) == ("out\n", "e" * 1000)


def test_a_traceback_names_the_programs_own_lines_only(runner: Runner) -> None:
    result = runner.run_python("def f():\n    return {}['key']\n\nf()\n")
    assert ended(result) == (ErrorKind.EXCEPTION, "program") and result.exit_code == 1
    assert result.message == "KeyError: key"
    assert [line.strip() for line in result.stderr.splitlines() if "File" in line or "key" in line] == [
        'File "/program.py", line 4, in <module>', 'File "/program.py", line 2, in f', "return {}['key']",
        "KeyError: 'key'",
    ]  # fmt: skip


def test_runs_share_nothing_and_start_alike(runner: Runner) -> None:
    runner.run_python("import random, sys, builtins; random.random = len; builtins.print = None; sys.path = 3")
    drawn = [runner.run_python("import random; print(random.random(), hash('a'))").stdout for _ in range(2)]
    assert drawn[0] == drawn[1]
    with Runner(workers=1) as other:
        assert other.run_python("import random; print(random.random(), hash('a'))").stdout == drawn[0]
    assert random.Random(0).random() == float(drawn[0].split()[0])


def test_numpy_is_there_when_it_is_preloaded() -> None:
    pytest.importorskip("numpy", reason="numpy is optional")
    source = (
        "import sys\nimport numpy as np\na = np.array(list(map(int, open(0).read().split())))\n"
        "print(a.sum(), a.std() > 1, round(np.linalg.det(np.eye(3) * 2)))\n"
        "print(np.random.rand() == np.random.RandomState(0).rand(), np.poly1d([1, 2]).roots, np.ma.array([1]).sum())\n"
        "print(np.fft.fft(a).real[0], np.random.default_rng(1).integers(9), np.loadtxt(['1 2', '3 4']).sum())"
    )
    with Runner(preload=("numpy",), workers=1) as runner:
        results = [runner.run_python(source, "1 2 3 40", RunLimits(cpu_s=5)) for _ in range(2)]
        assert results[0].ok, results[0].stderr
        assert results[0].stdout.startswith("46 True 8\nTrue [-2.] 1\n46.0 ") and results[0].stdout == results[1].stdout
        assert runner.run_python("import scipy").message == "ModuleNotFoundError: No module named 'scipy'"


def test_what_is_no_program_is_refused_without_a_process(runner: Runner) -> None:
    cases = {
        "": ErrorKind.EMPTY, " \n\t": ErrorKind.EMPTY, "print(1)\0": ErrorKind.ENCODING,
        "x = '\ud800'": ErrorKind.ENCODING, "#" * (1 << 21): ErrorKind.SOURCE_TOO_LARGE,
    }  # fmt: skip
    for source, kind in cases.items():
        result = runner.run_python(source)
        assert (*ended(result), result.exit_code, result.cpu_s) == (kind, "program", None, 0.0)
    assert runner.run_python(b"print('\xff')").kind is ErrorKind.ENCODING
    assert runner.run_python("print(").kind is ErrorKind.SYNTAX
    assert runner.run_python("(" * 1000 + ")" * 1000).kind in (ErrorKind.SYNTAX, ErrorKind.MEMORY)


def test_every_test_of_an_answer_has_limits_of_its_own(runner: Runner) -> None:
    """P104: twenty slow tests, each within the limit of a test, together far beyond it."""
    source = "from time import process_time as t\nend = t() + float(input())\nwhile t() < end: pass\nprint('ok')"
    results = list(runner.run_many(source, ["0.15"] * 8 + ["9"], RunLimits(cpu_s=0.4)))
    assert [result.stdout for result in results] == ["ok\n"] * 8 + [""]
    assert ended(results[-1]) == (ErrorKind.TIMEOUT, "program")
    assert sum(result.cpu_s for result in results) > 1.2
    assert 0.4 <= results[-1].cpu_s < 1.5 and results[-1].out_of_time


def test_the_caller_may_stop_at_the_first_wrong_answer(runner: Runner) -> None:
    taken = []

    def inputs() -> Iterator[str]:
        for number in range(1000):
            taken.append(number)
            yield str(number)

    for result in runner.run_many("print(input())", inputs()):
        if result.stdout == "3\n":
            break
    assert len(taken) <= 4 + runner.workers


def test_many_threads_may_use_one_runner(runner: Runner) -> None:
    answers: dict[int, str] = {}

    def ask(number: int) -> None:
        answers[number] = runner.run_python("print(int(input()) ** 2)", str(number), RunLimits(cpu_s=5)).stdout

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == {number: f"{number**2}\n" for number in range(12)}


def test_a_configured_limit_reaches_the_process(runner: Runner) -> None:
    """P117: two seconds in the configuration, sixty in the program."""
    started = time.monotonic()
    result = runner.run_python("import time; print('before', flush=True); time.sleep(60)", "", RunLimits(wall_s=2))
    assert ended(result) == (ErrorKind.HANG, "program") and result.out_of_time
    assert result.message == "no answer within 2 s"
    assert 1.9 < time.monotonic() - started < 4
    assert RunLimits(cpu_s=3).wall == 7


def test_limits_without_a_meaning_are_refused(runner: Runner) -> None:
    senseless = {
        "cpu_s": (0, -1.0, "2", float("nan"), float("inf")),
        "wall_s": (0, -1),
        "memory_mb": (0, 1.5, "9", True),
        "stdout_bytes": (0,),
    }
    for name, values in senseless.items():
        for value in values:
            with pytest.raises(InputError, match=f"the limit {name} of a run"):
                runner.run_python("print(1)", "", replace(RunLimits(), **{name: value}))


def test_output_is_cut_while_it_streams(runner: Runner) -> None:
    """P114: endless output costs what it may cost, and what came first is there."""
    result = runner.run_python("while 1: print('y' * 10**6)", "", RunLimits(cpu_s=5, stdout_bytes=3_000_000))
    assert ended(result) == (ErrorKind.OUTPUT, "program")
    assert len(result.stdout) == 3_000_000 and result.truncated and result.exit_code is None
    whole = runner.run_python("print('y' * 999_999)", "", RunLimits(cpu_s=5, stdout_bytes=1_000_000))
    assert whole.ok and len(whole.stdout) == 1_000_000 and not whole.truncated


def test_a_program_that_is_out_of_time_leaves_what_it_wrote(runner: Runner) -> None:
    result = runner.run_python("print('so far')\nwhile True: pass", "", QUICK)
    assert (*ended(result), result.stdout) == (ErrorKind.TIMEOUT, "program", "so far\n")


def test_memory_is_what_the_program_takes_beyond_the_interpreter(runner: Runner) -> None:
    """P107, P106."""
    limits = RunLimits(cpu_s=5, memory_mb=64)
    assert runner.run_python("x = bytearray(48 << 20); print(len(x))", "", limits).ok
    lists = ("x = []\nwhile 1: x.append([])", "x = {}\nwhile 1: x[len(x)] = str(x.__len__())")
    for source in ("x = bytearray(80 << 20)", "s = 'a'\nwhile 1: s += s", "x = [0] * 10**11", *lists):
        result = runner.run_python(source, "", limits)
        assert ended(result) == (ErrorKind.MEMORY, "program")
        assert result.exit_code == 1
    caught = runner.run_python("try:\n    x = [0] * 10**11\nexcept MemoryError: print('caught')", "", limits)
    assert caught.ok and caught.stdout == "caught\n"


LATE = {ErrorKind.TIMEOUT, ErrorKind.HANG}
"""On a crowded machine the wall clock may be the first."""
HOSTILE = {
    "reads a file": ("import os; os.open('/etc/passwd', 0)", {ErrorKind.FORBIDDEN}),
    "opens a file": ("print(open('/etc/passwd').read())", {ErrorKind.EXCEPTION}),
    "writes a file": ("open('/tmp/mark', 'w').write('x')", {ErrorKind.FORBIDDEN}),
    "lists a folder": ("import os; print(os.listdir('/'))", {ErrorKind.FORBIDDEN}),
    "goes online": ("import socket; socket.create_connection(('127.0.0.1', 80))", {ErrorKind.FORBIDDEN}),
    "forks": ("import os\nwhile True: os.fork()", {ErrorKind.FORBIDDEN}),
    "starts a shell": ("import os; os.execv('/bin/sh', ['sh', '-c', 'true'])", {ErrorKind.FORBIDDEN}),
    "spawns": ("import os; os.posix_spawn('/bin/true', ['true'], {})", {ErrorKind.FORBIDDEN}),
    "kills its parent": ("import os; os.kill(os.getppid() or 1, 9)", {ErrorKind.FORBIDDEN}),
    "kills everybody": ("import os; os.kill(-1, 9)", {ErrorKind.FORBIDDEN}),
    "handles signals": ("import signal; signal.signal(signal.SIGPROF, signal.SIG_IGN)", {ErrorKind.FORBIDDEN}),
    "ends early": ("import os; print('42'); os._exit(0)", {ErrorKind.EARLY_EXIT}),
    "ends early in a thread": (
        "import os, threading; threading.Thread(target=os._exit, args=(0,)).start()\nwhile True: pass",
        {ErrorKind.EARLY_EXIT},
    ),
    "crashes": ("import ctypes; ctypes.string_at(1)", {ErrorKind.CRASH}),
    "recurses into the ground": (
        "import sys, functools\nsys.setrecursionlimit(10**9)\n@functools.cache\ndef f(n): return f(n + 1)\nf(0)",
        {ErrorKind.CRASH, ErrorKind.MEMORY, ErrorKind.EXCEPTION},
    ),
    "loops": ("while True: pass", LATE),
    "loops and catches": ("while True:\n    try:\n        while True: pass\n    except BaseException: pass", LATE),
    "loops in C": ("import itertools; 0.5 in itertools.count(1)", LATE),
    "loops in a thread": ("import threading\ndef f():\n    while True: pass\nthreading.Thread(target=f).start()", LATE),
    "stops the alarm": ("import signal; signal.setitimer(signal.ITIMER_PROF, 0)\nwhile True: pass", LATE),
    "blocks all signals": (
        "import signal; signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\nwhile True: pass", LATE,
    ),
    "sleeps": ("import time; time.sleep(10**6)", {ErrorKind.HANG}),
    "waits for a lock": ("import threading; threading.Event().wait()", {ErrorKind.HANG}),
    "threads without end": (
        "import threading, time\nthreading.stack_size(32768)\n"
        "while True: threading.Thread(target=time.sleep, args=(60,)).start()",
        {ErrorKind.HANG, ErrorKind.TIMEOUT, ErrorKind.MEMORY},
    ),
    "threads that compute": (
        "import threading, hashlib\ndef f():\n    while True: hashlib.sha256(b'x' * 10**7).digest()\n"
        "for _ in range(8): threading.Thread(target=f).start()",
        LATE,
    ),
    "floods": ("import os\nwhile True: os.write(1, b'x' * 10**6)", {ErrorKind.OUTPUT}),
    "reads our questions": ("import os; os.read(3, 100)", {ErrorKind.HANG}),
    "forges an answer": (
        "import os, json, struct\nbody = json.dumps(['', '', '', 0, 'NDI=', '', False, 'null']).encode()\n"
        "os.write(4, struct.pack('<I', len(body)) + body); os._exit(0)",
        {ErrorKind.PROTOCOL},
    ),
    "answers nonsense": ("import os; os.write(4, b'\\x03\\0\\0\\0abc')\nwhile True: pass", {ErrorKind.PROTOCOL}),
    "announces four gigabytes": ("import os; os.write(4, b'\\xff' * 4)\nwhile True: pass", {ErrorKind.PROTOCOL}),
    "answers twice": ("import os; os.write(4, b'\\x01\\0\\0\\0ab')\nwhile True: pass", {ErrorKind.PROTOCOL}),
    "answers drop by drop": (
        "import os, time; os.write(4, b'\\0\\x01\\0\\0')\nwhile True: os.write(4, b' '); time.sleep(0.02)",
        {ErrorKind.HANG},
    ),
    "evil words": ("class E(Exception):\n    def __str__(self):\n        while True: pass\nraise E", LATE),
    "no base of ours": ("class E(BaseException): pass\nraise E('x')", {ErrorKind.EXCEPTION}),
    "a million causes": (
        "e = None\nfor _ in range(10**5):\n    n = ValueError(); n.__cause__ = e; e = n\nraise e",
        {ErrorKind.EXCEPTION, ErrorKind.CRASH, ErrorKind.TIMEOUT},
    ),
    "no way out": (
        "import sys, threading, atexit\nsys.stdout = sys.stderr = sys.exit = threading.enumerate = None\n"
        "atexit.register(lambda: 1 / 0); raise ValueError",
        {ErrorKind.EXCEPTION},
    ),
    "never done at the end": ("import atexit\n@atexit.register\ndef f():\n    while True: pass", LATE),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_script_costs_itself_only(runner: Runner, name: str) -> None:
    source, kinds = HOSTILE[name]
    started = time.monotonic()
    result = runner.run_python(source, "", QUICK)
    taken = time.monotonic() - started
    assert result.kind in kinds, (result.kind, result.message, result.stderr[-300:])
    assert result.fault == "program" and not result.ok
    assert taken < 6, taken
    assert served(runner)


OFF = [(Layer.LANDLOCK,), (Layer.NAMESPACES,), (Layer.UID,), (Layer.LANDLOCK, Layer.NAMESPACES, Layer.UID)]


@pytest.mark.parametrize("off", OFF, ids="+".join)
def test_threads_work_and_files_do_not_where_a_wanted_layer_is_missing(off: tuple[Layer, ...]) -> None:
    thread = "import threading\nthreading.Thread(target=lambda: print(input()[::-1])).start()"
    with Runner(Policy(off=off), workers=1) as runner:
        assert runner.report.missing == off and not runner.report.insecure
        assert runner.run_python(thread, "abc", RunLimits(cpu_s=5)).stdout == "cba\n"
        for name in ("reads a file", "opens a file", "forks", "starts a shell", "goes online", "kills everybody"):
            source, kinds = HOSTILE[name]
            assert runner.run_python(source, "", QUICK).kind in kinds, name


def test_the_environment_and_the_host_are_not_to_be_seen(runner: Runner) -> None:
    seen = runner.run_python("import os, sys; print(dict(os.environ)); print('spadework' in sys.modules)").stdout
    assert set(eval(seen.splitlines()[0])) == {
        "PYTHONHASHSEED", "LC_ALL", "MALLOC_ARENA_MAX", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS",
    }  # fmt: skip
    assert seen.splitlines()[1] == "False"


def test_what_is_written_after_the_end_is_lost_and_harms_nobody(runner: Runner) -> None:
    source = (
        "import threading\ndef f():\n    while True: print('late')\n"
        "threading.Thread(target=f, daemon=True).start(); print('first', flush=True)"
    )
    result = runner.run_python(source, "", RunLimits(cpu_s=5))
    assert result.kind in (None, ErrorKind.OUTPUT) and "first" in result.stdout
    assert served(runner)


def test_no_process_is_left_behind(runner: Runner) -> None:
    for source in ("while True: pass", "import os; os._exit(1)", "import time; time.sleep(60)"):
        runner.run_python(source, "", QUICK)
    assert below(runner.server_pid) in ([], below(runner.server_pid)[:1])


def below(pid: int) -> list[int]:
    """Every living process below `pid`."""
    listing = subprocess.run(["ps", "-eo", "pid=,ppid=,stat="], capture_output=True, text=True, check=True).stdout
    parents = {int(a): int(b) for a, b, stat in (line.split() for line in listing.splitlines()) if stat[0] != "Z"}
    found = [pid]
    for child in found:
        found += [other for other, parent in parents.items() if parent == child]
    return found[1:]


def test_a_server_that_dies_is_nobodys_wrong_answer() -> None:
    """P115: the run is made again by a new server; nothing of the first is taken for a result."""
    with Runner(workers=1) as runner:
        first = runner.server_pid
        threading.Timer(0.3, kill_all_below, (first,)).start()
        result = runner.run_python("import time; time.sleep(1); print('there')", "", RunLimits(cpu_s=5))
        assert result.ok and result.stdout == "there\n"
        assert runner.server_pid != first


def kill_all_below(pid: int) -> None:
    for victim in [*below(pid), pid]:
        with suppress(ProcessLookupError):  # the first takes the others along
            os.kill(victim, signal.SIGKILL)


def test_a_worker_that_somebody_kills_twice_is_the_hosts_fault() -> None:
    with Runner(workers=1) as runner:
        stop = threading.Event()

        def murder() -> None:
            server = below(runner.server_pid)[:1]
            while not stop.wait(0.05):
                for worker in set(below(runner.server_pid)) - set(server):
                    with suppress(ProcessLookupError):
                        os.kill(worker, signal.SIGKILL)

        murderer = threading.Thread(target=murder)
        murderer.start()
        result = runner.run_python("import time; time.sleep(3); print('there')", "", RunLimits(cpu_s=5))
        stop.set()
        murderer.join()
        assert ended(result) == (ErrorKind.KILLED, "host")
        assert result.stdout == "" and result.exit_code is None and not result.ok
        assert served(runner)


def test_a_runner_that_is_closed_ends_what_runs_and_starts_nothing() -> None:
    runner = Runner(workers=1)
    threading.Timer(0.3, runner.close).start()
    started = time.monotonic()
    result = runner.run_python("import time; time.sleep(60)", "", RunLimits(wall_s=60))
    assert result.fault == "host" and time.monotonic() - started < 10
    assert runner.run_python("print(1)").fault == "host"
    runner.close()


def test_one_run_needs_no_runner() -> None:
    result = run_python("print(input()[::-1])", "abc")
    assert result.ok and result.stdout == "cba\n"
    assert 0 < result.cpu_s < 1 and result.wall_s > 0


def test_bytes_that_are_no_answer_do_not_pass_the_host() -> None:
    limits, generator = RunLimits(), random.Random(3)
    honest = b'["t","","",0,"NDI=","",false,"[1,2]"]'
    assert decode_end(honest, "t", limits).stdout == "42"
    refused = 0
    for _ in range(20_000):
        body = bytearray(honest)
        for _ in range(generator.randint(1, 4)):
            body[generator.randrange(len(body))] = generator.randrange(256)
        try:
            decode_end(bytes(body), "t", limits)
        except ProtocolError:
            refused += 1
    assert refused > 15_000
    for kind in ("killed", "server_died", "misuse", "nothing"):
        with pytest.raises(ProtocolError):
            decode_end(honest.replace(b'"t",""', f'"t","{kind}"'.encode()), "t", limits)
    for value in ("NaN", "1e999", "[" * 5000 + "]" * 5000, "[" * 40 + "]" * 40, "9" * 5000, "{", ""):
        with pytest.raises(ProtocolError):
            decode_end(honest.replace(b"[1,2]", value.encode()), "t", limits)


def test_a_script_that_only_looks_ready_at_its_deadline_is_not_the_hosts_fault() -> None:
    """It sleeps, and spins a moment around each deadline: what counts is how long it waited for the processor."""
    source = (
        "import time\nstart = time.monotonic()\nfor turn in range(1, 60):\n"
        "    time.sleep(max(0.0, start + turn * 1.0 - 0.045 - time.monotonic()))\n"
        "    end = time.monotonic() + 0.06\n    while time.monotonic() < end: pass\n"
    )
    with Runner(workers=1) as runner:
        result = runner.run_python(source, "", RunLimits(cpu_s=6, wall_s=1.0))
    assert (result.kind, result.fault) == (ErrorKind.HANG, "program"), result
