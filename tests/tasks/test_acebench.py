import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from kept import Kept, preset_of, samples

from spadework.harness.benchmark import Due, Players, Preset
from spadework.harness.errors import InputError
from spadework.harness.scripted import ChatScript, ScriptedChat
from spadework.harness.types import Completion, Finish, Outcome, Request
from spadework.tasks.acebench import ACEBENCH_AGENT, DIFFERENCES, OURS
from spadework.tasks.acebench_data import problem_of
from spadework.tasks.acebench_episode import EXTRACTIONS, PROMPTINGS, Episode, Problem
from spadework.tasks.acebench_gold import MENDED, REPAIRED
from spadework.tasks.acebench_play import play_together

MODULE = "spadework.tasks.acebench"
STEP = Problem(
    name="invented_step", several_turns=False, question="Delete message 4.", involved=("BaseApi", "MessageApi"),
    config={"BaseApi": {"wifi": True, "logged_in": True}}, functions=[{"name": "delete_message"}], expected=[],
    milestones=[], commit="e6db74b",
)  # fmt: skip
TURN = replace(STEP, name="invented_turn", several_turns=True, question="You want message 4 deleted.")


def preset(name: str) -> Preset:
    return preset_of(ACEBENCH_AGENT, MODULE, name)


def episode(problem: Problem, prompting: str = "upstream", extraction: str = "call-list", limit: int = 40) -> Episode:
    return Episode(problem, PROMPTINGS[prompting], EXTRACTIONS[extraction], limit)


def ended(text: str, finish: Finish, error: str = "") -> Completion:
    return Completion(ids=(), logprobs=(), text=text, finish=finish, error=error)


def test_in_several_steps_every_message_goes_to_the_execution() -> None:
    one = episode(STEP)
    system, user = one.asked()
    assert "API" in system.content and "Delete message 4." in user.content and "delete_message" in user.content
    one.hear("Which message do you mean?")
    assert one.turn == "agent" and one.attempts == [] and "Do not ask questions" in one.asked()[1].content
    one.hear("delete_message(message_id=4)")
    assert one.attempts == ["delete_message(message_id=4)"]
    shown = one.asked()[1].content
    assert "was deleted" in shown and "agent:" not in shown, "upstream shows results only"
    one.hear("finish conversation")
    assert one.turn == "over" and one.messages == 5


def test_the_fixed_protocol_speaks_english_and_shows_the_agent_its_own_calls() -> None:
    one, theirs = episode(STEP, "english", "leading-call-list"), episode(STEP)
    assert one.asked()[0].content.isascii() and not theirs.asked()[0].content.isascii()
    one.hear("[delete_message(message_id=4)] I delete it.")
    assert one.attempts and "agent:[delete_message" in one.asked()[1].content
    one.hear("finish conversation")
    assert one.turn == "over"
    theirs.hear("finish conversation")
    assert theirs.turn == "agent", "upstream does not hear it so early"


def test_in_several_turns_words_go_to_the_user_and_calls_to_the_execution() -> None:
    one = episode(TURN)
    assert one.turn == "user" and "You want message 4 deleted." in one.asked()[0].content
    one.hear("Delete something.")
    assert one.turn == "agent" and "message 4 deleted" not in one.asked()[1].content, "the task is the user's alone"
    one.hear("agent: Which one?")
    assert [message.role for message in one.asked()] == ["system", "user", "system", "user"]
    assert one.asked()[-1].content == " Which one?"
    one.hear("The one with ID 4.")
    one.hear("[delete_message(message_id=4)]")
    assert one.turn == "agent" and "was deleted" in one.asked()[1].content
    one.hear("It is done.")
    one.hear("finish conversation")
    assert one.turn == "over" and one.messages == 6


def test_protocols_say_what_is_measured_and_how_functions_are_told() -> None:
    """P084, P086."""
    official, ours = preset("official"), preset("fixed")
    assert (official.scorer, ours.scorer) == ("upstream-faithful", "fixed")
    assert (official.slice["commit"], ours.slice["commit"]) == ("e6db74b", "56dd66c")
    for one in (official, ours):
        assert one.options == {"mode": "prompt", "metric": "end-to-end"}
        assert one.mean == "categories" and one.repeats == 5 and one.max_turns == 40
        assert one.user_sampling is not None and one.user_sampling.temperature == 0.001 and one.user
    assert official.sampling.max_new_tokens == 1000


def test_an_episode_has_forty_messages_at_most() -> None:
    for problem in (STEP, TURN):
        one = episode(problem)
        heard = 0
        while one.turn != "over":
            one.hear("hm")
            heard += 1
        assert one.messages == 40 and heard == (20 if problem is STEP else 41)


def test_what_cannot_be_read_is_told_and_the_episode_goes_on() -> None:
    one = episode(TURN)
    one.hear("Delete something.")
    one.hear("[delete_message(4)]")
    assert one.turn == "agent" and "positional_argument" in one.asked()[1].content


@pytest.fixture(params=["together", "inspect"])
def run(request: pytest.FixtureRequest) -> Callable[..., None]:
    if request.param == "together":
        return play_together
    pytest.importorskip("inspect_ai", reason="inspect-ai is not installed")
    return ACEBENCH_AGENT.run


def gold_players(due: list[Due]) -> Players:
    """Everybody knows what to say, told apart by the seed."""

    def script(lines: dict[int, list[str]]) -> ChatScript:
        asked: dict[int, int] = {}

        def say(request: Request) -> str:
            said = lines[request.seed]
            asked[request.seed] = asked.get(request.seed, -1) + 1
            return said[min(asked[request.seed], len(said) - 1)]

        return say

    agents = {one.seed: [reply.content for reply in ACEBENCH_AGENT.gold_replies(one.item)] for one in due}
    users = {one.seed: [reply.content for reply in ACEBENCH_AGENT.user_replies(one.item)] for one in due}
    return Players(model=ScriptedChat(script(agents)), user=ScriptedChat(script(users)))


@pytest.mark.parametrize("name", ["official", "fixed"])
def test_gold_is_right_on_the_whole_path_and_scored_again(data: Path, name: str, run: Callable[..., None]) -> None:
    due = samples(ACEBENCH_AGENT.load(preset(name), data))
    sink = Kept()
    players = gold_players(due)
    run(due, preset(name), players, sink)
    assert len(sink.scored) == 50
    assert {one.outcome for one in sink.scored} == {Outcome.RIGHT}
    assert all(one.score == 1.0 and one.facts["process_accuracy"] == 1.0 for one in sink.scored)
    for one in due:
        assert ACEBENCH_AGENT.rescore(one.item, sink.by_key[one.item.id, 0].answer, preset(name)) == (
            Outcome.RIGHT, 1.0,
        )  # fmt: skip
    asked = players.model.requests  # type: ignore[attr-defined]
    assert {(request.sampling.temperature, request.sampling.top_p) for request in asked} == {(0.001, 1.0)}


def test_a_sample_ends_as_its_messages_say(data: Path, run: Callable[..., None]) -> None:
    due = samples(ACEBENCH_AGENT.load(preset("validation"), data)[:9])
    said: list[str | Completion] = [
        "I am done.", "", "[turn_on_wifi()]", "[delete_message(4)]", "<think>[turn_on_wifi()]",
        ended("[turn_on_wifi(", Finish.LENGTH), ended("", Finish.REFUSED), ended("", Finish.CONTEXT, "too long"),
        ended("", Finish.FAILED, "status 500"),
    ]  # fmt: skip
    wanted = [
        Outcome.NO_ANSWER, Outcome.NO_ANSWER, Outcome.WRONG, Outcome.MALFORMED_CALL, Outcome.NO_ANSWER,
        Outcome.TRUNCATED, Outcome.REFUSED, Outcome.CONTEXT_OVERFLOW, Outcome.INFRA_ERROR,
    ]  # fmt: skip
    by_seed = {one.seed: text for one, text in zip(due, said, strict=True)}
    sink = Kept()
    run(due, preset("validation"), Players(model=ScriptedChat(lambda request: by_seed[request.seed])), sink)
    assert [sink.by_key[one.item.id, 0].outcome for one in due] == wanted
    assert [sink.by_key[one.item.id, 0].score for one in due] == [*[0.0] * 8, None]
    malformed = sink.by_key[due[3].item.id, 0]
    assert malformed.facts["malformed_calls"] == 20 and malformed.detail == "malformed call: positional_argument"
    assert sink.by_key[due[8].item.id, 0].detail == "status 500"


def test_a_user_without_a_reply_is_no_fault_of_the_agent(data: Path, run: Callable[..., None]) -> None:
    due = samples([item for item in ACEBENCH_AGENT.load(preset("fixed"), data) if item.category == "multi_turn"][:3])
    endings = [ended("", Finish.FAILED, "status 500"), ended("", Finish.REFUSED), ended("<think>hm", Finish.STOP)]
    by_seed = {one.seed: end for one, end in zip(due, endings, strict=True)}
    sink = Kept()
    user = ScriptedChat(lambda request: by_seed[request.seed])
    run(due, preset("fixed"), Players(model=ScriptedChat(lambda request: "hello"), user=user), sink)
    assert [one.outcome for one in sink.scored] == [Outcome.INFRA_ERROR] * 3


def test_what_the_user_thinks_stays_its_own(data: Path, run: Callable[..., None]) -> None:
    due = samples([item for item in ACEBENCH_AGENT.load(preset("fixed"), data) if item.category == "multi_turn"][:1])
    user = ScriptedChat(lambda request: "<think>I must not tell all.</think>Send a message.")
    agent = ScriptedChat(lambda request: "Which one?")
    run(due, preset("fixed"), Players(model=agent, user=user), Kept())
    assert "user:Send a message." in agent.requests[0].messages[1].content
    assert not any("must not tell" in message.content for request in agent.requests for message in request.messages)


def test_the_log_opens_and_holds_what_was_said(data: Path, tmp_path: Path) -> None:
    log = pytest.importorskip("inspect_ai.log", reason="inspect-ai is not installed")
    due = samples(ACEBENCH_AGENT.load(preset("fixed"), data)[18:22])
    ACEBENCH_AGENT.run(due, preset("fixed"), replace(gold_players(due), logs=tmp_path), Kept())
    (path,) = tmp_path.rglob("*.eval")
    read = log.read_eval_log(str(path))
    assert read.status == "success" and read.eval.metadata["scorer"] == "fixed"
    assert read.eval.metadata["user"] == preset("fixed").user
    assert [one.scores["verdict"].value for one in read.samples] == [1.0] * 4
    assert "finish conversation" in read.samples[0].output.completion


def test_several_turns_without_a_user_are_refused(data: Path) -> None:
    due = samples(ACEBENCH_AGENT.load(preset("fixed"), data))
    with pytest.raises(InputError, match="--user"):
        play_together(due, preset("fixed"), Players(model=ScriptedChat(lambda request: "")), Kept())


def test_lock_step_asks_all_agents_together(data: Path) -> None:
    due = samples(ACEBENCH_AGENT.load(preset("validation"), data))
    sizes: list[int] = []

    class Counting(ScriptedChat):
        def generate(self, requests):  # type: ignore[no-untyped-def]
            sizes.append(len(requests))
            return super().generate(requests)

    play_together(due, preset("validation"), Players(model=Counting(lambda request: "hm")), Kept())
    assert sizes == [20] * 20


def test_the_data_is_checked_and_found_in_upstreams_layout_too(data: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--data"):
        ACEBENCH_AGENT.load(preset("fixed"), None)
    with pytest.raises(InputError, match="is not there"):
        ACEBENCH_AGENT.load(preset("fixed"), tmp_path)
    shutil.copytree(data / "acebench" / "e6db74b", tmp_path / "data_all" / "data_en")
    assert len(ACEBENCH_AGENT.load(preset("official"), tmp_path)) == 50
    with pytest.raises(InputError, match="another file"):
        ACEBENCH_AGENT.load(preset("fixed"), tmp_path)
    with pytest.raises(InputError, match="did you mean 'fixed'"):
        ACEBENCH_AGENT.load(replace(preset("fixed"), scorer="fixd"), data)
    with pytest.raises(InputError, match="56dd66c"):
        ACEBENCH_AGENT.load(replace(preset("fixed"), slice={"commit": "56dd66d"}), data)


def test_items_are_the_same_every_time_and_the_gold_differs_by_commit(data: Path) -> None:
    first, again = (ACEBENCH_AGENT.load(preset("official"), data) for _ in range(2))
    other = ACEBENCH_AGENT.load(preset("fixed"), data)
    assert [item.id for item in first] == [item.id for item in again] == [item.id for item in other]
    assert len({item.id for item in first}) == 50
    changed = [problem_of(a).name for a, b in zip(first, other, strict=True) if a.gold != b.gold]
    assert changed == [f"agent_multi_step_{number}" for number in (14, 15, 16, 17)]


def test_an_answer_is_a_list_of_messages(data: Path) -> None:
    item = ACEBENCH_AGENT.load(preset("official"), data)[0]
    for answer in (None, "", "[]", "{}", "3", "[turn_on_wifi()]", json.dumps(["[f(", None])):
        assert ACEBENCH_AGENT.rescore(item, answer, preset("official"))[1] == 0.0


def test_the_document_lists_every_difference_and_repair() -> None:
    text = (Path(__file__).parents[2] / "docs" / "acebench.md").read_text(encoding="utf-8")
    assert [row for row in DIFFERENCES if f"| {' | '.join(row)} |" not in text] == []
    assert [line for line in OURS if line not in text] == []
    assert [item for item in (*REPAIRED, *MENDED) if f"| {item.removeprefix('agent_')} |" not in text] == []
