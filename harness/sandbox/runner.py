"""Run scripts and functions that work on what a language model wrote, outside this process: `Runner`.

    with Runner(preload=("my_scorers",), path=(folder,), warm=("my_scorers:warm",)) as runner:
        runner.run_python("print(int(input()) * 2)", "21")            # RunResult: stdout "42\\n"
        runner.call("my_scorers:score", ["n_queens", answer, entry])  # CallResult: value 1.0

Every run is a process of its own, forked from a server that has shut itself in (see forkserver.py); it can read no
file, reach nobody and keep nothing. Modules are imported before the jail shuts: the standard library's pure part, and
`preload`. What those import or read when they are first used must have happened by then too: `warm` names functions
without arguments that are called once, trusted, before the jail shuts; scoring one right answer is a good one.

**What it does not stop:** a process says itself what it wrote and returned. A program that is told the expected output
can print it, so never send it in; a scorer that evaluates an answer in its own process can be made to return whatever
its caller will believe, so bound the value, and look at surprising ones. Thread-safe.
"""

import json
import os
import secrets
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Any, Iterable, Iterator, Mapping, Self, Sequence

import msgspec

from ..errors import InputError, nearest
from .errands import Errands, Outcome
from .intake import decoded, unfit
from .layers import Policy, SandboxReport, ServerSetup
from .limits import EnvError, Limits
from .origins import folders
from .run_frames import CallFrame, LookFrame, ScriptFrame, Unknown
from .runs import CallResult, RunLimits, RunResult

_encode = msgspec.json.Encoder().encode
COPIES = 5
"""Times the size of standard input, or of arguments, that a process needs to receive them."""
TOKEN_BYTES = 12
SELF_TEST = Limits(memory_mb=1 << 14)
"""The server tries its own limits out with the modules loaded, which may be large."""
Text = str | bytes


class Runner:
    """One fork server for any number of runs, from any number of threads, `workers` of them at a time."""

    def __init__(
        self, policy: Policy | None = None, *, preload: Sequence[str] = (), path: Sequence[str] = (),
        warm: Sequence[str] = (), workers: int | None = None,
    ) -> None:  # fmt: skip
        """`path`: folders where `preload` is looked for first. Raises SandboxUnavailable, and InputError for a module
        that is not there.
        """
        self.workers = workers or os.cpu_count() or 1
        assert msgspec.__file__ is not None
        found = (*folders(preload, path), str(Path(msgspec.__file__).parents[1]))
        setup = ServerSetup(
            limits=SELF_TEST, policy=policy or Policy(), role="script", preload=tuple(preload), path=found,
            warm=tuple(warm),
        )  # fmt: skip
        self._errands = Errands(setup, self.workers)
        self._pool = ThreadPoolExecutor(self.workers, "sandbox-runner")
        self._known: set[str] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def report(self) -> SandboxReport:
        """Which layers hold, by the self-test of the running server."""
        return self._errands.server.report

    @property
    def server_pid(self) -> int:
        """Process number of the server; another one after a restart."""
        return self._errands.server.process.pid

    def run_python(self, source: Text, stdin: Text = "", limits: RunLimits | None = None) -> RunResult:
        """Run a program to its end. Whatever it does, what comes back is a result; raises InputError for limits or
        an input that make no sense.
        """
        bounds = _sound(limits or RunLimits())
        fed = _fed(stdin, bounds)
        text = decoded(source)
        error = unfit(text, bounds.source_bytes)
        if error is not None:
            return _script_result(Outcome(None, error, 0.0, 0.0))
        token = secrets.token_hex(TOKEN_BYTES)
        payload = _encode(ScriptFrame(token=token, source=text, stdin=fed, limits=bounds))
        return _script_result(self._errands.run(payload, token, bounds))

    def run_many(
        self, source: Text, stdins: Iterable[Text], limits: RunLimits | None = None
    ) -> Iterator[RunResult]:  # fmt: skip
        """Run one program on many inputs, `workers` at a time and each with limits of its own; results in order.

        Stop iterating, and nothing more is started.
        """
        waiting: deque[Future[RunResult]] = deque()
        try:
            for stdin in stdins:
                waiting.append(self._pool.submit(self.run_python, source, stdin, limits))
                if len(waiting) >= self.workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()

    def call(
        self, function: str, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None,
        *, limits: RunLimits | None = None,
    ) -> CallResult:  # fmt: skip
        """Call "module:name" with JSON arguments and get its JSON value. Raises InputError for a function that is not
        there, and for arguments that are not JSON.
        """
        bounds = _sound(limits or RunLimits())
        try:
            arguments = json.dumps([list(args), dict(kwargs or {})])
        except (TypeError, ValueError, RecursionError) as error:
            raise InputError(f"the arguments of {function} are not JSON ({error}): pass plain values") from None
        _require_room(len(arguments), bounds)
        self._look(function, bounds)
        token = secrets.token_hex(TOKEN_BYTES)
        payload = _encode(CallFrame(token=token, function=function, arguments=arguments, limits=bounds))
        return _call_result(self._errands.run(payload, token, bounds))

    def close(self) -> None:
        """Kill what still runs, and the server. Closing twice is fine."""
        if not self._errands.closed:
            self._errands.close()
            self._pool.shutdown(cancel_futures=True)

    def _look(self, function: str, limits: RunLimits) -> None:
        """Raise InputError unless there is such a function inside; asked once, of a process that holds nothing else."""
        if function in self._known:
            return
        token = secrets.token_hex(TOKEN_BYTES)
        outcome = self._errands.run(_encode(LookFrame(token=token, function=function, limits=limits)), token, limits)
        if outcome.end is None or outcome.end.kind is not None:
            return  # the call will say why
        if outcome.end.value is not None:
            unknown = msgspec.convert(outcome.end.value, Unknown)
            raise InputError(
                f"cannot call {function!r}: there is no {unknown.what}{nearest(unknown.what, unknown.known)}; write "
                '"module:name", the module being one of `preload`'
            )
        self._known.add(function)


def run_python(source: Text, stdin: Text = "", limits: RunLimits | None = None) -> RunResult:
    """`Runner.run_python` by a server started for this one run: about a fifth of a second. Use a Runner for many."""
    with Runner(workers=1) as runner:
        return runner.run_python(source, stdin, limits)


def call(function: str, args: Sequence[Any] = (), limits: RunLimits | None = None) -> CallResult:
    """`Runner.call` by a server started for this one call, with the function's module imported."""
    with Runner(preload=(function.partition(":")[0],), workers=1) as runner:
        return runner.call(function, args, limits=limits)


def _sound(limits: RunLimits) -> RunLimits:
    if limits.senseless():
        raise InputError(f"the limit {limits.senseless()} of a run must be above 0, and whole unless it is seconds")
    return limits


def _fed(stdin: Text, limits: RunLimits) -> bytes:
    """Standard input as bytes; lone surrogates arrive as a program of this locale would read them."""
    fed = stdin if isinstance(stdin, bytes) else stdin.encode("utf-8", "surrogatepass")
    _require_room(len(fed), limits)
    return fed


def _require_room(size: int, limits: RunLimits) -> None:
    needed = COPIES * size >> 20
    if needed >= limits.memory_mb:
        raise InputError(f"{size} bytes of input do not fit into memory_mb={limits.memory_mb}: allow {needed + 16}")


def _common(outcome: Outcome) -> dict[str, Any]:
    end, error = outcome.end, outcome.error
    if end is not None and end.kind is not None:
        error = EnvError(kind=end.kind, fault="program", message=end.message)
    return {
        "kind": error and error.kind, "fault": error and error.fault, "message": error.message if error else "",
        "stdout": end.stdout if end else "", "stderr": end.stderr if end else "",
        "truncated": end is None or end.truncated, "cpu_s": outcome.cpu_s, "wall_s": outcome.wall_s,
    }  # fmt: skip


def _script_result(outcome: Outcome) -> RunResult:
    return RunResult(**_common(outcome), exit_code=outcome.end.exit_code if outcome.end else None)


def _call_result(outcome: Outcome) -> CallResult:
    done = outcome.end is not None and outcome.end.kind is None
    return CallResult(**_common(outcome), value=outcome.end.value if outcome.end and done else None)
