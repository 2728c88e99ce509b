"""Conversations in other people's words: what a chat template is given, what travels to an endpoint. Values only.

A template without tools gets them in words: a system message that lists the functions, calls and their results as
text, in the format that `calls` reads.
"""

import json
from dataclasses import replace
from typing import Sequence

from ..types import Message, Tool, ToolCall
from .calls import CLOSE, OPEN

_TOOLS = """You may call functions to help with the request. They are described inside <tools></tools>:
<tools>
{tools}
</tools>
For each call write one JSON object with its name and arguments inside <tool_call></tool_call>:
<tool_call>
{{"name": "the function's name", "arguments": {{"parameter": "value"}}}}
</tool_call>"""


def template_messages(messages: Sequence[Message]) -> list[dict[str, object]]:
    """As transformers' templates expect them: arguments as objects where they are JSON, results with their name."""
    names = {call.id: call.name for message in messages for call in message.calls}
    return [_template_message(message, names) for message in messages]


def _template_message(message: Message, names: dict[str, str]) -> dict[str, object]:
    made: dict[str, object] = {"role": message.role, "content": message.content}
    if message.calls:
        made["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": _arguments(call.arguments)},
            }
            for call in message.calls
        ]
    if message.role == "tool":
        made |= {"tool_call_id": message.call_id, "name": names.get(message.call_id, "")}
    return made


def _arguments(text: str) -> object:
    """The object that a call's arguments spell, or the text itself."""
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, dict) else text


def function_tools(tools: Sequence[Tool]) -> list[dict[str, object]]:
    """As templates and endpoints take them."""
    return [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)},
        }
        for tool in tools
    ]


def wire_messages(messages: Sequence[Message]) -> list[dict[str, object]]:
    """As OpenAI-compatible endpoints take them."""
    return [_wire_message(message) for message in messages]


def _wire_message(message: Message) -> dict[str, object]:
    made: dict[str, object] = {"role": message.role, "content": message.content}
    if message.calls:
        made["content"] = message.content or None
        made["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.calls
        ]
    if message.role == "tool":
        made["tool_call_id"] = message.call_id
    return made


def tools_in_words(messages: Sequence[Message], tools: Sequence[Tool]) -> tuple[Message, ...]:
    """The conversation without tools as such: only system, user and assistant speak, and nobody calls."""
    listed = "\n".join(json.dumps(tool, ensure_ascii=False) for tool in function_tools(tools))
    spoken: list[Message] = []
    for message in messages:
        content = message.content
        if message.role == "tool":
            content = f"<tool_response>\n{content}\n</tool_response>"
            if spoken and spoken[-1].role == "user" and spoken[-1].content.endswith("</tool_response>"):
                spoken[-1] = replace(spoken[-1], content=f"{spoken[-1].content}\n{content}")
                continue
            spoken.append(Message(role="user", content=content))
        else:
            written = [content] * bool(content) + [_written(call) for call in message.calls]
            spoken.append(Message(role=message.role, content="\n".join(written)))
    if not tools:
        return tuple(spoken)
    told = _TOOLS.format(tools=listed)
    if spoken and spoken[0].role == "system":
        return (replace(spoken[0], content=f"{spoken[0].content}\n\n{told}"), *spoken[1:])
    return (Message(role="system", content=told), *spoken)


def _written(call: ToolCall) -> str:
    return f'{OPEN}\n{{"name": {json.dumps(call.name)}, "arguments": {call.arguments}}}\n{CLOSE}'
