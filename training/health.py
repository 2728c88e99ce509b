"""Alarms of a run: what its figures say when training has gone wrong, in a plain sentence with what to do.

What it is: pure functions from one step's plays and figures to readings, and from readings to alarms with a memory: an
alarm begins when its figure was beyond the bound several times in a row, and ends when it was within it as often, so
that each is said once. What it is not: a brake. No alarm changes or stops a run.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..harness.config import Section
from ..harness.errors import InputError
from ..harness.types import Episode, Outcome, Trajectory

Readings = Mapping[str, float | None]
"""Figures by name; None or absent where a step has no such figure, which neither begins nor ends an alarm."""

LOOP_PERIOD, LOOP_TOKENS = 8, 24
"""A completion is caught in a loop when its last 24 tokens repeat with a period of at most 8."""
SHINGLE, TWIN = 4, 0.95
"""Two programs are twins when this share of their sets of four words in a row is common to both (Jaccard)."""
WORD = re.compile(r"\w+|[^\w\s]")


class HealthSettings(Section, frozen=True, kw_only=True):
    """When a figure is taken for a sign of trouble. Shares and win rates lie in [0, 1], gaps are in nats."""

    enabled: bool = True
    patience: int = 3
    """Readings in a row beyond a bound before its alarm begins, and within it before it ends."""
    zero_reward_share: float = 1.0
    """Plays whose reward is exactly 0."""
    zero_variance_share: float = 0.9
    """Comparison groups of the agent without any difference."""
    sampler_gap: float = 0.05
    """Mean |log-prob of the trainer - log-prob of the sampler| over the agent's tokens."""
    canary_gap: float = 0.05
    """The same of a fixed prompt right after an update; one reading is enough."""
    canary_moved: float = 1e-5
    """Nats a token by which the trainer's log-probs of that prompt may have moved since the last canary while the
    sampler's are the same to the last bit; one reading is enough.
    """
    truncated_share: float = 0.5
    """Plays (and, apart, the designer's texts) that were cut off by a length limit."""
    looped_share: float = 0.1
    """Plays (and, apart, the designer's texts) that ended in a loop of repeated tokens."""
    distinct_share: float = 0.25
    """Programs of a window that are no near copy of another one, below which diversity has collapsed; two windows."""
    win_rate_margin: float = 0.02
    """Distance of a window's win rate from 0 or 1 below which it is pinned there; two windows."""
    canary_tokens: int = 8
    """Tokens of the canary."""

    def __post_init__(self) -> None:
        if self.patience < 1 or self.canary_tokens < 1:
            raise InputError("health: set patience and canary_tokens to 1 or more.")


@dataclass(frozen=True, kw_only=True, slots=True)
class Rule:
    """One alarm: which reading it looks at, what is bad, and what is said."""

    name: str
    reading: str
    bad: Callable[[float, HealthSettings], bool]
    says: str
    """With {value}."""
    remedy: str
    patience: int | None = None
    """Instead of the setting."""


RULES = (
    Rule(
        name="zero reward", reading="zero_reward_share", bad=lambda v, s: v >= s.zero_reward_share,
        says="{percent} of the plays earned a reward of exactly 0, so nothing tells right from wrong",
        remedy="play one yourself (`spadework play ID --run RUN`): if replies are not understood mend the action "
        "format, else begin with easier environments or a stronger checkpoint",
    ),
    Rule(
        name="zero variance", reading="flat_group_share", bad=lambda v, s: v >= s.zero_variance_share,
        says="in {percent} of the comparison groups all rewards are equal, and such groups train nothing",
        remedy="raise play.temperature or play.plays_per_instance, or look whether the environments are too easy or "
        "too hard (`spadework envs RUN`)",
    ),
    Rule(
        name="sampler gap", reading="sampler_gap", bad=lambda v, s: v > s.sampler_gap,
        says="trainer and sampler differ by {value:.3g} nats a token, so it is not the policy that played which is "
        "updated",
        remedy="check that both use the same precision, temperature and chat template, and that the sampler takes the "
        "weights of every update",
    ),
    Rule(
        name="weight sync", reading="canary_moved", bad=lambda v, s: v > s.canary_moved, patience=1,
        says="the sampler answers a fixed prompt as before, to the last bit, while the trainer's log-probs of it have "
        "moved by {value:.3g} nats a token: updates do not reach the sampler",
        remedy="mend how it takes the weights, and go back to the last checkpoint before this began",
    ),
    Rule(
        name="canary", reading="canary_gap", bad=lambda v, s: v > s.canary_gap, patience=1,
        says="right after an update the sampler's log-probs of a fixed prompt differ from the trainer's by {value:.3g} "
        "nats a token: it has other weights, or computes something else with them",
        remedy="compare the engine with plain transformers (`nox -s vllm`), and do not trust the steps since then",
    ),
    Rule(
        name="truncation", reading="truncated_share", bad=lambda v, s: v >= s.truncated_share,
        says="{percent} of the plays were cut off by a length limit and count as lost",
        remedy="raise play.max_new_tokens or play.max_tokens, or lower designer.max_turns",
    ),
    Rule(
        name="designer's truncation", reading="designer_truncated_share", bad=lambda v, s: v >= s.truncated_share,
        says="{percent} of the designer's texts were cut off by the length limit", patience=2,
        remedy="raise designer.max_new_tokens, or ask for shorter programs",
    ),
    Rule(
        name="loops", reading="looped_share", bad=lambda v, s: v >= s.looped_share,
        says="{percent} of the plays end in the same few tokens again and again",
        remedy="go back to a checkpoint before this began, with a lower update.lr or a higher update.kl",
    ),
    Rule(
        name="designer's loops", reading="designer_looped_share", bad=lambda v, s: v >= s.looped_share,
        says="{percent} of the designer's texts end in the same few tokens again and again", patience=2,
        remedy="go back to a checkpoint before this began, with a lower update.lr or a higher update.kl",
    ),
    Rule(
        name="diversity", reading="distinct_share", bad=lambda v, s: v < s.distinct_share, patience=2,
        says="only {percent} of the window's programs are no near copy of another one of this window or the last",
        remedy="check that passages and memory reach the designer's prompt, and raise designer.temperature",
    ),
    Rule(
        name="win rate at 0", reading="win_rate", bad=lambda v, s: v <= s.win_rate_margin, patience=2,
        says="the window's win rate is {percent}: the designer's environments are all lost",
        remedy="look at them (`spadework envs RUN`): pay the designer for environments of middling difficulty "
        "(source.reward) or begin with a stronger agent",
    ),
    Rule(
        name="win rate at 1", reading="win_rate", bad=lambda v, s: v >= 1 - s.win_rate_margin, patience=2,
        says="the window's win rate is {percent}: the designer's environments are all won",
        remedy="look at them (`spadework envs RUN`) for wins that ask for nothing, and pay the designer for "
        "environments of middling difficulty (source.reward)",
    ),
)  # fmt: skip


@dataclass(frozen=True, kw_only=True, slots=True)
class Alarm:
    """One alarm, from its beginning to its end."""

    name: str
    began: int
    """Step whose reading began it."""
    text: str
    ended: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Health:
    """What the alarms remember; it goes through the checkpoint."""

    streaks: Mapping[str, int] = field(default_factory=dict)
    """By rule, readings in a row that speak against its present state."""
    alarms: tuple[Alarm, ...] = ()
    """In the order in which they began."""
    window: tuple[str, ...] = ()
    """Ids of the designer's programs of the present window."""
    canary: tuple[float, ...] = ()
    """Of the last canary: its gap, then the sampler's log-probs."""

    @property
    def active(self) -> tuple[Alarm, ...]:
        """Those that have not ended."""
        return tuple(alarm for alarm in self.alarms if alarm.ended is None)

    def told_at(self, step: int) -> list[dict[str, object]]:
        """What began or ended at a step, for the metrics line."""
        begun: list[dict[str, object]] = [
            {"alarm": alarm.name, "event": "begins", "text": alarm.text} for alarm in self.alarms if alarm.began == step
        ]
        ended: list[dict[str, object]] = [
            {"alarm": alarm.name, "event": "ends", "text": f"{alarm.name}: over, after {step - alarm.began} steps"}
            for alarm in self.alarms
            if alarm.ended == step
        ]
        return [*begun, *ended]


def watched(health: Health, step: int, readings: Readings, settings: HealthSettings) -> Health:
    """The alarms after one more step."""
    active = {alarm.name for alarm in health.active}
    streaks = dict(health.streaks)
    alarms = list(health.alarms)
    for rule in RULES:
        value = readings.get(rule.reading)
        if value is None:
            continue
        against = rule.bad(value, settings) != (rule.name in active)
        streaks[rule.name] = streaks.get(rule.name, 0) + 1 if against else 0
        if streaks[rule.name] < (rule.patience or settings.patience):
            continue
        streaks[rule.name] = 0
        if rule.name in active:
            alarms = [replace(a, ended=step) if a.name == rule.name and a.ended is None else a for a in alarms]
        else:
            alarms.append(Alarm(name=rule.name, began=step, text=sentence(rule, value)))
    return replace(
        health, streaks={name: count for name, count in streaks.items() if count}, alarms=tuple(alarms)
    )


def sentence(rule: Rule, value: float) -> str:
    """What is said when an alarm begins."""
    said = rule.says.format(value=value, percent=f"{100 * value:.0f} %")
    return f"{rule.name}: {said}; {rule.remedy}."


def canary_readings(before: Sequence[float], now: Sequence[float]) -> dict[str, float | None]:
    """Of the canary, from the last one and this one: each its gap, then the sampler's log-probs; empty for none."""
    if not now:
        return {"canary_gap": None, "canary_moved": None}
    moved = None if not before else abs(now[0] - before[0]) if tuple(now[1:]) == tuple(before[1:]) else 0.0
    return {"canary_gap": now[0], "canary_moved": moved}


def play_readings(episodes: Sequence[Episode]) -> dict[str, float | None]:
    """Of the plays of a step, both arms."""
    rewards = [episode.reward for episode in episodes if episode.reward is not None]
    cut = [episode.outcome in (Outcome.TRUNCATED, Outcome.CONTEXT_OVERFLOW) for episode in episodes]
    return {
        "zero_reward_share": share(reward == 0 for reward in rewards),
        "truncated_share": share(cut),
        "looped_share": share(loops(episode.trajectory) for episode in episodes),
    }


def draft_readings(
    trajectories: Sequence[Trajectory], limit: int, programs: Sequence[str], before: Sequence[str]
) -> dict[str, float | None]:
    """Of the designer's new window: its texts (of at most `limit` tokens), its accepted or repeated programs, and those
    of the window before.
    """
    return {
        "designer_truncated_share": share(sum(one.generated) >= limit for one in trajectories),
        "designer_looped_share": share(loops(one) for one in trajectories),
        "distinct_share": distinct_share(programs, before),
    }


def loops(trajectory: Trajectory) -> bool:
    """Whether the last tokens the policy drew in one go repeat with a short period."""
    tail: list[int] = []
    for token, drawn in zip(reversed(trajectory.ids), reversed(trajectory.generated), strict=True):
        if len(tail) == LOOP_TOKENS or not drawn:
            break
        tail.append(token)
    whole = len(tail) == LOOP_TOKENS
    return whole and any(tail[period:] == tail[:-period] for period in range(1, LOOP_PERIOD + 1))


def distinct_share(programs: Sequence[str], before: Sequence[str]) -> float | None:
    """Share of programs that are no twin of an earlier one or of one of `before`; None for none."""
    seen = [shingles(text) for text in before]
    fresh = 0
    for text in programs:
        own = shingles(text)
        fresh += not any(len(own & other) >= TWIN * len(own | other) for other in seen)
        seen.append(own)
    return fresh / len(programs) if programs else None


def shingles(text: str) -> frozenset[tuple[str, ...]]:
    """Every four words in a row, names, numbers and signs alike; the whole text where it is shorter."""
    words = WORD.findall(text)
    return frozenset(tuple(words[start : start + SHINGLE]) for start in range(max(1, len(words) - SHINGLE + 1)))


def share(marks: Iterable[bool]) -> float | None:
    """None for nothing."""
    found = list(marks)
    return sum(found) / len(found) if found else None
