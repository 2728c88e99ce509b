"""What a hostile program is, as data: its source, what it is after, and the kinds of error it may end with.

The programs are harmless on purpose, even with every layer off: at most 200 forks, about 1 GB of memory, 50 MB of
files in the arena's own folder, loopback only, signals to a decoy only. Where to strike they learn from the action.
"""

from dataclasses import dataclass
from enum import StrEnum

from spadework.harness.sandbox import ErrorKind

from ..programs import GLOBALS


class Aim(StrEnum):
    """What a program is after, each seen by the host from outside; `TOKEN` is the exception, see there."""

    SECRET = "secret"
    """A text that only a file, an environment, a descriptor or another process holds comes back in an answer."""
    FILE = "file"
    """The arena's folder changes: a file more, one less, or another content."""
    CONNECTION = "connection"
    """A socket of the arena hears something."""
    DECOY = "decoy"
    """A process of the arena dies."""
    SURVIVOR = "survivor"
    """A process lives on after the program was closed."""
    TOKEN = "token"
    """The kernel did something for the program that nobody outside can see. The program says REACHED, and means it."""
    MEMORY = "memory"
    """More resident memory than the limit, read from outside."""
    TIME = "time"
    """More wall time than the deadline and its killing take."""
    UNNOTICED = "unnoticed"
    """An end that is taken for an answer."""
    BLAME = "blame"
    """A failure that is put down to the host."""
    BEYOND = "beyond"
    """An accepted answer that the limits do not allow."""
    NEXT = "next"
    """A wrong answer of the next program, or of the one that was there before."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Hostile:
    """One program; `kinds` holds None where it may end without an error, its aim unreached all the same."""

    name: str
    aim: Aim
    kinds: tuple[ErrorKind | None, ...]
    source: str
    turns: int = 1
    x86_only: bool = False


TOOLS = f"""
import json

def tool(name):
    modules = {GLOBALS}["sys"].modules
    if name not in modules:
        modules["_frozen_importlib"]._gcd_import(name)
    return modules[name]

def raw(number, *arguments):
    ctypes = tool("ctypes")
    call = ctypes.CDLL(None, use_errno=True).syscall
    call.restype = ctypes.c_long
    wide = [ctypes.c_long(part) if isinstance(part, int) else part for part in arguments]
    return call(ctypes.c_long(number), *wide), ctypes.get_errno()

def kernel(number, *arguments):
    result, code = raw(number, *arguments)
    if result < 0:
        raise OSError(code, "refused")
    return result

def gate(number, *arguments):
    # Through the gate is also who is turned away further in: only EPERM, EACCES and ENOSYS say that nobody was home.
    result, code = raw(number, *arguments)
    if result >= 0 or code not in (1, 13, 38):
        return f"REACHED {{result}} {{code}}"
    raise OSError(code, "refused")
"""
"""What the programs work with: any module of the interpreter, and any system call. `t` below is the target: the action
of the step, read as JSON, see `Arena.target`."""

STRIKE = """
class StrikeEnv:
    def reset(self, seed=None):
        return "go", {}

    def step(self, action):
        return self.strike(json.loads(action)), 0.0, False, False, {}

    def strike(self, t):
"""


def strike(
    name: str, aim: Aim, kinds: tuple[ErrorKind | None, ...], body: str, turns: int = 1, x86_only: bool = False
) -> Hostile:
    """A program that runs `body` in its step; the text it returns is the observation."""
    lines = "".join(f"        {line}\n" for line in body.strip("\n").splitlines())
    source = TOOLS + STRIKE + lines
    return Hostile(name=name, aim=aim, kinds=kinds, source=source, turns=turns, x86_only=x86_only)


def answer(
    name: str, aim: Aim, kinds: tuple[ErrorKind | None, ...], values: str, before: str = "pass", turns: int = 1
) -> Hostile:
    """A program whose step runs `before` and returns the expression `values`; `t` is the target."""
    lines = "".join(f"        {line}\n" for line in before.strip("\n").splitlines())
    step = STRIKE.partition("        return self.strike")[0]
    source = f"{TOOLS}{step}        t = json.loads(action)\n{lines}        return {values}\n"
    return Hostile(name=name, aim=aim, kinds=kinds, source=source, turns=turns)


def bomb(name: str, kinds: tuple[ErrorKind | None, ...], source: str) -> Hostile:
    """A source text that is meant to hurt whoever compiles it."""
    return Hostile(name=f"bomb_{name}", aim=Aim.TIME, kinds=kinds, source=source)


FORBIDDEN = (ErrorKind.FORBIDDEN,)
"""By far the most usual end: the kernel said no, and the program did not hide it."""
