"""Agents, a user and a judge for tau2 on the command line: MODULE:OBJECT."""

import time

from spadework.harness.scripted import ScriptedChat
from spadework.harness.types import Message, Request, ToolCall


def failing() -> ScriptedChat:
    """Calls what is not there, until that ends the episode."""
    call = ToolCall(id="c", name="no_such_function", arguments="{}")
    return ScriptedChat(lambda request: Message(role="assistant", content="", calls=(call,)))


def slow() -> ScriptedChat:
    """Takes its time for a word."""

    def says(request: Request) -> str:
        time.sleep(0.3)  # so that a kill finds it at work
        return "I am done."

    return ScriptedChat(says)


def curt() -> ScriptedChat:
    """A user who says two words."""

    def says(request: Request) -> str:
        return "###STOP###" if any(message.role == "assistant" for message in request.messages) else "Hello."

    return ScriptedChat(says)


def strict() -> ScriptedChat:
    """A judge who never answers in the form that is asked for."""
    return ScriptedChat(lambda request: "No.")
