"""How the nano organism is spoken to: role tokens, known words and one-token actions.

    designer     <D> skill words-of-the-passage <mem> (<good|easy|hard> knobs)* <prog> program <eos>
    hint writer  <W> program <hint> hint <eos>
    agent        <A> observation [<hint> hint] <act> action observation <act> action ...

A passage is shown as its words that have a token (content words and numbers, at most 24); a remembered program as
its line of knobs. An action is one word: every word token ends the agent's completion.
"""

import re
from pathlib import Path
from typing import Sequence

from transformers import PreTrainedTokenizerFast

from ...harness.boxed import last_box
from ...harness.dialect import MemoryExample, Role
from ...harness.errors import InputError
from ...tasks.nano_world import FRAME_WORDS
from .tokenizer import NUMBERS, SKILL_WORDS, SPECIALS

PASSAGE_WORDS = 24
NUMBER_SET = frozenset(NUMBERS)
WORD = re.compile(r"[A-Za-z]+|\d+")
TAGS = {"positive": "<good>", "too_easy": "<easy>", "too_hard": "<hard>"}


class NanoDialect:
    """The `Dialect` of the nano tokenizer."""

    def __init__(self, tokenizer: PreTrainedTokenizerFast) -> None:
        self.tokenizer = tokenizer
        added = tokenizer.get_added_vocab()
        self.words = {token.strip(): index for token, index in added.items() if token.startswith(" ")}
        self.special = {token: added[token] for token in SPECIALS}
        self.pad_id = self.special["<pad>"]
        self.eos_id = self.special["<eos>"]
        reserved = {*NUMBERS, *FRAME_WORDS, *SKILL_WORDS.values()}
        self.nouns = tuple(sorted(word for word in self.words if word not in reserved))
        self._noun_set = frozenset(self.nouns)
        self._word_ids = tuple(sorted(self.words.values()))
        self._silent = {self.pad_id, self.eos_id}

    def designer(self, skill: str, passage: str | None, memory: Sequence[MemoryExample]) -> list[int]:
        if skill not in SKILL_WORDS:
            raise InputError(f"the nano organism has no skill {skill!r}; it knows {', '.join(SKILL_WORDS)}.")
        ids = [self.special["<D>"], self.words[SKILL_WORDS[skill]]]
        if passage is not None:
            ids += [self.words[word] for word in self.passage_words(passage)]
        ids.append(self.special["<mem>"])
        for example in memory:
            ids += [self.special[TAGS[example.kind]], *self.encode(knobs(example.source))]
        return [*ids, self.special["<prog>"]]

    def hint_writer(self, source: str) -> list[int]:
        return [self.special["<W>"], *self.encode(source), self.special["<hint>"]]

    def agent_first(self, observation: str, hint: str | None) -> list[int]:
        hinted = [self.special["<hint>"], *self.say(hint)] if hint else []
        return [self.special["<A>"], *self.say(observation), *hinted, self.special["<act>"]]

    def agent_next(self, observation: str, last: int) -> list[int]:
        return [*self.say(observation), self.special["<act>"]]

    def action(self, text: str) -> str:
        boxed = last_box(text)
        return (text if boxed is None else boxed).strip()

    def decode(self, ids: Sequence[int]) -> str:
        return str(self.tokenizer.decode([i for i in ids if i not in self._silent]))

    def stops(self, role: Role) -> tuple[int, ...]:
        return (*self._word_ids, self.eos_id) if role == "agent" else (self.eos_id,)

    def usable_words(self, text: str) -> tuple[int, int]:
        words = self.passage_words(text)
        numbers = sum(word.isdigit() for word in words)
        return len({word for word in words if not word.isdigit()}), numbers

    def passage_words(self, text: str) -> list[str]:
        """The nouns and numbers of a passage that have a token, in order."""
        found = [word.lower() for word in WORD.findall(text)]
        return [word for word in found if word in self._noun_set or word in NUMBER_SET][:PASSAGE_WORDS]

    def say(self, text: str) -> list[int]:
        """Ids of a text whose words are separated by white space."""
        ids: list[int] = []
        for word in text.split():
            known = self.words.get(word)
            ids += [known] if known is not None else self.encode(f" {word}")
        return ids

    def encode(self, text: str) -> list[int]:
        """Ids of a text as it stands; what looks like a mark of the prompt is spelled out: no text forges one."""
        return list(self.tokenizer.encode(text, add_special_tokens=False, split_special_tokens=True))


def knobs(source: str) -> str:
    """The first line of a program's class body: its constants, all that the nano memory shows of it."""
    lines = source.split("\n")
    body = [i + 1 for i, line in enumerate(lines) if line.startswith("class ")]
    return lines[body[0]].strip() if body and body[0] < len(lines) else ""


def load(folder: Path) -> NanoDialect:
    """The dialect of a nano checkpoint folder."""
    if not (folder / "tokenizer.json").is_file():
        raise InputError(f"{folder} holds no tokenizer.json; make the warm start with `nox -s nano_base`.")
    return NanoDialect(PreTrainedTokenizerFast.from_pretrained(folder))
