"""BFCL v4 multi-turn: 800 conversations in which a model operates eight small services by function calls.

Data, executor and checker are bfcl-eval 2026.3.23's, which lives in an environment of its own; its executor runs in
the sandbox and evaluates nothing (`jailed/bfcl_worker.py`). Right is what the official checker calls right; how else a
sample ended stands beside it. A record's answer holds the calls turn by turn, from which `rescore` plays again.
"""

import atexit
import json
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ..harness.benchmark import Benchmark, Due, Players, Preset, Scored, Sink, TaskItem
from ..harness.seeds import text_id
from ..harness.types import Message, Outcome
from .bfcl_data import BFCL_EVAL, VERSION, Entry, bfcl_home, load_entries
from .bfcl_episodes import Episode, Table, play
from .bfcl_judge import BfclJudge, Failure, Turn
from .bfcl_modes import gold_messages, mode_of

WORKERS = min(8, os.cpu_count() or 1)
SHORT = "it ended before the last turn"
OUT_OF_TIME = "a call ran out of time before the last turn"


class BfclMultiTurn(Benchmark):
    """See the module."""

    name = "bfcl_multi_turn"
    scorer_version = f"2/bfcl-eval-{VERSION}"
    environments = (BFCL_EVAL,)
    constant = "ls"

    def __init__(self) -> None:
        self._judge: BfclJudge | None = None

    def load(self, preset: Preset, data: Path | None) -> list[TaskItem]:
        """See `Benchmark`. The data come with the package, so `data` is not looked at."""
        mode_of(preset)
        return [_item(entry, preset.prompt) for entry in load_entries(bfcl_home())]

    def run(self, due: Sequence[Due], preset: Preset, players: Players, sink: Sink) -> None:
        """All samples in lock-step."""
        episodes = [Episode(entry=entry_of(one.item), seed=one.seed, number=n) for n, one in enumerate(due)]
        places = {id(episode): one for episode, one in zip(episodes, due, strict=True)}
        with (
            BfclJudge(bfcl_home(), players.sandbox, sink.sandboxed) as judge,
            ThreadPoolExecutor(WORKERS, "bfcl") as pool,
        ):
            table = Table(
                model=players.model, judge=judge, pool=pool, sampling=preset.sampling, mode=mode_of(preset),
                max_steps=preset.max_turns,
            )  # fmt: skip
            for episode in play(episodes, table):
                sink.put(scored(places[id(episode)], episode, judge), episode.completions)

    def rescore(self, item: TaskItem, answer: str | None, preset: Preset) -> tuple[Outcome, float | None]:
        """The calls played and checked again."""
        if self._judge is None:
            self._judge = BfclJudge(bfcl_home())
            atexit.register(self._judge.close)
        turns, marks = read_answer(answer)
        outcome, _, _ = judged(entry_of(item), turns, marks, self._judge)
        return outcome, float(outcome is Outcome.RIGHT) if outcome.scored else None

    def gold_replies(self, item: TaskItem) -> list[Message]:
        """The package's own calls."""
        assert isinstance(item.payload, tuple)
        return gold_messages(entry_of(item), item.payload[1])

    def says(self, answer: str) -> str:
        """A call without arguments, in the prompting mode."""
        return f"[{answer}()]"


BFCL_MULTI_TURN = BfclMultiTurn()


def entry_of(item: TaskItem) -> Entry:
    """The conversation of an item."""
    assert isinstance(item.payload, tuple) and isinstance(item.payload[0], Entry)
    return item.payload[0]


def scored(due: Due, episode: Episode, judge: BfclJudge) -> Scored:
    """The result of one conversation."""
    outcome, detail, turns_right = episode.ended, episode.detail, 0
    if outcome is None:
        outcome, why, turns_right = judged(episode.entry, episode.turns, episode.marks, judge)
        detail = "; ".join(filter(None, (why, episode.detail)))
    usages = [completion.usage for completion in episode.completions if completion.usage is not None]
    facts: dict[str, float | int | str] = {
        "entry": episode.entry.id, "requests": len(episode.completions), "turns": len(episode.entry.gold),
        "turns_right": turns_right, "calls": sum(len(step) for turn in episode.turns for step in turn),
        "prompt_tokens": sum(usage.prompt_tokens for usage in usages),
        "completion_tokens": sum(usage.completion_tokens for usage in usages), **episode.faults,
    }  # fmt: skip
    return Scored(
        item=due.item.id, category=due.item.category, repeat=due.repeat, outcome=outcome,
        score=float(outcome is Outcome.RIGHT) if outcome.scored else None, answer=_answer(episode), gold=due.item.gold,
        detail=detail, facts=facts,
    )  # fmt: skip


def judged(
    entry: Entry, turns: Sequence[Turn], marks: dict[int, Outcome], judge: BfclJudge
) -> tuple[Outcome, str, int]:
    """Outcome, why, and how many turns were right before the first that was not."""
    if len(turns) != len(entry.gold):
        timeout = marks.get(len(turns) - 1) is Outcome.TIMEOUT
        return (Outcome.TIMEOUT, OUT_OF_TIME, 0) if timeout else (Outcome.WRONG, SHORT, 0)
    verdict = judge.check(entry, turns)
    if isinstance(verdict, Failure):
        return verdict.outcome, verdict.detail, 0
    if verdict.right:
        return Outcome.RIGHT, "", len(entry.gold)
    why = f"turn {verdict.turn}: {verdict.kind}"
    broken = [turn for turn in sorted(marks) if turn <= verdict.turn]
    if broken:
        return marks[broken[0]], why, verdict.turn
    return (Outcome.WRONG if any(turns) else Outcome.NO_ANSWER), why, verdict.turn


def read_answer(answer: str | None) -> tuple[list[list[list[str]]], dict[int, Outcome]]:
    """Calls and marks of a record."""
    told = json.loads(answer) if answer else {"turns": [], "marks": {}}
    turns = [[[str(call) for call in step] for step in turn] for turn in told["turns"]]
    return turns, {int(turn): Outcome(mark) for turn, mark in told["marks"].items()}


def _answer(episode: Episode) -> str:
    marks = {str(turn): str(mark) for turn, mark in episode.marks.items()}
    return json.dumps({"turns": episode.turns, "marks": marks}, separators=(",", ":"))


def _item(entry: Entry, prompt: str) -> TaskItem:
    said = [[(message.role, message.content) for message in turn] for turn in entry.turns]
    known = [function.doc for more in (entry.functions, *entry.withheld.values()) for function in more]
    content = json.dumps([entry.id, said, entry.initial_config, entry.involved_classes, sorted(entry.withheld), known])
    return TaskItem(
        id=text_id(content), category=entry.category, gold=text_id(json.dumps(entry.gold)), payload=(entry, prompt)
    )
