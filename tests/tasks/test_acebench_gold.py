import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from kept import preset_of

from spadework.harness.benchmark import TaskItem
from spadework.harness.types import Outcome
from spadework.tasks.acebench import ACEBENCH_AGENT
from spadework.tasks.acebench_calls import Call
from spadework.tasks.acebench_check import SCORERS, fixed, process_accuracy
from spadework.tasks.acebench_data import ANSWERS, load_items, problem_of
from spadework.tasks.acebench_episode import EXTRACTIONS
from spadework.tasks.acebench_gold import REPAIRED, gold_calls, mended, paths, read_milestone, written
from spadework.tasks.acebench_verdict import judged
from spadework.tasks.acebench_world import World

MODULE = "spadework.tasks.acebench"
UNSEEN = {
    "upstream-faithful": {
        ("agent_multi_step_0", "add_reminder"), ("agent_multi_step_1", "add_reminder"),
        ("agent_multi_turn_7", "add_reminder"), ("agent_multi_step_19", "delete_message"),
    },
    "fixed": {("agent_multi_step_19", "delete_message")},
}  # fmt: skip
"""Calls that may be left out unpunished. Upstream does not see the class that the possible answer misspells, nor a
message that should have been deleted; and in multi_step 19 the second of two deletions is wanted by nobody."""


def items(data: Path, commit: str) -> list[TaskItem]:
    preset = preset_of(ACEBENCH_AGENT, MODULE, "official")
    return load_items(type(preset)(**{**{f: getattr(preset, f) for f in preset.__slots__},
                                      "slice": {"commit": commit, "items": 50}}), data)  # fmt: skip


def calls_of(item: TaskItem) -> list[Call]:
    problem = problem_of(item)
    return sum(gold_calls(problem.name, problem.commit, problem.milestones), [])


def verdict(item: TaskItem, calls: list[Call], scorer: str) -> Outcome:
    texts = [written([call]) for call in calls]
    return judged(problem_of(item), texts, EXTRACTIONS["call-list"], scorer).outcome


def dropped(item: TaskItem) -> Iterator[tuple[str, list[Call]]]:
    """Each call that changes the world, and the calls without it."""
    problem, calls = problem_of(item), calls_of(item)
    for at, call in enumerate(calls):
        world = World(problem.involved, problem.config)
        world.execute(calls[:at])
        before = json.dumps(world.state())
        world.execute([call])
        if json.dumps(world.state()) != before:
            yield call.name, calls[:at] + calls[at + 1 :]


@pytest.mark.parametrize("scorer", SCORERS)
@pytest.mark.parametrize("commit", ANSWERS)
def test_every_gold_is_right_and_wrong_when_a_call_is_missing(data: Path, commit: str, scorer: str) -> None:
    found = items(data, commit)
    assert [item.category for item in found] == ["multi_step"] * 20 + ["multi_turn"] * 30
    assert {item.id: verdict(item, calls_of(item), scorer) for item in found} == {
        item.id: Outcome.RIGHT for item in found
    }
    tried, unseen = 0, set()
    for item in found:
        for name, rest in dropped(item):
            tried += 1
            if verdict(item, rest, scorer) is Outcome.RIGHT:
                unseen.add((problem_of(item).name, name))
    assert tried == 167
    assert unseen == UNSEEN[scorer]


@pytest.mark.parametrize("scorer", SCORERS)
def test_who_does_nothing_is_never_right(data: Path, scorer: str) -> None:
    for item in items(data, "e6db74b"):
        assert verdict(item, [], scorer) is Outcome.NO_ANSWER
        for call in (Call("turn_on_wifi", {}), Call("nan", {})):
            assert verdict(item, [call], scorer) is Outcome.WRONG


def test_upstream_gives_one_item_away_to_any_call_that_runs(data: Path) -> None:
    """The reminder that multi_turn 7 is about stands under a misspelt class, which upstream never compares."""
    (item,) = [item for item in items(data, "e6db74b") if problem_of(item).name == "agent_multi_turn_7"]
    assert verdict(item, [Call("get_latest_message_id", {})], "upstream-faithful") is Outcome.RIGHT
    assert verdict(item, [Call("get_latest_message_id", {})], "fixed") is Outcome.WRONG


def test_the_milestones_as_they_are_lead_to_the_end_state_but_for_those_that_are_listed(data: Path) -> None:
    wrong = set()
    for item in items(data, "56dd66c"):
        problem = problem_of(item)
        first = sum(paths(problem.milestones)[0], [])
        if verdict(item, first, "upstream-faithful") is not Outcome.RIGHT:
            wrong.add(problem.name)
    assert wrong == set(REPAIRED)


def test_the_commits_differ_in_the_stop_at_the_end_of_a_message(data: Path) -> None:
    ours, theirs = ({problem_of(item).name: problem_of(item) for item in items(data, c)} for c in ANSWERS)
    differing = {name for name in ours if ours[name].expected != theirs[name].expected}
    assert differing == {f"agent_multi_step_{number}" for number in (14, 15, 16, 17)}
    assert all(fixed(ours[name].expected, theirs[name].expected) == "" for name in differing)


def test_the_fixed_scorer_forgives_how_a_text_is_set_and_not_what_it_says(data: Path) -> None:
    """P087."""
    (item,) = [item for item in items(data, "e6db74b") if problem_of(item).name == "agent_multi_step_5"]
    *before, send = calls_of(item)

    def said(message: str) -> Outcome:
        return verdict(item, [*before, Call(send.name, {**send.arguments, "message": message})], "fixed")

    assert said("Don\u2019t forget tomorrow afternoon\u2019s meeting.") is Outcome.RIGHT
    assert said("Don't forget tomorrow morning's meeting") is Outcome.WRONG
    assert verdict(item, [*before, Call("delete_message", {"message_id": 1}), send], "fixed") is Outcome.WRONG


def test_four_pieces_of_luggage_are_right_where_the_user_has_four(data: Path) -> None:
    (item,) = [item for item in items(data, "e6db74b") if problem_of(item).name == "agent_multi_turn_28"]
    look, book = calls_of(item)
    four = [look, Call(book.name, {**book.arguments, "baggage_count": 4})]
    assert verdict(item, four, "fixed") is Outcome.RIGHT
    assert verdict(item, four, "upstream-faithful") is Outcome.WRONG
    assert mended("another", problem_of(item).expected) == list(problem_of(item).expected)


def test_milestones_are_read_though_their_apostrophes_are_not_escaped() -> None:
    (call,) = read_milestone("[f(title='Today's spending', items=[{'product': 'a'}], to='Domino's')]")
    assert call == Call("f", {"title": "Today's spending", "items": [{"product": "a"}], "to": "Domino's"})


def test_process_accuracy_is_the_share_of_milestones_in_their_order() -> None:
    """P085."""
    assert process_accuracy([], [], resume=True) == 1.0
    assert process_accuracy([{"odd": "shape"}], [], resume=True) == 0.0
    assert process_accuracy(["[a()]", "[b()]", "[c()]"], ["[b()]", " [c()] "], resume=True) == 2 / 3
    assert process_accuracy(["[a()]", "[b()]", "[c()]"], ["[b()]", "[c()]"], resume=False) == 0.0
    assert process_accuracy([["[a()]", "[b()]"], ["[b()]"]], ["[b()]"], resume=True) == 1.0
