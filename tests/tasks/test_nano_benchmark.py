"""The nano suites as a benchmark: the table's items, the trainer's verdicts, and the same ones from stored answers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import pytest

from spadework.harness.benchmark import Due, Players, Preset, Scored, TaskItem
from spadework.harness.engines.opening import OpenModel, open_model
from spadework.harness.evaluate import Item, Player, evaluate
from spadework.harness.evaluation.due import still_due
from spadework.harness.evaluation.registry import resolve
from spadework.harness.sandbox import Sandbox, SandboxReport
from spadework.harness.scripted import ScriptedChat
from spadework.harness.types import Completion, Finish, Outcome, Request
from spadework.tasks.nano_benchmark import NANO, NOUNS, item_of
from spadework.training.nano.dialect import NanoDialect


@dataclass
class Kept:
    """A sink in memory."""

    results: list[Scored] = field(default_factory=list)
    reports: list[SandboxReport] = field(default_factory=list)

    def put(self, scored: Scored, completions: Sequence[Completion]) -> None:
        self.results.append(scored)

    def sandboxed(self, report: SandboxReport) -> None:
        self.reports.append(report)


@pytest.fixture(scope="module")
def organism() -> Iterator[OpenModel]:
    with open_model("nano:base") as opened:
        yield opened


def preset(name: str | None = None) -> Preset:
    return resolve("nano").protocols.preset(name)


def due(items: Sequence[TaskItem]) -> list[Due]:
    return still_due("nano", items, 1, 0, ())


def played(items: Sequence[TaskItem], players: Players, name: str | None = None) -> list[Scored]:
    sink = Kept()
    NANO.run(due(items), preset(name), players, sink)
    assert len(sink.results) == len(items) and sink.reports
    return sink.results


def test_its_words_are_those_of_the_nano_tokenizer(organism: OpenModel) -> None:
    from importlib.resources import files

    assert isinstance(organism.dialect, NanoDialect)
    words = (files("spadework.tasks") / NOUNS).read_text(encoding="utf-8").split()
    assert tuple(words) == organism.dialect.nouns


@pytest.mark.parametrize("name", ["chat", "full", "validation"])
def test_the_suites_have_the_size_that_their_presets_say(name: str) -> None:
    assert len(NANO.load(preset(name), None)) == preset(name).slice["items"]


def test_the_organism_gets_the_verdicts_of_the_trainers_own_evaluation(organism: OpenModel) -> None:
    items = NANO.load(preset("bare"), None)
    assert organism.dialect is not None
    ours = played(items, Players(model=organism.model, dialect=organism.dialect), "bare")
    programs: list[Item] = [item_of(item) for item in items]
    with Sandbox() as sandbox:
        player = Player(model=organism.model, dialect=organism.dialect, sandbox=sandbox, max_new_tokens=4)
        theirs = evaluate(programs, player, "greedy", 0)
    assert [one.outcome for one in ours] == [episode.outcome for episode in theirs]
    assert [one.score for one in ours] == [episode.reward for episode in theirs]


def test_stored_actions_replayed_give_the_verdict_that_the_game_gave(organism: OpenModel) -> None:
    items = NANO.load(preset("bare"), None)
    for item, one in zip(items, played(items, Players(model=organism.model, dialect=organism.dialect)), strict=True):
        if one.outcome in (Outcome.RIGHT, Outcome.WRONG):
            assert NANO.rescore(item, one.answer, preset()) == (one.outcome, one.score)


@pytest.mark.parametrize(
    "finish, outcome",
    [
        (Finish.LENGTH, Outcome.TRUNCATED),
        (Finish.REFUSED, Outcome.REFUSED),
        (Finish.CONTEXT, Outcome.CONTEXT_OVERFLOW),
        (Finish.FAILED, Outcome.INFRA_ERROR),
    ],
)
def test_a_reply_that_is_none_ends_the_game_with_its_own_outcome(finish: Finish, outcome: Outcome) -> None:
    def script(request: Request) -> Completion:
        return Completion(ids=(), logprobs=(), text="\\boxed{then}", finish=finish, error="why")

    items = NANO.load(preset(), None)[:4]
    for one in played(items, Players(model=ScriptedChat(script))):
        assert one.outcome is outcome and one.score == (0.0 if outcome.scored else None)


def test_every_request_of_a_game_carries_the_seed_of_its_sample() -> None:
    model = ScriptedChat(lambda request: "\\boxed{right}")
    items = NANO.load(preset(), None)[::10]
    played(items, Players(model=model))
    assert {request.seed for request in model.requests} == {one.seed for one in due(items)}
