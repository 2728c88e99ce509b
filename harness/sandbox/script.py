"""The other role of a worker: run one program, or call one function, to its end, answer once, and be killed.

It runs in the jailed interpreter after the fork. A program finds an ordinary Python: all builtins, `__main__`, standard
streams, threads, a large stack; what it must not do is refused by the layers. Whatever is raised ends here, as data:
this file holds the sandbox's one broad `except` for scripts.
"""

import _sitebuiltins
import atexit
import builtins
import json
import linecache
import os
import signal
import sys
import threading
import time
import traceback
from importlib.machinery import PathFinder
from types import FrameType, ModuleType
from typing import Any, Callable

import msgspec

from .frames import INFO_DEPTH, nested_too_deep, read_frame, write_frame
from .layers import ServerSetup
from .limits import ErrorKind, Limits
from .preload import found, load
from .run_frames import CallFrame, RunFrame, ScriptFrame, Unknown
from .runs import RunLimits
from .seccomp import ANSWERS, REQUESTS, SCRIPT
from .streams import Sink, Streams
from .worker import classify

RULES, THREADS = SCRIPT, 4096
"""Room for the threads of everything that this user runs, and an end for those who start them without end."""

FILE = "/program.py"
AGAIN_S = 0.25
"""The alarm rings again, should something have swallowed the first."""
SHORTEST_S = 0.01
DEPTH = 400
SHOWN = 30
"""Entries of a traceback; a deep recursion has a million."""
JOIN_S = 0.05
GENERATORS = ("random", "numpy.random")
"""Modules with numbers of chance of their own: the same ones in every run."""

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(RunFrame).decode


class Run:
    """The one question of this worker, and its one answer."""

    def __init__(self) -> None:
        self.token = ""
        self.limits = RunLimits()
        self.answering = threading.Lock()
        self.out = self.err = Sink(0, _nothing)
        self.reserve = b""
        self.streams: Streams | None = None
        dig(DEPTH)
        signal.signal(signal.SIGPROF, self._alarm)

    def begin(self, frame: RunFrame) -> None:
        """Streams, clock, and the memory that the answer will take."""
        self.token, self.limits = frame.token, frame.limits
        self.reserve = bytes(self.limits.reserve_bytes)  # untouched pages
        self.out, self.err = Sink(self.limits.stdout_bytes, self._flooded), Sink(self.limits.stderr_bytes, _nothing)
        self.streams = Streams(frame.stdin if isinstance(frame, ScriptFrame) else b"", self.out, self.err)
        self.streams.take_over()
        signal.setitimer(signal.ITIMER_PROF, self.limits.cpu_s, AGAIN_S)

    def end(self, kind: ErrorKind | None, message: str = "", exit_code: int | None = None, value: str = "null") -> None:
        """Answer and wait for the end. The first one who says how it ended is right: a clock, a flood, or the end."""
        if not self.answering.acquire(blocking=False):
            return
        if self.streams is not None:
            self.streams.flush()
        self.reserve = b""
        truncated = self.out.cut or self.err.cut
        answer = (
            self.token, kind or "", message[: self.limits.message_chars], exit_code, self.out.kept, self.err.kept,
            truncated, value,
        )  # fmt: skip
        write_frame(ANSWERS, _encode(answer))
        os.read(REQUESTS, 1)
        os._exit(0)

    def _flooded(self) -> None:
        self.end(ErrorKind.OUTPUT, f"more than {self.limits.stdout_bytes} bytes of output")

    def _alarm(self, _number: int, _frame: FrameType | None) -> None:
        left = self.limits.cpu_s - time.process_time()
        if left > 0:  # the timer counts by ticks, this clock is exact
            signal.setitimer(signal.ITIMER_PROF, max(left, SHORTEST_S), AGAIN_S)
            return
        self.end(ErrorKind.TIMEOUT, f"more than {self.limits.cpu_s:g} s of CPU time")


def prepare(setup: ServerSetup) -> None:
    """In the server, before the jail shuts: everything that programs may import."""
    load(setup.preload, setup.warm)


def arm(_limits: Limits) -> Run:
    """In the worker, before its system calls are filtered: afterwards nobody sets a signal handler any more."""
    return Run()


def serve(_prepared: None, run: Run) -> None:
    """Read the question, answer it. Does not return."""
    frame = _decode(read_frame(REQUESTS))
    failure = raised(lambda: answer(run, frame))
    run.reserve = b""
    run.end(ErrorKind.EXCEPTION if failure is None else classify(failure)[0], "it could not be brought to an end")
    while True:  # another thread is answering
        time.sleep(1.0)


def answer(run: Run, frame: RunFrame) -> None:
    """Do what is asked. Returns only when a thread of the program's has answered; raises when memory ran out."""
    run.begin(frame)
    surroundings()
    if isinstance(frame, ScriptFrame):
        run_script(run, frame.source)
    elif isinstance(frame, CallFrame):
        run_call(run, frame)
    else:
        run.end(None, value=look(frame.function))


def look(function: str) -> str:
    """Whether there is such a function, as JSON: null, or `Unknown`."""
    try:
        found(function)
    except LookupError as error:
        what, known = error.args
        return str(_encode(Unknown(what=what, known=known)), "utf-8")
    return "null"


def run_script(run: Run, source: str) -> None:
    """The program as `__main__`, its threads, what it left to be done at the end; then the answer."""
    linecache.cache[FILE] = (len(source), None, source.splitlines(keepends=True), FILE)
    module = sys.modules["__main__"] = ModuleType("__main__")
    names = module.__dict__
    names.update(__builtins__=builtins, __file__=FILE)
    error = raised(lambda: exec(compile(source, FILE, "exec", dont_inherit=True), names))
    kind, message, exit_code = None, "", 0
    if isinstance(error, SystemExit):
        exit_code = code_of(error)
    elif error is not None:
        kind, message = report(run, error)
        exit_code = 1
    for last in (join_threads, atexit._run_exitfuncs, lambda: sys.stdout.flush()):
        raised(last)
    run.end(kind, message, exit_code)


def run_call(run: Run, frame: CallFrame) -> None:
    """One call of one function; then the answer."""
    positional, named = json.loads(frame.arguments)
    values: list[Any] = []
    function = found(frame.function)
    error = raised(lambda: values.append(function(*positional, **named)))
    if error is not None:
        run.end(*report(run, error))
        return
    texts: list[str] = []
    error = raised(lambda: texts.append(json.dumps(values[0], allow_nan=False)))
    if error is not None or nested_too_deep(values[0]):
        why = f"nested more than {INFO_DEPTH} levels deep" if error is None else classify(error)[1]
        run.end(ErrorKind.ANSWER, f"what the function returned is not JSON ({why})")
    elif len(texts[0]) > run.limits.value_bytes:
        run.end(ErrorKind.ANSWER, f"what the function returned is longer than {run.limits.value_bytes} bytes of JSON")
    else:
        run.end(None, value=texts[0])


def surroundings() -> None:
    """What is found in an interpreter that was started for one run alone."""
    sys.meta_path[:] = [finder for finder in sys.meta_path if finder is not PathFinder]
    sys.argv = [FILE]
    for name in GENERATORS:
        if name in sys.modules:
            sys.modules[name].seed(0)
    vars(builtins).update(exit=_sitebuiltins.Quitter("exit", ""), quit=_sitebuiltins.Quitter("quit", ""))
    atexit._clear()


def raised(action: Callable[[], object]) -> BaseException | None:
    """What an action of the program raised; None when it came to its end. The one broad `except`."""
    try:
        action()
    except BaseException as error:  # noqa: BLE001  a program may raise anything, SystemExit included
        return error
    return None


def code_of(error: SystemExit) -> int:
    """The exit code, as the interpreter makes it of what `sys.exit` was given."""
    if error.code is None:
        return 0
    if isinstance(error.code, int):
        return error.code & 0xFF if -(2**63) <= error.code < 2**63 else 0xFF
    raised(lambda: print(error.code, file=sys.stderr))
    return 1


def report(run: Run, error: BaseException) -> tuple[ErrorKind, str]:
    """The kind and the message of what was raised; on standard error its traceback, from the program's own first line
    on, as far as it can be had: a program can make this fail.
    """
    if isinstance(error, MemoryError):
        run.reserve = b""  # room to speak of it
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename.startswith(os.path.dirname(__file__)):
        trace = trace.tb_next
    raised(lambda: traceback.print_exception(type(error), error, trace, limit=-SHOWN, file=sys.stderr))
    return classify(error)


def join_threads() -> None:
    """Wait for the threads that an interpreter waits for. In small bites, so that the alarm is heard."""
    while waited := [t for t in threading.enumerate() if t is not threading.main_thread() and not t.daemon]:
        waited[0].join(JOIN_S)


def dig(depth: int) -> int:
    """Make the stack grow: when memory has run out it cannot, and the kernel would kill a program that only failed."""
    return max(map(dig, [depth - 1])) if depth else 0


def _nothing() -> None:
    """What happens when standard error is full."""
