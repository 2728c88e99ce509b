"""Passages the designer is grounded in: where they come from, which are kept, and which one a step gets.

A corpus is a value: the passages in order, a part kept for evaluation, the counts of what was dropped, and a digest. Which
passage a proposal gets is a pure function of (seed, step, index). Nothing here falls back to another corpus, and nothing is
written to disk. The texts themselves are listed in `corpus_texts`.
"""

import json
import re
from dataclasses import dataclass
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Callable, Iterable, Mapping, Sequence

from ..harness.errors import InputError
from ..harness.seeds import derive
from .corpus_texts import DEFAULT_TEXTS, builtin_text, licence

SENTENCE_END = (".", "?", "!", ".)", '."', '?"', '!"', ":", ";")
Counter = Callable[[str], tuple[int, int]]
"""Text to (usable content words, usable numbers), for example `Dialect.usable_words`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Passage:
    """One passage. `id` is the first 16 hex digits of the sha256 of source and text."""

    id: str
    text: str
    source: str
    licence: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Need:
    """What a recipe asks of a passage; `count` tells what a passage has."""

    count: Counter
    words: int = 0
    """Least number of usable content words."""
    numbers: int = 0
    """Least number of usable numbers."""

    def met(self, text: str) -> bool:
        """True when the passage has enough of both."""
        words, numbers = self.count(text)
        return words >= self.words and numbers >= self.numbers


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceCount:
    """What became of one source's passages."""

    source: str
    cut: int
    kept: int
    heldout: int
    """Of the kept ones, how many are for evaluation only."""
    dropped: int
    duplicates: int
    bad_lines: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class CorpusReport:
    """The counts a run prints, one row a source."""

    sources: tuple[SourceCount, ...]

    def lines(self) -> list[str]:
        """One plain line a source."""
        return [
            f"{row.source}: {row.cut} cut, {row.dropped} lack what is needed, {row.duplicates} duplicates, "
            f"{row.kept} kept ({row.heldout} of them for evaluation only)"
            + (f", {row.bad_lines} bad lines skipped" if row.bad_lines else "")
            for row in self.sources
        ]


@dataclass(frozen=True, kw_only=True, slots=True)
class Corpus:
    """Passages for training, passages for evaluation only, and where they came from."""

    passages: tuple[Passage, ...]
    heldout: tuple[Passage, ...]
    report: CorpusReport
    digest: str
    """sha256 over sources, parameters and all passages; stands in every run and under every table."""

    def passage(self, seed: int, step: int, index: int) -> Passage:
        """The passage of one proposal: a pure function of its arguments, uniform over the training passages."""
        return self.passages[derive(seed, "passage", step, index) % len(self.passages)]

    def evaluation(self, seed: int, index: int) -> Passage:
        """A passage that training never shows."""
        if not self.heldout:
            raise InputError("this corpus keeps no passage for evaluation: set heldout above 0.")
        return self.heldout[derive(seed, "heldout", index) % len(self.heldout)]


@dataclass(frozen=True, kw_only=True, slots=True)
class Document:
    """A text before it is cut."""

    text: str
    source: str
    licence: str


def builtin(
    words: tuple[int, int] = (16, 24),
    names: Sequence[str] = DEFAULT_TEXTS,
    need: Need | None = None,
    heldout: float = 0.1,
) -> Corpus:
    """The offline corpus, cut from texts inside pinned dependencies into passages of `words` (least, most) words."""
    documents = [Document(text=text, source=name, licence=licence(name)) for name, text in builtin_text(names)]
    return build(documents, words=words, need=need, heldout=heldout)


def build(
    documents: Sequence[Document],
    *,
    words: tuple[int, int] | None,
    need: Need | None = None,
    heldout: float = 0.1,
    bad_lines: Mapping[str, int] | None = None,
) -> Corpus:
    """Cut, filter, split and digest. `words` None keeps each document whole. Raises `InputError` when nothing is left."""
    kept: list[Passage] = []
    rows: list[SourceCount] = []
    seen: set[str] = set()
    for source in dict.fromkeys(document.source for document in documents):
        mine = [document for document in documents if document.source == source]
        cut = [_passage(text, document) for document in mine for text in _cut_or_whole(document.text, words)]
        fit = [passage for passage in cut if need is None or need.met(passage.text)]
        new = list({passage.text: passage for passage in fit if passage.text not in seen}.values())
        seen.update(passage.text for passage in new)
        kept += new
        rows.append(
            SourceCount(
                source=source, cut=len(cut), kept=len(new), heldout=sum(is_heldout(p.id, heldout) for p in new),
                dropped=len(cut) - len(fit), duplicates=len(fit) - len(new), bad_lines=(bad_lines or {}).get(source, 0),
            )
        )
    return _corpus(kept, CorpusReport(sources=tuple(rows)), (words, need and (need.words, need.numbers), heldout))


def cut(text: str, words: tuple[int, int]) -> list[str]:
    """Passages of least..most words, one after the other without overlap; a tail shorter than the least is left out.

    A passage ends at the last end of a paragraph within reach, else of a sentence, else after the most words.
    """
    least, most = words
    if not 1 <= least <= most:
        raise InputError(f"passages of {least} to {most} words cannot be cut: give (least, most) with 1 <= least <= most.")
    tokens = [(word, end) for part in text.split("\n\n") for word, end in _marked(part.split())]
    out: list[str] = []
    start = 0
    while len(tokens) - start >= least:
        ends = [i for i in range(start + least, min(start + most, len(tokens)) + 1)]
        stop = max(ends, key=lambda i: (tokens[i - 1][1], i))
        out.append(" ".join(word for word, _ in tokens[start:stop]))
        start = stop
    return out


def is_heldout(passage_id: str, share: float) -> bool:
    """Whether a passage is for evaluation only; depends on its id alone, so that adding texts moves none."""
    return int(passage_id, 16) < share * 2 ** (4 * len(passage_id))


def _marked(words: list[str]) -> list[tuple[str, int]]:
    """Each word with 2 where a paragraph ends, 1 where a sentence ends, else 0."""
    last = len(words) - 1
    return [(word, 2 if i == last else int(word.endswith(SENTENCE_END))) for i, word in enumerate(words)]


def _cut_or_whole(text: str, words: tuple[int, int] | None) -> list[str]:
    return cut(text, words) if words is not None else [text.strip()]


def _passage(text: str, document: Document) -> Passage:
    digest = sha256(f"{document.source}\x1f{text}".encode()).hexdigest()
    return Passage(id=digest[:16], text=text, source=document.source, licence=document.licence)


def _corpus(kept: Sequence[Passage], report: CorpusReport, parameters: object) -> Corpus:
    shares = getattr(parameters, "__getitem__")(2)
    train = tuple(passage for passage in kept if not is_heldout(passage.id, shares))
    held = tuple(passage for passage in kept if is_heldout(passage.id, shares))
    if not train:
        raise InputError(f"the corpus is empty ({'; '.join(report.lines())}): give more text or ask less of a passage.")
    lines = json.dumps([parameters, report.lines(), [passage.id for passage in kept]])
    return Corpus(passages=train, heldout=held, report=report, digest=sha256(lines.encode()).hexdigest())
