"""What an episode of tau2 is worth: the recorded calls are played again in a fresh world and each part is looked at.

The reward is the product of the parts that the task names: database, what was communicated, assertions on the
environment, actions, assertions in words. The last are a judge's, whose word is recorded with the episode.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from ..harness.types import Message, Outcome
from .tau2_data import Problem
from .tau2_package import deep_equal_unordered
from .tau2_world import FAILED, World

JUDGE = """You are given the outcomes that are expected of an agent, and its conversation with a customer.
Decide for each expected outcome, one by one, whether the agent satisfies it.
Answer with a JSON object and nothing else:
{"results": [{"expectedOutcome": "<repeated>", "reasoning": "<short>", "metExpectation": <true or false>}]}"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """Something that the agent (`assistant`) or the user said or called."""

    by: str
    text: str = ""
    call: str = ""
    arguments: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Recorded:
    """An episode as it is recorded: enough to be judged again."""

    events: tuple[Event, ...] = ()
    met: tuple[bool, ...] | None = None
    """What the judge said of each assertion in words; None where it was not asked."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """How it ended, and each part that counts."""

    outcome: Outcome
    parts: dict[str, bool] = field(default_factory=dict)
    errors: int = 0
    actions: float = 1.0
    """Share of the gold actions that were made; a fact beside the score."""
    detail: str = ""


def as_answer(recorded: Recorded) -> str:
    """The text that is recorded."""
    events = [
        [one.by, one.call, one.arguments] if one.call else [one.by, one.text] for one in recorded.events
    ]  # fmt: skip
    return json.dumps({"events": events, "met": recorded.met}, ensure_ascii=False)


def from_answer(answer: str | None) -> Recorded:
    """The episode; a text of another form is one in which nothing happened."""
    try:
        read = json.loads(answer) if answer else {}
    except ValueError:
        read = {}
    if not isinstance(read, dict):
        read = {}
    events = [one for one in read.get("events") or () if isinstance(one, list) and len(one) in (2, 3)]
    met = read.get("met")
    return Recorded(events=tuple(map(_event, events)), met=None if met is None else tuple(map(bool, met)))


def judged(problem: Problem, recorded: Recorded, max_errors: int) -> Verdict:
    """The verdict on an episode that came to its end."""
    world, errors = World(problem), 0
    for one in recorded.events:
        if one.call:
            errors += world.call(one.by, one.call, one.arguments).startswith(FAILED)
    missed = _missed(problem, recorded)
    parts = {part: _part(part, problem, recorded, world, missed) for part in problem.basis}
    made = 1.0 - missed / len(problem.actions) if problem.actions else 1.0
    lost = [part for part, right in parts.items() if not right]
    detail = f"not right: {', '.join(lost)}" if lost else ""
    if errors >= max_errors:
        detail = f"{errors} calls failed, {max_errors} end the episode"
    outcome = Outcome.WRONG if detail else Outcome.RIGHT
    return Verdict(outcome=outcome, parts=parts, errors=errors, actions=round(made, 3), detail=detail)


def judge_asked(problem: Problem, events: Sequence[Event]) -> tuple[Message, ...]:
    """What the judge is asked."""
    said = "\n".join(f"{one.by}: {one.text}" for one in events if one.text)
    asked = f"conversation:\n{said}\n\nexpectedOutcomes:\n{json.dumps(problem.judged, ensure_ascii=False)}"
    return Message(role="system", content=JUDGE), Message(role="user", content=asked)


def judge_said(problem: Problem, text: str) -> tuple[bool, ...] | None:
    """The judge's word on each assertion; None where it cannot be read."""
    begin, end = text.find("{"), text.rfind("}")
    try:
        results = json.loads(text[begin : end + 1])["results"]
        met = tuple(one["metExpectation"] for one in results)
    except (ValueError, LookupError, TypeError):
        return None
    whole = len(met) == len(problem.judged) and all(isinstance(one, bool) for one in met)
    return met if whole else None


def _event(row: Sequence[Any]) -> Event:
    if len(row) == 2:
        return Event(by=str(row[0]), text=str(row[1]))
    return Event(by=str(row[0]), call=str(row[1]), arguments=str(row[2]))


def _part(part: str, problem: Problem, recorded: Recorded, world: World, missed: int) -> bool:
    if part == "DB":
        return world.digest() == _wanted(problem.domain, json.dumps(problem.actions))
    if part == "COMMUNICATE":
        said = "\n".join(one.text for one in recorded.events if one.by == "assistant").lower().replace(",", "")
        return all(one.lower() in said for one in problem.told)
    if part == "ENV_ASSERTION":
        return all(map(world.holds, problem.criteria.get("env_assertions") or ()))
    if part == "ACTION":
        return missed == 0
    return not problem.judged or (recorded.met is not None and all(recorded.met))


@lru_cache(maxsize=512)
def _wanted(domain: str, actions: str) -> str:
    """The database after the gold actions; those that fail change nothing."""
    world = World(Problem(name="", domain=domain, version="", task={}))
    for one in json.loads(actions):
        world.call("assistant", one["name"], json.dumps(one["arguments"]))
    return world.digest()


def _missed(problem: Problem, recorded: Recorded) -> int:
    """Gold actions that nobody made."""
    calls = [(one.by, one.call, _read(one.arguments)) for one in recorded.events if one.call]
    return sum(not any(_same(gold, *call) for call in calls) for gold in problem.actions)


def _same(gold: Any, by: str, name: str, arguments: dict[str, Any]) -> bool:
    if gold.get("requestor", "assistant") != by or gold["name"] != name:
        return False
    if name == "transfer_to_human_agents":
        return True
    keys = gold.get("compare_args")
    if keys is None:
        return bool(deep_equal_unordered(arguments, gold["arguments"]))
    wanted = {key: gold["arguments"].get(key) for key in keys}
    return bool(deep_equal_unordered({key: arguments.get(key) for key in keys}, wanted))


def _read(arguments: str) -> dict[str, Any]:
    try:
        read = json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        return {}
    return read if isinstance(read, dict) else {}
