"""Where the jailed interpreter begins: run as a file (`python -s -P -S -B server.py SETUP FD`), never imported.

It makes the files beside it importable as the package `jail` (so that nothing else of ours is) and starts the fork
server. SETUP is JSON, see `ServerSetup`; FD is the control socket.
"""

import importlib
import json
import os
import sys
import warnings
from types import ModuleType


def main() -> None:
    """Prepare the imports, then serve."""
    setup, control = sys.argv[1], int(sys.argv[2])
    package = ModuleType("jail")
    package.__path__ = [os.path.dirname(os.path.abspath(__file__))]
    sys.modules["jail"] = package
    sys.path.extend(json.loads(setup)["path"])
    warnings.simplefilter("ignore")
    importlib.import_module("jail.forkserver").main(setup, control)


if __name__ == "__main__":
    main()
