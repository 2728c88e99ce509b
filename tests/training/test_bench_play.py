"""The benchmark of a step: its parts make up the whole, and what is over a limit fails."""

import pytest

from spadework.harness.errors import InputError
from spadework.training.bench_play import LIMITS, Measured, measure, passed, report
from spadework.training.recipe import load_recipe

SMALL = ("require_gates=false", "designer.environments=6", "play.instances=2", "evaluation.validation_share=0.02")


def measured(padding: float = 0.05, **parts: float) -> Measured:
    return Measured(parts={**dict.fromkeys(LIMITS, 0.01), "update": 0.9, **parts}, padding=padding, worst_padding=0.1)


def test_the_parts_of_a_real_step_are_all_there_and_take_time() -> None:
    found = measure(load_recipe("spade", SMALL), 2)
    assert LIMITS.keys() < found.parts.keys() and min(found.parts.values()) > 0
    assert sum(found.shares.values()) == pytest.approx(1) and 0 < found.waiting < found.parts["inside environments"]
    assert 0 <= found.padding <= found.worst_padding < 1
    assert len(report(found)) == 3 + len(found.parts)


def test_each_limit_can_be_missed_and_is_named() -> None:
    assert passed(measured()) and "TOO MUCH" not in "\n".join(report(measured()))
    for name in LIMITS:
        (line,) = [line for line in report(measured(**{name: 0.5})) if "TOO MUCH" in line]
        assert name in line and not passed(measured(**{name: 0.5}))
    assert not passed(measured(padding=0.11)) and "TOO MUCH" in report(measured(padding=0.11))[-1]


def test_a_row_that_writes_nothing_is_refused() -> None:
    with pytest.raises(InputError, match="'base' writes no environments"):
        measure(load_recipe("base", SMALL), 2)
