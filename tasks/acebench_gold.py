"""ACEBench's milestones as calls that can be played, and what is wrong with them and with the possible answers.

The milestones are notes on the way, not programs: apostrophes are quoted badly, logins are left out, and some do not
lead to the end state beside them. `REPAIRED` says which and why; `MENDED` is what the `fixed` scorer expects instead.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from typing import Any

from .acebench_calls import Call, Malformed, parse_calls
from .acebench_check import AnyOf

_STRING = re.compile(r"'((?:(?!'\s*[,)}\]:]).)*)'(?=\s*[,)}\]:])")
Edit = tuple[str, str, str]
"""What of the milestones, what instead, and why; an empty first word goes before all, an empty second takes it away."""
_LOGIN = "[login_device()]"
_HELEN = "[login_food_platform(username='Helen', password='password321')]"
_HEYTEA = "[get_products(merchant_name='Heytea')]"
_PIZZA = ("'Super Supreme',", "'Super Supreme Pizza',", "the menu has no product of the milestone's name")
_UNNAMED = (_HEYTEA, f"{_HELEN}{_HEYTEA}", "the login to the food platform is left out; nobody can order without it")
_LATEST = ("get_earliest_message_id()", "get_latest_message_id()", "the question and the end state want the latest")
_DELETED = ("message_id=3", "message_id=4", "the end state lacks message 4 and holds message 3")
_STOP = ("198.0 yuan.')", "198.0 yuan')", "the end state of e6db74b has no stop at the end; 56dd66c has it")
REPAIRED: dict[str, tuple[Edit, ...]] = {
    "agent_multi_step_0": (_PIZZA,),
    "agent_multi_step_1": (_PIZZA,),
    "agent_multi_step_12": (_UNNAMED,),
    "agent_multi_step_13": (_UNNAMED,),
    "agent_multi_step_14": (_LATEST, _DELETED),
    "agent_multi_step_15": (_LATEST, _DELETED),
    "agent_multi_step_16": (
        ("[turn_on_wifi()]", "", "Wi-Fi is on from the beginning"),
        ("", _LOGIN, "the device is not logged in, and nothing can be read before"),
        _LATEST, _DELETED,
    ),
    "agent_multi_step_17": (_LATEST, _DELETED),
    "agent_multi_turn_6": (("", _LOGIN, "the device is not logged in, and nothing can be read before"),),
}  # fmt: skip
OF_COMMIT = {"e6db74b": {f"agent_multi_step_{number}": (_STOP,) for number in (14, 15, 16, 17)}}
"""Of one commit only."""


def read_milestone(text: str) -> list[Call]:
    """The calls of a milestone, apostrophes inside of its strings taken as such. Raises Malformed."""
    try:
        return parse_calls(text)
    except Malformed:
        return parse_calls(_STRING.sub(lambda found: repr(found.group(1)), text))


def written(calls: Sequence[Call]) -> str:
    """Calls as a model writes them."""
    return f"[{', '.join(map(str, calls))}]"


def first_path(milestones: Sequence[Any]) -> list[str]:
    """The first way that the possible answer tells; it is the whole one wherever there are several."""
    return list(milestones[0]) if milestones and isinstance(milestones[0], list) else list(milestones)


def paths(milestones: Sequence[Any]) -> list[list[list[Call]]]:
    """Every way: its messages, each a list of calls. What is no text, or no call, is a message without calls."""
    several = milestones if milestones and isinstance(milestones[0], list) else [milestones]
    return [[_read(one) for one in path] for path in several]


def _read(milestone: Any) -> list[Call]:
    try:
        return read_milestone(milestone) if isinstance(milestone, str) else []
    except Malformed:
        return []


def gold_calls(item: str, commit: str, milestones: Sequence[Any]) -> list[list[Call]]:
    """What a perfect player calls, message by message."""
    text = "\n".join(first_path(milestones))
    for what, instead, _ in (*REPAIRED.get(item, ()), *OF_COMMIT.get(commit, {}).get(item, ())):
        text = text.replace(what, instead, 1) if what else f"{instead}\n{text}"
    lines = text.replace(")][", ")]\n[").split("\n")
    return [read_milestone(line) for line in lines if line.strip()]


def _spending(answer: Mapping[str, Any]) -> Any:
    """The record comes after the three reminders of the world, and under the title that the question gives."""
    listed = answer["reminder_list"]
    todo = {
        "reminder_id": 1003, "title": "To-do list", "time": "2024-07-16 11:00", "notified": False,
        "description": 'First, help Frank place a food delivery order at "Hema Fresh," ordering two "Fresh Gift '
        'Packs." Then, send a message to Frank saying, "The price of the purchased goods is () yuan." Replace the '
        'parentheses with the actual amount, keeping one decimal place.',
    }  # fmt: skip
    return {"reminder_list": {"1": listed["1"], "2": listed["2"], "3": todo, "4": {**listed["3"], "reminder_id": 4}}}


def _kept(answer: Mapping[str, Any]) -> Any:
    """Message 4 may stay."""
    helen = {
        "sender_id": "USR103", "receiver_id": "USR102", "message": "No problem Helen, I can assist you.",
        "time": "2024-09-09",
    }  # fmt: skip
    return AnyOf((answer, {"inbox": {**answer["inbox"], "4": helen}}))


def _four_pieces(answer: Mapping[str, Any]) -> Any:
    """Four pieces, of which one is paid."""
    four = deepcopy(dict(answer))
    four["reservations"][-1]["baggage"] = 4
    four["users"]["user3"]["bank_balance"] -= 50
    return AnyOf((answer, four))


Mend = tuple[str, Callable[[Mapping[str, Any]], Any], str]
_SPENDING: Mend = ("ReminderAPI", _spending, "the end state forgets the third reminder of the world")
MENDED: dict[str, Mend] = {
    "agent_multi_step_0": _SPENDING,
    "agent_multi_step_1": _SPENDING,
    "agent_multi_step_19": (
        "MessageApi", _kept, "nothing wants message 4 deleted: there is room after the first deletion, as in 18"
    ),
    "agent_multi_turn_28": ("Travel", _four_pieces, "the user has four pieces of luggage, the end state three"),
}  # fmt: skip
"""Class, what is expected of it instead, and why."""


def mended(item: str, answer: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The possible answer that the `fixed` scorer takes."""
    if item not in MENDED:
        return [dict(one) for one in answer]
    name, mend, _ = MENDED[item]
    return [{key: mend(value) if key == name else value for key, value in one.items()} for one in answer]
