"""An opened run: programs keep their process while they are played, and what it opened is closed."""

import os
import signal

from spadework.harness.types import Outcome
from spadework.training.recipe import load_recipe
from spadework.training.run import opened

SMALL = ("require_gates=false", "window=3", "designer.environments=6", "play.instances=2")


def test_a_program_keeps_its_process_through_the_window_unless_it_failed() -> None:
    with opened(load_recipe("spade", SMALL)) as run:
        assert run.source is not None
        first = run.source.supply(0)
        run.play(first)
        kept = dict(run.processes)
        assert kept.keys() == {program.id for program in first.programs}
        run.play(run.source.supply(1))
        assert run.processes == kept

        broken = first.programs[0].id
        pid, kept[broken].recover = kept[broken].pid, False
        assert pid is not None
        os.kill(pid, signal.SIGSEGV)
        episodes = run.play(run.source.supply(2))
        assert {e.outcome for e in episodes if e.play.program.id == broken} == {Outcome.SCORER_ERROR}
        assert all(e.reward is not None for e in episodes if e.play.program.id != broken)
        assert run.processes.keys() == kept.keys() - {broken}

        following = run.source.supply(3)
        run.play(following)
        assert run.processes.keys() == {program.id for program in following.programs}
        assert run.sandbox._processes == set(run.processes.values())
    assert not run.sandbox._processes
