"""tau2-bench: customer service in three domains, with a simulated user who has a wish and, in telecom, a telephone.

The agent follows a policy and calls functions on a database. The score is the unweighted mean of the domains; pass^k
is computed from the records of the repeats. Never compare versions: 1.0.1 changed the tasks of airline and retail.
"""

import json
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from ..harness.benchmark import Benchmark, Due, Players, Preset, Sink, TaskItem
from ..harness.types import Message, Outcome, ToolCall
from .tau2_data import Problem, load_items, problem_of
from .tau2_play import OVER, VERSION, play

HELLO = "Hello, I need your help."
WAITING = "Please go on."
DONE = "That is done. What is next?"


class Tau2(Benchmark):
    """The three domains of tau2-bench."""

    name = "tau2"
    scorer_version = VERSION
    packages = ("inspect-ai", "inspect-evals")
    constant = "I have transferred you to a human agent."

    def load(self, preset: Preset, data: Path | None) -> list[TaskItem]:
        """See `Benchmark`. `data` holds tau2/v1.0.1/DOMAIN/tasks.json; 0.2 and telecom need none."""
        return load_items(preset, data)

    def run(self, due: Sequence[Due], preset: Preset, players: Players, sink: Sink) -> None:
        """See `Benchmark`."""
        play(due, preset, players, sink)

    def rescore(self, item: TaskItem, answer: str | None, preset: Preset) -> tuple[Outcome, float | None]:
        """See `Benchmark`. The judge is not asked again: what it said is part of the answer."""
        from .tau2_verdict import from_answer, judged

        recorded = from_answer(answer)
        if not recorded.events:
            return Outcome.NO_ANSWER, 0.0
        outcome = judged(problem_of(item), recorded, int(preset.options.get("max_errors", 10))).outcome
        return outcome, float(outcome is Outcome.RIGHT)

    def gold_replies(self, item: TaskItem) -> list[Message]:
        """The agent's gold actions, call by call, then what must be told."""
        return _lines(problem_of(item))["assistant"]

    def user_replies(self, item: TaskItem) -> list[Message]:
        """A user who makes the user's gold actions, whatever the agent says, and ends it."""
        return _lines(problem_of(item))["user"]

    def passive_user_replies(self, item: TaskItem) -> list[Message]:
        """A user who says hello and waits: in telecom his own actions alone are right where the agent has none."""
        return [_words(HELLO), _words(OVER[0])]

    def judge_replies(self, item: TaskItem) -> list[Message]:
        """See `Benchmark`."""
        results = [
            {"expectedOutcome": one, "reasoning": "", "metExpectation": True} for one in problem_of(item).judged
        ]  # fmt: skip
        return [Message(role="assistant", content=json.dumps({"results": results}))] if results else []

    def says(self, answer: str) -> str:
        """See `Benchmark`."""
        return answer


def _lines(problem: Problem) -> dict[str, list[Message]]:
    """What both sides say in an episode of the gold actions; each runs of calls ends with words for the other."""
    lines: dict[str, list[Message]] = {"user": [_words(HELLO)], "assistant": []}
    turn, number = "assistant", 0
    for side, actions in groupby(problem.actions, key=lambda action: str(action.get("requestor", "assistant"))):
        if side != turn:
            lines[turn].append(_words(WAITING if turn == "assistant" else DONE))
            turn = side
        for action in actions:
            number += 1
            call = ToolCall(id=f"{side}-{number}", name=action["name"], arguments=json.dumps(action["arguments"]))
            lines[side].append(Message(role="assistant", content="", calls=(call,)))
    if turn == "user":
        lines["user"].append(_words(DONE))
    lines["assistant"].append(_words(" ".join(["It is done.", *problem.told])))
    lines["user"].append(_words(OVER[0]))
    return lines


def _words(text: str) -> Message:
    return Message(role="assistant", content=text)


TAU2 = Tau2()
