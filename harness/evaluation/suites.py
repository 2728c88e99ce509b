"""Suites: named lists of tasks, and how many items of each. A task is a name of `tasks/benchmarks.py`."""

from dataclasses import dataclass

from ..errors import InputError, nearest

GAMES = ("aime_2025", "aime_2026", "gpqa_diamond", "livecodebench", "reasoning_gym")
"""The paper's first table."""
TOOLS = ("bfcl_multi_turn", "acebench_agent", "tau2")
"""Its second."""
QUICK_ITEMS = 20


@dataclass(frozen=True, kw_only=True, slots=True)
class Suite:
    """What one name stands for."""

    tasks: tuple[str, ...]
    limit: int | None = None
    """The first so many items of each task in the order of their hashes; None for all."""


SUITES: dict[str, Suite] = {
    "nano": Suite(tasks=("nano",)),
    "quick": Suite(tasks=GAMES, limit=QUICK_ITEMS),
    "games": Suite(tasks=GAMES),
    "tools": Suite(tasks=TOOLS),
}


def suite(name: str) -> Suite:
    """The suite of that name. Raises InputError with the nearest one."""
    if name not in SUITES:
        raise InputError(f"unknown suite {name!r}{nearest(name, SUITES)}; the suites are {', '.join(SUITES)}.")
    return SUITES[name]
