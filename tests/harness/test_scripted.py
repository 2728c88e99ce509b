"""The scripted conversation partner that ships for users' own tests."""

from typing import Any

from spadework.harness.scripted import ScriptedChat
from spadework.harness.types import Completion, Finish, Message, Request, Sampling, ToolCall, Usage


def request(text: str, **sampling: Any) -> Request:
    return Request(messages=(Message(role="user", content=text),), sampling=Sampling(**sampling), seed=0)


def test_it_answers_by_a_function_of_the_conversation_and_counts_words() -> None:
    model = ScriptedChat(lambda asked: f"you said {asked.messages[-1].content}")
    (answer,) = model.generate([request("two words")])
    assert (answer.text, answer.finish) == ("you said two words", Finish.STOP)
    assert answer.usage == Usage(prompt_tokens=2, completion_tokens=4)
    assert [asked.messages[-1].content for asked in model.requests] == ["two words"]


def test_a_message_with_calls_ends_in_calls() -> None:
    call = ToolCall(id="1", name="book", arguments="{}")
    model = ScriptedChat(lambda asked: Message(role="assistant", content="", calls=(call,)))
    (answer,) = model.generate([request("book it")])
    assert (answer.calls, answer.finish) == ((call,), Finish.CALLS)


def test_limit_and_stop_texts_cut_what_the_script_says() -> None:
    model = ScriptedChat(lambda asked: "one  two\nthree ###STOP### four")
    (long,) = model.generate([request("x", max_new_tokens=2)])
    assert (long.text, long.finish) == ("one  two", Finish.LENGTH)
    (stopped,) = model.generate([request("x", stop_texts=("###STOP###",))])
    assert (stopped.text, stopped.finish) == ("one  two\nthree ", Finish.STOP)
    assert model.generate([request("x", max_new_tokens=0)])[0].text == ""


def test_a_whole_completion_passes_so_that_failures_can_be_played() -> None:
    failed = Completion(ids=(), logprobs=(), text="", finish=Finish.FAILED, error="the server is gone")
    assert ScriptedChat(lambda asked: failed).generate([request("x"), request("y")]) == [failed, failed]
