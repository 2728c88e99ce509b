"""The six skills of the paper's games and their rotation."""

from typing import Sequence

SKILLS: tuple[str, ...] = (
    "Mathematical Reasoning",
    "Logical Deduction",
    "Spatial Reasoning",
    "Pattern Recognition",
    "Optimization",
    "Causal Inference",
)
"""In the order in which they rotate."""


def active_skills(skills: Sequence[str], step: int, interval: int, per_window: int) -> tuple[str, ...]:
    """The skills of the window that `step` lies in: `per_window` neighbours, moving on by as many a window, wrapping.

    `per_window` of 0 or of all skills, or an interval of 0, means all of them always.
    """
    if interval <= 0 or not 0 < per_window < len(skills):
        return tuple(skills)
    start = step // interval * per_window
    return tuple(skills[(start + offset) % len(skills)] for offset in range(per_window))


def skill_of_slot(active: Sequence[str], slot: int) -> str:
    """The skill of the `slot`-th environment of a window: the active ones in turn."""
    return active[slot % len(active)]
