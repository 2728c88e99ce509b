"""What is imported before the jail of a script shuts: nothing can be imported from the disk afterwards.

The pure part of the standard library that programs of contests use, the modules and text encodings that those load when
they are first used, and what the caller adds. Runs in the jailed interpreter, before the jail.
"""

import codecs
import importlib
import os
import sys
import threading
import warnings
from contextlib import suppress
from typing import Any, Sequence

from .layers import DEFAULT_MODULES
from .namespace import LAZY

STANDARD = (
    *DEFAULT_MODULES, "argparse", "array", "ast", "atexit", "base64", "binascii", "calendar", "cmd", "codecs",
    "colorsys", "concurrent.futures.thread", "contextlib", "contextvars", "copyreg", "csv", "datetime", "difflib",
    "errno", "fileinput", "fnmatch", "gc", "getopt", "glob", "graphlib", "hashlib", "hmac", "html", "inspect", "io",
    "keyword", "linecache", "locale", "logging", "marshal", "numbers", "os", "os.path", "pathlib", "pickle", "platform",
    "pprint", "queue", "reprlib", "resource", "sched", "secrets", "select", "shlex", "shutil", "signal", "stat",
    "stringprep", "struct", "sys", "sysconfig", "tempfile", "threading", "time", "timeit", "token", "tokenize",
    "traceback", "unittest", "urllib.parse", "uuid", "warnings", "weakref", "zlib", "_strptime",
)  # fmt: skip
"""`unittest` is here because programs bring their own tests along. What needs processes or sockets is left out."""

ATTRIBUTES = {
    "numpy": (
        "numpy.char", "numpy.ctypeslib", "numpy.fft", "numpy.linalg", "numpy.ma", "numpy.polynomial", "numpy.random",
        "numpy.rec", "numpy.strings",
    ),
}  # fmt: skip
"""Modules that a package imports when somebody asks for them by name, `numpy.random` for one."""

ENCODINGS = (
    "ascii", "latin-1", "utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be",
    "cp1252", "cp437", "idna", "punycode", "raw-unicode-escape", "unicode-escape", "hex", "base64", "rot13", "zlib",
)  # fmt: skip

THREAD_STACK = 8 << 20
"""Of a thread that asks for no size of its own, as usual elsewhere."""


def load(preload: Sequence[str], warm: Sequence[str]) -> None:
    """Import everything, call the functions of `warm`, leave no trace in the environment. Raises what they raise."""
    environment = dict(os.environ)
    for name in (*STANDARD, *preload):
        for module in (*LAZY.get(name, ()), name):
            importlib.import_module(module)
        for module in ATTRIBUTES.get(name, ()):
            with suppress(ImportError):  # another version has others
                importlib.import_module(module)
    for encoding in ENCODINGS:
        codecs.lookup(encoding)
    for function in [_warm(name) for name in warm]:
        function()
    os.environ.clear()
    os.environ.update(environment)
    warnings.simplefilter("ignore")
    threading.stack_size(THREAD_STACK)


def _warm(function: str) -> Any:
    """As `found`; the one line that the host shows of the error says what to write."""
    try:
        return found(function)
    except LookupError as error:
        raise LookupError(f'warm holds {function!r}, but there is no {error.args[0]}: write "module:name"') from None


def found(function: str) -> Any:
    """The object of "module:name.name". Raises LookupError with the part that is not there, and a list of what is."""
    module, _, path = function.partition(":")
    if module not in sys.modules:
        raise LookupError(f"module {module}", sorted(sys.modules))
    if not path:
        raise LookupError("name after the colon", [])
    thing: Any = sys.modules[module]
    for name in path.split("."):
        if not hasattr(thing, name):
            raise LookupError(name, [known for known in dir(thing) if not known.startswith("_")])
        thing = getattr(thing, name)
    if not callable(thing):
        raise LookupError(f"function {path} (it is of type {type(thing).__name__})", [])
    return thing
