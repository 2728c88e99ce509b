"""What one step says of itself: the metrics line and the running totals. Pure; what was not measured is None."""

from collections import defaultdict
from dataclasses import dataclass
from typing import Mapping, Sequence

from ..harness.returns import WIN
from ..harness.types import Arm, Episode, Outcome
from .advantages import Advantages
from .update_stats import UpdateStats

BAND = (0.2, 0.8)
"""Win rates of the learnable band, bounds included."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Totals:
    """Sums over a run; they go through the checkpoint, so that a resumed run reports the whole."""

    plays: int = 0
    tokens: int = 0
    """Tokens the policy or another writer drew: plays with and without hints, programs, and their hints' tries."""
    proposed: int = 0
    valid: int = 0
    environments: int = 0
    """Environment-steps with a win rate."""
    in_band: int = 0
    groups: int = 0
    flat_groups: int = 0
    unscored: int = 0
    skipped_updates: int = 0
    seconds: float = 0.0

    def plus(self, **amounts: float) -> "Totals":
        """These totals and the amounts."""
        merged = {name: getattr(self, name) + amounts.get(name, 0) for name in Totals.__dataclass_fields__}
        return Totals(**merged)


@dataclass(frozen=True, kw_only=True, slots=True)
class StepFigures:
    """Figures of one step's plays."""

    line: dict[str, float | int | None]
    amounts: dict[str, float]
    """What the totals grow by."""


def of_step(episodes: Sequence[Episode], agent: Advantages, counts: Mapping[str, int]) -> StepFigures:
    """Figures of a step from its episodes, the agent's advantages and the source's counts."""
    plain = [e.reward for e in episodes if e.play.arm is Arm.PLAIN and e.reward is not None]
    hinted = [e.reward for e in episodes if e.play.arm is Arm.HINT and e.reward is not None]
    rates = win_rates(episodes)
    in_band = sum(BAND[0] <= rate <= BAND[1] for rate in rates.values())
    drawn = sum(sum(e.trajectory.generated) for e in episodes)
    drawn += counts.get("designer_tokens", 0) + counts.get("hint_tokens", 0)
    line: dict[str, float | int | None] = {
        "return": mean(plain),
        "success": mean([reward >= WIN for reward in plain]),
        "hint_return": mean(hinted),
        "band_share": in_band / len(rates) if rates else None,
        "flat_group_share": agent.dropped_groups / agent.groups if agent.groups else None,
        "unscored": agent.unscored,
        "program_failures": sum(e.outcome is Outcome.SCORER_ERROR for e in episodes),
        "plays": len(episodes),
        "tokens": drawn,
        **counts,
    }
    amounts: dict[str, float] = {
        "plays": len(episodes), "tokens": drawn, "proposed": counts.get("proposed", 0), "valid": counts.get("valid", 0),
        "environments": len(rates), "in_band": in_band, "groups": agent.groups, "flat_groups": agent.dropped_groups,
        "unscored": agent.unscored,
    }  # fmt: skip
    return StepFigures(line=line, amounts=amounts)


def win_rates(episodes: Sequence[Episode]) -> dict[str, float]:
    """Mean return without the hint by program; programs without a scored play are missing."""
    returns: dict[str, list[float]] = defaultdict(list)
    for episode in episodes:
        if episode.play.arm is Arm.PLAIN and episode.reward is not None:
            returns[episode.play.program.id].append(episode.reward)
    return {program: sum(values) / len(values) for program, values in returns.items()}


def update_line(stats: UpdateStats) -> dict[str, object]:
    """The update's part of the metrics line."""
    return {
        "loss": stats.loss, "grad_norm": stats.grad_norm, "kl": stats.kl, "entropy": stats.entropy,
        "tis_mean": stats.tis_mean, "tis_capped_share": stats.tis_capped_share, "padding_share": stats.padding_share,
        "agent_tokens": stats.tokens.get("agent", 0), "designer_trained_tokens": stats.tokens.get("designer", 0),
        "sampler_gap": stats.sampler_gap.get("agent"), "update_skipped": str(stats.skipped) if stats.skipped else None,
    }  # fmt: skip


def mean(values: Sequence[float]) -> float | None:
    """None for nothing."""
    return sum(values) / len(values) if values else None
