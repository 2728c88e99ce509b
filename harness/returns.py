"""What an episode is worth: one number from the rewards its environment gave."""

from typing import Sequence

WIN = 1.0 - 1e-9
"""A final reward from here on counts as solved."""


def episode_return(rewards: Sequence[float], terminated: bool) -> float:
    """The last reward, clamped to [-1, 1], when the environment ended the episode; otherwise 0."""
    return max(-1.0, min(1.0, float(rewards[-1]))) if terminated and rewards else 0.0
