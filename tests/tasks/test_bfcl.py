"""BFCL multi-turn through the benchmark: its protocol, its outcomes, and what is told beside them."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from bfcl_package import home_or_skip
from kept import Kept, players, preset_of, samples

from spadework.harness.benchmark import Due, Players, Preset, Scored, TaskItem
from spadework.harness.errors import InputError
from spadework.harness.evaluation.origins import origins
from spadework.harness.evaluation.plan import Wish, make_plan
from spadework.harness.evaluation.players import DONE, NOTHING, BySeed
from spadework.harness.scripted import ChatScript, ScriptedChat
from spadework.harness.sidecar_home import MARKER, SidecarHome, key_of
from spadework.harness.types import Completion, Finish, Message, Outcome, Request, ToolCall
from spadework.tasks.bfcl import BFCL_MULTI_TURN, entry_of
from spadework.tasks.bfcl_data import BFCL_EVAL, DIGESTS, bfcl_home

MODULE = "spadework.tasks.bfcl"
MODES = ["official", "official-prompt", "official-prompt-user"]
Load = Callable[[str], list[TaskItem]]


@pytest.fixture(scope="module")
def load() -> Load:
    home_or_skip()
    loaded: dict[str, list[TaskItem]] = {}

    def items(name: str) -> list[TaskItem]:
        if name not in loaded:
            loaded[name] = BFCL_MULTI_TURN.load(preset(name), None)
        return loaded[name]

    return items


def preset(name: str) -> Preset:
    return preset_of(BFCL_MULTI_TURN, MODULE, name)


def item(items: list[TaskItem], name: str) -> TaskItem:
    return next(one for one in items if entry_of(one).id == f"multi_turn_{name}")


def played(due: list[Due], name: str, script: ChatScript) -> tuple[list[Scored], list[Request]]:
    """Results in the order of the samples, and what the model was asked."""
    sink, cast = Kept(), players(script)
    BFCL_MULTI_TURN.run(due, preset(name), cast, sink)
    assert isinstance(cast.model, ScriptedChat)
    return [sink.by_key[one.item.id, one.repeat] for one in due], cast.model.requests


def alone(one: TaskItem, name: str, replies: Sequence[Message | Completion | str]) -> tuple[Scored, list[Request]]:
    """One conversation; the last reply is given again and again."""
    asked: list[int] = []

    def script(request: Request) -> Message | Completion | str:
        asked.append(1)
        return replies[min(len(asked), len(replies)) - 1]

    (result,), requests = played(samples([one]), name, script)
    return result, requests


def writing(name: str, arguments: str) -> Message:
    return Message(role="assistant", content="", calls=(ToolCall(id="c0", name=name, arguments=arguments),))


def completion(text: str, finish: Finish) -> Completion:
    return Completion(ids=(), logprobs=(), text=text, finish=finish, error="busy" if finish is Finish.FAILED else "")


@pytest.mark.parametrize("name", MODES)
def test_gold_is_right_and_silence_never(load: Load, name: str) -> None:
    items = load(name)
    due = samples(items[::160])
    assert len(items) == 800 and len({one.id for one in items}) == 800
    right, asked = played(due, name, BySeed({one.seed: BFCL_MULTI_TURN.gold_replies(one.item) for one in due}))
    assert {result.outcome for result in right} == {Outcome.RIGHT}
    sessions = {request.session: request.seed for request in asked}
    assert None not in sessions and sorted(sessions.values()) == sorted(one.seed for one in due)
    assert all(result.facts["turns_right"] == result.facts["turns"] for result in right)
    for reply in (DONE, NOTHING):
        nothing, _ = played(due, name, lambda request, said=reply: said)  # type: ignore[misc]
        assert {result.outcome for result in nothing} == {Outcome.NO_ANSWER}
    for one, result in zip(due, right, strict=True):
        assert BFCL_MULTI_TURN.rescore(one.item, result.answer, preset(name)) == (Outcome.RIGHT, 1.0)


def test_all_conversations_are_played_in_lock_step(load: Load) -> None:
    due = samples(load("official")[:12])
    scripts = {one.seed: BFCL_MULTI_TURN.gold_replies(one.item) for one in due}

    class Counting(ScriptedChat):
        sizes: list[int] = []

        def generate(self, requests: Sequence[Request]) -> list[Completion]:
            self.sizes.append(len(requests))
            return super().generate(requests)

    model, sink = Counting(BySeed(scripts)), Kept()
    BFCL_MULTI_TURN.run(due, preset("official"), Players(model=model), sink)
    assert len(model.sizes) == max(map(len, scripts.values())) and model.sizes[0] == 12
    assert model.forgotten == 1 and len(sink.reports) == 1


def test_results_come_back_as_tool_messages_and_withheld_functions_with_their_turn(load: Load) -> None:
    one = item(load("official"), "miss_func_0")
    entry = entry_of(one)
    ((turn, more),) = entry.withheld.items()
    result, requests = alone(one, "official", BFCL_MULTI_TURN.gold_replies(one))
    assert result.outcome is Outcome.RIGHT
    first, second = requests[:2]
    assert [message.role for message in first.messages] == ["user"] and len(first.tools) == len(entry.functions)
    assert [message.role for message in second.messages[1:]] == ["assistant", "tool", "tool", "tool"]
    assert [message.call_id for message in second.messages[2:]] == ["call_0", "call_1", "call_2"]
    assert second.messages[2].content == '{"current_working_directory": "document"}'
    told = "I have updated some more functions you can choose from. What about now?"
    begins = next(n for n, request in enumerate(requests) if request.messages[-1].content == told)
    spoken = sum(message.role == "user" for message in requests[begins].messages)
    assert spoken == turn + 1
    names = {function.tool.name for function in more}
    assert [names <= {tool.name for tool in request.tools} for request in requests] == [
        number >= begins for number in range(len(requests))
    ]


def test_the_prompting_mode_lists_functions_in_words_and_shows_results_as_the_preset_says(load: Load) -> None:
    for name, role in (("official-prompt", "tool"), ("official-prompt-user", "user")):
        one = item(load(name), "miss_func_0")
        result, requests = alone(one, name, BFCL_MULTI_TURN.gold_replies(one))
        assert result.outcome is Outcome.RIGHT and not any(request.tools for request in requests)
        system = requests[0].messages[0]
        assert system.role == "system" and system.content.startswith("You are an expert in composing functions.You are")
        assert '"name": "grep"' in system.content and '"name": "sort"' not in system.content
        assert requests[1].messages[3].role == role and "current_working_directory" in requests[1].messages[3].content
        (told,) = {m.content for r in requests for m in r.messages if "What about now?" in m.content}
        assert "'name': 'sort'" in told


@pytest.mark.parametrize(
    ("name", "reply", "fault"),
    [
        ("official-prompt", "[ls(a=len('abc')+1)]", "non_literal_argument"),
        ("corrected-prompt", "[ls(a=true)]", "bare_name"), ("official-prompt", "[ls(a=", "no_calls"),
        ("official", writing("ls", "{"), "not_json"), ("official", writing("ls", "[1]"), "arguments_no_object"),
    ],
)  # fmt: skip
def test_a_call_that_cannot_be_decoded_ends_the_turn_and_is_told(
    load: Load, name: str, reply: Message | str, fault: str
) -> None:
    """Reports L240 and L242."""
    one = item(load(name), "base_0")
    result, requests = alone(one, name, [reply])
    assert result.outcome is Outcome.MALFORMED_CALL and result.score == 0.0 and result.facts[fault] == len(requests)
    assert len(requests) == len(entry_of(one).turns), "each user turn ended with its first reply"
    assert BFCL_MULTI_TURN.rescore(one, result.answer, preset(name)) == (Outcome.MALFORMED_CALL, 0.0)


def test_a_malformed_call_beside_right_ones_does_not_cost_the_official_verdict(load: Load) -> None:
    one = item(load("official"), "base_0")
    replies = BFCL_MULTI_TURN.gold_replies(one)
    broken = writing("ls", "{")
    result, _ = alone(one, "official", [broken if reply == replies[-1] else reply for reply in replies])
    assert result.outcome is Outcome.RIGHT and result.facts["not_json"] >= 1


def test_one_step_too_many_is_a_force_quit_and_wrong(load: Load) -> None:
    one = item(load("official"), "base_0")
    result, requests = alone(one, "official", [writing("ls", "{}")])
    assert result.outcome is Outcome.WRONG and "forced to quit after 20 steps" in result.detail
    assert len(requests) == 21
    assert BFCL_MULTI_TURN.rescore(one, result.answer, preset("official")) == (Outcome.WRONG, 0.0)


def test_a_conversation_that_a_call_without_end_broke_off_stays_a_timeout(load: Load) -> None:
    one = item(load("official"), "base_0")
    for marks, outcome in (({"0": "timeout"}, Outcome.TIMEOUT), ({}, Outcome.WRONG)):
        answer = json.dumps({"turns": [[["ls()"]]], "marks": marks})
        assert BFCL_MULTI_TURN.rescore(one, answer, preset("official")) == (outcome, 0.0)


def test_texts_of_any_kind_reach_the_services_and_come_back(load: Load) -> None:
    one = item(load("official"), "base_0")
    for text in ("\ud800", "\x00", "ä'\"\\", "sort (x) __import__('os')", "\u2028\r\n"):
        result, requests = alone(one, "official", [writing("echo", json.dumps({"content": text})), DONE])
        returned = json.loads(requests[1].messages[-1].content)["terminal_output"]
        assert result.outcome is Outcome.WRONG and (returned == text or text.startswith("sort ("))


def test_an_unknown_function_is_an_error_that_the_model_reads(load: Load) -> None:
    one = item(load("official"), "base_0")
    result, requests = alone(one, "official", [writing("print", '{"text": "x"}'), DONE])
    assert requests[1].messages[-1].content == "Error during execution: name 'print' is not defined"
    assert result.outcome is Outcome.WRONG


@pytest.mark.parametrize(
    ("finish", "outcome"),
    [
        (Finish.FAILED, Outcome.INFRA_ERROR), (Finish.CONTEXT, Outcome.CONTEXT_OVERFLOW),
        (Finish.LENGTH, Outcome.TRUNCATED), (Finish.REFUSED, Outcome.REFUSED),
    ],
)  # fmt: skip
def test_how_a_reply_ended_is_how_the_sample_ends(load: Load, finish: Finish, outcome: Outcome) -> None:
    """Report P076: an error of the server is never a turn without calls."""
    due = samples(load("official")[:2])
    replies = BFCL_MULTI_TURN.gold_replies(due[1].item)
    gold = BySeed({due[1].seed: replies})
    results, requests = played(
        due, "official", lambda request: completion("", finish) if request.seed == due[0].seed else gold(request)
    )
    assert [result.outcome for result in results] == [outcome, Outcome.RIGHT]
    assert results[0].score == (None if outcome is Outcome.INFRA_ERROR else 0.0)
    ends_at_once = outcome in (Outcome.INFRA_ERROR, Outcome.CONTEXT_OVERFLOW)
    asked = sum(request.seed == due[0].seed for request in requests)
    assert asked == (1 if ends_at_once else len(entry_of(due[0].item).turns))


def test_thinking_is_no_call_and_is_told_again_within_its_turn_only(load: Load) -> None:
    one = item(load("official-prompt"), "base_0")
    replies = [
        f"<think>\n[rm(file_name='x')] {number}\n</think>\n\n{reply.content}"
        for number, reply in enumerate(BFCL_MULTI_TURN.gold_replies(one))
    ]  # fmt: skip
    result, requests = alone(one, "official-prompt", replies)
    assert result.outcome is Outcome.RIGHT and "rm(" not in str(result.answer)
    second, third = requests[1], requests[2]
    assert second.messages[2].content.startswith("<think>\n[rm(file_name='x')] 0\n</think>\n\n[cd(")
    assert not [m for m in third.messages if m.role == "assistant" and "think" in m.content]
    unclosed, _ = alone(one, "official-prompt", ["<think>[ls()]"])
    assert unclosed.outcome is Outcome.NO_ANSWER


def test_turns_before_the_first_slip_are_told_beside_the_strict_score(load: Load) -> None:
    """Reports P067 and P068: the reason stands with its turn."""
    one = item(load("official"), "base_0")
    replies = BFCL_MULTI_TURN.gold_replies(one)
    last = max(number for number, reply in enumerate(replies) if reply.calls)
    result, _ = alone(one, "official", [*replies[:last], DONE])
    assert result.outcome is Outcome.WRONG and result.score == 0.0
    assert result.facts["turns_right"] == len(entry_of(one).gold) - 1
    assert result.detail == f"turn {len(entry_of(one).gold) - 1}: empty_turn_model_response"


def test_the_provenance_names_what_is_installed_in_the_environment_of_its_own() -> None:
    home_or_skip()
    found = origins(make_plan(Wish(tasks=["bfcl_multi_turn"], limit=["1"])).cells)["environments"]
    assert isinstance(found, dict)
    installed = {name.lower().replace("_", "-"): version for name, version in found[key_of(BFCL_EVAL)].items()}
    assert {f"{name}=={version}" for name, version in installed.items()} >= set(BFCL_EVAL.pins)


def test_data_that_are_not_those_of_the_package_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = home_or_skip()
    monkeypatch.setenv("SPADEWORK_CACHE", str(tmp_path))
    home = SidecarHome(tmp_path / "environments" / key_of(BFCL_EVAL))
    (home.folder / "bin").mkdir(parents=True)
    home.python.symlink_to(real.python)
    (home.folder / MARKER).write_text("{}", encoding="utf-8")
    for name in DIGESTS:
        copy = home.site_packages / "bfcl_eval" / "data" / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes((real.site_packages / "bfcl_eval" / "data" / name).read_bytes())
    assert bfcl_home() == home
    (home.site_packages / "bfcl_eval" / "data" / "BFCL_v4_multi_turn_base.json").write_text("{}", encoding="utf-8")
    with pytest.raises(InputError, match=r"not those of 2026\.3\.23 \(BFCL_v4_multi_turn_base\.json\)"):
        bfcl_home()


def test_a_word_of_a_preset_that_is_none_is_refused_with_the_nearest() -> None:
    from dataclasses import replace

    for change in ({"prompt": "python-lists"}, {"extraction": "tool-cals"}):
        with pytest.raises(InputError, match="did you mean"):
            BFCL_MULTI_TURN.load(replace(preset("official"), **change), None)  # type: ignore[arg-type]
