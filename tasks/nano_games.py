"""Instances of the world's own programs in this process: for demonstrations, and to tell equal items apart.

Only text that `nano_world` wrote comes here. What a model wrote runs in the sandbox and nowhere else.
"""

from typing import Protocol


class Game(Protocol):
    """An instance of one of the world's programs."""

    def reset(self, seed: int) -> tuple[str, dict[str, object]]: ...

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, object]]: ...


def instantiate(text: str) -> Game:
    """An instance of one of our own templates (trusted text: the world wrote it, not a model)."""
    namespace: dict[str, type[Game]] = {}
    exec(compile(text, "<template>", "exec"), namespace)
    return next(value for key, value in namespace.items() if key.endswith("Env"))()
