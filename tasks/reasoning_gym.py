"""Reasoning-Gym, hard: 100 generated tasks in four groups, as an inspect-ai task on any engine, scored in the sandbox.

A category is `group/task`; a group's number is the unweighted mean of its tasks, the headline that of the groups. A
sample is right when the package's score is 1; the mean of the scores themselves is told beside it. An item that cannot
be made (some never end) is a scorer error and no number. Protocols stand in presets/reasoning_gym.toml, what is wrong
with the package in `reasoning_gym_answers`.
"""

import atexit
from collections.abc import Callable, Sequence
from pathlib import Path

from ..harness.benchmark import Benchmark, Due, Players, Preset, Scored, Sink, TaskItem
from ..harness.sandbox import Policy
from ..harness.seeds import text_id
from ..harness.types import Message, Outcome
from .aime import known
from .inspect_turn import Turn, play
from .reasoning_gym_answers import EXTRACTIONS
from .reasoning_gym_items import Job, Made, jobs, make
from .reasoning_gym_scores import PackageScorer
from .single_turn import Judged, need

SCORERS = {"package-all-or-nothing": False, "guarded-all-or-nothing": True}
"""Whether the guards stand before the package."""
INTRODUCTION = (
    "Given a problem, your task is to answer the question by thinking step-by-step in a clear and specific manner.\n"
)
FORMAT = (
    "Once you have thought about the reasoning process, provide the answer in the following format:\n"
    "<answer>answer here</answer>\n"
    "Do not explain your reasoning inside the answer tags, provide only the final answer. When an example is provided, "
    "you should strictly follow the format of the output/answer in that example."
)


def _spade(question: str) -> tuple[Message, ...]:
    boxed = f"{question}\n\nPut your final answer within \\boxed{{}}."
    return (Message(role="user", content=f"{INTRODUCTION}Problem: {boxed}\n{FORMAT}"),)


def _package(question: str) -> tuple[Message, ...]:
    return Message(role="system", content=f"{INTRODUCTION}{FORMAT}\n"), Message(role="user", content=question)


PROMPTS: dict[str, Callable[[str], tuple[Message, ...]]] = {"answer-tags": _spade, "reasoning-gym": _package}
"""SPADE's, which asks for tags and a box; the package's default."""


class ReasoningGym(Benchmark):
    """The hard suite. `folder` is where generated items are kept; the user's cache folder when None."""

    name = "reasoning_gym"
    scorer_version = "1"
    packages = ("inspect-ai", "reasoning-gym", "sympy", "numpy")

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder
        self._scorers: dict[Policy, PackageScorer] = {}

    def load(self, preset: Preset, data: Path | None) -> list[TaskItem]:
        """See `Benchmark`. There is no data: the items are generated, the first time in some minutes."""
        need("inspect_ai", "reasoning_gym")
        known(preset.prompt, PROMPTS, "prompt")
        known(preset.extraction, EXTRACTIONS, "extraction")
        known(preset.scorer, SCORERS, "scorer")
        wanted = jobs(preset)
        return [_item(job, made) for job, made in zip(wanted, make(wanted, self.folder), strict=True)]

    def run(self, due: Sequence[Due], preset: Preset, players: Players, sink: Sink) -> None:
        """See `Benchmark`."""
        playable = [one for one in due if not _payload(one.item).error]
        for one in due:
            if _payload(one.item).error:
                sink.put(_unmade(one), [])
        extract, prompt, guards = EXTRACTIONS[preset.extraction], PROMPTS[preset.prompt], SCORERS[preset.scorer]
        scorer = self._scorer(players.sandbox)
        sink.sandboxed(scorer.report)

        def judge(one: Due, said: str) -> Judged:
            return scorer.judge(one.item.category, _payload(one.item), extract(said), guards)

        turn = Turn(
            prompt=lambda one: prompt(_payload(one.item).question), judge=judge, workers=scorer.workers,
            version=self.scorer_version,
        )  # fmt: skip
        play(playable, turn, preset, players, sink)

    def rescore(self, item: TaskItem, answer: str | None, preset: Preset) -> tuple[Outcome, float | None]:
        """See `Benchmark`."""
        judged = self._scorer(Policy()).judge(item.category, _payload(item), answer, SCORERS[preset.scorer])
        return judged.outcome, judged.score

    def gold_replies(self, item: TaskItem) -> list[Message]:
        """The package's own answer; none for tasks that only check one, and for items that could not be made."""
        answer = _payload(item).answer
        return [] if answer is None else [Message(role="assistant", content=self.says(answer))]

    def says(self, answer: str) -> str:
        """In tags, which every extraction reads."""
        return f"<answer>{answer}</answer>"

    def _scorer(self, policy: Policy) -> PackageScorer:
        """One for each policy, until the process ends: to import the package and make its scorers takes seconds."""
        if policy not in self._scorers:
            self._scorers[policy] = PackageScorer(policy)
            atexit.register(self._scorers[policy].close)
        return self._scorers[policy]


def _item(job: Job, made: Made) -> TaskItem:
    item = text_id("\0".join((job.task, str(job.seed), str(job.index), made.question)))
    gold = text_id(f"{item}:{made.answer if made.answer is not None else made.entry}")
    return TaskItem(id=item, category=job.category, gold=gold, payload=made)


def _unmade(due: Due) -> Scored:
    item = due.item
    return Scored(
        item=item.id, category=item.category, repeat=due.repeat, outcome=Outcome.SCORER_ERROR, score=None, answer=None,
        gold=item.gold, detail=f"the item could not be made: {_payload(item).error}",
    )  # fmt: skip


def _payload(item: TaskItem) -> Made:
    assert isinstance(item.payload, Made)
    return item.payload


REASONING_GYM = ReasoningGym()
