"""One worker: one program, many instances, answering frames until its pipe closes.

It runs in the jailed interpreter after the fork. The module is compiled once and, in "module" isolation, executed again
for every reset, so that instances share neither module state nor random numbers. Everything a program can raise ends
here, as data: this file holds the sandbox's one broad `except` for environments.
"""

import gc
import os
import signal
from types import CodeType, FrameType, ModuleType
from typing import Any, Callable, Mapping, NoReturn

import msgspec

from . import generated
from .contract import EMPTY_INFO, ContractError, Wire, class_of, reset_answer, step_answer
from .frames import Frame, LoadFrame, ResetFrame, read_frame, write_frame
from .layers import ServerSetup
from .limits import ErrorKind, Isolation, Limits
from .namespace import MODULE_NAME, SHARED_SEED, Current, ForbiddenModule, Instance, execute, load_facades
from .seccomp import ANSWERS, REQUESTS, WORKER

RULES, THREADS = WORKER, 0
SOUND = 6
"""Values of an answer without an error; its kind and message follow where there is one."""

_encode = msgspec.json.Encoder().encode
_decode_frame = msgspec.json.Decoder(Frame).decode
Facades = Mapping[str, ModuleType]


class CallTimeout(BaseException):
    """The CPU clock of one call ran out."""


class Clock:
    """CPU time of one call, by ITIMER_PROF. A program that swallows the first alarm is ended at a later one."""

    def __init__(self, limits: Limits) -> None:
        self.limits, self.armed, self.ignored, self.exceeded = limits, False, 0, 0
        self.stubborn = ErrorKind.TIMEOUT
        """The kind of a program that goes on after its time was up; in play it brings the process down like a hang."""
        signal.signal(signal.SIGPROF, self._alarm)

    def start(self, seconds: float) -> None:
        self.armed, self.ignored = True, 0
        signal.setitimer(signal.ITIMER_PROF, seconds, seconds)

    def stop(self) -> None:
        self.armed = False
        signal.setitimer(signal.ITIMER_PROF, 0.0)

    def run(self, seconds: float, call: Callable[[int, Any], Wire], number: int, argument: Any) -> Wire:
        """One call against the clock; whatever it raises becomes the answer. The one broad `except`."""
        try:
            try:
                self.start(seconds)
                return call(number, argument)
            finally:
                self.stop()
        except BaseException as error:  # noqa: BLE001  a program may raise anything, SystemExit included
            self.stop()
            kind, message = classify(error)
        return (number, "", 0.0, False, False, EMPTY_INFO, kind, message[: self.limits.message_chars])

    def _alarm(self, _number: int, _frame: FrameType | None) -> None:
        if not self.armed:
            return
        self.ignored += 1
        if self.ignored == 1:
            self.exceeded += 1
        if self.ignored > 2:
            end(self.stubborn, "the program goes on after its time was up")
        raise CallTimeout


class Program:
    """A program and its instances. With "shared" isolation they have one execution of the module between them."""

    def __init__(self, code: CodeType, facades: Facades, limits: Limits, isolation: Isolation) -> None:
        """Execute the module once and look its class over. Raises whatever the program raises."""
        self.code, self.facades, self.limits = code, facades, limits
        self.instances: dict[int, Instance] = {}
        Current.instance = Instance(SHARED_SEED)
        names = execute(code, facades, Current.instance)
        self.class_name = class_of(names)
        self.shared = names if isolation == "shared" else None

    def reset(self, number: int, seed: int) -> Wire:
        """Make the instance anew. Raises whatever the program raises."""
        self.instances.pop(number, None)
        instance = Current.instance = Instance(seed)
        names = execute(self.code, self.facades, instance) if self.shared is None else self.shared
        instance.env = names[self.class_name]()
        wire = reset_answer(number, instance.env.reset(seed=seed), self.limits)
        self.instances[number] = instance
        return wire

    def drop(self, number: int, kind: ErrorKind) -> Wire:
        """An instance failed: it goes, and what it held of the memory that all share goes with it."""
        Current.instance = Instance(SHARED_SEED)
        self.instances.pop(number, None)
        if kind is ErrorKind.MEMORY:
            gc.collect()
        return ()

    def step(self, number: int, action: str) -> Wire:
        """One action. Raises whatever the program raises."""
        instance = Current.instance = self.instances[number]
        return step_answer(number, instance.env.step(action), self.limits)


def end(kind: ErrorKind, message: str) -> NoReturn:
    """Tell the host why this worker ends, and end it."""
    write_frame(ANSWERS, _encode((kind, _clean(message), [])))
    os._exit(0)


def classify(error: BaseException) -> tuple[ErrorKind, str]:
    """The kind of failure an exception stands for, and its text."""
    if isinstance(error, CallTimeout):
        return ErrorKind.TIMEOUT, "more CPU time than one call may use"
    if isinstance(error, ContractError):
        return error.kind, _clean(str(error))
    if isinstance(error, MemoryError):
        return ErrorKind.MEMORY, "more memory than a program may use"
    if isinstance(error, PermissionError):
        return ErrorKind.FORBIDDEN, "the program asked the kernel for something that the jail refuses"
    if isinstance(error, ForbiddenModule):
        return ErrorKind.FORBIDDEN_MODULE, _clean(str(error))
    if isinstance(error, SystemExit):
        return ErrorKind.EXIT, "the program asked the interpreter to exit"
    if type(error) in (SyntaxError, IndentationError, TabError):
        return ErrorKind.SYNTAX, _clean(f"{error.msg} (line {error.lineno})")  # type: ignore[attr-defined]
    return ErrorKind.EXCEPTION, f"{_clean(type(error).__name__)}: {_text_of(error)}"


def _text_of(error: BaseException) -> str:
    """The message of a built-in exception; a program's own class could do anything in `__str__`."""
    if type(error).__module__ != "builtins" or not all(type(part) in (str, int) for part in error.args):
        return "(message not shown)"
    return _clean(" ".join(str(part) for part in error.args)[:400])


def _clean(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


def load(frame: LoadFrame, facades: Facades, clock: Clock) -> Program:
    """The program, or the end of this worker with the reason."""
    loaded: list[Program] = []

    def call(_number: int, source: str) -> Wire:
        code = compile(source, f"<{MODULE_NAME}>", "exec", dont_inherit=True)
        loaded.append(Program(code, facades, clock.limits, frame.isolation))
        return ()

    failure = clock.run(clock.limits.load_cpu_s, call, 0, frame.source)
    if loaded:
        return loaded[0]
    kind, message = failure[6], failure[7]
    end(ErrorKind.LOAD if kind is ErrorKind.EXCEPTION else kind, message)


def prepare(setup: ServerSetup) -> Facades:
    """In the server, before the jail shuts: everything that programs may import."""
    facades = load_facades(setup.policy.modules)
    generated.remember()
    return facades


def arm(limits: Limits) -> Clock:
    """In the worker, before its system calls are filtered: afterwards nobody sets a signal handler any more."""
    return Clock(limits)


def serve(facades: Facades, clock: Clock) -> None:
    """Load the program of the first frame, then answer frames until the host closes the pipe."""
    first = _decode_frame(read_frame(REQUESTS))
    assert isinstance(first, LoadFrame), "the host sends the program first"
    program = load(first, facades, clock)
    clock.stubborn = ErrorKind.HANG
    write_frame(ANSWERS, _encode(("", "", [])))
    try:
        while True:
            answer_frame(program, _decode_frame(read_frame(REQUESTS)), clock)
    except EOFError:
        return
    except MemoryError:
        program.instances.clear()
        end(ErrorKind.MEMORY, "the instances left no memory to answer with")


def answer_frame(program: Program, frame: Frame, clock: Clock) -> None:
    """Run every call of a frame in its order and write one answer."""
    assert not isinstance(frame, LoadFrame), "a program is loaded once"
    answers: list[Wire] = []
    call: Any = program.reset if isinstance(frame, ResetFrame) else program.step
    for number, argument in frame.items:
        if clock.exceeded >= clock.limits.timeouts:
            end(ErrorKind.TIMEOUT, f"{clock.limits.timeouts} calls used more CPU time than a call may use")
        answer = clock.run(clock.limits.call_cpu_s, call, number, argument)
        if len(answer) > SOUND:
            clock.run(clock.limits.call_cpu_s, program.drop, number, answer[SOUND])
        answers.append(answer)
    write_frame(ANSWERS, _encode(("", "", answers)))
