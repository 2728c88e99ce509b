"""The nano world's held-out suites as a benchmark: any chat model, or the nano organism, plays them.

It needs no file, no network and no optional package, so it is the benchmark that proves the whole path. The items are
those of the ablation table (`tasks/nano.py`); a model with a dialect of its own is asked in that, others in messages.
Our own programs are replayed in this process when answers are scored again; what a model says there is only compared.
"""

from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from ..harness.benchmark import Benchmark, Due, Players, Preset, Scored, Sink, TaskItem
from ..harness.boxed import last_box
from ..harness.dialect import Dialect
from ..harness.episode import play
from ..harness.evaluate import Item
from ..harness.returns import WIN, episode_return
from ..harness.sandbox import Sandbox
from ..harness.seeds import text_id
from ..harness.types import Arm, Message, Outcome, Play, Sampling
from .chat_games import Game, Table, play_games
from .nano import known_suite, test_suite, validation_suite
from .nano_games import instantiate

NOUNS = "nano_nouns.txt"
"""The words of the nano tokenizer, so that the organism meets the items of its own table."""
SUITES = {"test": test_suite, "validation": validation_suite, "known": known_suite}
RULES = """\
You play a short game of words. Each message of mine shows what you see; you answer with one action, a single word or \
number, in a box: \\boxed{word}. A wrong action ends the game.
use LIST on: say the list word by word; back: from its end; skip: every second word; jump: every second from its end.
show LIST mirror: say the list, then the same from its end; twice: each word two times; repeat: the list two times.
take NUMBERS low: say them in rising order; high: in falling order.
count A B: go on with the next numbers of the row.
at X Y go A B: walk there by right, left, up and down; right adds 1 to the first number, up to the second.
WORD NUMBER WORD NUMBER ... want NUMBER: say the word that stands before that number, or the number after that word."""
PROMPTS: dict[str, tuple[Message, ...]] = {"rules": (Message(role="system", content=RULES),), "bare": ()}


class NanoBenchmark(Benchmark):
    """See the module."""

    name = "nano"
    scorer_version = "1"
    packages = ("reasoning-gym",)

    def load(self, preset: Preset, data: Path | None) -> list[TaskItem]:
        """The suite of the preset's slice; a share below 1 is the first part of every program."""
        nouns = (files(__package__) / NOUNS).read_text(encoding="utf-8").split()
        items = SUITES[str(preset.slice["suite"])](nouns, float(preset.options["share"]))
        return [
            TaskItem(id=item.id, category=item.category, gold=text_id(f"{item.program.id}/{item.seed}"), payload=item)
            for item in items
        ]

    def run(self, due: Sequence[Due], preset: Preset, players: Players, sink: Sink) -> None:
        """All samples in lock-step."""
        with Sandbox(policy=players.sandbox) as sandbox:
            sink.sandboxed(sandbox.report)
            if players.dialect is not None:
                _in_dialect(due, preset, players, players.dialect, (sandbox, sink))
            else:
                _in_messages(due, preset, players, (sandbox, sink))

    def rescore(self, item: TaskItem, answer: str | None, preset: Preset) -> tuple[Outcome, float | None]:
        """The game replayed with the actions that were taken."""
        game = instantiate(item_of(item).program.source)
        game.reset(item_of(item).seed)
        for said in answer.split("\n") if answer is not None else []:
            _, reward, terminated, truncated, _ = game.step(said)
            if terminated:
                final = episode_return([reward], terminated=True)
                return (Outcome.RIGHT if final >= WIN else Outcome.WRONG), max(0.0, final)
            if truncated:
                break
        return Outcome.WRONG, 0.0

    def gold_replies(self, item: TaskItem) -> list[Message]:
        """The plan that our own program holds, or the way that a walker has to go."""
        game = instantiate(item_of(item).program.source)
        game.reset(item_of(item).seed)
        inside = vars(game)
        return [Message(role="assistant", content=self.says(step)) for step in inside.get("p") or _way(inside)]

    def says(self, answer: str) -> str:
        """One action."""
        return f"\\boxed{{{answer}}}"


NANO = NanoBenchmark()


def action(reply: str) -> str:
    """The last box of a reply, else the whole of it."""
    boxed = last_box(reply)
    return (reply if boxed is None else boxed).strip()


def item_of(item: TaskItem) -> Item:
    """The program and the seed of an item."""
    assert isinstance(item.payload, Item)
    return item.payload


def _in_messages(due: Sequence[Due], preset: Preset, players: Players, places: tuple[Sandbox, Sink]) -> None:
    sandbox, sink = places
    table = Table(
        model=players.model, sandbox=sandbox, sampling=preset.sampling, opening=PROMPTS[preset.prompt], action=action
    )
    games = [Game(program=item_of(one.item).program, seed=item_of(one.item).seed, sample_seed=one.seed) for one in due]
    for one, played in zip(due, play_games(games, table), strict=True):
        assert played.outcome is not None, "every game was played to its end"
        tokens = sum(c.usage.completion_tokens for c in played.completions if c.usage is not None)
        result = Result(played.outcome, played.reward, tuple(played.actions), played.detail, tokens)
        sink.put(_scored(one, result), played.completions)


def _in_dialect(
    due: Sequence[Due], preset: Preset, players: Players, dialect: Dialect, places: tuple[Sandbox, Sink]
) -> None:
    """As the trainer's own evaluation plays: token ids in, token ids out."""
    sandbox, sink = places
    sampling = Sampling(
        temperature=preset.sampling.temperature, max_new_tokens=preset.sampling.max_new_tokens,
        stop=dialect.stops("agent"),
    )  # fmt: skip
    plays = [
        Play(
            program=item_of(one.item).program, seed=item_of(one.item).seed, arm=Arm.PLAIN, sample_seed=one.seed,
            sampling=sampling,
        )
        for one in due
    ]  # fmt: skip
    for one, episode in zip(due, play(plays, players.model, dialect, sandbox), strict=True):
        tokens = sum(episode.trajectory.generated)
        sink.put(_scored(one, Result(episode.outcome, episode.reward, episode.actions, episode.error, tokens)), [])


class Result(NamedTuple):
    """How a game ended."""

    outcome: Outcome
    reward: float | None
    actions: Sequence[str]
    detail: str
    tokens: int


def _scored(due: Due, result: Result) -> Scored:
    answer = "\n".join(said.replace("\n", " ") for said in result.actions) if result.actions else None
    return Scored(
        item=due.item.id, category=due.item.category, repeat=due.repeat, outcome=result.outcome,
        score=None if result.reward is None else max(0.0, result.reward), answer=answer, gold=due.item.gold,
        detail=result.detail, facts={"turns": len(result.actions), "tokens": result.tokens},
    )  # fmt: skip


def _way(inside: Mapping[str, int]) -> list[str]:
    """Steps from where a walker stands to its goal."""
    right, up = inside["g"] - inside["x"], inside["h"] - inside["y"]
    return ["right" if right > 0 else "left"] * abs(right) + ["up" if up > 0 else "down"] * abs(up)
