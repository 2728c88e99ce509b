from typing import Any, Callable

from spadework.training.skills import SKILLS, active_skills, skill_of_slot


def test_skills_rotate_as_the_official_ones(vector: Callable[[str], Any]) -> None:
    inputs = vector("skill_rotation")["inputs"]
    ours = [list(active_skills(inputs["skills"], step, 4, inputs["skills_per_regen"])) for step in inputs["rollouts"]]
    assert ours == vector("skill_rotation")["expected"]


def test_an_uneven_rotation_wraps_and_can_be_switched_off(vector: Callable[[str], Any]) -> None:
    case = vector("skill_rotation_uneven")
    cases = case["inputs"]["cases_(rollout,interval,per)"]
    assert [list(active_skills(case["inputs"]["skills"], *one)) for one in cases] == case["expected"]


def test_slots_take_the_active_skills_in_turn() -> None:
    assert len(set(SKILLS)) == 6
    assert [skill_of_slot(("a", "b"), slot) for slot in range(5)] == ["a", "b", "a", "b", "a"]
