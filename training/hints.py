"""The leak check: a hint may say how, never what.

Two tests on fresh instances. The hint's words are played as actions, in their order: a hint whose words alone win is
the answer. And the hint may hold no instance value: a word or number of the observations that differs between instances
and does not stand in the program's text. Counting rejections by skill or family is the caller's.

An episode that the words win in fewer than `short` actions says nothing (with one or two right words almost every
useful hint names the move); it is counted apart, as `short_wins`, from the play itself.
"""

import re
import string
from dataclasses import dataclass
from enum import StrEnum
from typing import Sequence

from ..harness.sandbox import Sandbox, close_all
from ..harness.sandbox.trials import Player, Trial, play_trials
from ..harness.seeds import derive
from ..harness.types import Program

WORD = re.compile(r"[^\W_]+(?:\.\d+)?")
"""A word or a number, decimals included."""


class LeakReason(StrEnum):
    """Why a hint was rejected."""

    WORDS_WIN = "words_win"
    INSTANCE_VALUE = "instance_value"
    NO_HINT = "no_hint"
    PROGRAM_FAILED = "program_failed"
    """The program failed while its hint was checked."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LeakSettings:
    """How a hint is checked."""

    instances: int = 16
    max_win_share: float = 0.2
    """Share of the instances that the words alone may win."""
    short: int = 3
    """Wins in fewer actions than this are set aside."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LeakVerdict:
    """What the check found. `reason` is None for a hint that may be used."""

    reason: LeakReason | None
    win_share: float
    """Share of the instances the words won in at least `short` actions."""
    short_wins: int
    """Instances won in fewer."""
    values: tuple[str, ...] = ()
    """Instance values in the hint."""
    detail: str = ""

    @property
    def leaks(self) -> bool:
        """The hint gives the answer away."""
        return self.reason in (LeakReason.WORDS_WIN, LeakReason.INSTANCE_VALUE)


def check_hints(
    programs: Sequence[Program], sandbox: Sandbox, seed: int, settings: LeakSettings | None = None
) -> list[LeakVerdict]:
    """The verdict on the hint of every program, in order; all programs are played at once."""
    settings = settings or LeakSettings()
    played: list[list[Trial]] = []
    for program in programs:
        words = spoken(program.hint or "")
        seeds = [derive(seed, "leak", program.id, number) for number in range(settings.instances)]
        played.append([Trial(one, _saying(words)) for one in seeds] if words else [])
    asked = [program.source for program, trials in zip(programs, played, strict=True) if trials]
    batch = dict(zip(sandbox.open_all(asked), filter(None, played), strict=True))
    try:
        play_trials(batch, max((program.max_turns for program in programs), default=0))
    finally:
        close_all(batch)
    return [judge_hint(program, trials, settings) for program, trials in zip(programs, played)]


def judge_hint(program: Program, trials: Sequence[Trial], settings: LeakSettings) -> LeakVerdict:
    """The verdict from what was played. Pure."""
    hint = program.hint or ""
    words = spoken(hint)
    if not words:
        return LeakVerdict(reason=LeakReason.NO_HINT, win_share=0.0, short_wins=0)
    errors = [step.error for trial in trials for step in trial.steps if step.error is not None]
    if errors:
        return LeakVerdict(reason=LeakReason.PROGRAM_FAILED, win_share=0.0, short_wins=0, detail=str(errors[0]))
    # Actions after the last word were empty: no win of the words.
    allowed = min(len(words), program.max_turns)
    lengths = [len(trial.steps) - 1 for trial in trials if trial.won and len(trial.steps) - 1 <= allowed]
    share = sum(length >= settings.short for length in lengths) / len(trials)
    values = instance_values(hint, program.source, [_shown(trial) for trial in trials])
    reason = LeakReason.INSTANCE_VALUE if values else None
    if share > settings.max_win_share:
        reason = LeakReason.WORDS_WIN
    short_wins = sum(length < settings.short for length in lengths)
    return LeakVerdict(reason=reason, win_share=share, short_wins=short_wins, values=values)


def spoken(hint: str) -> list[str]:
    """The hint's words as actions, in order: split at white space, punctuation around them taken off."""
    return [word for word in (piece.strip(string.punctuation) for piece in hint.split()) if word]


def instance_values(hint: str, source: str, shown: Sequence[str]) -> tuple[str, ...]:
    """The hint's words that some instances show and others do not, and that the program's text does not hold. Pure."""
    tokens = [_words(text) for text in shown]
    varying = frozenset().union(*tokens) - frozenset.intersection(*tokens)
    return tuple(sorted(_words(hint) & varying - _words(source)))


def _words(text: str) -> frozenset[str]:
    return frozenset(WORD.findall(text.lower()))


def _shown(trial: Trial) -> str:
    return "\n".join(step.observation for step in trial.steps)


def _saying(words: Sequence[str]) -> Player:
    return lambda turn, _observation: words[turn] if turn < len(words) else ""
