"""`python -m spadework.harness.bench NAME [ARGUMENTS]`: one named measurement: speed, in ratios, or coverage.

The measurements live beside what they measure and read their own arguments; this module only knows their names.
"""

import importlib
import sys
from collections.abc import Callable, Sequence

from .errors import ExitCode, nearest

BENCHES: dict[str, str] = {
    "coverage": "spadework.harness.bench_coverage:main",
    "evaluation": "spadework.harness.bench_evaluation:main",
    "sampler": "spadework.harness.bench_sampler:main",
    "sandbox": "spadework.harness.bench_sandbox:main",
    "runner": "spadework.harness.bench_runner:main",
    "fuzz": "spadework.harness.bench_fuzz:main",
    "play": "spadework.training.bench_play:main",
    "gate": "spadework.harness.gate.bench:main",
    "compare": "spadework.harness.comparing.bench:main",
    "report": "spadework.harness.report.bench:main",
    "lm_eval": "spadework.tasks.bench_lm_eval:main",
    "inspect": "spadework.tasks.bench_inspect:main",
}


def main(words: Sequence[str]) -> int:
    """Run the measurement named, with the words after its name; without a name all of them. Returns the worst code."""
    if words and words[0] not in BENCHES:
        near = nearest(words[0], BENCHES)
        print(f"bench: unknown {words[0]!r}{near}; the names are {', '.join(BENCHES)}.", file=sys.stderr)
        return int(ExitCode.WRONG_INPUT)
    return measure(words[0], words[1:]) if words else max(measure(name, ()) for name in BENCHES)


def measure(name: str, words: Sequence[str]) -> int:
    """Run one measurement as its own command line would."""
    module, _, function = BENCHES[name].partition(":")
    command: Callable[[], int | None] = getattr(importlib.import_module(module), function)
    sys.argv = [f"bench {name}", *words]
    return int(command() or ExitCode.OK)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
