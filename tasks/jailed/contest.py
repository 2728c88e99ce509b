"""What runs in the jail for LiveCodeBench: a model's program on the input of one test, or its function on arguments.

The official grader (lcb_runner at 28fef95) does not run a program as Python would: it puts it into a function behind a
prelude of imports, gives it standard input that can be read twice and standard output without a buffer, and calls one
`Solution` for all tests. `official` repeats that, faults included, so that its verdicts are repeated too;
`ordinary` is how the program would run anywhere else, with the prelude. What is returned is plain JSON, never the
expected output: that stays outside. Imported and warmed up by `livecodebench_tests`.
"""

import ast
import io
import json
import sys
from decimal import Decimal
from fractions import Fraction
from types import ModuleType
from typing import Any

MODULES = (
    "string", "re", "datetime", "collections", "heapq", "bisect", "copy", "math", "random", "statistics", "itertools",
    "functools", "operator", "io", "sys", "json",
)  # fmt: skip
PRELUDE = "\n".join(
    [f"from {name} import *" for name in (*MODULES, "builtins", "typing")]
    + [f"import {name}" for name in MODULES]
    + ["sys.setrecursionlimit(50000)\n"]
)
DIGITS = 50_000
"""Of integers as text: the official grader raises Python's limit to so many."""
OTHER = "\0other"
"""The one key of a dict that stands for a value which equals nothing in JSON."""
GUARD = "__name__ == '__main__'"


class _Stdin:
    """The official stand-in: `read` and the buffer begin anew each time, lines go on."""

    def __init__(self, text: str) -> None:
        self.text, self.lines = text, io.StringIO(text)
        self.buffer = _Buffer(text.encode("utf-8"))

    def read(self, *_: Any) -> str:
        return self.text

    def readline(self, *args: Any) -> str:
        return self.lines.readline(*args)

    def readlines(self, *_: Any) -> list[str]:
        return self.text.split("\n")

    def __getattr__(self, name: str) -> Any:
        return getattr(self.lines, name)


class _Buffer:
    def __init__(self, data: bytes) -> None:
        self.data = data

    def read(self, *_: Any) -> bytes:
        return self.data

    def readline(self, *_: Any) -> bytes:
        return self.data.split(b"\n")[0] + b"\n"


def official(source: str) -> None:
    """Run a program on what standard input holds, as the official grader does."""
    sys.set_int_max_str_digits(DIGITS)
    given, real = sys.stdin.read(), sys.stdout
    names = _executed(_in_function(_unguarded(source)))
    sys.stdin, captured = _Stdin(given), io.StringIO()
    captured.close = lambda _: None  # type: ignore[method-assign, misc, assignment]
    sys.modules["builtins"].quit = None  # type: ignore[attr-defined]
    sys.modules["builtins"].open = lambda *_, **__: io.StringIO(given)  # type: ignore[attr-defined]
    sys.stdout = captured
    try:
        names["wrapped_function"]()
    except SystemExit:
        pass
    finally:
        sys.stdout = real
        real.write(captured.getvalue())


def ordinary(source: str) -> None:
    """Run a program on standard input as `__main__`, with the names of the prelude at hand."""
    sys.set_int_max_str_digits(DIGITS)
    names = sys.modules["__main__"].__dict__
    exec(compile(PRELUDE, "<prelude>", "exec"), names)
    exec(compile(source, "/program.py", "exec", dont_inherit=True), names)


def call(source: str, name: str, inputs: list[str], fresh: bool) -> list[Any]:
    """What the function returns for each input; a new `Solution` for each where `fresh`."""
    sys.set_int_max_str_digits(DIGITS)
    sys.stdout = io.StringIO()
    arguments = [[json.loads(line) for line in text.split("\n")] for text in inputs]
    function = None
    answers = []
    for given in arguments:
        if fresh or function is None:
            function = _function(source, name)
        answer = function(*given)
        answers.append(plain(list(answer) if isinstance(answer, tuple) else answer))
    return answers


def plain(value: Any) -> Any:
    """The JSON value that compares with JSON values as this one does; a mark where it equals none."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return int(value)
    if type(value).__module__ == "numpy" and getattr(value, "ndim", None) == 0:
        return plain(value.item())
    if isinstance(value, (Decimal, Fraction)):
        return _number(value)
    if isinstance(value, float):
        return float(value) if abs(value) < float("inf") else {OTHER: "float"}
    if isinstance(value, list):
        return [plain(part) for part in value]
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {key: plain(part) for key, part in value.items()}
    return {OTHER: type(value).__name__}


def warm() -> None:
    """Import what programs import, once, before the jail shuts."""
    import numpy

    exec(PRELUDE, {})
    for name in ("linalg", "fft", "random", "polynomial", "ma", "lib.stride_tricks"):
        __import__(f"numpy.{name}")
    numpy.linalg.inv(numpy.eye(2))
    _in_function("import math\nprint(math.pi)")


def _number(value: Decimal | Fraction) -> Any:
    if isinstance(value, Decimal) and not value.is_finite():
        return {OTHER: "Decimal"}
    if value == int(value):
        return int(value)
    return float(value) if value == float(value) else {OTHER: type(value).__name__}


def _function(source: str, name: str) -> Any:
    names = _executed(f"{PRELUDE}\n\n{source}")
    if "class Solution" in source:
        return getattr(names["Solution"](), name)
    return names[name]


def _executed(source: str) -> dict[str, Any]:
    module = ModuleType("tmp_sol", "")
    exec(source, module.__dict__)
    return module.__dict__


def _unguarded(source: str) -> str:
    """Without the guard of the last statement, when that is exactly the usual one."""
    try:
        body = ast.parse(source).body
        last = body[-1] if body else None
        if isinstance(last, ast.If) and ast.unparse(last.test).strip() == GUARD:
            return f"{_text(body[:-1])}\n{_text(last.body)}"
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        pass
    return source


def _in_function(source: str) -> str:
    """The prelude, the program's imports, and all the rest as the body of one function."""
    try:
        body = ast.parse(source).body
        imports = [part for part in body if isinstance(part, (ast.Import, ast.ImportFrom))]
        rest = [part for part in body if not isinstance(part, (ast.Import, ast.ImportFrom))]
        arguments = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
        function = ast.FunctionDef(
            name="wrapped_function", args=arguments, body=rest, decorator_list=[], lineno=-1
        )  # fmt: skip
        return f"{PRELUDE}\n{_text([*imports])}\n{ast.unparse(function)}"
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return source


def _text(statements: list[ast.stmt]) -> str:
    return ast.unparse(ast.Module(body=statements, type_ignores=[]))
