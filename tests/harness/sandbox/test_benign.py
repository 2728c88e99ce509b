"""Ordinary environments run to their end inside all the walls: nothing they need is refused, missing or late."""

from collections.abc import Iterator

import pytest

from spadework.harness.sandbox import DEFAULT_MODULES, Isolation, Policy, Sandbox

from .ordinary import EXPECTED, STANDARD
from .ordinary_numeric import MORE_MODULES, NUMERIC

ISOLATIONS: tuple[Isolation, ...] = ("module", "shared")


@pytest.fixture(scope="module")
def standard() -> Iterator[Sandbox]:
    with Sandbox() as sandbox:
        yield sandbox


@pytest.fixture(scope="module")
def numeric() -> Iterator[Sandbox]:
    with Sandbox(policy=Policy(modules=(*DEFAULT_MODULES, *MORE_MODULES))) as sandbox:
        yield sandbox


def played(sandbox: Sandbox, source: str, isolation: Isolation) -> None:
    """Two instances, three turns, in step."""
    process = sandbox.open(source, isolation=isolation)
    steps = process.reset([(0, 1), (1, 2)])
    for turn in range(3):
        assert [step.error for step in steps] == [None, None]
        steps = process.step([(0, f"act {turn}"), (1, "look")])
    process.close()
    assert [step.error for step in steps] == [None, None]
    assert [(step.observation, step.reward, step.terminated) for step in steps] == [(EXPECTED, 1.0, True)] * 2


@pytest.mark.parametrize("isolation", ISOLATIONS)
@pytest.mark.parametrize("name", STANDARD)
def test_an_ordinary_program_runs_to_its_end(standard: Sandbox, name: str, isolation: Isolation) -> None:
    played(standard, STANDARD[name], isolation)


@pytest.mark.parametrize("isolation", ISOLATIONS)
@pytest.mark.parametrize("name", NUMERIC)
def test_numpy_and_dates_run_where_the_policy_permits_them(numeric: Sandbox, name: str, isolation: Isolation) -> None:
    played(numeric, NUMERIC[name], isolation)


def test_what_a_policy_does_not_name_is_not_there(standard: Sandbox) -> None:
    error = standard.open(NUMERIC["dates"]).load()
    assert error is not None and error.kind == "forbidden_module"
