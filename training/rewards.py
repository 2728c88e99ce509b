"""How the designer is paid for an environment: named pure functions of one window's statistics.

A function returns None where there is nothing to pay for (no plays, no hint): no number is made out of nothing, and the
caller leaves that trajectory out of the loss and counts it. Centring and scaling are in `advantages`.
"""

import math
from dataclasses import dataclass
from importlib import import_module
from numbers import Real
from types import ModuleType
from typing import Callable, Mapping

from ..harness.config import Section
from ..harness.errors import InputError, TrainingStopped, nearest
from .potential import LearningPotential
from .window import WindowStats, paired_interval, regret, win_rate


class RewardSettings(Section, frozen=True, kw_only=True):
    """Numbers of the pay. The defaults are the paper's setting; `timeout_reward` and `regret_confidence` are ours."""

    plateau_lo: float = 0.4
    """Lowest win rate that is paid in full."""
    plateau_hi: float = 0.6
    """Highest win rate that is paid in full."""
    plateau_ramp: float = 0.25
    """Width of the fall to nothing on either side."""
    plateau_weight: float = 0.6
    """Weight of the plateau in `blend`."""
    regret_weight: float = 0.4
    """Weight of the regret in `blend`."""
    regret_scale: float = 0.15
    """Regret at which that part of `blend` is full."""
    regret_floor: bool = True
    """Negative regret pays 0, and `blend` caps its share at 1; off: the regret enters as it is."""
    regret_confidence: float = 0.8
    """One-sided confidence at which `blend_confident` believes a regret."""
    success_at: float | None = None
    """None: means of returns (the paper). A number: a play counts 1 when it returned at least that, else 0."""
    gamma_fast: float = 0.98
    """Step size of the fast average of `learning_potential`; an average's step size, no discount."""
    gamma_slow: float = 0.85
    """Step size of the slow one."""
    invalid_reward: float | None = None
    """Pay of a completion the validator rejected; None (the paper): it is not trained on at all."""
    timeout_reward: float | None = -0.5
    """Pay of a program that hung, whatever the function; None: the function is asked as for any other program."""

    def __post_init__(self) -> None:
        if not self.plateau_lo <= self.plateau_hi or self.plateau_ramp <= 0:
            raise InputError("reward: the plateau is empty; set plateau_lo <= plateau_hi and plateau_ramp > 0.")
        if self.regret_scale <= 0:
            raise InputError(f"reward: regret_scale is {self.regret_scale}; set it above 0.")
        if not 0.5 <= self.regret_confidence < 1:
            raise InputError(f"reward: regret_confidence is {self.regret_confidence}; set it in [0.5, 1).")
        if not 0 < self.gamma_slow < self.gamma_fast <= 1:
            raise InputError("reward: the two averages are not apart; set 0 < gamma_slow < gamma_fast <= 1.")


@dataclass(frozen=True, kw_only=True, slots=True)
class RewardContext:
    """What a pay may know beside its own environment's window."""

    skill: str
    tracker: LearningPotential = LearningPotential()
    """The skill's tracker, already updated with this window (`track`)."""


RewardFn = Callable[[WindowStats, RewardSettings, RewardContext], float | None]


def plateau(rate: float, lo: float = 0.4, hi: float = 0.6, ramp: float = 0.25) -> float:
    """1 for a win rate in [lo, hi], falling in a straight line to 0 over `ramp` on either side."""
    return max(0.0, 1.0 - max(lo - rate, rate - hi, 0.0) / ramp)


def pay_plateau(stats: WindowStats, settings: RewardSettings, context: RewardContext) -> float | None:
    """P(w), w over all plays of the window. The paper's ablation by solve rate is this and no regret."""
    rate = win_rate(stats, settings.success_at)
    return None if rate is None else plateau(rate, settings.plateau_lo, settings.plateau_hi, settings.plateau_ramp)


def pay_hint_regret(stats: WindowStats, settings: RewardSettings, context: RewardContext) -> float | None:
    """max(0, regret), regret = mean(return with the hint) - mean(without), on the same instances."""
    gap = regret(stats, settings.success_at)
    return None if gap is None else max(0.0, gap) if settings.regret_floor else gap


def pay_blend(stats: WindowStats, settings: RewardSettings, context: RewardContext) -> float | None:
    """0.6 P(w) + 0.4 clip(regret / 0.15, 0, 1): the paper's pay. It is full at a regret that is noise at 16 plays."""
    return _blend(stats, settings, context, regret(stats, settings.success_at))


def pay_blend_confident(stats: WindowStats, settings: RewardSettings, context: RewardContext) -> float | None:
    """0.6 P(w) + 0.4 clip(L / 0.15, 0, 1) with L the one-sided lower bound of the paired regret. Ours.

    `blend` pays a third of its regret share for no regret at all: 16 pairs of coin flips measure a gap of 0.15 or more
    in one environment of five. Here only what lies above the bound (`paired_interval`, one-sided 80 %) counts. Share of
    the regret part paid, 16 binary pairs, 20,000 draws: true regret 0 (.5 against .5): 0.33 -> 0.09; true regret .4
    (.7 against .3): 0.97 -> 0.81; .6 (.9 against .3): 1.00 -> 0.99. At 64 pairs: 0.23 -> 0.06 and 1.00 -> 1.00.
    """
    interval = paired_interval(stats, settings.success_at, 2 * settings.regret_confidence - 1)
    return _blend(stats, settings, context, None if interval is None else interval.low)


def _blend(stats: WindowStats, settings: RewardSettings, context: RewardContext, gap: float | None) -> float | None:
    top = pay_plateau(stats, settings, context)
    if top is None or gap is None:
        return None
    share = gap / settings.regret_scale
    if settings.regret_floor:
        share = min(max(share, 0.0), 1.0)
    return settings.plateau_weight * top + settings.regret_weight * share


def pay_learning_potential(stats: WindowStats, settings: RewardSettings, context: RewardContext) -> float | None:
    """|w - mu_slow|, mu_slow the skill's slow average after this window (the paper's ablation)."""
    rate = win_rate(stats, settings.success_at)
    if rate is None:
        return None
    if context.tracker.mu_slow is None:
        raise ValueError("the skill's tracker has not seen this window; call track() first")
    return abs(rate - context.tracker.mu_slow)


def pay_micro_lp(stats: WindowStats, settings: RewardSettings, context: RewardContext) -> float | None:
    """max(0, mean of the late half of the window - mean of the early half); the middle step of an odd window is late.

    None with fewer than two played steps: one step has no half.
    """
    steps = [stats.plays[offset] for offset in sorted(stats.plays) if stats.plays[offset]]
    if len(steps) < 2:
        return None
    early = win_rate(WindowStats(plays=dict(enumerate(steps[: len(steps) // 2]))), settings.success_at)
    late = win_rate(WindowStats(plays=dict(enumerate(steps[len(steps) // 2 :]))), settings.success_at)
    assert early is not None and late is not None
    return max(0.0, late - early)


REWARDS: dict[str, RewardFn] = {
    "hint_regret": pay_hint_regret,
    "plateau": pay_plateau,
    "blend": pay_blend,
    "blend_confident": pay_blend_confident,
    "learning_potential": pay_learning_potential,
    "solve_rate": pay_plateau,
    "micro_lp": pay_micro_lp,
}


def track(
    tracker: LearningPotential | None, windows: Mapping[str, WindowStats], settings: RewardSettings
) -> LearningPotential:
    """A skill's tracker after one window: moved once, by the mean over all plays of all its environments."""
    tracker = tracker or LearningPotential(gamma_fast=settings.gamma_fast, gamma_slow=settings.gamma_slow)
    plays = {number: stats.returns for number, stats in enumerate(windows.values())}
    errors = sum(stats.errors for stats in windows.values())
    rate = win_rate(WindowStats(plays=plays, errors=errors), settings.success_at)
    return tracker if rate is None else tracker.update(rate)


def resolve_reward(name: str) -> RewardFn:
    """The function of that name in `REWARDS`, or a user's own written as `module:function`. InputError otherwise."""
    if name in REWARDS:
        return REWARDS[name]
    module_name, colon, function_name = name.partition(":")
    if not colon:
        known = ", ".join(REWARDS)
        raise InputError(f"There is no reward {name!r}{nearest(name, REWARDS)}; use {known}, or module:function.")
    found = getattr(_imported(module_name, name), function_name, None)
    if found is None:
        raise InputError(f"Module {module_name!r} has no {function_name!r}; name a function it defines.")
    if not callable(found):
        raise InputError(
            f"The reward {name!r} is a {type(found).__name__}; name a function of (stats, settings, context)."
        )
    return found  # type: ignore[no-any-return]


def _imported(module_name: str, name: str) -> ModuleType:
    try:
        if not module_name or module_name.startswith("."):
            raise ImportError("it names no module from the top")
        return import_module(module_name)
    except ImportError as error:
        raise InputError(f"The reward {name!r} cannot be imported ({error}); put its folder on PYTHONPATH.") from error
    except Exception as error:  # a user's own module may raise anything while it is read
        raise InputError(
            f"The reward {name!r} cannot be imported ({type(error).__name__}: {error}); correct its module."
        ) from error


def pay(function: RewardFn, stats: WindowStats, settings: RewardSettings, context: RewardContext) -> float | None:
    """What `function` pays for an environment, or None for no pay.

    A hung program gets `timeout_reward` without asking. TrainingStopped names a function that raises, or that returns
    anything but a finite number or None: a run must not go on with a pay nobody meant.
    """
    if stats.step_timeout and settings.timeout_reward is not None:
        return settings.timeout_reward
    name = f"{function.__module__}:{function.__qualname__}" if hasattr(function, "__qualname__") else repr(function)
    try:
        value: object = function(stats, settings, context)
    except Exception as error:  # a user's own function may raise anything; it never goes on from here
        raise TrainingStopped(
            f"The reward function {name} raised {type(error).__name__}: {error}; correct it and start the run again."
        ) from error
    if value is None:
        return None
    number = _finite(value)
    if number is None:
        said = repr(value)[:80]
        raise TrainingStopped(f"The reward function {name} returned {said}; let it return a finite number or None.")
    return number


def _finite(value: object) -> float | None:
    """None for what is no finite number; an integer beyond every float is none either."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None
