"""How texts become the token ids a policy sees, and how its tokens become an action.

A dialect is the only place that knows a model's prompt format: the nano organism has one, chat templates have another.
It renders each role's prompt once; after that tokens are only ever appended (token-in, token-out).
"""

from dataclasses import dataclass
from typing import Literal, Protocol, Sequence

Role = Literal["designer", "hint", "agent"]


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryExample:
    """A remembered environment as the designer is shown it."""

    kind: Literal["positive", "too_easy", "too_hard"]
    source: str
    win_rate: float
    regret: float


class Dialect(Protocol):
    """Prompt format of one family of models."""

    pad_id: int

    def designer(self, skill: str, passage: str | None, memory: Sequence[MemoryExample]) -> list[int]:
        """Prompt that asks for a program. Without a passage only the passage is missing, nothing else changes."""
        ...

    def hint_writer(self, source: str) -> list[int]:
        """Prompt that asks for a hint; its writer sees the source and nothing else."""
        ...

    def agent_first(self, observation: str, hint: str | None) -> list[int]:
        """Opening of an episode, up to and including whatever opens the first action."""
        ...

    def agent_next(self, observation: str, last: int) -> list[int]:
        """What is appended after an action whose last token is `last`, up to and including whatever opens the next."""
        ...

    def action(self, text: str) -> str:
        """The action in a reply: the content of its last balanced box, else the whole reply, stripped."""
        ...

    def decode(self, ids: Sequence[int]) -> str:
        """Text of generated ids without stop and pad tokens."""
        ...

    def stops(self, role: Role) -> tuple[int, ...]:
        """Token ids that end a completion of that role."""
        ...

    def usable_words(self, text: str) -> tuple[int, int]:
        """(content words, numbers) of a passage that the designer could use; the corpus filter reads it."""
        ...
