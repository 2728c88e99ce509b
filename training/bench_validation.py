"""`bench validation`: CPU milliseconds the validator and the leak check take for a candidate of the nano world."""

import random
import resource
import statistics
import time

from ..harness.sandbox import Sandbox, ValidEnvironment
from ..tasks.nano_world import FAMILIES, draw
from .hints import check_hints
from .validation import validate

CANDIDATES, REPEATS = 96, 5
TARGET_MS = 25.0
NOUNS = tuple("fox hen oak elm bee cow rye ash ant bat cat dog eel fly gnu hog".split())


def candidates(seed: int) -> list[str]:
    """Programs of all families and the first five levels."""
    rng = random.Random(seed)
    families = [*FAMILIES.values()]
    return [draw(families[number % len(families)], rng.randint(1, 5), NOUNS, rng) for number in range(CANDIDATES)]


def cpu_s() -> float:
    """CPU of this process and of the ones it has buried, the server's workers included."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def measure(seed: int) -> tuple[float, float, float]:
    """(ms CPU a candidate, ms wall a candidate, ms CPU a hint), without the servers' start."""
    started = cpu_s()
    Sandbox().close()
    server = cpu_s() - started
    started, sources = cpu_s(), candidates(seed)
    with Sandbox() as sandbox:
        start = time.perf_counter()
        verdicts = validate(sources, sandbox)
        wall = time.perf_counter() - start
    validated = cpu_s() - started - 2 * server
    programs = [
        one.program("any", hint="take the last one first") for one in verdicts if isinstance(one, ValidEnvironment)
    ]
    started = cpu_s()
    with Sandbox() as sandbox:
        check_hints(programs, sandbox, seed)
    hinted = cpu_s() - started - server
    return validated * 1e3 / len(sources), wall * 1e3 / len(sources), hinted * 1e3 / len(programs)


def main() -> int:
    """Print medians of five; exit code 1 above the target."""
    cpu, wall, hint = (statistics.median(column) for column in zip(*map(measure, range(REPEATS))))
    print(
        f"validation: {cpu:.1f} ms CPU, {wall:.1f} ms wall a candidate (target {TARGET_MS:g} CPU); "
        f"leak check {hint:.1f} ms CPU a hint"
    )
    return int(cpu > TARGET_MS)


if __name__ == "__main__":
    raise SystemExit(main())
