"""tau2 from its tasks to its results: gold, nobody, broken agents, users and judges, on the whole path."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("inspect_evals", reason="inspect-evals is not installed")

from kept import Kept, preset_of, samples

from spadework.harness.benchmark import Due, Players, Preset, TaskItem
from spadework.harness.errors import InputError
from spadework.harness.evaluation.players import cast, gold_replies, simple_replies
from spadework.harness.evaluation.registry import protocols_of
from spadework.harness.scripted import ScriptedChat
from spadework.harness.types import Completion, Finish, Message, Outcome, ToolCall
from spadework.tasks.tau2 import TAU2
from spadework.tasks.tau2_data import Problem, problem_of
from spadework.tasks.tau2_scripted import AGREED, LEAVES, PATIENCE, USER
from spadework.tasks.tau2_verdict import Event, Recorded, as_answer, from_answer, judge_said, judged
from spadework.tasks.tau2_world import FAILED, World

MODULE = "spadework.tasks.tau2"
NOOP_RIGHT = {"official-v0_2": {"airline": 19, "retail": 7}, "official": {"airline": 23, "retail": 11}}


def preset(name: str = "official-v0_2", domains: str = "airline", **changes: object) -> Preset:
    found = preset_of(TAU2, MODULE, name)
    return replace(found, slice={**found.slice, "domains": domains}, **changes)  # type: ignore[arg-type]


def some(domains: str = "airline", count: int = 6, **changes: object) -> list[Due]:
    return samples(TAU2.load(preset(domains=domains, **changes), None)[:count])


def told(text: str, finish: Finish = Finish.STOP, error: str = "") -> Completion:
    return Completion(ids=(), logprobs=(), text=text, finish=finish, error=error)


def called(name: str, arguments: str) -> Message:
    return Message(role="assistant", content="", calls=(ToolCall(id="c", name=name, arguments=arguments),))


def played(due: Sequence[Due], agent: object, user: object, **changes: object) -> list[tuple[Outcome, str]]:
    sink = Kept()
    players = Players(model=ScriptedChat(lambda request: agent), user=ScriptedChat(lambda request: user))  # type: ignore[arg-type,return-value]
    TAU2.run(due, preset(**changes), players, sink)
    return [(sink.by_key[one.item.id, 0].outcome, sink.by_key[one.item.id, 0].detail) for one in due]


def gold(item: TaskItem, without: int | None = None) -> str:
    """The gold actions and what must be told, as an episode is recorded; one action left out."""
    problem = problem_of(item)
    events = [
        Event(by=one.get("requestor", "assistant"), call=one["name"], arguments=json.dumps(one["arguments"]))
        for number, one in enumerate(problem.actions)
        if number != without
    ]
    said = Event(by="assistant", text=" ".join(["Done.", *problem.told]))
    return as_answer(Recorded(events=(*events, said), met=(True,) * len(problem.judged)))


def idle(item: TaskItem) -> str:
    """Nothing was done, and the judge accepts everything."""
    events = (Event(by="user", text="Hello."), Event(by="assistant", text="I am done."))
    return as_answer(Recorded(events=events, met=(True,) * len(problem_of(item).judged)))


@pytest.mark.parametrize(("domains", "count"), [("airline", 50), ("retail", 114), ("telecom", 114)])
def test_gold_is_right_when_its_actions_are_played(domains: str, count: int) -> None:
    items = TAU2.load(preset(domains=domains), None)
    assert len(items) == count == len({item.id for item in items})
    protocol = preset()
    wrong = [problem_of(one).name for one in items if TAU2.rescore(one, gold(one), protocol)[0] is not Outcome.RIGHT]
    assert wrong == []


def test_gold_is_right_on_the_whole_path_and_scored_again() -> None:
    due = [*some(count=4), *some("retail", 3), *some("telecom", 3)]
    sink = Kept()
    TAU2.run(due, preset(), cast(TAU2, due, gold_replies(TAU2, due)), sink)
    assert [one.outcome for one in sink.scored] == [Outcome.RIGHT] * 10
    for one in due:
        result = sink.by_key[one.item.id, 0]
        assert TAU2.rescore(one.item, result.answer, preset()) == (Outcome.RIGHT, 1.0)
        assert result.facts["action_checks"] == 1.0 and result.facts["version"] == "0.2"


@pytest.mark.parametrize("name", NOOP_RIGHT)
def test_who_does_nothing_is_right_where_the_presets_say_so_and_nowhere_else(data: Path, name: str) -> None:
    """P088: the no-op player passes every task whose gold changes nothing and tells nothing, which are 26 of 0.2 and 34
    of 1.0.1, none of them in telecom. Every eighth other task is tried here, all of them in the preflight."""
    known = [one for one in protocols_of(TAU2, MODULE).known if one.player == "noop"]
    items = TAU2.load(preset(name, "airline retail telecom"), data)
    excused = [one for one in items if any(entry.covers("noop", one, name) for entry in known)]
    tried = [*excused, *[one for one in items[::8] if one not in excused]]
    right = [one for one in tried if TAU2.rescore(one, idle(one), preset())[0] is Outcome.RIGHT]
    assert {one.id for one in right} == {one.id for one in excused}
    assert Counter(one.category for one in right) == NOOP_RIGHT[name]


def test_who_does_nothing_is_wrong_in_telecom_and_a_user_who_acts_by_himself_would_hide_it() -> None:
    due = some("telecom", 12)
    right = {}
    for passive in (True, False):
        sink = Kept()
        TAU2.run(due, preset(), cast(TAU2, due, simple_replies(TAU2, "noop", due), passive=passive), sink)
        right[passive] = sum(one.outcome is Outcome.RIGHT for one in sink.scored)
    assert right[True] == 0 < right[False]


def test_a_call_that_changes_the_database_is_missed() -> None:
    tried = 0
    for item in TAU2.load(preset(), None)[:10]:
        for number, action in enumerate(problem_of(item).actions):
            if action["name"].startswith(("cancel", "update", "book", "send")):
                tried += 1
                assert TAU2.rescore(item, gold(item, without=number), preset()) == (Outcome.WRONG, 0.0)
    assert tried > 3


def test_a_reading_call_may_be_missed_and_is_told_beside_the_score() -> None:
    """P089: the actions count only where the task's reward basis names them; their share is a fact."""
    for item in TAU2.load(preset(), None)[:20]:
        reads = [n for n, one in enumerate(problem_of(item).actions) if one["name"].startswith("get_")]
        if reads:
            verdict = judged(problem_of(item), from_answer(gold(item, without=reads[0])), 10)
            assert verdict.outcome is Outcome.RIGHT and verdict.actions < 1.0
            return
    raise AssertionError("no task with a reading call")


def test_an_agent_without_a_single_call_is_scored_and_the_run_goes_on() -> None:
    """P096."""
    due = some(count=3)
    sink = Kept()
    TAU2.run(due, preset(), cast(TAU2, due, simple_replies(TAU2, "noop", due)), sink)
    assert len(sink.scored) == 3 and all(one.outcome.scored for one in sink.scored)


def test_a_conversation_without_end_is_truncated_and_says_so() -> None:
    """P095: the limit of steps is no error of the agent."""
    ((outcome, detail),) = played(some(count=1), told("Yes?"), told("Hm."), max_turns=9)
    assert outcome is Outcome.TRUNCATED and detail == "no end after 9 steps"


def test_an_agent_ends_as_its_message_says() -> None:
    wanted = {
        Outcome.NO_ANSWER: told(" "), Outcome.TRUNCATED: told("I wi", Finish.LENGTH),
        Outcome.REFUSED: told("", Finish.REFUSED), Outcome.CONTEXT_OVERFLOW: told("", Finish.CONTEXT),
        Outcome.INFRA_ERROR: told("", Finish.FAILED, "status 500"),
    }  # fmt: skip
    for outcome, said in wanted.items():
        assert [ended for ended, _ in played(some(count=1), said, told("Hello."))] == [outcome]


def test_a_user_without_a_reply_is_no_fault_of_the_agent() -> None:
    for said in (told("", Finish.FAILED, "status 500"), told("", Finish.REFUSED), told(""), told("<think>hm")):
        assert [ended for ended, _ in played(some(count=1), told("Yes?"), said)] == [Outcome.INFRA_ERROR]


def test_the_scripted_user_tells_its_wish_agrees_and_leaves() -> None:
    due, sink = some(count=2), Kept()
    agent = ScriptedChat(lambda request: "Is that what you want?")
    TAU2.run(due, preset(), Players(model=agent, user=USER), sink)
    for one in due:
        events = json.loads(str(sink.by_key[one.item.id, 0].answer))["events"]
        lines = [text for by, text in events if by == "user"]
        assert lines[1:] == [AGREED] * PATIENCE + [LEAVES]
        told = problem_of(one.item).task["user_scenario"]["instructions"]["reason_for_call"]
        assert " ".join(told.split()) in lines[0] and "<" not in lines[0]


def test_ten_failed_calls_end_the_episode_as_wrong() -> None:
    for message in (called("no_such_function", "{}"), called("get_user_details", "[1"), called("calculate", "[]")):
        ((outcome, detail),) = played(some(count=1), message, told("Hello."))
        assert outcome is Outcome.WRONG and detail == "10 calls failed, 10 end the episode"


def test_whatever_arguments_provoke_is_answered_as_an_error() -> None:
    world = World(problem_of(TAU2.load(preset(), None)[0]))
    for name, arguments in (
        ("get_user_details", "{}"), ("get_user_details", '{"user_id": 3}'), ("calculate", '{"expression": "1/0"}'),
        ("calculate", json.dumps({"expression": "1" + "+1" * 100_000})), ("calculate", '{"expression": ["("]}'),
        ("calculate", json.dumps({"expression": "(" * 400 + "1" + ")" * 400})),
        ("calculate", '{"expression": "9**9**9"}'), ("calculate", '{"expression": "__import__(1)"}'), ("x", ""),
        ("cancel_reservation", '{"reservation_id": []}'), ("book_reservation", '{"flights": [{}]}'),
        ("update_reservation_flights", '{"reservation_id": "4WQ150", "cabin": 1, "flights": 2, "payment_id": {}}'),
        ("get_user_details", "[" * 100_000), ("send_certificate", '{"user_id": "x", "amount": "y"}'),
    ):  # fmt: skip
        assert world.call("assistant", name, arguments).startswith(FAILED), name


def test_worlds_do_not_see_each_other() -> None:
    item = next(one for one in TAU2.load(preset(), None) if "cancel_reservation" in str(problem_of(one).actions))
    action = next(one for one in problem_of(item).actions if one["name"] == "cancel_reservation")
    first, second = World(problem_of(item)), World(problem_of(item))
    untouched = first.digest()
    first.call("assistant", action["name"], json.dumps(action["arguments"]))
    assert first.digest() != untouched == second.digest() == World(problem_of(item)).digest()


@pytest.mark.parametrize(("domain", "step"), [("airline", 20), ("retail", 20)])
def test_databases_are_equal_exactly_where_upstreams_hash_of_the_whole_is(domain: str, step: int) -> None:
    found: set[tuple[str, str]] = set()
    for item in TAU2.load(preset(domains=domain), None)[::step]:
        world = World(problem_of(item))
        for action in [None, *problem_of(item).actions]:
            if action is not None:
                world.call("assistant", action["name"], json.dumps(action["arguments"]))
            found.add((world.database.get_hash(), world.digest()))
    theirs, ours = ({pair[side] for pair in found} for side in (0, 1))
    assert len(found) == len(ours) == len(theirs) > 1


def test_the_judge_decides_assertions_in_words_and_its_word_is_recorded(data: Path) -> None:
    official = preset("official", "retail")
    items = [one for one in TAU2.load(official, data) if problem_of(one).judged]
    assert len(items) == 40
    due = samples(items[:3])
    accepting = cast(TAU2, due, gold_replies(TAU2, due))
    for says, wanted in (("yes", Outcome.RIGHT), ("no", Outcome.WRONG), ("what?", Outcome.INFRA_ERROR)):
        sink, players = Kept(), cast(TAU2, due, gold_replies(TAU2, due))
        if says != "yes":
            text = {one.seed: _refusing(problem_of(one.item)) if says == "no" else says for one in due}
            players = replace(players, judge=ScriptedChat(lambda request, text=text: text[request.seed]))  # type: ignore[misc]
        TAU2.run(due, official, players, sink)
        assert [one.outcome for one in sink.scored] == [wanted] * 3
        if wanted.scored:
            again = [TAU2.rescore(one.item, sink.by_key[one.item.id, 0].answer, official)[0] for one in due]
            assert again == [wanted] * 3
    with pytest.raises(InputError, match="--judge"):
        TAU2.run(due, official, replace(accepting, judge=None), Kept())
    with pytest.raises(InputError, match="40 retail tasks of tau2 1.0.1 need a judge"):
        TAU2.load(replace(official, judge=""), data)


def _refusing(problem: Problem) -> str:
    results = [{"expectedOutcome": one, "reasoning": "", "metExpectation": False} for one in problem.judged]
    return f"Here it is: {json.dumps({'results': results})}"


def test_a_judges_reply_that_leaves_an_assertion_out_is_none() -> None:
    task = {"evaluation_criteria": {"reward_basis": ["NL_ASSERTION"], "nl_assertions": ["a", "b"]}}
    problem = Problem(name="", domain="retail", version="1.0.1", task=task)
    for text in ("", "{}", '{"results": [{"metExpectation": true}]}', '{"results": [{"metExpectation": 1}, {}]}'):
        assert judge_said(problem, text) is None
    assert judge_said(problem, json.dumps({"results": [{"metExpectation": one} for one in (True, False)]})) == (
        True, False,
    )  # fmt: skip


def test_versions_are_different_tasks_and_1_0_1_needs_its_files(data: Path, tmp_path: Path) -> None:
    new, old = (TAU2.load(preset(name), data) for name in ("official", "official-v0_2"))
    assert not {one.id for one in new} & {one.id for one in old}
    assert {problem_of(one).basis for one in new} == {("DB", "COMMUNICATE")}
    with pytest.raises(InputError, match="--data"):
        TAU2.load(preset("official"), None)
    with pytest.raises(InputError, match="is not there"):
        TAU2.load(preset("official"), tmp_path)
    with pytest.raises(InputError, match="no tau2 '0.3'"):
        TAU2.load(replace(preset(), slice={"version": "0.3", "domains": "airline"}), None)


def test_the_agent_knows_the_policy_and_its_functions_and_never_the_users_wish() -> None:
    due = some("telecom", 1)
    players = cast(TAU2, due, gold_replies(TAU2, due))
    TAU2.run(due, preset(domains="telecom"), players, Kept())
    agent, user = players.model, players.user
    assert isinstance(agent, ScriptedChat) and isinstance(user, ScriptedChat)
    wish = problem_of(due[0].item).task["user_scenario"]["instructions"]["reason_for_call"]
    assert all(wish not in message.content for one in agent.requests for message in one.messages)
    assert wish[:40] in user.requests[0].messages[0].content
    assert "policy" in agent.requests[0].messages[0].content and len(agent.requests[0].tools) == 13
    assert len(user.requests[0].tools) > 20 and user.requests[0].seed == due[0].seed
    assert (user.requests[0].sampling.max_new_tokens, agent.requests[0].sampling.max_new_tokens) == (2048, 16384)


def test_a_conversation_without_a_user_is_refused() -> None:
    with pytest.raises(InputError, match="--user"):
        TAU2.run(some(count=1), preset(), Players(model=ScriptedChat(lambda request: "hm")), Kept())


def test_any_text_can_be_scored_again() -> None:
    item = TAU2.load(preset(), None)[0]
    for answer in (None, "", "[]", "{}", "3", "{", '{"events": [["x"], 3, ["assistant", 4, null]], "met": null}'):
        assert TAU2.rescore(item, answer, preset())[0] in (Outcome.NO_ANSWER, Outcome.WRONG, Outcome.RIGHT)


def test_the_log_opens_and_names_user_and_tasks(tmp_path: Path) -> None:
    from inspect_ai.log import read_eval_log

    due = some(count=2)
    TAU2.run(due, preset(), replace(cast(TAU2, due, gold_replies(TAU2, due)), logs=tmp_path), Kept())
    (path,) = tmp_path.rglob("*.eval")
    read = read_eval_log(str(path))
    assert read.status == "success" and read.eval.metadata["tasks"] == "0.2"
    assert read.eval.metadata["user"] == preset().user
