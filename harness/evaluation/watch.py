"""What a person sees while an evaluation runs: a bar a task, time left, the shares that are right and that failed."""

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from ..progress import ProgressDisplay
from ..types import Outcome
from .records import Record

EVERY_S = 0.1
"""Bars are drawn no more often than this; what is printed to a log is rarer still."""


@dataclass(kw_only=True)
class Watch:
    """Counts the records of one task and shows them."""

    display: ProgressDisplay
    task: str
    total: int
    done: int = 0
    """Samples that an earlier process played."""
    clock: Callable[[], float] = time.monotonic
    _counts: Counter[Outcome] = field(default_factory=Counter)
    _drawn: float = float("-inf")

    def begin(self) -> None:
        """The bar as it stands before the first new record."""
        self.display.update(self.task, self.done, self.total, "")

    def heard(self, record: Record) -> None:
        """One more record."""
        self.done += 1
        self._counts[record.outcome] += 1
        now = self.clock()
        if self.done >= self.total or now - self._drawn >= EVERY_S:
            self._drawn = now
            self.display.update(self.task, self.done, self.total, self.words())

    def words(self) -> str:
        """`right 41 %  errors 0.5 %  truncated 12 %`: of the records that this process heard."""
        n = self._counts.total()
        if n == 0:
            return ""
        failed = sum(count for outcome, count in self._counts.items() if not outcome.scored)
        scored = n - failed
        parts = [f"right {self._counts[Outcome.RIGHT] / scored:.0%}" if scored else "right -"]
        parts.append(f"errors {failed / n:.1%}")
        if self._counts[Outcome.TRUNCATED]:
            parts.append(f"truncated {self._counts[Outcome.TRUNCATED] / n:.0%}")
        return "  ".join(parts)
