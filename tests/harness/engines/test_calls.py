"""Tool calls are read by their JSON: nothing is dropped, nothing is invented."""

import json

import pytest

from spadework.harness.engines.calls import Reply, Written, split_calls


def test_a_call_and_the_text_around_it() -> None:
    reply = 'I look.\n<tool_call>\n{"name": "ls", "arguments": {"folder": "a b"}}\n</tool_call>\nDone.'
    assert split_calls(reply) == Reply("I look.\n\nDone.", (Written("ls", '{"folder": "a b"}'),))


def test_text_without_a_call_stays_as_it_is() -> None:
    assert split_calls(" no call \n") == Reply(" no call \n", ())


def test_the_closing_tag_inside_an_argument_ends_nothing() -> None:
    """Report P077."""
    reply = '<tool_call>{"name":"save_note","arguments":{"text":"close with </tool_call> please"}}</tool_call>'
    assert split_calls(reply) == Reply("", (Written("save_note", '{"text":"close with </tool_call> please"}'),))


def test_a_brace_without_its_partner_inside_an_argument_keeps_the_call() -> None:
    """Report P079."""
    reply = '<tool_call>\n{"name": "run", "arguments": {"command": "cp notes/{old,new"}}\n</tool_call>'
    (call,) = split_calls(reply).calls
    assert json.loads(call.arguments) == {"command": "cp notes/{old,new"}


def test_several_calls_keep_their_order_and_an_unclosed_last_one_counts() -> None:
    reply = '<tool_call>{"name": "a", "arguments": {}}</tool_call>\n<tool_call>{"name": "b", "arguments": {"n": 1}}'
    assert split_calls(reply) == Reply("", (Written("a", "{}"), Written("b", '{"n": 1}')))


def test_prose_after_an_unclosed_call_is_text() -> None:
    assert split_calls('<tool_call>{"name": "a"} and so on') == Reply("and so on", (Written("a", "{}"),))


def test_arguments_stay_as_they_were_written() -> None:
    reply = '<tool_call>{"arguments": {"n": 6,  "n": 7, "x": 1.50}, "name": "f"}</tool_call>'
    assert split_calls(reply).calls == (Written("f", '{"n": 6,  "n": 7, "x": 1.50}'),)


def test_arguments_that_are_a_text_are_that_text() -> None:
    reply = '<tool_call>{"name": "f", "arguments": "{\\"n\\": 6}"}</tool_call>'
    assert split_calls(reply).calls == (Written("f", '{"n": 6}'),)


@pytest.mark.parametrize(
    ("block", "name"),
    [
        ('{"name": "f", "arguments": {"n": }}', "f"),
        ('{"name": "f", "arguments": {"n": 1}}}', "f"),
        ('"name": "f", "arguments": {}', "f"),
        ("f(n=1)", ""),
        ('{"function": "f"}', ""),
        ('{"name": 5}', ""),
        ("[" * 100_000, ""),
        ("", ""),
    ],
)
def test_what_opens_as_a_call_and_is_none_is_a_malformed_call_and_no_text(block: str, name: str) -> None:
    text, calls = split_calls(f"before <tool_call>\n{block}\n</tool_call> after")
    assert text == "before  after"
    assert calls == (Written(name, block),)
    assert not name or not _is_json(block)


def test_a_malformed_call_does_not_swallow_the_next() -> None:
    reply = '<tool_call>{"name": "f", "arg<tool_call>{"name": "g", "arguments": {}}</tool_call>'
    assert split_calls(reply).calls == (Written("f", '{"name": "f", "arg'), Written("g", "{}"))


def test_a_call_within_the_thinking_calls_nothing() -> None:
    thought = '<think>maybe <tool_call>{"name": "f"}</tool_call></think>'
    assert split_calls(thought).calls == ()
    assert split_calls(thought[:-8]).calls == ()
    assert split_calls(f'{thought}<tool_call>{{"name": "g"}}</tool_call>') == Reply(thought, (Written("g", "{}"),))


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
