import sys
from pathlib import Path
from typing import Any, Callable

import pytest

from spadework.harness.config import build
from spadework.harness.errors import InputError, TrainingStopped
from spadework.harness.types import Trajectory
from spadework.training.advantages import AdvantageSettings, Written, designer_advantages, designer_scale
from spadework.training.potential import LearningPotential
from spadework.training.rewards import REWARDS, RewardContext, RewardSettings, pay, plateau, resolve_reward, track
from spadework.training.window import WindowStats

PAPER = RewardSettings()
HERE = RewardContext(skill="S")
Vector = Callable[[str], Any]


def stats_of(case: Any, name: str) -> WindowStats:
    """A vector's environment; its hint mean is spread over pairs, as many as the plays at offset 0."""
    steps = case["inputs"]["accumulated_rewards"].get(name, {})
    steps = steps if isinstance(steps, dict) else {"0": steps}
    plays = {int(offset): tuple(returns) for offset, returns in steps.items()}
    mean = case["inputs"].get("cached_hint_rewards", {}).get(name)
    paired = plays.get(0, ()) if mean is not None else ()
    return WindowStats(plays=plays, hint=(mean,) * len(paired), plain_paired=paired)


def centred(pays: dict[str, float], skills: dict[str, str], scale: float) -> dict[str, float]:
    """Each environment's advantage; `scale` agents per designer of a window of one step gives that factor."""
    trajectories = {
        name: Trajectory(ids=(n,), generated=(True,), logprobs=(0.0,), temperature=1.0) for n, name in enumerate(pays)
    }
    written = [
        Written(trajectory=trajectories[name], skill=skills.get(name, "S"), pay=value) for name, value in pays.items()
    ]
    agents = round(scale * len(written))
    found = designer_advantages(written, agents=agents, interval=1, settings=AdvantageSettings())
    names = {trajectory: name for name, trajectory in trajectories.items()}
    return {names[sample.trajectory]: sample.advantage for sample in found.samples}


def test_the_plateau_is_the_official_one(vector: Vector) -> None:
    for case in (vector("plateau_default"), vector("plateau_4b_late")):
        inputs = case["inputs"]
        ours = [plateau(rate, inputs["lo"], inputs["hi"], inputs["ramp"]) for rate in inputs["win_rates"]]
        assert ours == pytest.approx(case["expected"], abs=1e-9)


def test_the_blend_pays_as_shipped_where_there_is_a_hint_and_nothing_where_there_is_none(vector: Vector) -> None:
    case = vector("blend_shipped")
    official = case["expected"]["per_game"]
    ours = {name: pay(REWARDS["blend"], stats_of(case, name), PAPER, HERE) for name in ("good", "easy", "hard")}
    assert ours == pytest.approx({name: official[name]["blend"] for name in ours}, abs=1e-9)
    assert pay(REWARDS["blend"], stats_of(case, "nohint"), PAPER, HERE) is None
    assert pay(REWARDS["blend"], stats_of(case, "noplays"), PAPER, HERE) is None
    assert pay(REWARDS["blend"], WindowStats(step_timeout=True), PAPER, HERE) == -0.5
    theirs = {name: entry["blend"] for name, entry in official.items()}
    assert centred(theirs, {}, 32.0) == pytest.approx({name: entry["reward"] for name, entry in official.items()})


def test_solve_rate_is_the_plateau_alone(vector: Vector) -> None:
    case, plays = vector("blend_solve_rate_ablation"), vector("blend_shipped")
    official = case["expected"]["per_game"]
    pays = {name: pay(REWARDS["solve_rate"], stats_of(plays, name), PAPER, HERE) for name in official}
    assert pays == pytest.approx({name: entry["blend"] for name, entry in official.items()}, abs=1e-9)
    advantages = centred({name: value for name, value in pays.items() if value is not None}, {}, 32.0)
    assert advantages == pytest.approx({name: entry["reward"] for name, entry in official.items()}, abs=1e-9)


def test_two_skills_are_centred_apart(vector: Vector) -> None:
    case = vector("blend_two_skills")
    official = case["expected"]
    pays = {name: pay(REWARDS["blend"], stats_of(case, name), PAPER, HERE) for name in official}
    assert pays == pytest.approx({name: entry["blend"] for name, entry in official.items()}, abs=1e-9)
    advantages = centred({k: v for k, v in pays.items() if v is not None}, case["inputs"]["skills"], 10.0)
    assert advantages == pytest.approx({name: entry["reward"] for name, entry in official.items()}, abs=1e-9)


def test_delayed_regret_is_the_official_one_where_both_arms_were_played(vector: Vector) -> None:
    case = vector("regret_variant_delayed")
    ours = {name: pay(REWARDS["hint_regret"], stats_of(case, name), PAPER, HERE) for name in ("p", "q", "missing")}
    assert ours == {"p": 0.5, "q": 0.0, "missing": None}
    assert pay(REWARDS["hint_regret"], WindowStats(step_timeout=True), PAPER, HERE) == -0.5
    theirs = {"p": 0.5, "q": 0.0, "r": -0.5, "missing": 0.4}
    assert centred(theirs, {}, 8.0) == pytest.approx(case["expected"]["rewards"], abs=1e-9)


def test_immediate_regret_is_floored_and_a_hang_costs_a_half(vector: Vector) -> None:
    case = vector("regret_variant_immediate")
    gaps = case["inputs"]["game2regret"]
    ours = {}
    for name in ("a", "b", "c"):
        hung = name in case["inputs"]["step_timeout"]
        stats = WindowStats(hint=(gaps[name],), plain_paired=(0.0,), step_timeout=hung)
        ours[name] = pay(REWARDS["hint_regret"], stats, PAPER, HERE)
    assert ours == {"a": 0.5, "b": 0.0, "c": -0.5}
    assert centred({**ours, "d": 0.0}, {}, 10.0) == pytest.approx(case["expected"]["rewards"], abs=1e-9)  # type: ignore[dict-item]


def test_micro_lp_is_late_minus_early_and_one_step_has_no_half(vector: Vector) -> None:
    case = vector("micro_lp_variant")
    ours = {name: pay(REWARDS["micro_lp"], stats_of(case, name), PAPER, HERE) for name in ("u", "v", "w")}
    assert ours == {"u": 0.75, "v": 0.0, "w": None}
    assert centred({"u": 0.75, "v": 0.0, "w": 0.0}, {}, 4.0) == pytest.approx(case["expected"]["rewards"], abs=1e-9)


def test_learning_potential_measures_from_the_skill_average_after_the_window(vector: Vector) -> None:
    case = vector("learning_potential_variant_delayed")
    windows = {name: stats_of(case, name) for name in case["inputs"]["samples"]}
    before = LearningPotential(mu_fast=0.5, mu_slow=0.5)
    here = RewardContext(skill="S", tracker=track(before, windows, PAPER))
    assert here.tracker.mu_slow == case["expected"]["metrics"]["delayed_env/skill_S/mu_slow"]
    ours = {name: pay(REWARDS["learning_potential"], stats, PAPER, here) for name, stats in windows.items()}
    assert ours == {"a": 0.0, "b": 0.5, "c": 0.5, "noplays": None}
    theirs = {name: value or 0.0 for name, value in ours.items()}
    assert centred(theirs, {}, 32.0) == pytest.approx(case["expected"]["rewards"], abs=1e-9)


def test_the_designers_scale_is_the_official_one(vector: Vector) -> None:
    case = vector("env_reward_scale")
    ours = [
        designer_scale(
            entry["num_env_trajectories"],
            entry["num_actor_trajectories"],
            entry["regeneration_interval"],
            entry["max_scale"],
        )
        for entry in case["inputs"]
    ]
    assert ours == pytest.approx(case["expected"], abs=1e-9)


def test_noise_is_paid_less_by_the_confident_blend_and_a_sure_regret_in_full() -> None:
    def share(name: str, hint: tuple[float, ...], plain: tuple[float, ...]) -> float:
        value = pay(REWARDS[name], WindowStats(plays={0: (0.0,)}, hint=hint, plain_paired=plain), PAPER, HERE)
        assert value is not None
        return value / PAPER.regret_weight

    coin, other = (1.0, 0.0) * 8, (0.0, 1.0) * 6 + (1.0, 1.0, 0.0, 0.0)
    lucky = tuple(sorted(coin, reverse=True)), tuple(sorted(other))
    assert share("blend", (1.0,) * 10 + (0.0,) * 6, (0.0, 1.0) * 7 + (0.0, 0.0)) == 1.0
    assert share("blend_confident", (1.0,) * 10 + (0.0,) * 6, (0.0, 1.0) * 7 + (0.0, 0.0)) < 0.25
    assert share("blend_confident", coin, coin) == 0.0
    assert share("blend_confident", (1.0,) * 16, (0.0,) * 16) == 1.0
    assert share("blend_confident", *lucky) <= share("blend", *lucky)


def test_every_named_reward_pays_nothing_for_nothing() -> None:
    assert [pay(function, WindowStats(), PAPER, HERE) for function in REWARDS.values()] == [None] * len(REWARDS)


def test_an_unknown_reward_offers_the_nearest_name() -> None:
    with pytest.raises(InputError, match="hint_regret"):
        resolve_reward("hint_regrets")
    with pytest.raises(InputError, match="PYTHONPATH"):
        resolve_reward("no_such_module_here:f")
    with pytest.raises(InputError, match="has no 'nothing'"):
        resolve_reward("spadework.training.rewards:nothing")
    with pytest.raises(InputError, match="name a function"):
        resolve_reward("spadework.training.skills:SKILLS")


def test_a_users_own_function_is_found_by_module_and_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own_pay_for_test.py").write_text("def double(stats, settings, context):\n    return 2\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert pay(resolve_reward("own_pay_for_test:double"), WindowStats(), PAPER, HERE) == 2.0
    sys.modules.pop("own_pay_for_test")


@pytest.mark.parametrize("text", ["def pay(:\n", "raise ValueError('not today')\n"])
def test_a_users_own_module_that_cannot_be_imported_is_one_sentence(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "crooked_pay_for_test.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(InputError, match="'crooked_pay_for_test:pay' cannot be imported"):
        resolve_reward("crooked_pay_for_test:pay")
    for name in (":pay", ".crooked_pay_for_test:pay"):
        with pytest.raises(InputError, match="cannot be imported"):
            resolve_reward(name)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 10**400, "0.5", True, [1.0]])
def test_a_pay_that_is_no_finite_number_stops_the_run_and_names_the_function(value: object) -> None:
    def crooked(stats: WindowStats, settings: RewardSettings, context: RewardContext) -> Any:
        return value

    with pytest.raises(TrainingStopped, match="crooked.*returned"):
        pay(crooked, WindowStats(), PAPER, HERE)


def test_a_pay_that_raises_stops_the_run_and_names_the_function() -> None:
    def broken(stats: WindowStats, settings: RewardSettings, context: RewardContext) -> float:
        return 1 / 0

    with pytest.raises(TrainingStopped, match="broken raised ZeroDivisionError"):
        pay(broken, WindowStats(), PAPER, HERE)


@pytest.mark.parametrize(
    "table",
    [{"plateau_lo": 0.7}, {"plateau_ramp": 0}, {"regret_scale": 0}, {"regret_confidence": 1}, {"gamma_slow": 0.99}],
)
def test_settings_that_mean_nothing_are_refused(table: dict[str, object]) -> None:
    with pytest.raises(InputError):
        build(RewardSettings, table, where="test")
