from typing import Any, Callable

from spadework.harness.returns import episode_return


def test_an_episode_is_worth_what_the_official_function_says(vector: Callable[[str], Any]) -> None:
    case = vector("episode_reward")
    assert [episode_return(**inputs) for inputs in case["inputs"]] == case["expected"]
