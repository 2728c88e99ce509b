"""BFCL's two ways to tell a model of its functions and to read its calls, and how the perfect player answers in each.

Words and formats are bfcl-eval's own (`Entry.words`). Results go back as tool messages, or in one user message for
servers that take no tool message without a call; nothing is played or executed here.
"""

import json
import re
from collections.abc import Mapping, Sequence

from ..harness.benchmark import Preset
from ..harness.errors import InputError, nearest
from ..harness.types import Completion, Message, ToolCall
from .bfcl_calls import NO_CALLS, Decoded, from_text, from_tool_calls, gold_call, written_call
from .bfcl_data import Entry, Function
from .bfcl_episodes import Mode

FUNCTION_CALLING, PROMPTING = "function-calling", "python-list"
DONE = "I am done."


def mode_of(preset: Preset) -> Mode:
    """The mode of a preset. Raises InputError for words of it that are none."""
    readings = {
        FUNCTION_CALLING: {"tool-calls": _tools_decoded},
        PROMPTING: {"python-list": _text_decoded, "python-list-strict": _text_decoded_strictly},
    }
    found = readings.get(preset.prompt)
    if found is None:
        raise InputError(_no_such("prompt", preset.prompt, readings))
    decode = found.get(preset.extraction)
    if decode is None:
        raise InputError(_no_such("extraction", preset.extraction, found))
    if preset.prompt == FUNCTION_CALLING:
        return Mode(opening=lambda entry: (), more=_more, tools=True, decode=decode, results=_tool_results)
    told = str(preset.options.get("results", "tool"))
    results = {"tool": _text_results, "user": _user_results}
    if told not in results:
        raise InputError(_no_such("option results", told, results))
    return Mode(opening=_opening, more=_more_prompting, tools=False, decode=decode, results=results[told])


def gold_messages(entry: Entry, prompt: str) -> list[Message]:
    """The gold calls of each turn in one reply, then a reply without calls; with turns as the package has them."""
    replies = []
    for turn in entry.gold:
        calls = [gold_call(text, entry.parameters) for text in turn]
        if calls and prompt == PROMPTING:
            text = f"[{', '.join(written_call(name, arguments) for name, arguments in calls)}]"
            replies.append(Message(role="assistant", content=text))
        elif calls:
            made = tuple(
                ToolCall(id=f"call_{number}", name=name, arguments=json.dumps(arguments))
                for number, (name, arguments) in enumerate(calls)
            )
            replies.append(Message(role="assistant", content="", calls=made))
        replies.append(Message(role="assistant", content=DONE))
    return replies


def gold_turns(entry: Entry) -> list[list[tuple[str, ...]]]:
    """The gold calls as the perfect player's: one step a turn, none in a turn without."""
    return [
        [tuple(written_call(*gold_call(text, entry.parameters)) for text in turn)] if turn else []
        for turn in entry.gold
    ]  # fmt: skip


def _no_such(what: str, name: str, known: Mapping[str, object]) -> str:
    return f"BFCL has no {what} {name!r}{nearest(name, known)}; the preset may say {', '.join(known)}."


def _tools_decoded(completion: Completion, said: str | None, entry: Entry) -> Decoded:
    return from_tool_calls(completion.calls)


def _text_decoded(completion: Completion, said: str | None, entry: Entry, *, strict: bool = False) -> Decoded:
    """Prose is no fault: a reply that names no function as called just ends the turn."""
    if said is None:
        return Decoded(())
    decoded = from_text(said, strict=strict)
    if decoded.faults != (NO_CALLS,):
        return decoded
    names = "|".join(map(re.escape, entry.parameters))
    return decoded if re.search(rf"\b(?:{names})\s*\(", said) else Decoded(())


def _text_decoded_strictly(completion: Completion, said: str | None, entry: Entry) -> Decoded:
    return _text_decoded(completion, said, entry, strict=True)


def _opening(entry: Entry) -> tuple[Message, ...]:
    before, after = entry.words.system
    return (Message(role="system", content=f"{before}{json.dumps(_docs(entry.functions), indent=4)}{after}"),)


def _more(entry: Entry, turn: int) -> Message:
    return Message(role="user", content=entry.words.more)


def _more_prompting(entry: Entry, turn: int) -> Message:
    before, after = entry.words.more_prompting
    return Message(role="user", content=f"{before}{_docs(entry.withheld[turn])}{after}")


def _docs(functions: Sequence[Function]) -> list[object]:
    return [function.doc for function in functions]


def _tool_results(decoded: Decoded, results: Sequence[str]) -> list[Message]:
    return [
        Message(role="tool", content=result, call_id=call.id)
        for call, result in zip(decoded.made, results, strict=True)
    ]  # fmt: skip


def _text_results(decoded: Decoded, results: Sequence[str]) -> list[Message]:
    return [Message(role="tool", content=result) for result in results]


def _user_results(decoded: Decoded, results: Sequence[str]) -> list[Message]:
    told = [
        {"role": "tool", "name": call, "content": result} for call, result in zip(decoded.calls, results, strict=True)
    ]
    return [Message(role="user", content=repr(told))]
