"""The hostile programs against the sandbox: as this user, with one wall taken away, and as a user without rights. And
against no wall at all, where they must win, or the rest of this file proves nothing.

What counts as reached is seen from outside, see battery/arena.py.
"""

import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from spadework.harness.sandbox import ErrorKind, Layer, Policy

from .battery.arena import LIMITS, Arena, Outcome
from .battery.borrowed import Borrowed, Driver, user
from .battery.everything import EVERYTHING, PROGRAMS, TEXTS
from .battery.hostile import Aim, Hostile
from .battery.watching import running

HERE = {
    "all layers": Policy(),
    "no namespaces": Policy(off=(Layer.NAMESPACES,)),
    "no Landlock": Policy(off=(Layer.LANDLOCK,)),
}
PLAIN = frozenset(Aim) - {Aim.TIME, Aim.MEMORY, Aim.UNNOTICED, Aim.BLAME, Aim.BEYOND, Aim.NEXT}
"""Aims that only the layers keep a program from; the others are kept by limits and checks that are always there."""
MUST_WIN = 20


@pytest.fixture(scope="module", params=HERE)
def arena(request: pytest.FixtureRequest) -> Iterator[Arena]:
    with Arena(HERE[request.param]) as shared:
        yield shared


@pytest.fixture(scope="module")
def place() -> Iterator[Borrowed]:
    """Fails, with the remedy, where a user without rights can run no Python."""
    borrowed = Borrowed()
    yield borrowed
    borrowed.close()


@pytest.fixture(scope="module")
def unprivileged(place: Borrowed) -> Iterator[Driver]:
    with Driver(place, place.interpreter, user()) as driver:
        assert driver.about["uid"] != 0
        yield driver


def check(hostile: Hostile, outcome: Outcome) -> None:
    assert not outcome.damage, f"reached {outcome.damage}, ended with {outcome.kind or 'no error'}: {outcome.said}"
    wanted = sorted(str(kind or "no error") for kind in hostile.kinds)
    assert (outcome.kind or "no error") in wanted, f"wanted {wanted}, got {outcome.kind}: {outcome.said}"


@pytest.mark.parametrize("name", EVERYTHING)
def test_a_hostile_program_is_held(arena: Arena, name: str) -> None:
    check(EVERYTHING[name], arena.run(EVERYTHING[name]))


@pytest.mark.parametrize("name", EVERYTHING)
def test_a_hostile_program_is_held_by_a_user_without_rights(unprivileged: Driver, name: str) -> None:
    check(EVERYTHING[name], unprivileged.run(EVERYTHING[name]))


def test_without_any_layer_the_programs_win(place: Borrowed) -> None:
    """Otherwise the battery could not fail."""
    hostiles = [hostile for hostile in PROGRAMS.values() if hostile.aim in PLAIN]
    with Driver(place, place.interpreter, None, off=list(Layer)) as driver:
        outcomes = [driver.run(hostile) for hostile in hostiles]
    won = [hostile.name for hostile, outcome in zip(hostiles, outcomes) if hostile.aim in outcome.damage]
    assert len(won) >= MUST_WIN, f"only {len(won)} of {len(hostiles)} reach their aim without a layer: {won}"
    for aim in PLAIN:
        assert any(PROGRAMS[name].aim is aim for name in won), f"nobody reaches {aim}: {len(won)} won, {won}"


def test_the_battery_is_as_large_as_promised() -> None:
    assert len(PROGRAMS) >= 62 and len(TEXTS) >= 15


def test_a_program_that_spins_after_its_answer_is_ended_by_the_kernel() -> None:
    """Nobody asks it anything any more: only the limit on the CPU time of its life is left."""
    with Arena(Policy(), replace(LIMITS, life_cpu_s=1)) as arena:
        process = arena.sandbox.open(PROGRAMS["answer_spin"].source, recover=False)
        assert process.reset([(0, 1)])[0].error is None
        assert process.step([(0, arena.target())])[0].observation == "early"
        pid, deadline = process.pid, time.monotonic() + 10.0
        while running(pid) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert not running(pid)
        error = process.step([(0, "")])[0].error
        assert error is not None and error.kind is ErrorKind.CPU_EXHAUSTED
