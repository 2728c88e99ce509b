"""What an environment's plays of one window said, and the two figures read from them: win rate and paired regret.

Pure values. A window is the k steps between two designer batches; `add` takes the episodes of one step and returns a
new value, so a run keeps `{program id: WindowStats}` and nothing else. Not here: what the designer is paid (`rewards`).
"""

from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import Iterable, Mapping, NamedTuple

from scipy.special import stdtrit

from ..harness.types import Arm, Episode, Outcome

HUNG = ("env_error:timeout:", "env_error:hang:")
"""How the text of a sandbox error begins when a call took too long."""


class Interval(NamedTuple):
    """An estimate with its interval, in units of the return."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True, slots=True)
class WindowStats:
    """Returns of one environment in one window. All returns lie in [-1, 1]; unscored episodes are not among them."""

    plays: Mapping[int, tuple[float, ...]] = field(default_factory=dict)
    """Step offset in the window -> returns of the plays without the hint."""
    hint: tuple[float, ...] = ()
    """Returns of the plays with the hint."""
    plain_paired: tuple[float, ...] = ()
    """Returns without the hint on the same instance seeds as `hint`, in the same order."""
    instances: tuple[int, ...] = ()
    """Instance seed of each pair; empty: every pair is an instance of its own."""
    errors: int = 0
    """Plays without the hint that ended by a fault of the program: no win here, and never the agent's loss."""
    step_timeout: bool = False
    """The program hung in a play of either arm."""

    def __post_init__(self) -> None:
        assert len(self.hint) == len(self.plain_paired), "hint and plain_paired are pairs"
        assert not self.instances or len(self.instances) == len(self.hint), "one instance seed for each pair"

    @property
    def returns(self) -> tuple[float, ...]:
        """Every return without the hint, by offset."""
        return tuple(value for offset in sorted(self.plays) for value in self.plays[offset])

    def add(self, offset: int, episodes: Iterable[Episode]) -> "WindowStats":
        """These statistics and the episodes this environment had at `offset`; hinted ones are paired with plain ones.

        The i-th hinted play of an instance seed is paired with its i-th plain play. A pair with an unscored side is
        dropped; a fault of the host is no fault of the program.
        """
        arms: dict[Arm, dict[int, list[float | None]]] = {arm: defaultdict(list) for arm in Arm}
        errors, hung = 0, self.step_timeout
        for episode in episodes:
            arms[episode.play.arm][episode.play.seed].append(episode.reward)
            hung = hung or episode.error.startswith(HUNG)
            errors += episode.play.arm is Arm.PLAIN and episode.outcome is Outcome.SCORER_ERROR
        plain = [value for values in arms[Arm.PLAIN].values() for value in values if value is not None]
        pairs = list(_pairs(arms[Arm.HINT], arms[Arm.PLAIN]))
        known = self.instances or (() if not self.hint else tuple(range(len(self.hint))))
        return replace(
            self,
            plays={**self.plays, offset: self.plays.get(offset, ()) + tuple(plain)},
            hint=self.hint + tuple(pair[1] for pair in pairs),
            plain_paired=self.plain_paired + tuple(pair[2] for pair in pairs),
            instances=known + tuple(pair[0] for pair in pairs),
            errors=self.errors + errors,
            step_timeout=hung,
        )


def _pairs(
    hinted: Mapping[int, list[float | None]], plain: Mapping[int, list[float | None]]
) -> Iterable[tuple[int, float, float]]:
    """(instance seed, return with the hint, return without) of the pairs whose two sides are scored."""
    for seed, with_hint in hinted.items():
        for one, other in zip(with_hint, plain.get(seed, []), strict=False):
            if one is not None and other is not None:
                yield seed, one, other


def win_rate(stats: WindowStats, success_at: float | None = None) -> float | None:
    """Mean return without the hint over the whole window; None when nothing was played.

    With `success_at` it is the share of plays that returned at least that. Plays the program broke count as 0.
    """
    values = _scores(stats.returns, success_at)
    plays = len(values) + stats.errors
    return sum(values) / plays if plays else None


def share_won(returns: Iterable[float]) -> float | None:
    """Share of returns above 0, which is what the memory calls a win rate; None for no returns."""
    wins = [value > 0 for value in returns]
    return sum(wins) / len(wins) if wins else None


def regret(stats: WindowStats, success_at: float | None = None) -> float | None:
    """Mean return with the hint minus without it, on the same instance seeds; None when no pair was scored."""
    gaps = _gaps(stats, success_at)
    return sum(gaps) / len(gaps) if gaps else None


def paired_interval(stats: WindowStats, success_at: float | None = None, confidence: float = 0.95) -> Interval | None:
    """The regret with its two-sided interval; None when no pair was scored.

    Bonett and Price's adjusted interval (2012, for paired proportions) carried over to returns: one pair of +1 and one
    of -1 are added, so that 3 equal gaps are not certainty; pairs of one instance form a cluster; Student's t with
    clusters + 1 degrees of freedom. With m' the adjusted mean of the N gaps d and clusters C:

        m' = sum(d) / (N + 2),  se^2 = [sum_C (sum_{i in C} (d_i - m'))^2 + (1 - m')^2 + (1 + m')^2] / (N + 2)^2

    `mean` is the plain mean; the bounds are about m' and never exclude the mean.
    """
    gaps = _gaps(stats, success_at)
    if not gaps:
        return None
    total = len(gaps) + 2
    centre = sum(gaps) / total
    clusters: dict[int, float] = defaultdict(float)
    for key, gap in zip(stats.instances or range(len(gaps)), gaps, strict=True):
        clusters[key] += gap - centre
    squares = sum(value**2 for value in clusters.values()) + (1 - centre) ** 2 + (1 + centre) ** 2
    reach = float(stdtrit(len(clusters) + 1, (1 + confidence) / 2)) * squares**0.5 / total
    mean = sum(gaps) / len(gaps)
    return Interval(mean, min(mean, centre - reach), max(mean, centre + reach))


def _gaps(stats: WindowStats, success_at: float | None) -> list[float]:
    pairs = zip(_scores(stats.hint, success_at), _scores(stats.plain_paired, success_at), strict=True)
    return [with_hint - without for with_hint, without in pairs]


def _scores(returns: Iterable[float], success_at: float | None) -> list[float]:
    return [value if success_at is None else float(value >= success_at) for value in returns]
