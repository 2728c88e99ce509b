import json
from typing import Any, Callable

import pytest

from spadework.harness.errors import InputError
from spadework.training.memory import EnvironmentMemory, Remembered, memory_from


def remembered(number: int, rate: float, gap: float | None = 0.0, skill: str = "S") -> Remembered:
    return Remembered(id=str(number), skill=skill, source=f"class game_{number}", win_rate=rate, regret=gap)


def test_memory_keeps_and_sorts_what_the_official_one_does_and_shows_the_whole_text(
    vector: Callable[[str], Any],
) -> None:
    case = vector("env_memory_filters")
    memory = EnvironmentMemory(capacity=4)
    for number, (rate, gap) in enumerate(case["inputs"]["adds_(win_rate,regret)"]):
        memory = memory.insert([remembered(number, rate, gap, "T" if number == 3 else "S")])

    def path(record: Remembered) -> str:
        return f"/x/game_{record.id}.py"

    expected = case["expected"]
    assert [path(record) for record in memory.records] == expected["kept"]
    positives = [record for record in memory.records if record.kind == "positive"]
    assert [path(record) for record in positives] == expected["positives_any"]
    assert [path(record) for record in positives if record.skill == "S"] == expected["positives_skill_S"]
    negatives = [record for record in memory.records if record.kind in ("too_easy", "too_hard")]
    assert [path(record) for record in negatives] == expected["negatives_any"]
    shown = memory.examples("S", seed=1)
    assert [(one.kind, one.source) for one in shown] == [("positive", "class game_4"), ("too_easy", "class game_2")]


def test_only_the_best_by_regret_are_drawn_from() -> None:
    memory = EnvironmentMemory().insert([remembered(n, 0.5, n / 100) for n in range(40)] + [remembered(99, 0.5, None)])
    seen = {one.source for seed in range(200) for one in memory.examples("S", 2, seed=seed)}
    assert seen == {f"class game_{n}" for n in range(30, 40)}


def test_examples_depend_on_the_seed_alone_and_change_nothing() -> None:
    memory = EnvironmentMemory().insert([remembered(n, n / 20, n / 20) for n in range(21)])
    assert memory.examples("S", seed=5) == memory.examples("S", seed=5)
    assert len({memory.examples("S", seed=seed) for seed in range(50)}) > 10
    assert memory.examples("unheard of", seed=5) == ()


def test_the_same_text_is_shown_once() -> None:
    memory = EnvironmentMemory().insert(
        [remembered(1, 0.5), remembered(1, 0.5), remembered(2, 0.0), remembered(2, 0.0)]
    )
    assert [one.kind for one in memory.examples("S", seed=0)] == ["positive", "too_hard"]


def test_the_oldest_go_first_and_the_old_value_stays() -> None:
    old = EnvironmentMemory(capacity=200).insert([remembered(n, 0.5) for n in range(200)])
    new = old.insert([remembered(200, 0.5)])
    assert (len(new.records), new.records[0].id, old.records[0].id) == (200, "1", "0")
    with pytest.raises(InputError):
        EnvironmentMemory(capacity=0)


def test_memory_survives_json() -> None:
    memory = EnvironmentMemory(capacity=7).insert([remembered(1, 0.25, None), remembered(2, 1.0, 0.5)])
    assert memory_from(json.loads(json.dumps(memory.state()))) == memory
