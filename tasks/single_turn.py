"""Benchmarks of one question and one answer, played through lm-eval: what AIME and GPQA share.

From samples that are due to requests, from completions to results: each is judged and put into the sink the moment it
comes. Which prompt is put and what an answer is worth stays with the benchmark.
"""

import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..harness.benchmark import CUT_SHORT, Due, Preset, Scored, Sink
from ..harness.errors import InputError
from ..harness.types import Completion, Message, Model, Outcome, Request
from .thinking import spoken


@dataclass(frozen=True, kw_only=True, slots=True)
class Judged:
    """What a benchmark says of an answer."""

    outcome: Outcome
    answer: str | None
    detail: str = ""

    @property
    def score(self) -> float | None:
        """One for what is right; None for what has no score."""
        return float(self.outcome is Outcome.RIGHT) if self.outcome.scored else None


Judge = Callable[[Due, str], Judged]
"""Judges what the model said, its thinking removed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Table:
    """Where the samples are played."""

    preset: Preset
    model: Model
    sink: Sink


def play(due: Sequence[Due], prompt: Callable[[Due], str], judge: Judge, table: Table) -> float | None:
    """Play the samples through lm-eval. Returns the mean that lm-eval takes; the sink has all results by then."""
    from ..harness.adapters.lm_eval import evaluated

    requests = [
        Request(
            messages=(Message(role="user", content=prompt(one)),), sampling=table.preset.sampling, seed=one.seed,
        )
        for one in due
    ]  # fmt: skip

    def heard(row: int, completion: Completion) -> float | None:
        result = scored(due[row], completion, judge)
        table.sink.put(result, [completion])
        return result.score

    return evaluated(table.preset.benchmark, requests, heard, table.model)


def scored(due: Due, completion: Completion, judge: Judge) -> Scored:
    """The result of one completion."""
    said = spoken(completion.text)
    judged = Judged(outcome=Outcome.NO_ANSWER, answer=None, detail="the thinking block is never closed")
    if said is not None:
        judged = judge(due, said)
    ended = CUT_SHORT.get(completion.finish)
    if ended is not None:
        judged = Judged(outcome=ended, answer=judged.answer, detail=completion.error)
    facts: dict[str, float | int | str] = {}
    if completion.usage is not None:
        facts = {
            "prompt_tokens": completion.usage.prompt_tokens,
            "completion_tokens": completion.usage.completion_tokens,
        }
    return Scored(
        item=due.item.id, category=due.item.category, repeat=due.repeat, outcome=judged.outcome, score=judged.score,
        answer=judged.answer, gold=due.item.gold, detail=judged.detail, facts=facts,
    )  # fmt: skip


def need(*modules: str) -> None:
    """Raises InputError unless these packages are installed."""
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    if missing:
        raise InputError(f"this task needs {', '.join(missing)}; pip install 'spadework[eval]'.")
