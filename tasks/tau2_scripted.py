"""A simulated user of tau2 that is a script and no model: `--user scripted:spadework.tasks.tau2_scripted:USER`.

It says its whole wish at once, agrees `PATIENCE` times to whatever it hears, and leaves. So a run needs no second
model and is the same every time; what an agent earns with it compares with no published number.
"""

from ..harness.scripted import ScriptedChat
from ..harness.types import Request

PATIENCE = 3
AGREED = "Yes, please go on."
LEAVES = "Thank you, that is all. ###STOP###"
START, END = "<scenario>", "</scenario>"


def says(request: Request) -> str:
    """What the user says next: by how often it has spoken, and by the scenario of its instructions."""
    spoken = sum(message.role == "assistant" for message in request.messages)
    if spoken == 0:
        return wish(request.messages[0].content)
    return AGREED if spoken <= PATIENCE else LEAVES


def wish(instructions: str) -> str:
    """The scenario, in one paragraph."""
    _, _, rest = instructions.partition(START)
    scenario, _, _ = rest.rpartition(END)
    return " ".join(scenario.split())


USER = ScriptedChat(says)
