"""What an environment of its own is to hold, as a value; `sidecar_home` makes it. Pure."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Requirements:
    """What is to be installed, and nothing else."""

    name: str
    """For people, and for the folder's name."""
    pins: tuple[str, ...]
    """As pip takes them, each with its version."""
