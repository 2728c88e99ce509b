"""A toy dialect for tests: one token a character, one stop token, actions are whole replies or boxes."""

from typing import Sequence

from spadework.harness.dialect import MemoryExample, Role

PAD, STOP, OFFSET = 0, 1, 2


class CharDialect:
    """Implements `Dialect`."""

    pad_id = PAD

    def designer(self, skill: str, passage: str | None, memory: Sequence[MemoryExample]) -> list[int]:
        return encode(f"D{skill}|{passage or ''}|")

    def hint_writer(self, source: str) -> list[int]:
        return encode(f"W{source}|")

    def agent_first(self, observation: str, hint: str | None) -> list[int]:
        return encode(f"{observation}{' hint ' + hint if hint else ''}>")

    def agent_next(self, observation: str, last: int) -> list[int]:
        return encode(f"{observation}>")

    def action(self, text: str) -> str:
        return text.strip()

    def decode(self, ids: Sequence[int]) -> str:
        return decode(ids)

    def stops(self, role: Role) -> tuple[int, ...]:
        return (STOP,)

    def usable_words(self, text: str) -> tuple[int, int]:
        return len(text.split()), 0


def encode(text: str) -> list[int]:
    """Token ids of a text."""
    return [ord(character) + OFFSET for character in text]


def decode(ids: Sequence[int]) -> str:
    """Text of token ids, without stop and pad."""
    return "".join(chr(token - OFFSET) for token in ids if token >= OFFSET)
