"""Self-play over several windows with a scripted policy: who is played and paid, when it is trained, and resuming."""

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest

from spadework.harness.episode import play
from spadework.harness.sandbox import Sandbox
from spadework.harness.types import Arm, Episode, Sample, Sampling
from spadework.training.advantages import AdvantageSettings
from spadework.training.rewards import RewardSettings
from spadework.training.selfplay import Pay, SelfPlay
from spadework.training.source import PlaySettings

from ..harness.toy_dialect import STOP, CharDialect
from .scripted_designer import BROKEN, Script, designer, guess

STEPS, WINDOW = 5, 2
PLAYS = PlaySettings(
    instances=2, plays_per_instance=2, sampling=Sampling(temperature=1.0, max_new_tokens=8, stop=(STOP,))
)


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as shared:
        yield shared


def writer() -> Script:
    """By its request alone: half of the programs can be won with the hint, a quarter is broken at its first try."""

    def write(request: object, prompt: str) -> str:
        seed = request.seed  # type: ignore[attr-defined]
        if seed % 4 == 3:
            return BROKEN
        return guess(f"G{seed % 1000}", offset=1 if seed % 2 else 2)

    return Script(write)


def source(sandbox: Sandbox, script: Script, *, trained: bool = True, invalid: float | None = None) -> SelfPlay:
    pay = Pay(
        reward="hint_regret", settings=RewardSettings(invalid_reward=invalid), advantages=AdvantageSettings(),
        window=WINDOW, steps=STEPS, trained=trained,
    )  # fmt: skip
    return SelfPlay(designer(script, window=WINDOW, environments=8), sandbox, PLAYS, pay)


def step(one: SelfPlay, number: int, script: Script, sandbox: Sandbox) -> tuple[list[Episode], list[Sample]]:
    episodes = play(one.supply(number).plays, script.model, CharDialect(), sandbox)
    return episodes, one.learn(number, episodes)


def test_hinted_plays_are_of_the_same_instances_in_the_first_step_of_a_window_alone(sandbox: Sandbox) -> None:
    one = source(sandbox, script := writer())
    first = one.supply(0)
    plain = [p for p in first.plays if p.arm is Arm.PLAIN]
    hinted = [p for p in first.plays if p.arm is Arm.HINT]
    assert first.plays == (*plain, *hinted) and len(plain) == len(hinted) == 8 * 4
    assert [(p.program, p.seed, p.sampling) for p in plain] == [(p.program, p.seed, p.sampling) for p in hinted]
    assert not {p.sample_seed for p in plain} & {p.sample_seed for p in hinted}
    one.learn(0, play(first.plays, script.model, CharDialect(), sandbox))
    second = one.supply(1)
    assert {p.arm for p in second.plays} == {Arm.PLAIN} and second.programs == first.programs
    assert not {p.seed for p in second.plays} & {p.seed for p in first.plays}
    assert one.supply(2).programs != first.programs


def test_a_window_is_trained_in_the_first_step_of_the_next_and_the_last_one_in_the_last_step(sandbox: Sandbox) -> None:
    one = source(sandbox, script := writer())
    written: dict[int, set[tuple[int, ...]]] = {}
    trained: dict[int, list[Sample]] = {}
    for number in range(STEPS):
        _, trained[number] = step(one, number, script, sandbox)
        written.setdefault(number - number % WINDOW, {d.trajectory.ids for d in one.window.drafts})
    assert not trained[0] and not trained[1] and not trained[3]
    assert {s.trajectory.ids for s in trained[2]} <= written[0]
    assert {s.trajectory.ids for s in trained[4]} <= written[2] | written[4]
    for begun in (2, 4):
        assert {s.trajectory.ids for s in trained[4]} & written[begun], f"nothing of the window of step {begun}"
    assert all(s.role == "designer" for samples in trained.values() for s in samples) and trained[2]


def test_a_program_whose_hint_helps_is_paid_more_than_its_neighbours(sandbox: Sandbox) -> None:
    one = source(sandbox, script := writer())
    step(one, 0, script, sandbox), step(one, 1, script, sandbox)
    helped = {d.trajectory.ids: "self.n + 1)" in d.source for d in one.window.drafts if d.program}
    _, samples = step(one, 2, script, sandbox)
    assert samples and all((sample.advantage > 0) == helped[sample.trajectory.ids] for sample in samples)
    for group in {sample.group for sample in samples}:
        assert sum(s.advantage for s in samples if s.group == group) == pytest.approx(0, abs=1e-9)


def test_broken_programs_are_trained_on_only_where_they_have_a_pay(sandbox: Sandbox) -> None:
    for invalid, expected in ((None, False), (-1.0, True)):
        one = source(sandbox, script := writer(), invalid=invalid)
        step(one, 0, script, sandbox), step(one, 1, script, sandbox)
        broken = {d.trajectory.ids for d in one.window.drafts if d.program is None}
        assert broken
        _, samples = step(one, 2, script, sandbox)
        found = [sample for sample in samples if sample.trajectory.ids in broken]
        assert bool(found) == expected and all(sample.advantage < 0 for sample in found)


def test_a_failure_of_the_host_is_not_paid_as_a_broken_program(sandbox: Sandbox) -> None:
    one = source(sandbox, script := writer(), invalid=-1.0)
    step(one, 0, script, sandbox)
    blamed = {draft.trajectory.ids for draft in one.window.drafts if draft.program is None}
    drafts = tuple(d if d.program is not None else replace(d, reason="host") for d in one.window.drafts)
    one.window = replace(one.window, drafts=drafts)
    step(one, 1, script, sandbox)
    assert blamed and not [sample for sample in one.due if sample.trajectory.ids in blamed]


def test_of_a_designer_that_is_not_trained_nothing_enters_the_loss(sandbox: Sandbox) -> None:
    one = source(sandbox, script := writer(), trained=False)
    assert [step(one, number, script, sandbox)[1] for number in range(STEPS)] == [[]] * STEPS
    assert one.memory.records and one.report()


def test_environments_are_remembered_once_as_their_first_step_measured_them(sandbox: Sandbox) -> None:
    one = source(sandbox, script := writer())
    for number in range(3):
        step(one, number, script, sandbox)
    records = one.memory.records
    assert len(records) == 16 and all(record.win_rate == 0 for record in records)
    assert {record.regret for record in records} == {0.0, 1.0}
    assert all((record.regret == 1.0) == ("self.n + 1)" in record.source) for record in records)


def test_the_report_has_a_line_for_every_draft_with_what_was_measured(sandbox: Sandbox) -> None:
    one = source(sandbox, script := writer())
    step(one, 0, script, sandbox)
    rows = one.report()
    assert len(rows) == len(one.window.drafts) > 8
    for row in rows:
        if row["valid"]:
            assert row["win_rate"] == 0 and row["regret"] == float("self.n + 1)" in str(row["source"]))
        else:
            assert (row["reason"], row["win_rate"], row["regret"], row["hint"]) == ("does_not_load", None, None, None)
    assert one.figures()["window_win_rate"] == 0


@pytest.mark.parametrize("stop", range(1, STEPS))
def test_a_source_restored_from_json_goes_on_as_if_it_had_never_stopped(sandbox: Sandbox, stop: int) -> None:
    whole = source(sandbox, script := writer(), invalid=-0.5)
    straight = [(step(whole, number, script, sandbox), whole.report()) for number in range(STEPS)]
    first = source(sandbox, before := writer(), invalid=-0.5)
    for number in range(stop):
        step(first, number, before, sandbox)
    second = source(sandbox, after := writer(), invalid=-0.5)
    second.restore(json.loads(json.dumps(first.state())))
    for number in range(stop, STEPS):
        assert (step(second, number, after, sandbox), second.report()) == straight[number]
    assert second.state() == whole.state()
