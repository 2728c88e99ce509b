"""The `Dialect` of a chat model: its own template, our prompts, and tokens that are only ever appended.

Special tokens of the model can come from nowhere but the template: a passage, an observation or a hint that spells one
is defused first, so that no text can close a turn that it stands in.
"""

import re
from collections.abc import Sequence

from ...harness.boxed import last_box
from ...harness.dialect import MemoryExample, Role
from ...harness.engines.template import ChatTemplate
from ...harness.engines.turns import Turns
from ...harness.errors import InputError
from ...harness.types import Message
from .prompts import DESIGNER_SYSTEM, HINT_SYSTEM, agent_prompt, designer_prompt, hint_prompt

WORD = re.compile(r"[A-Za-z]{4,}")
NUMBER = re.compile(r"\d+")
THINK_CLOSE = "</think>"
GAP = "\u200b"
"""Put into a text behind the first character of what spells a special token."""


class ChatDialect:
    """Implements `Dialect` for a model whose template can be appended to (`Turns.appendable`). InputError otherwise."""

    def __init__(self, template: ChatTemplate, *, pad_id: int, specials: Sequence[str], max_turns: int = 25) -> None:
        self.template, self.pad_id, self.max_turns = template, pad_id, max_turns
        self.turns = Turns(template)
        if not self.turns.appendable:
            raise InputError(
                "this model's chat template cannot be played turn by turn (it has none, or it does not show where a "
                "reply ends); give one with transformers.chat_template = a .jinja file."
            )
        known = sorted((word for word in specials if len(word) > 1), key=len, reverse=True)
        self._specials = re.compile("|".join(map(re.escape, known))) if known else None

    def designer(self, skill: str, passage: str | None, memory: Sequence[MemoryExample]) -> list[int]:
        return self._opening(DESIGNER_SYSTEM, designer_prompt(skill, passage, memory, self.max_turns))

    def hint_writer(self, source: str) -> list[int]:
        return self._opening(HINT_SYSTEM, hint_prompt(source))

    def agent_first(self, observation: str, hint: str | None) -> list[int]:
        return self._opening("", agent_prompt(observation, hint))

    def agent_next(self, observation: str, last: int) -> list[int]:
        return self.turns.following([Message(role="user", content=self._defused(observation))], last)

    def action(self, text: str) -> str:
        said = text.rpartition(THINK_CLOSE)[2]
        return last_box(said) or said.strip()

    def decode(self, ids: Sequence[int]) -> str:
        return self.template.text(ids)

    def stops(self, role: Role) -> tuple[int, ...]:
        return self.template.stops

    def usable_words(self, text: str) -> tuple[int, int]:
        return len(WORD.findall(text)), len(NUMBER.findall(text))

    def _opening(self, system: str, user: str) -> list[int]:
        told = [Message(role="system", content=system)] if system else []
        return self.turns.opening([*told, Message(role="user", content=self._defused(user))])

    def _defused(self, text: str) -> str:
        if self._specials is None:
            return text
        return self._specials.sub(lambda found: found[0][:1] + GAP + found[0][1:], text)
