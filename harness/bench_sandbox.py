"""`bench sandbox`: what the sandbox costs, against in-process execution of the same programs, seeds and actions.

    python -m spadework.harness.bench sandbox [--repeats 5] [--corpus FOLDER]

CPU time is the host's and the workers' together; a ratio is taken within one repetition, in which in-process and
sandboxed runs take turns, and what is printed is the median. Figures with a target end in `ok` or `OVER`; the command
fails when one is over. Wall time says something only where nobody else wants the cores; the first line tells. The last
line is the share of programs that need a module for each instance, by the validator: of ours, or of the `*.py` of a
folder. The programs are ours, so executing them here is safe; nothing a model wrote ever is.
"""

import argparse
import os
import statistics
from dataclasses import dataclass
from typing import Callable, Iterator, Sequence

from .bench_corpus import corpus, share
from .bench_fleet import Fleet, bare_steps, bare_wall, boxed_steps, boxed_wall
from .bench_programs import HARBOUR, HEAVY, LIGHT
from .bench_workers import first_reset, hard_kill, private_memory, recovery, server_start
from .errors import ExitCode
from .sandbox import Sandbox

REPEATS = 5


@dataclass(frozen=True, kw_only=True, slots=True)
class Figure:
    """One line: what was measured in each repetition, and the most its median may be."""

    name: str
    values: tuple[float, ...]
    unit: str
    target: float | None = None
    note: str = ""

    @property
    def median(self) -> float:
        """What the line is about."""
        return statistics.median(self.values)

    @property
    def over(self) -> bool:
        """Whether the target is missed."""
        return self.target is not None and self.median > self.target

    def line(self) -> str:
        """For people."""
        spread = f"{min(self.values):.4g} to {max(self.values):.4g}"
        target = "" if self.target is None else f"   at most {self.target:g}: {'OVER' if self.over else 'ok'}"
        return f"{self.name:<50}{self.median:8.2f} {self.unit:<3} ({spread}){target}{self.note and f'   {self.note}'}"


def steps(name: str, source: str, repeats: int, targets: Sequence[float | None]) -> list[Figure]:
    """CPU time of a step: batched in shared and in module isolation, and one instance a frame."""
    fleets = (Fleet(isolation="shared"), Fleet(isolation="module"), Fleet(isolation="shared", batched=False))
    labels = ("shared isolation", "module isolation", "unbatched")
    with Sandbox() as sandbox:
        runs = [(bare_steps(source), [boxed_steps(sandbox, source, fleet) for fleet in fleets]) for _ in range(repeats)]
    figures = [Figure(name=f"{name}: CPU of a step in process", values=tuple(bare for bare, _ in runs), unit="us")]
    for number, (label, target) in enumerate(zip(labels, targets, strict=True)):
        ratios = tuple(boxed[number] / bare for bare, boxed in runs)
        note = f"{statistics.median(boxed[number] for _, boxed in runs):.1f} us"
        line = f"{name}: CPU of a step, {label}"
        figures.append(Figure(name=line, values=ratios, unit="x", target=target, note=note))
    return figures


def rollouts(repeats: int) -> list[Figure]:
    """Wall time of 768 rollouts of 8 turns over 24 programs, from the text to the last answer. The target is for
    programs that do not need a module for each instance; the others execute theirs 768 times, not 24.
    """
    fleets = (Fleet(isolation="shared"), Fleet(isolation="module"))
    with Sandbox() as sandbox:
        runs = [(bare_wall(HARBOUR), [boxed_wall(sandbox, HARBOUR, fleet) for fleet in fleets]) for _ in range(repeats)]
    return [
        Figure(
            name=f"768 rollouts x 8 turns, {fleet.isolation} isolation: wall", unit="x",
            target=1.5 if fleet.isolation == "shared" else None,
            values=tuple(boxed[number] / bare for bare, boxed in runs),
            note=f"{statistics.median(boxed[number] for _, boxed in runs) * 1e3:.0f} ms, in process "
            f"{statistics.median(bare for bare, _ in runs) * 1e3:.0f} ms",
        )  # fmt: skip
        for number, fleet in enumerate(fleets)
    ]


def workers(repeats: int) -> list[Figure]:
    """What starting, killing, keeping and replacing a worker costs."""

    def measured(name: str, unit: str, target: float | None, measure: Callable[[], float]) -> Figure:
        return Figure(name=name, unit=unit, target=target, values=tuple(measure() for _ in range(repeats)))

    with Sandbox() as sandbox:
        return [
            measured("server start with its self-test", "ms", None, server_start),
            measured("fork to first reset", "ms", 25.0, lambda: first_reset(sandbox)),
            measured("hard kill, from the deadline to the death", "ms", 50.0, hard_kill),
            measured("private memory of a worker, the largest of 24", "MB", 8.0, lambda: private_memory(sandbox)),
            measured("recovery: a new worker, 8 x 32 steps replayed", "ms", None, lambda: recovery(sandbox)),
        ]


def every(repeats: int) -> Iterator[list[Figure]]:
    """All figures, group by group, as they are measured."""
    yield steps("usual", HARBOUR, repeats, (2.0, 3.0, 5.0))
    yield steps("light", LIGHT, repeats, (None, None, None))
    yield steps("heavy", HEAVY, repeats, (None, None, None))
    yield rollouts(repeats)
    yield workers(repeats)


def main() -> int:
    """Print every figure; exit code 1 when one is over its target."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=REPEATS)
    parser.add_argument("--corpus", metavar="FOLDER", help="programs whose need of a module each is counted")
    args = parser.parse_args()
    repeats, sources = args.repeats, corpus(args.corpus)
    if repeats < 1:
        parser.error(f"--repeats is {repeats}; give 1 or more.")
    if not sources:
        parser.error(f"--corpus is {args.corpus}, which holds no program; give a folder with *.py files.")
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} before the start, medians of {repeats}")
    over = False
    for figures in every(repeats):
        print("\n".join(figure.line() for figure in figures), flush=True)
        over = over or any(figure.over for figure in figures)
    print(share(sources).line())
    return int(ExitCode.VERDICT_FAIL if over else ExitCode.OK)


if __name__ == "__main__":
    raise SystemExit(main())
