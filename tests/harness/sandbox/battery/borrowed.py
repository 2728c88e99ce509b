"""A place that every user may read, with this package, the tests' battery and msgspec in it; an interpreter that every
user may run; and drivers started there.

Our own interpreter often lies in a closed folder. Another one of the same minor version serves as well, because msgspec
is compiled for it; where there is none, a copy of our own.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Iterator, Self, Sequence

import msgspec

import spadework.harness

from .arena import Outcome
from .hostile import Hostile
from .surroundings import VARIABLE, secret

NOBODY = 65534
TAG = sys.implementation.cache_tag
CHECK = f"import ctypes, hashlib, json, _posixsubprocess, sys; assert sys.implementation.cache_tag == {TAG!r}"
LEFT_OUT = ("site-packages", "test", "idlelib", "tkinter", "ensurepip", "__pycache__", "config-*")
REMEDY = (
    f"user {NOBODY} can run no Python {sys.version_info[0]}.{sys.version_info[1]} here, not even a copy of this one; "
    f"install one for all users, for example with `apt-get install python{sys.version_info[0]}.{sys.version_info[1]}`"
)


def user() -> int | None:
    """The user to become: nobody when we are root, else nobody else."""
    return NOBODY if os.getuid() == 0 else None


class Borrowed:
    """The place; `interpreter` is what runs there. It goes away at the end."""

    def __init__(self) -> None:
        """Raises LookupError with the remedy when nothing can be run."""
        self.folder = Path(tempfile.mkdtemp(prefix="spadework-borrowed-"))
        assert msgspec.__file__ is not None and spadework.harness.__file__ is not None
        tests = Path(__file__).parents[1]
        self._copy(Path(spadework.harness.__file__).parent, "spadework/harness")
        self._copy(Path(msgspec.__file__).parent, "msgspec")
        self._copy(tests / "battery", "arena/battery")
        shutil.copy(tests / "programs.py", self.folder / "arena")
        self._open_up()
        try:
            self.interpreter = self._interpreter()
        except LookupError:
            self.close()
            raise

    def close(self) -> None:
        """Take the place away."""
        shutil.rmtree(self.folder)

    def _interpreter(self) -> str:
        for candidate in candidates():
            if runs(candidate):
                return candidate
        copy = self._own_copy()
        if not runs(copy):
            raise LookupError(REMEDY)
        return copy

    def _own_copy(self) -> str:
        base, version = Path(sys.base_prefix), f"python{sys.version_info[0]}.{sys.version_info[1]}"
        (self.folder / "python/bin").mkdir(parents=True)
        with suppress(OSError):
            shutil.copy(base / "bin" / version, self.folder / "python/bin")
            self._copy(base / "lib" / version, f"python/lib/{version}")
            for library in (base / "lib").glob("libpython*.so*"):
                shutil.copy(library, self.folder / "python/lib")
        self._open_up()
        return str(self.folder / "python/bin" / version)

    def _copy(self, source: Path, name: str) -> None:
        shutil.copytree(source, self.folder / name, ignore=shutil.ignore_patterns(*LEFT_OUT))

    def _open_up(self) -> None:
        for path in (self.folder, *self.folder.rglob("*")):
            if not path.is_symlink():
                path.chmod(path.stat().st_mode | (0o555 if path.is_dir() or os.access(path, os.X_OK) else 0o444))


def candidates() -> Iterator[str]:
    """Interpreters of our minor version, ours first."""
    yield sys.executable
    folders = ["/usr/bin", "/usr/local/bin", *os.environ.get("PATH", "").split(os.pathsep)]
    for folder in dict.fromkeys(folders):
        for name in (f"python{sys.version_info[0]}.{sys.version_info[1]}", "python3"):
            if (Path(folder) / name).exists():
                yield str(Path(folder) / name)


def runs(interpreter: str) -> bool:
    """Whether the other user can run it, and it is of our version."""
    groups: Sequence[int] | None = None if user() is None else []
    try:
        done = subprocess.run(
            [interpreter, "-S", "-E", "-B", "-c", CHECK], user=user(), group=user(), extra_groups=groups, cwd="/",
            stderr=subprocess.DEVNULL, timeout=30, env={},
        )  # fmt: skip
    except OSError:
        return False
    return done.returncode == 0


class Driver:
    """A running driver: asked for one program after another."""

    def __init__(self, place: Borrowed, interpreter: str, user: int | None, off: Sequence[str] = ()) -> None:
        """Raises RuntimeError with its last words when it does not come up."""
        groups: Sequence[int] | None = None if user is None else []
        self._process = subprocess.Popen(
            [interpreter, "-s", "-P", "-S", "-B", "-m", "arena.battery.driver", *off], cwd="/",
            env={"PYTHONPATH": str(place.folder), VARIABLE: secret("environment")}, user=user, group=user,
            extra_groups=groups, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        first = self._line()
        self.about: dict[str, object] = msgspec.json.decode(first)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process.poll() is None:
            self._process.communicate(timeout=30)

    def run(self, hostile: Hostile) -> Outcome:
        """`Arena.run`, over there."""
        assert self._process.stdin is not None
        self._process.stdin.write(hostile.name + "\n")
        self._process.stdin.flush()
        return msgspec.json.decode(self._line(), type=Outcome)

    def _line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            words = self._process.communicate(timeout=30)[1]
            raise RuntimeError(f"the driver ended with {self._process.returncode}: {words[-2000:]}")
        return line
