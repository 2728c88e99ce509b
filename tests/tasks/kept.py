"""A sink that keeps results in memory, and the samples of a benchmark; plain functions for tests."""

from collections.abc import Sequence

from spadework.harness.benchmark import Due, Players, Preset, Scored, TaskItem
from spadework.harness.evaluation.registry import protocols_of
from spadework.harness.sandbox import SandboxReport
from spadework.harness.scripted import ChatScript, ScriptedChat
from spadework.harness.seeds import derive
from spadework.harness.types import Completion


class Kept:
    """Implements `Sink`."""

    def __init__(self) -> None:
        self.scored: list[Scored] = []
        self.reports: list[SandboxReport] = []

    def put(self, scored: Scored, completions: Sequence[Completion]) -> None:
        self.scored.append(scored)

    def sandboxed(self, report: SandboxReport) -> None:
        self.reports.append(report)

    @property
    def by_key(self) -> dict[tuple[str, int], Scored]:
        return {(one.item, one.repeat): one for one in self.scored}


def samples(items: Sequence[TaskItem], repeats: int = 1) -> list[Due]:
    return [
        Due(item=item, repeat=repeat, seed=derive(5, item.id, repeat)) for repeat in range(repeats) for item in items
    ]


def preset_of(benchmark: object, module: str, name: str) -> Preset:
    return protocols_of(benchmark, module).preset(name)  # type: ignore[arg-type]


def players(script: ChatScript) -> Players:
    return Players(model=ScriptedChat(script))
