"""An arena in a process of its own, for another user or another policy: names of programs come in, outcomes go out.

    python -m arena.battery.driver [LAYER ...]

One JSON line first, about the process; then one for each line of input. The layers named are switched off.
"""

import ctypes
import os
import sys

import msgspec

from spadework.harness.sandbox import Layer, Policy

from .arena import Arena
from .everything import EVERYTHING

PR_SET_CHILD_SUBREAPER = 36


def main() -> None:
    """Serve until the input ends. Orphans come to us, so that none is overlooked."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    off = tuple(Layer(name) for name in sys.argv[1:])
    with Arena(Policy(off=off, insecure=bool(off))) as arena:
        say({"uid": os.getuid(), "layers": arena.sandbox.report.describe()})
        for line in sys.stdin:
            say(arena.run(EVERYTHING[line.strip()]))


def say(what: object) -> None:
    """One line of JSON."""
    print(msgspec.json.encode(what).decode(), flush=True)


if __name__ == "__main__":
    main()
