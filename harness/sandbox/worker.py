"""One worker: one program, many instances, answering frames until its pipe closes.

It runs in the jailed interpreter after the fork. The module is compiled once and executed again for every reset, so
that instances share neither module state nor random numbers. Everything a program can raise ends here, as data: this
file holds the sandbox's one broad `except`.
"""

import inspect
import os
import signal
from types import CodeType, FrameType, ModuleType
from typing import Any, Callable, Mapping, NoReturn

import msgspec

from .frames import Frame, ResetFrame, read_frame, write_frame
from .limits import ErrorKind, Limits
from .namespace import MODULE_NAME, Current, ForbiddenModule, Instance, environment_class, execute

REQUESTS, ANSWERS = 3, 4
"""The two descriptors a worker has, beside three ends of /dev/null."""

_encode = msgspec.json.Encoder().encode
_decode_frame = msgspec.json.Decoder(Frame).decode
_EMPTY_INFO = msgspec.Raw(b"{}")
Wire = tuple[Any, ...]


class CallTimeout(BaseException):
    """The CPU clock of one call ran out."""


class ContractError(Exception):
    """The program answered in a wrong shape; the message says how to write it right."""


class Clock:
    """CPU time of one call, by ITIMER_PROF. A program that swallows the first alarm is ended at a later one."""

    def __init__(self, limits: Limits) -> None:
        self.limits, self.armed, self.ignored, self.exceeded = limits, False, 0, 0
        signal.signal(signal.SIGPROF, self._alarm)

    def start(self, seconds: float) -> None:
        self.armed, self.ignored = True, 0
        signal.setitimer(signal.ITIMER_PROF, seconds, seconds)

    def stop(self) -> None:
        self.armed = False
        signal.setitimer(signal.ITIMER_PROF, 0.0)

    def run(self, seconds: float, call: Callable[[int, Any], Wire], number: int, argument: Any) -> Wire:
        """One call against the clock; whatever it raises becomes the answer. The sandbox's one broad `except`."""
        try:
            try:
                self.start(seconds)
                return call(number, argument)
            finally:
                self.stop()
        except BaseException as error:  # noqa: BLE001  a program may raise anything, SystemExit included
            self.stop()
            kind, message = classify(error)
        return (number, "", 0.0, False, False, _EMPTY_INFO, kind, message[: self.limits.message_chars])

    def _alarm(self, _number: int, _frame: FrameType | None) -> None:
        if not self.armed:
            return
        self.ignored += 1
        if self.ignored == 1:
            self.exceeded += 1
        if self.ignored > 2:
            end(ErrorKind.TIMEOUT, "the program goes on after its time was up")
        raise CallTimeout


class Program:
    """A loaded program and its instances."""

    def __init__(self, code: CodeType, class_name: str, facades: Mapping[str, ModuleType], limits: Limits) -> None:
        self.code, self.class_name, self.facades, self.limits = code, class_name, facades, limits
        self.instances: dict[int, Instance] = {}

    def reset(self, number: int, seed: int) -> Wire:
        """Make the instance anew. Raises whatever the program raises."""
        self.instances.pop(number, None)
        instance = Current.instance = Instance(seed)
        names = execute(self.code, self.facades, instance)
        instance.env = names[self.class_name]()
        answer = instance.env.reset(seed=seed)
        if type(answer) is not tuple or len(answer) != 2:
            raise ContractError(f"reset must return (observation, info), not {_shape(answer)}")
        wire = self._checked(number, answer[0], 0.0, False, False, answer[1])
        self.instances[number] = instance
        return wire

    def step(self, number: int, action: str) -> Wire:
        """One action. Raises whatever the program raises."""
        instance = Current.instance = self.instances[number]
        answer = instance.env.step(action)
        if type(answer) is not tuple or len(answer) != 5:
            raise ContractError(
                f"step must return (observation, reward, terminated, truncated, info), not {_shape(answer)}"
            )
        return self._checked(number, *answer)

    def _checked(self, number: int, text: Any, reward: Any, terminated: Any, truncated: Any, info: Any) -> Wire:
        if type(text) is not str:
            raise ContractError(f"an observation must be a str, not {type(text).__name__}")
        if len(text) > self.limits.obs_chars:
            raise ContractError(f"an observation of {len(text)} characters is longer than {self.limits.obs_chars}")
        if not text.isascii():
            _encodable(text)
        if type(reward) is not float and type(reward) is not int:
            raise ContractError(f"a reward must be an int or a float, not {type(reward).__name__}")
        if not -self.limits.abs_reward <= reward <= self.limits.abs_reward:
            raise ContractError(f"a reward must be a finite number within +-{self.limits.abs_reward:g}")
        if type(terminated) is not bool or type(truncated) is not bool:
            raise ContractError("terminated and truncated must be bool")
        return (number, text, reward, terminated, truncated, self._info(info))

    def _info(self, info: Any) -> msgspec.Raw:
        if type(info) is not dict:
            raise ContractError(f"info must be a dict, not {type(info).__name__}")
        if not info:
            return _EMPTY_INFO
        try:
            raw = _encode(info)
        except (TypeError, ValueError, RecursionError, OverflowError):
            raise ContractError("info must hold plain JSON values") from None
        if len(raw) > self.limits.info_bytes:
            raise ContractError(f"info of {len(raw)} bytes is larger than {self.limits.info_bytes}")
        return msgspec.Raw(raw)


def end(kind: ErrorKind, message: str) -> NoReturn:
    """Tell the host why this worker ends, and end it."""
    write_frame(ANSWERS, _encode((kind, _clean(message), [])))
    os._exit(0)


def classify(error: BaseException) -> tuple[ErrorKind, str]:
    """The kind of failure an exception stands for, and its text."""
    name = type(error).__name__
    if isinstance(error, CallTimeout):
        return ErrorKind.TIMEOUT, "more CPU time than one call may use"
    if isinstance(error, ContractError):
        return ErrorKind.CONTRACT, _clean(str(error))
    if isinstance(error, MemoryError):
        return ErrorKind.MEMORY, "more memory than a program may use"
    if isinstance(error, ForbiddenModule):
        return ErrorKind.FORBIDDEN_MODULE, _clean(str(error))
    if isinstance(error, SystemExit):
        return ErrorKind.EXIT, "the program asked the interpreter to exit"
    if type(error) in (SyntaxError, IndentationError, TabError):
        return ErrorKind.SYNTAX, _clean(f"{error.msg} (line {error.lineno})")  # type: ignore[attr-defined]
    return ErrorKind.EXCEPTION, f"{_clean(name)}: {_text_of(error)}"


def _text_of(error: BaseException) -> str:
    """The message of a built-in exception; a program's own class could do anything in `__str__`."""
    if type(error).__module__ != "builtins" or not all(type(part) in (str, int) for part in error.args):
        return "(message not shown)"
    return _clean(" ".join(str(part) for part in error.args)[:400])


def _clean(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


def _encodable(text: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise ContractError("an observation must not hold lone surrogates") from None


def _shape(answer: Any) -> str:
    return f"{len(answer)} values" if type(answer) is tuple else type(answer).__name__


def compiled(source: str, facades: Mapping[str, ModuleType], limits: Limits) -> Program:
    """Compile and execute a program once, and look its class over. Raises whatever the program raises."""
    code = compile(source, f"<{MODULE_NAME}>", "exec", dont_inherit=True)
    Current.instance = Instance(0)
    names = execute(code, facades, Current.instance)
    name = environment_class(names)
    if name is None:
        raise ContractError("no class whose name ends in Env is defined: write `class NameEnv:`")
    cls = names[name]
    for method, wanted in (("reset", "def reset(self, seed=None):"), ("step", "def step(self, action):")):
        if not callable(getattr(cls, method, None)):
            raise ContractError(f"{name} has no {method}: write `{wanted}`")
    _accepts(cls.reset, {"seed": 0}, (), "def reset(self, seed=None):")
    _accepts(cls.step, {}, ("",), "def step(self, action):")
    return Program(code, name, facades, limits)


def _accepts(function: Any, named: dict[str, object], positional: tuple[object, ...], wanted: str) -> None:
    try:
        inspect.signature(function).bind(None, *positional, **named)
    except (TypeError, ValueError):
        raise ContractError(f"the signature must be `{wanted}`") from None


def load(source: str, facades: Mapping[str, ModuleType], clock: Clock, limits: Limits) -> Program:
    """The program, or the end of this worker with the reason."""
    loaded: list[Program] = []

    def call(_number: int, source: str) -> Wire:
        loaded.append(compiled(source, facades, limits))
        return ()

    failure = clock.run(limits.load_cpu_s, call, 0, source)
    if loaded:
        return loaded[0]
    kind, message = failure[6], failure[7]
    end(ErrorKind.LOAD if kind is ErrorKind.EXCEPTION else kind, message)


def serve(facades: Mapping[str, ModuleType], limits: Limits) -> None:
    """Load the program of the first frame, then answer frames until the host closes the pipe."""
    clock = Clock(limits)
    program = load(read_frame(REQUESTS).decode("utf-8"), facades, clock, limits)
    write_frame(ANSWERS, _encode(("", "", [])))
    while True:
        try:
            payload = read_frame(REQUESTS)
        except EOFError:
            return
        answer_frame(program, _decode_frame(payload), clock, limits)


def answer_frame(program: Program, frame: Frame, clock: Clock, limits: Limits) -> None:
    """Run every call of a frame in its order and write one answer."""
    answers: list[Wire] = []
    call: Any = program.reset if isinstance(frame, ResetFrame) else program.step
    for number, argument in frame.items:
        if clock.exceeded >= limits.timeouts:
            end(ErrorKind.TIMEOUT, f"{limits.timeouts} calls used more CPU time than a call may use")
        answers.append(clock.run(limits.call_cpu_s, call, number, argument))
    write_frame(ANSWERS, _encode(("", "", answers)))
