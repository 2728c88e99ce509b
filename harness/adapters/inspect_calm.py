"""inspect-ai changes its process: logging, environment, the hook for exceptions, folders of the user. Here it may not.

    with calm():
        inspect_ai.eval(...)

Nothing leaves the machine, nothing is written but the log, and afterwards the process is as it was: no telemetry, no
trace files, no `.env`, no INSPECT_ variable of the user's, and no hooks of other packages that happen to be installed.
"""

import gc
import logging
import os
import sys
import tempfile
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from inspect_ai._util import entrypoints

PREFIX = "INSPECT_"
KEPT_OUT = {
    "INSPECT_TRACE_LEVEL": "CRITICAL",
    "PYTHON_DOTENV_DISABLED": "1",
}
"""A trace file is made at any rate, in the folder for data; INSPECT_TRACE_FILE must never name a device: inspect
compresses and *removes* what it names."""
_ONE_AT_A_TIME = threading.Lock()
"""inspect refuses a second evaluation in the same process."""


@contextmanager
def calm() -> Iterator[None]:
    """The time in which inspect works; others wait."""
    root = logging.getLogger()
    with _ONE_AT_A_TIME, tempfile.TemporaryDirectory(prefix="spadework-inspect-") as folder:
        environment, hook = dict(os.environ), sys.excepthook
        level, handlers = root.level, root.handlers[:]
        before = warnings.filters[:]
        loaded, entrypoints._inspect_ai_eps_loaded_all = entrypoints._inspect_ai_eps_loaded_all, True
        for name in [name for name in os.environ if name.startswith(PREFIX)]:
            del os.environ[name]
        os.environ.update(KEPT_OUT, XDG_DATA_HOME=folder, XDG_CACHE_HOME=folder)
        try:
            with warnings.catch_warnings():  # of inspect's own faults: nobody here can mend them
                for kind in (DeprecationWarning, ResourceWarning):
                    warnings.simplefilter("ignore", kind)
                yield
                if any(action == "error" for action, *_ in before):
                    gc.collect()  # streams that it left open must not be found by somebody else
        finally:
            entrypoints._inspect_ai_eps_loaded_all = loaded
            os.environ.clear()
            os.environ.update(environment)
            sys.excepthook = hook
            root.setLevel(level)
            root.handlers[:] = handlers
