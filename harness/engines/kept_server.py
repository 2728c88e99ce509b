"""A server of our own: started under a keeper, asked for its health, told dead with what its log says, always ended.

It dies with this process however that ends (`keeper`). Its log is a file; where none was named it is a temporary one,
removed when the server is closed and kept, and named, when the server failed.
"""

import logging
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from ..errors import IncompleteError

KEEPER = Path(__file__).with_name("keeper.py")
GRACE_S = 10.0
CAUSES, TAIL_LINES, TAIL_CHARACTERS = 3, 6, 200
_MILD = re.compile(r"\b(WARNING|INFO|DEBUG)\b")
_ERROR = re.compile(r"\b\w*(Error|Exception)\b: .+|\berror: .+")
POLL_S = 0.25
log = logging.getLogger(__name__)


class KeptServer:
    """See the module. `name` is for people."""

    def __init__(
        self, name: str, command: Sequence[str], environment: Mapping[str, str], log_file: Path | None = None
    ) -> None:
        """Starts it at once; `wait` says when it serves. Raises IncompleteError when the log cannot be written."""
        self.name = name
        self._temporary = log_file is None
        try:
            self.log = _temporary_log() if log_file is None else log_file
            self.log.parent.mkdir(parents=True, exist_ok=True)
            with self.log.open("ab") as output:
                self._start = output.tell()
                self._process = subprocess.Popen(
                    [sys.executable, "-I", str(KEEPER), str(GRACE_S), *command],
                    stdin=subprocess.PIPE, stdout=output, stderr=subprocess.STDOUT, env={**os.environ, **environment},
                    start_new_session=True,
                )  # fmt: skip
        except OSError as error:
            raise IncompleteError(f"{name} cannot be started ({error}); give another place for its log.") from None

    def wait(self, ready: Callable[[], bool], limit_s: float) -> None:
        """Until `ready`. Raises IncompleteError, with what its log says, when it dies or takes longer than that."""
        end = told = time.monotonic()
        end += limit_s
        while not ready():
            if reason := self.dead():
                raise IncompleteError(reason)
            if time.monotonic() > end:
                self.close(failed=True)
                raise IncompleteError(f"{self.name} does not serve after {limit_s:g} s; {self._tail()}")
            if time.monotonic() > told + 30:
                told = time.monotonic()
                log.info("%s is starting (%.0f s)", self.name, limit_s - (end - told))
            time.sleep(POLL_S)

    def dead(self) -> str:
        """Why it will never answer again, with what its log says; empty while it runs."""
        code = self._process.poll()
        return "" if code is None else f"{self.name} ended with exit code {code}; {self._tail()}"

    def close(self, *, failed: bool = False) -> None:
        """End it with everything it started. Twice is once."""
        failed = failed or self._process.poll() is not None
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(GRACE_S + 10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._temporary and not failed:
            self.log.unlink(missing_ok=True)

    def _tail(self) -> str:
        """Of what this server wrote: the first errors, which are the cause of the others, and the last lines."""
        with self.log.open("rb") as file:
            file.seek(self._start)
            lines = [line.strip() for line in file.read().decode(errors="replace").splitlines() if line.strip()]
        serious = [line for line in lines if not _MILD.search(line)]
        causes = list(dict.fromkeys(match[0] for line in serious if (match := _ERROR.search(line))))[:CAUSES]
        shown = "\n    ".join(line[:TAIL_CHARACTERS] for line in (*causes, "...", *lines[-TAIL_LINES:]))
        return f"its log {self.log} says:\n    {shown}" if lines else f"its log {self.log} is empty"


def free_port() -> int:
    """A port of the loopback interface that nobody has now."""
    with socket.create_server(("127.0.0.1", 0)) as one:
        port: int = one.getsockname()[1]
    return port


def _temporary_log() -> Path:
    handle, name = tempfile.mkstemp(prefix="spadework-server-", suffix=".log")
    os.close(handle)
    return Path(name)
