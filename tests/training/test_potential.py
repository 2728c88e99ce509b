from typing import Any, Callable

import pytest

from spadework.training.potential import LearningPotential


@pytest.mark.parametrize(("name", "fast", "slow"), [("098_085", 0.98, 0.85), ("035_015", 0.35, 0.15)])
def test_the_averages_move_as_the_official_tracker_moves(
    vector: Callable[[str], Any], name: str, fast: float, slow: float
) -> None:
    case = {
        "098_085": lambda: vector("learning_potential_098_085"),
        "035_015": lambda: vector("learning_potential_035_015"),
    }
    tracker = LearningPotential(gamma_fast=fast, gamma_slow=slow)
    for expected in case[name]()["expected"]:
        tracker = tracker.update(expected["r"])
        assert tracker.mu_fast == pytest.approx(expected["mu_fast"], abs=1e-9)
        assert tracker.mu_slow == pytest.approx(expected["mu_slow"], abs=1e-9)
        assert tracker.potential == pytest.approx(expected["rho"], abs=1e-9)
        assert tracker.signed == pytest.approx(expected.get("signed", tracker.signed), abs=1e-9)


def test_before_the_first_window_there_is_no_potential() -> None:
    assert LearningPotential().potential is None
