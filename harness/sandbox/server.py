"""Where the jailed interpreter begins: run as a file (`python -s -P -S -B server.py SETUP FD`), never imported.

It makes the files beside it importable as the package `jail` (so that nothing else of ours is) and starts the fork
server. SETUP is JSON, see `ServerSetup`; FD is the control socket.
"""

import importlib
import json
import os
import resource
import sys
import warnings
from types import ModuleType

STACK = 512 << 20
"""Bytes of stack that a script may use; they count as its memory when it does."""


def main() -> None:
    """Prepare the imports, then serve."""
    setup, control = sys.argv[1], int(sys.argv[2])
    if json.loads(setup)["role"] == "script":
        enlarge_stack()
    package = ModuleType("jail")
    package.__path__ = [os.path.dirname(os.path.abspath(__file__))]
    sys.modules["jail"] = package
    sys.path.extend(json.loads(setup)["path"])
    warnings.simplefilter("ignore")
    importlib.import_module("jail.forkserver").main(setup, control)


def enlarge_stack() -> None:
    """Programs recurse deeply. The kernel leaves room for a stack only at exec: once more, with the limit set."""
    soft, hard = resource.getrlimit(resource.RLIMIT_STACK)
    wanted = STACK if hard == resource.RLIM_INFINITY else min(STACK, hard)
    if soft != wanted:
        resource.setrlimit(resource.RLIMIT_STACK, (wanted, hard))
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])


if __name__ == "__main__":
    main()
