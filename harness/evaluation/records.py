"""One sample as it is recorded, and what a record may say: a sound score, no closed text. Pure."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import msgspec

from ..benchmark import Scored
from ..errors import InputError
from ..types import Outcome
from .due import Key
from .quotes import quotes

WITHHELD = "the answer quotes the problem and is not kept"


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """One line. `reward` is the score, under the name that every record of the house has."""

    item: str
    category: str
    repeat: int
    outcome: Outcome
    reward: float | None
    answer: str | None
    gold: str
    scorer: str
    """Version of the scorer that gave the outcome."""
    detail: str = ""
    facts: dict[str, float | int | str] = {}

    @property
    def key(self) -> Key:
        """Which sample this is."""
        return self.item, self.repeat


def read_records(rows: Sequence[Mapping[str, object]], where: str) -> list[Record]:
    """Records from their lines. Raises InputError for a line that is none, or a sample that stands there twice."""
    records: list[Record] = []
    for number, row in enumerate(rows, start=1):
        try:
            records.append(msgspec.convert(row, Record))
        except msgspec.ValidationError as error:
            raise InputError(f"{where}, line {number}: {error}; evaluate again with --fresh.") from None
    (key, count), *_ = Counter(record.key for record in records).most_common(1) or [(("", 0), 0)]
    if count > 1:
        raise InputError(f"{where}: sample {key} stands there {count} times; remove the doubles by hand.")
    return records


def silent(scored: Scored, problem: frozenset[str]) -> Scored:
    """Without what quotes the problem."""
    answer = None if scored.answer is not None and quotes(scored.answer, problem) else scored.answer
    facts = {key: fact for key, fact in scored.facts.items() if not quotes(str(fact), problem)}
    told = answer == scored.answer and not quotes(scored.detail, problem)
    return replace(scored, answer=answer, facts=facts, detail=scored.detail if told else WITHHELD)


class Verdict(NamedTuple):
    """An outcome with a score that fits it."""

    outcome: Outcome
    score: float | None
    detail: str = ""


def sound(outcome: Outcome, score: float | None) -> Verdict:
    """A score within its range, or none; a scorer that gives anything else has failed, and its sample is unscored."""
    if not outcome.scored:
        return Verdict(outcome, None)
    if score is None or not math.isfinite(score) or not 0 <= score <= 1:
        detail = f"the scorer gave {score!r} for {outcome}, which is no number in [0, 1]"
        return Verdict(Outcome.SCORER_ERROR, None, detail)
    return Verdict(outcome, score)
