"""Passages the designer is grounded in: how texts are cut, which are kept, and which one a proposal gets.

A corpus is a value: the passages in order, a part kept for evaluation, the counts of what was dropped, and a digest.
The passage of a proposal is a pure function of (seed, step, index). Nothing here falls back to another corpus, and
nothing is written to disk. The built-in texts are listed in `corpus_texts`; `corpus_files` reads JSONL and the Hub.
"""

import json
import re
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Callable, Mapping, Sequence

from ..harness.errors import InputError
from ..harness.seeds import derive
from .corpus_texts import BLANK_LINE, DEFAULT_TEXTS, builtin_text, licence

SENTENCE_END = (".", "?", "!", ".)", '."', '?"', '!"', ":", ";")
ONES = "two three four five six seven eight nine"
TEENS = "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
SPELLED: Mapping[str, int] = {
    **{word: value for value, word in enumerate(f"{ONES} {TEENS}".split(), start=2)},
    **{word: value for value, word in zip(range(20, 100, 10), TENS.split())},
}
"""Spelled numbers that are rewritten; "one" is left alone, as it is a pronoun more often than a number."""
NUMERAL = re.compile(
    rf"\b(?:({TENS.replace(' ', '|')})-(one|{ONES.replace(' ', '|')})|({'|'.join(SPELLED)}))\b"
    r"(?![-\s]+(?:hundred|thousand|million|billion))(?!-)",
    re.IGNORECASE,
)
Counter = Callable[[str], tuple[int, int]]
"""Text to (usable content words, usable numbers), for example `Dialect.usable_words`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Document:
    """A text before it is cut; blank lines separate its paragraphs."""

    text: str
    source: str
    licence: str


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
class Cutting:
    """How documents become passages."""

    words: tuple[int, int] | None = (16, 24)
    """Least and most words of a passage; None keeps each document whole."""
    numerals: bool = True
    """Write spelled numbers from two to ninety-nine in digits."""
    heldout: float = 0.1
    """Share of the passages kept for evaluation only, chosen by their id."""
    at_least: int = 1
    """Fewer training passages than this are an error."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceCount:
    """What became of one source. cut = kept + dropped + duplicates."""

    source: str
    cut: int
    kept: int
    heldout: int
    """Of the kept ones, how many are for evaluation only."""
    dropped: int
    """Passages that lack what the recipe needs."""
    duplicates: int
    short: int
    """Documents with fewer words than a passage must have."""
    bad_lines: int


@dataclass(frozen=True, kw_only=True, slots=True)
class CorpusReport:
    """The counts a run prints, one row a source."""

    sources: tuple[SourceCount, ...]

    def lines(self) -> list[str]:
        """One plain line a source."""
        return [
            f"{row.source}: {row.cut} cut, {row.dropped} lack what is needed, {row.duplicates} duplicates, "
            f"{row.kept} kept ({row.heldout} of them for evaluation only)"
            + (f", {row.short} documents too short" if row.short else "")
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
    """sha256 over parameters, counts and all passages; stands in every run and under every table."""

    def passage(self, seed: int, step: int, index: int) -> Passage:
        """The passage of one proposal: a pure function of its arguments, uniform over the training passages."""
        return self.passages[derive(seed, "passage", step, index) % len(self.passages)]

    def evaluation(self, seed: int, index: int) -> Passage:
        """A passage that training never shows. Raises `InputError` when none is kept for evaluation."""
        if not self.heldout:
            raise InputError("this corpus keeps no passage for evaluation: set heldout above 0.")
        return self.heldout[derive(seed, "heldout", index) % len(self.heldout)]


def builtin(
    words: tuple[int, int] = (16, 24),
    names: Sequence[str] = DEFAULT_TEXTS,
    need: Need | None = None,
    heldout: float = 0.1,
    numerals: bool = True,
    at_least: int = 1,
) -> Corpus:
    """The offline corpus, cut from texts inside pinned dependencies into passages of `words` (least, most) words."""
    documents = [Document(text=text, source=name, licence=licence(name)) for name, text in builtin_text(names)]
    cutting = Cutting(words=words, numerals=numerals, heldout=heldout, at_least=at_least)
    return build(documents, cutting, need)


def build(
    documents: Sequence[Document],
    cutting: Cutting,
    need: Need | None = None,
    bad_lines: Mapping[str, int] | None = None,
) -> Corpus:
    """Cut, filter, split and digest. Raises `InputError` when too few training passages are left."""
    kept: list[Passage] = []
    rows: list[SourceCount] = []
    seen: set[str] = set()
    for source in dict.fromkeys(document.source for document in documents):
        pieces = [(_pieces(document.text, cutting), document) for document in documents if document.source == source]
        made = [_passage(text, document) for texts, document in pieces for text in texts]
        fit = [passage for passage in made if need is None or need.met(passage.text)]
        new = list({passage.text: passage for passage in fit if passage.text not in seen}.values())
        seen.update(passage.text for passage in new)
        kept += new
        rows.append(
            SourceCount(
                source=source,
                cut=len(made),
                kept=len(new),
                heldout=sum(is_heldout(passage.id, cutting.heldout) for passage in new),
                dropped=len(made) - len(fit),
                duplicates=len(fit) - len(new),
                short=sum(not texts for texts, _ in pieces),
                bad_lines=(bad_lines or {}).get(source, 0),
            )
        )
    return _corpus(kept, CorpusReport(sources=tuple(rows)), cutting, need)


def cut(text: str, least: int, most: int) -> list[str]:
    """Passages of least..most words, one after the other without overlap; a tail shorter than the least is left out.

    A passage ends at the last end of a paragraph within reach, else of a sentence, else after the most words.
    """
    if not 1 <= least <= most:
        raise InputError(f"passages of {least} to {most} words cannot be cut: give 1 <= least <= most.")
    tokens = [marked for paragraph in BLANK_LINE.split(text) for marked in _marked(paragraph.split())]
    out: list[str] = []
    start = 0
    while len(tokens) - start >= least:
        ends = range(start + least, min(start + most, len(tokens)) + 1)
        stop = max(ends, key=lambda i: (tokens[i - 1][1], i))
        out.append(" ".join(word for word, _ in tokens[start:stop]))
        start = stop
    return out


def numerals(text: str) -> str:
    """The text with spelled numbers from two to ninety-nine in digits ("twenty-five" becomes "25")."""

    def digits(match: re.Match[str]) -> str:
        tens, ones, plain = (part and part.lower() for part in match.groups())
        return str(SPELLED[plain] if plain else SPELLED[tens] + (1 if ones == "one" else SPELLED[ones]))

    return NUMERAL.sub(digits, text)


def is_heldout(passage_id: str, share: float) -> bool:
    """Whether a passage is for evaluation only; depends on its id alone, so that adding texts moves none."""
    return int(passage_id, 16) < share * (1 << (4 * len(passage_id)))


def _marked(words: list[str]) -> list[tuple[str, int]]:
    """Each word with 2 where a paragraph ends, 1 where a sentence ends, else 0."""
    last = len(words) - 1
    return [(word, 2 if i == last else int(word.endswith(SENTENCE_END))) for i, word in enumerate(words)]


def _pieces(text: str, cutting: Cutting) -> list[str]:
    text = numerals(text) if cutting.numerals else text
    return cut(text, *cutting.words) if cutting.words is not None else [text.strip()]


def _passage(text: str, document: Document) -> Passage:
    digest = sha256(f"{document.source}\x1f{text}".encode()).hexdigest()
    return Passage(id=digest[:16], text=text, source=document.source, licence=document.licence)


def _corpus(kept: Sequence[Passage], report: CorpusReport, cutting: Cutting, need: Need | None) -> Corpus:
    train = tuple(passage for passage in kept if not is_heldout(passage.id, cutting.heldout))
    held = tuple(passage for passage in kept if is_heldout(passage.id, cutting.heldout))
    if len(train) < max(1, cutting.at_least):
        raise InputError(
            f"the corpus has {len(train)} passages for training where at least {max(1, cutting.at_least)} are needed "
            f"({'; '.join(report.lines()) or 'it is empty'}): give more text or ask less of a passage."
        )
    parameters = [asdict(cutting), [need.words, need.numbers] if need else None]
    content = json.dumps([parameters, asdict(report), [passage.id for passage in kept]])
    return Corpus(passages=train, heldout=held, report=report, digest=sha256(content.encode()).hexdigest())
