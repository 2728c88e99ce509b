"""`bench runner`: what a jailed run of a script costs, against an interpreter started for it without any protection."""

import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from .sandbox import ErrorKind, RunLimits, Runner

REPEATS, RUNS, TESTS = 5, 20, 200
SCRIPT = "print(sum(map(int, input().split())))"
STDIN = "3 4 35"
SLEEPER = RunLimits(wall_s=0.2)
PRELOADS: dict[str, tuple[str, ...]] = {
    "standard library": (), "numpy": ("numpy",), "sympy": ("sympy",), "reasoning_gym": ("reasoning_gym",),
}  # fmt: skip
SCORER = """
from reasoning_gym import create_dataset

DATASET = create_dataset("spiral_matrix", size=1, seed=0)

def warm():
    assert score(DATASET[0]["answer"]) == 1.0

def score(answer):
    return DATASET.score_answer(answer, DATASET[0])
"""


def median_ms(act: Callable[[], object], times: int) -> float:
    """Median wall milliseconds of an act."""
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        act()
        taken.append((time.perf_counter() - began) * 1e3)
    return statistics.median(taken)


def bare() -> None:
    """The script in an interpreter of its own, as the usual graders run it, less their isolation."""
    subprocess.run([sys.executable, "-I", "-c", SCRIPT], input=STDIN.encode(), capture_output=True, check=True)


def jailed(runner: Runner) -> None:
    """The same in the sandbox."""
    result = runner.run_python(SCRIPT, STDIN)
    assert result.stdout == "42\n", result


def show_preload(name: str, preload: Sequence[str]) -> None:
    """What loading modules costs: once at the start, and in every run."""
    starts = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        with Runner(preload=preload, workers=1) as runner:
            starts.append(time.perf_counter() - began)
            run = median_ms(lambda: jailed(runner), RUNS)
            cpu = statistics.median(runner.run_python(SCRIPT, STDIN).cpu_s for _ in range(RUNS)) * 1e3
    print(f"{name}: start {statistics.median(starts) * 1e3:.0f} ms, a run {run:.1f} ms wall, {cpu:.1f} ms CPU inside")


def show_runs(runner: Runner) -> None:
    """One after the other against a bare interpreter, taken in turn; many at once; the end of one that sleeps."""
    pairs = [(median_ms(bare, RUNS), median_ms(lambda: jailed(runner), RUNS)) for _ in range(REPEATS)]
    ours, theirs = statistics.median(b for _, b in pairs), statistics.median(a for a, _ in pairs)
    ratio = statistics.median(b / a for a, b in pairs)
    print(f"one run: {ours:.1f} ms, a bare interpreter {theirs:.1f} ms, ratio {ratio:.2f}")
    many = median_ms(lambda: list(runner.run_many(SCRIPT, [STDIN] * TESTS)), REPEATS)
    print(f"{TESTS} tests of one answer, {runner.workers} at a time: {many:.0f} ms, {many / TESTS:.2f} ms each")
    late = []
    for _ in range(REPEATS):
        result = runner.run_python("import time; time.sleep(60)", "", SLEEPER)
        assert result.kind is ErrorKind.HANG
        late.append((result.wall_s - SLEEPER.wall) * 1e3)
    print(f"a sleeping run is over {statistics.median(late):.1f} ms after its deadline")


def show_calls() -> None:
    """A scorer of reasoning-gym, where that is installed."""
    if find_spec("reasoning_gym") is None:
        print("calls: reasoning_gym is not installed")
        return
    with TemporaryDirectory() as folder:
        (Path(folder) / "bench_scorer.py").write_text(SCORER, encoding="utf-8")
        with Runner(preload=("bench_scorer",), path=(folder,), warm=("bench_scorer:warm",), workers=1) as runner:
            call = median_ms(lambda: runner.call("bench_scorer:score", ["[1, 2]"]), RUNS)
    print(f"one call of a scorer of reasoning_gym: {call:.1f} ms")


def main() -> None:
    """Print medians of five repetitions."""
    for name, preload in PRELOADS.items():
        if all(find_spec(module) for module in preload):
            show_preload(name, preload)
    with Runner() as runner:
        show_runs(runner)
    show_calls()


if __name__ == "__main__":
    main()
