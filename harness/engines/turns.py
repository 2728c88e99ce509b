"""Conversations as one growing sequence of tokens: what is appended after a reply, never a history rendered again.

The engine sees the opening, draws a reply with its stop token, sees what is appended, draws again. So the tokens of an
episode are exactly those that were seen and drawn, whatever the template would make of the words. What is appended is
read off the template once for each turn: the text between the end of an assistant's turn and the model's next one.

Some templates cannot be used this way (`appendable` says so): those that write a reply elsewhere than they let it be
drawn, and those that take earlier thinking out, if that is wanted. There each turn is a sequence of its own.
"""

from typing import Sequence

from ..errors import InputError
from ..types import Message, Tool, ToolCall
from .template import CannotRender, ChatTemplate

REPLY = "spadework reply"
"""Stands for what the assistant said while a template is read; trimmed text of plain letters, so that no template
changes it."""
THOUGHT = "spadework thought"
_ASKED = Message(role="user", content="x")


class Turns:
    """See the module; a view of a `ChatTemplate`. `stops` are those of the template, in ids and in texts."""

    def __init__(self, template: ChatTemplate) -> None:
        self.template = template
        self._stops = {template.written(stop): stop for stop in template.stops}
        try:
            self._tail((Message(role="user", content="y"),), (), ())
            self.appendable = True
            """False: the template does not show where a reply ends, so nothing can be appended to it."""
        except CannotRender:
            self.appendable = False
        self.drops_thinking = self._drops_thinking()
        """The template takes the thinking out of earlier turns: an appended history is then not one it would render."""

    def opening(self, messages: Sequence[Message], tools: Sequence[Tool] = ()) -> list[int]:
        """The ids of a conversation up to the model's first turn. CannotRender says why there are none."""
        return self.template.render(messages, tools).ids

    def following(
        self, messages: Sequence[Message], last: int, tools: Sequence[Tool] = (), calls: Sequence[ToolCall] = ()
    ) -> list[int]:
        """The ids between a reply that ended with the token `last` and the model's next turn, which say `messages`: a
        user's words, or the results of the reply's `calls`, as many as there were. CannotRender when the template has
        no such place.

        A reply that did not end as the template ends one (another stop token was drawn, or none) is ended first.
        """
        if not messages:
            raise InputError("nothing follows a reply; give the user's words or the results of its calls.")
        text, stop = self._tail(tuple(messages), tuple(tools), tuple(calls))
        # Encoded behind the stop token, as it will stand there: some tokenizers write the start of a text differently.
        ids = self.template.encode(self.template.written(stop) + text)
        assert ids[0] == stop, "a stop token is one token"
        return ids if last != stop else ids[1:]

    def _tail(
        self, new: tuple[Message, ...], tools: tuple[Tool, ...], calls: tuple[ToolCall, ...]
    ) -> tuple[str, int]:
        """What stands between the end of a reply and the next turn, and the stop token that ended the reply."""
        replied = (_ASKED, Message(role="assistant", content=REPLY, calls=calls), *new)
        text = self.template.render(replied, tools).text
        before, found, rest = text.rpartition(REPLY)
        if not found or REPLY in before:
            raise CannotRender("the chat template does not show an assistant's words once and as they are.")
        ends = sorted((at, stop) for stop in self._stops if stop and (at := rest.find(stop)) >= 0)
        if not ends:
            raise CannotRender("the chat template does not end an assistant's turn with a stop token of the model.")
        at, stop = ends[0]
        return rest[at + len(stop) :], self._stops[stop]

    def _drops_thinking(self) -> bool:
        thinking = f"<think>\n{THOUGHT}\n</think>\n\n{REPLY}"
        said = (_ASKED, Message(role="assistant", content=thinking), Message(role="user", content="y"))
        try:
            return THOUGHT not in self.template.render(said).text
        except CannotRender:
            return False
