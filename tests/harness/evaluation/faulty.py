"""Benchmarks with the faults that a preflight is there to find; their presets are those of the sound ones."""

from collections.abc import Sequence
from pathlib import Path

from arithmetic import Arithmetic

from spadework.harness.benchmark import Due, Players, Preset, Sink, TaskItem
from spadework.harness.types import Message, Outcome


class PaysForNothing(Arithmetic):
    """Any answer is right, and none too."""

    def rescore(self, item: TaskItem, answer: str | None, preset: Preset) -> tuple[Outcome, float | None]:
        return Outcome.RIGHT, 1.0


class PaysForNan(Arithmetic):
    """The fault of reasoning-gym's complex_arithmetic."""

    def rescore(self, item: TaskItem, answer: str | None, preset: Preset) -> tuple[Outcome, float | None]:
        return (Outcome.RIGHT, 1.0) if answer == "nan" else super().rescore(item, answer, preset)


class WrongGold(Arithmetic):
    """One gold answer in sixty is wrong."""

    def gold_replies(self, item: TaskItem) -> list[Message]:
        if str(item.payload).startswith("What is 7 "):
            return [Message(role="assistant", content=self.says("-1"))]
        return super().gold_replies(item)


class Crashes(Arithmetic):
    """Its scorer raises on what is no number."""

    def rescore(self, item: TaskItem, answer: str | None, preset: Preset) -> tuple[Outcome, float | None]:
        int(answer or "nothing")
        return super().rescore(item, answer, preset)


class Swallows(Arithmetic):
    """Forgets every third sample."""

    def run(self, due: Sequence[Due], preset: Preset, players: Players, sink: Sink) -> None:
        super().run([one for number, one in enumerate(due) if number % 3], preset, players, sink)


class OwnSeeds(Arithmetic):
    """Asks with seeds of its own."""

    def run(self, due: Sequence[Due], preset: Preset, players: Players, sink: Sink) -> None:
        moved = [Due(item=one.item, repeat=one.repeat, seed=one.seed + 1) for one in due]
        super().run(moved, preset, players, sink)


class NobodySolved(Arithmetic):
    """No solution of it is known."""

    def gold_replies(self, item: TaskItem) -> list[Message]:
        return []


class Unreadable(Arithmetic):
    """Its package cannot read the data and says so with a problem in the message."""

    closed = True

    def load(self, preset: Preset, data: Path | None) -> list[TaskItem]:
        raise KeyError("the problem that nobody may see")


PAYS_FOR_NOTHING, PAYS_FOR_NAN, WRONG_GOLD = PaysForNothing(), PaysForNan(), WrongGold()
CRASHES, SWALLOWS, OWN_SEEDS, UNREADABLE = Crashes(), Swallows(), OwnSeeds(), Unreadable()
UNSOLVED = NobodySolved()
