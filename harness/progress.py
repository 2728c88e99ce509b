"""What a person sees while rows train: name, bar, step, time left, a few words.

Fed by one parent that hears from any number of worker processes, so its whole surface is `update` and `note`.
On a terminal it is a live display (rich); in a pipe or a log it is a plain line now and then, never one a step.
It measures nothing: the figures that count go to `metrics.jsonl`.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn

from .console import Terminal


@dataclass(frozen=True, kw_only=True, slots=True)
class Mark:
    """When a row was first seen, at which step, and when it was last printed (seconds of the clock)."""

    started: float
    first: int
    printed: float
    task: TaskID


class ProgressDisplay:
    """Several named rows in parallel. Use as a context manager; `update` before or after it is an error of ours."""

    def __init__(
        self, console: Console | None = None, *, every_s: float = 20.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._console = console or Terminal()
        self._every_s = every_s
        self._clock = clock
        self._marks: dict[str, Mark] = {}
        self._live = self._console.is_terminal
        self._bars = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[eta]}"),
            TextColumn("{task.fields[text]}", style="dim", markup=False),
            console=self._console,
            disable=not self._live,
        )

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bars.stop()

    def update(self, row: str, step: int, total: int, text: str = "") -> None:
        """Row `row` has finished `step` of `total` steps. A row may begin above 0 (resumed) and end in any order."""
        now = self._clock()
        mark = self._marks.get(row)
        if mark is None:
            task = self._bars.add_task(row, total=total, completed=step, eta="", text=text)
            mark = Mark(started=now, first=step, printed=float("-inf"), task=task)
        eta = remaining(elapsed_s=now - mark.started, done=step - mark.first, left=total - step)
        self._bars.update(mark.task, completed=step, total=total, eta=eta, text=text)
        if not self._live and (now - mark.printed >= self._every_s or step >= total):
            self._print(f"{row}  {step}/{total}  {eta}  {text}".rstrip())
            mark = Mark(started=mark.started, first=mark.first, printed=now, task=mark.task)
        self._marks[row] = mark

    def note(self, text: str) -> None:
        """Print text above the bars (a finished row's cells, a growing table)."""
        self._print(text)

    def _print(self, text: str) -> None:
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)


def remaining(*, elapsed_s: float, done: int, left: int) -> str:
    """Time left at the pace so far, as `m:ss left` or `h:mm:ss left`; without a pace yet `-:-- left`."""
    if left <= 0:
        return f"done in {_clock_text(elapsed_s)}"
    if done <= 0 or elapsed_s <= 0:
        return "-:-- left"
    return f"{_clock_text(elapsed_s / done * left)} left"


def _clock_text(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
