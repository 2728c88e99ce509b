"""`python -m spadework.harness.bench NAME`: one named measurement of speed, as ratios within one run.

The measurements live beside what they measure; this module only knows their names.
"""

import importlib
import sys
from collections.abc import Callable, Sequence

from .errors import ExitCode, nearest

BENCHES: dict[str, str] = {
    "sampler": "spadework.harness.bench_sampler:main",
    "play": "spadework.training.bench_play:main",
}


def main(argv: Sequence[str]) -> int:
    """Run the measurements named, all of them when none is named; the first failure's exit code is returned."""
    for name in argv or tuple(BENCHES):
        if name not in BENCHES:
            print(f"bench: unknown {name!r}{nearest(name, BENCHES)}; known are {', '.join(BENCHES)}.", file=sys.stderr)
            return int(ExitCode.WRONG_INPUT)
        module, _, function = BENCHES[name].partition(":")
        measure: Callable[[], int | None] = getattr(importlib.import_module(module), function)
        code = measure() or 0
        if code:
            return int(code)
    return int(ExitCode.OK)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
