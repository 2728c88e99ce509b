"""A conversation as templates, endpoints and models without tools are given it."""

import json

from spadework.harness.engines.calls import split_calls
from spadework.harness.engines.messages import function_tools, template_messages, tools_in_words, wire_messages
from spadework.harness.types import Message, Tool, ToolCall

TOOL = Tool(name="add", description="Adds.", parameters={"type": "object", "properties": {"a": {"type": "integer"}}})
CALLS = (ToolCall(id="c1", name="add", arguments='{"a": 1}'), ToolCall(id="c2", name="add", arguments="{broken"))
TALK = (
    Message(role="system", content="Be brief."),
    Message(role="user", content="Add."),
    Message(role="assistant", content="", calls=CALLS),
    Message(role="tool", content="1", call_id="c1"),
    Message(role="tool", content="no", call_id="c2"),
)


def test_a_template_gets_arguments_as_objects_where_they_are_json() -> None:
    made = template_messages(TALK)
    calls = made[2]["tool_calls"]
    assert isinstance(calls, list)
    assert [call["function"]["arguments"] for call in calls] == [{"a": 1}, "{broken"]
    assert made[3] == {"role": "tool", "content": "1", "tool_call_id": "c1", "name": "add"}


def test_an_endpoint_gets_arguments_as_they_were_written() -> None:
    made = wire_messages(TALK)
    calls = made[2]["tool_calls"]
    assert isinstance(calls, list) and made[2]["content"] is None
    assert [call["function"]["arguments"] for call in calls] == ['{"a": 1}', "{broken"]
    assert made[4] == {"role": "tool", "content": "no", "tool_call_id": "c2"}


def test_tools_are_described_by_their_schema() -> None:
    (made,) = function_tools([TOOL])
    assert made["type"] == "function"
    assert made["function"] == {"name": "add", "description": "Adds.", "parameters": TOOL.parameters}


def test_a_model_without_tools_gets_them_in_words_and_its_own_calls_are_read_back() -> None:
    spoken = tools_in_words(TALK, (TOOL,))
    assert [message.role for message in spoken] == ["system", "user", "assistant", "user"]
    assert spoken[0].content.startswith("Be brief.\n\n") and '"name": "add"' in spoken[0].content
    first, second = split_calls(spoken[2].content).calls
    assert first == ("add", '{"a": 1}') and second.name == "add"
    assert spoken[3].content.count("<tool_response>") == 2
    assert not any(message.calls for message in spoken)


def test_without_a_system_message_the_tools_make_one() -> None:
    spoken = tools_in_words(TALK[1:2], (TOOL,))
    assert [message.role for message in spoken] == ["system", "user"]
    listed = spoken[0].content.partition("<tools>\n")[2].partition("\n</tools>")[0]
    assert json.loads(listed) == function_tools([TOOL])[0]


def test_without_tools_nothing_is_added() -> None:
    assert tools_in_words(TALK[:2], ()) == TALK[:2]
