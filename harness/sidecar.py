"""A script of ours that runs in an environment of its own (sidecar_home.py), asked in lines of JSON.

    with Sidecar(home, script) as sidecar:
        sidecar.ask({"what": "entries"})        # the script's answer

The script reads one JSON value a line from its standard input and answers each with one line, `{"value": ...}` or
`{"error": "one sentence"}`. One that is silent past the time limit, dies or talks nonsense is killed with its children,
and started again by the next question. What it prints to its standard error is quoted when it fails. It is **no** jail:
what a model wrote goes to harness/sandbox, never here. Thread-safe: one question at a time.
"""

import json
import os
import select
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from .errors import ExitCode, SpadeworkError
from .sidecar_home import SidecarHome

TAIL_BYTES = 2000
"""Of standard error, quoted in an error."""
BLOCK = 1 << 16
GRACE_S = 2.0
"""To end by itself, once nothing more will be asked."""


class SidecarError(SpadeworkError):
    """The script failed, was silent for too long, or answered something that is no answer."""

    exit_code = ExitCode.INCOMPLETE


class Sidecar:
    """One process, started with the first question."""

    def __init__(
        self, home: SidecarHome, script: Path, *, time_limit_s: float = 60.0,
        environment: Mapping[str, str] | None = None,
    ) -> None:  # fmt: skip
        """`environment` is added to the few variables of ours that it gets."""
        self.home, self.script, self.time_limit_s = home, script, time_limit_s
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR") if name in os.environ}
        self._environment = {**kept, "PYTHONHASHSEED": "0", "PYTHONUTF8": "1", **(environment or {})}
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._errors: IO[bytes] | None = None
        self._rest = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def pid(self) -> int | None:
        """Of the running process; another one after a restart."""
        return None if self._process is None else self._process.pid

    def ask(self, question: object, time_limit_s: float | None = None) -> object:
        """The script's answer. Raises SidecarError, and has then no process left unless the script itself refused."""
        limit = self.time_limit_s if time_limit_s is None else time_limit_s
        with self._lock:
            answer = self._asked(json.dumps(question).encode() + b"\n", time.monotonic() + limit, limit)
        if set(answer) == {"error"}:
            raise SidecarError(f"{self.script.name}: {answer['error']}")
        return answer["value"]

    def close(self) -> None:
        """End the process. Closing twice is fine; a later question starts it again."""
        with self._lock:
            if self._process is not None and self._process.stdin is not None:
                with suppress(OSError):
                    self._process.stdin.close()
                with suppress(subprocess.TimeoutExpired):
                    self._process.wait(GRACE_S)
            self._kill()

    def _asked(self, line: bytes, deadline: float, limit: float) -> dict[str, object]:
        process = self._started()
        try:
            self._write(process, line, deadline)
            answer = json.loads(self._line(process, deadline))
        except TimeoutError:
            raise self._failure(f"was silent for {limit:g} s") from None
        except OSError:
            with suppress(subprocess.TimeoutExpired):
                process.wait(GRACE_S)
            raise self._failure(f"ended with code {process.poll()}") from None
        except ValueError:
            raise self._failure("answered with something that is no JSON") from None
        if not isinstance(answer, dict) or set(answer) not in ({"value"}, {"error"}):
            raise self._failure("answered with something that is no answer")
        return answer

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            self._errors = tempfile.TemporaryFile()  # noqa: SIM115  closed by `_kill`
            self._process = subprocess.Popen(
                [str(self.home.python), "-I", "-u", str(self.script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=self._errors, env=self._environment, start_new_session=True,
            )  # fmt: skip
            assert self._process.stdin is not None
            os.set_blocking(self._process.stdin.fileno(), False)
            self._rest = b""
        return self._process

    def _write(self, process: subprocess.Popen[bytes], line: bytes, deadline: float) -> None:
        """Raises TimeoutError when the script does not take the question in time."""
        assert process.stdin is not None
        pipe = process.stdin.fileno()
        while line:
            _, ready, _ = select.select([], [pipe], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                raise TimeoutError
            line = line[os.write(pipe, line[:BLOCK]) :]

    def _line(self, process: subprocess.Popen[bytes], deadline: float) -> bytes:
        """The next line. Raises TimeoutError, and BrokenPipeError when the process is gone."""
        assert process.stdout is not None
        pipe, pieces = process.stdout.fileno(), [self._rest]
        while b"\n" not in pieces[-1]:
            ready, _, _ = select.select([pipe], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                raise TimeoutError
            block = os.read(pipe, BLOCK)
            if not block:
                raise BrokenPipeError
            pieces.append(block)
        line, _, self._rest = b"".join(pieces).partition(b"\n")
        return line

    def _failure(self, what: str) -> SidecarError:
        """The error to raise; the process is gone by then."""
        said = self._tail()
        self._kill()
        return SidecarError(f"{self.script.name} {what}{f': {said}' if said else ''}")

    def _tail(self) -> str:
        """The last of what it wrote to standard error."""
        assert self._errors is not None
        size = self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(0, size - TAIL_BYTES))
        text = self._errors.read().decode("utf-8", "replace").strip()
        self._errors.seek(0, os.SEEK_END)
        return text

    def _kill(self) -> None:
        if self._process is None:
            return
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._errors):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
        self._process = self._errors = None
