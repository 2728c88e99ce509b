"""A toy benchmark for the tests of the evaluation, with the scripted models that play it.

Sums of two numbers: one message, the answer in a box. Real processes import it by `arithmetic:NAME`.
"""

import os
import re
import time
from collections.abc import Sequence
from pathlib import Path

from spadework.harness.benchmark import CUT_SHORT, Benchmark, Due, Players, Preset, Scored, Sink, TaskItem
from spadework.harness.boxed import last_box
from spadework.harness.errors import InputError
from spadework.harness.scripted import ScriptedChat
from spadework.harness.seeds import derive, text_id
from spadework.harness.types import Completion, Finish, Message, Outcome, Request

SUM = re.compile(r"(\d+) \+ (\d+)")


class Arithmetic(Benchmark):
    """Sums; `slice.items` of them, in two categories. The first number says which: even or odd."""

    name = "arithmetic"
    scorer_version = "1"

    def load(self, preset: Preset, data: Path | None) -> list[TaskItem]:
        if data is not None and not (data / "sums.txt").is_file():
            raise InputError(f"no file {data / 'sums.txt'}; give the folder that holds it.")
        items = []
        for number in range(int(preset.slice["items"])):
            text = f"What is {number} + {derive(7, number) % 90}?"
            category = ("even", "odd")[number % 2]
            items.append(TaskItem(id=text_id(text), category=category, gold=text_id(self.gold(text)), payload=text))
        return items

    def run(self, due: Sequence[Due], preset: Preset, players: Players, sink: Sink) -> None:
        requests = [
            Request(
                messages=(Message(role="user", content=str(one.item.payload)),), sampling=preset.sampling,
                seed=one.seed, session=number,
            )
            for number, one in enumerate(due)
        ]  # fmt: skip
        size = int(preset.options.get("at_a_time", 16))
        for start in range(0, len(due), size):
            completions = players.model.generate(requests[start : start + size])
            for one, completion in zip(due[start : start + size], completions, strict=True):
                sink.put(self.scored(one, completion, preset), [completion])

    def scored(self, one: Due, completion: Completion, preset: Preset) -> Scored:
        answer = last_box(completion.text)
        outcome, score = self.rescore(one.item, answer, preset)
        outcome = CUT_SHORT.get(completion.finish, outcome)
        return Scored(
            item=one.item.id, category=one.item.category, repeat=one.repeat, outcome=outcome,
            score=score if outcome.scored else None, answer=answer, gold=one.item.gold, detail=completion.error,
            facts={"tokens": len(completion.text.split())},
        )  # fmt: skip

    def rescore(self, item: TaskItem, answer: str | None, preset: Preset) -> tuple[Outcome, float | None]:
        if answer is None:
            return Outcome.NO_ANSWER, 0.0
        right = answer.strip() == self.gold(str(item.payload))
        return (Outcome.RIGHT, 1.0) if right else (Outcome.WRONG, 0.0)

    def gold_replies(self, item: TaskItem) -> list[Message]:
        return [Message(role="assistant", content=self.says(self.gold(str(item.payload))))]

    def gold(self, text: str) -> str:
        found = SUM.search(text)
        assert found is not None
        return str(int(found[1]) + int(found[2]))


class Secret(Arithmetic):
    """The same sums as if nobody might publish them."""

    name = "secret"
    closed = True

    def problem(self, item: TaskItem) -> str:
        return f"{item.payload} Answer with the number in a box and nothing else."


class Stricter(Arithmetic):
    """A newer scorer, which takes no answer below one hundred."""

    scorer_version = "2"

    def rescore(self, item: TaskItem, answer: str | None, preset: Preset) -> tuple[Outcome, float | None]:
        if answer is not None and len(answer) < 3:
            return Outcome.WRONG, 0.0
        return super().rescore(item, answer, preset)


class Doubtful(Arithmetic):
    """Its file is one that nobody knows."""

    def unverified(self, preset: Preset, data: Path | None) -> str:
        return "no checksum is known of sums.txt"


SUMS = Arithmetic()
DOUBTFUL = Doubtful()
SECRET = Secret()
SUMS_NOW = Stricter() if os.environ.get("ARITHMETIC_SCORER") == "2" else SUMS


def clever(request: Request) -> str:
    """Right three times in four; what it says depends on the request alone."""
    text = request.messages[-1].content
    if derive(request.seed, "mood") % 4 == 0:
        return "No idea."
    return SUMS.says(SUMS.gold(text))


def slow(request: Request) -> str:
    """As `clever`, with time to be killed in."""
    time.sleep(0.002)
    return clever(request)


def parrot(request: Request) -> str:
    """Repeats the problem in its box."""
    text = request.messages[-1].content
    return f"{text} \\boxed{{{text} Answer with the number in a box and nothing else.}}"


def broken(request: Request) -> Completion:
    """A server that is down."""
    return Completion(ids=(), logprobs=(), text="", finish=Finish.FAILED, error="connection refused")


def flaky(request: Request) -> str | Completion:
    """A server that is down for some, until MENDED is set."""
    down = not os.environ.get("MENDED") and derive(request.seed, "luck") % 5 == 0
    return broken(request) if down else clever(request)


def clever_model() -> ScriptedChat:
    return ScriptedChat(clever)


def slow_model() -> ScriptedChat:
    return ScriptedChat(slow)


def parrot_model() -> ScriptedChat:
    return ScriptedChat(parrot)


def broken_model() -> ScriptedChat:
    return ScriptedChat(broken)


def flaky_model() -> ScriptedChat:
    return ScriptedChat(flaky)
