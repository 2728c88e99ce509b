"""LiveCodeBench from its files to its results, by scripted players, through inspect-ai and the sandbox."""

import json
import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("inspect_ai", reason="inspect-ai is not installed")

from contest_files import row, written
from inspect_ai.log import read_eval_log
from kept import Kept, preset_of, samples

from spadework.harness.benchmark import Players, Preset, TaskItem
from spadework.harness.errors import InputError
from spadework.harness.scripted import ChatScript, ScriptedChat
from spadework.harness.types import Completion, Finish, Outcome, Request
from spadework.tasks.livecodebench import LIVECODEBENCH, LiveCodeBench

MODULE = "spadework.tasks.livecodebench"
SUM, INCREMENT = [("1 2", "3"), ("3 4", "7")], [("1", "2"), ("5", "6")]
ADD = "print(sum(map(int, input().split())))"
METHOD = "class Solution:\n    def f(self, x): return x + 1"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    solutions = [{"question_id": "adding", "code": ADD}, {"question_id": "after", "code": METHOD}]
    written(tmp_path / "data" / "solutions.jsonl", solutions)
    return written(tmp_path / "data" / "mine.jsonl", [row("adding", SUM), row("after", INCREMENT, "f")])


def preset(name: str = "official") -> Preset:
    found = preset_of(LIVECODEBENCH, MODULE, name)
    return replace(found, slice={}, options={"test_seconds": 1, "memory_mb": 512})


def played(items: Sequence[TaskItem], script: ChatScript, chosen: Preset, **players: object) -> Kept:
    sink = Kept()
    LIVECODEBENCH.run(samples(items), chosen, Players(model=ScriptedChat(script), **players), sink)  # type: ignore[arg-type]
    return sink


@pytest.mark.parametrize("name", ["paper-inloop", "paper-offline", "official", "qwen", "corrected", "validation"])
def test_the_solutions_are_right_under_every_preset(name: str, file: Path) -> None:
    items = LIVECODEBENCH.load(preset(name), file)
    gold = {item.id: LIVECODEBENCH.gold_replies(item)[0].content for item in items}
    seeds = {one.seed: gold[one.item.id] for one in samples(items)}
    results = played(items, lambda request: seeds[request.seed], preset(name)).scored
    assert [one.outcome for one in results] == [Outcome.RIGHT] * 2, results
    for one in results:
        (item,) = [item for item in items if item.id == one.item]
        assert LIVECODEBENCH.rescore(item, one.answer, preset(name)) == (Outcome.RIGHT, 1.0)


REPLIES = {
    "no fence": ("I cannot.", Outcome.NO_ANSWER),
    "nothing": ("", Outcome.NO_ANSWER),
    "thinking alone": (f"<think>```python\n{ADD}\n```", Outcome.NO_ANSWER),
    "thinking before": (f"<think>```python\nwrong\n```</think>```python\n{ADD}\n```", Outcome.RIGHT),
    "wrong": ("```python\nprint(0)\n```", Outcome.WRONG),
    "too slow": ("```python\nwhile True: pass\n```", Outcome.TIMEOUT),
}


@pytest.mark.parametrize("name", REPLIES)
def test_a_reply_ends_as_what_it_is(name: str, file: Path) -> None:
    reply, outcome = REPLIES[name]
    (result,) = played(LIVECODEBENCH.load(preset(), file)[:1], lambda _: reply, preset()).scored
    assert result.outcome is outcome and result.category == "easy", result
    assert result.score == (1.0 if outcome is Outcome.RIGHT else 0.0)


@pytest.mark.parametrize(
    ("finish", "outcome"),
    [
        (Finish.LENGTH, Outcome.TRUNCATED), (Finish.REFUSED, Outcome.REFUSED),
        (Finish.CONTEXT, Outcome.CONTEXT_OVERFLOW), (Finish.FAILED, Outcome.INFRA_ERROR),
    ],
)  # fmt: skip
def test_a_completion_that_did_not_end_well_is_not_run(finish: Finish, outcome: Outcome, file: Path) -> None:
    def script(_: Request) -> Completion:
        return Completion(ids=(), logprobs=(), text=f"```python\n{ADD}\n```", finish=finish, error="why")

    (result,) = played(LIVECODEBENCH.load(preset(), file)[:1], script, preset()).scored
    assert result.outcome is outcome and result.detail == "why"


def test_no_word_of_a_problem_reaches_inspects_log(file: Path, tmp_path: Path) -> None:
    def quoting(request: Request) -> str | Completion:
        asked = request.messages[-1].content
        if request.seed % 2:
            return Completion(ids=(), logprobs=(), text="", finish=Finish.FAILED, error=f"cannot: {asked}")
        return f"{asked}\n```python\n# {asked}\nraise ValueError('''{asked}''')\n```"

    items = LIVECODEBENCH.load(preset(), file)
    assert "cartographer" in LIVECODEBENCH.problem(items[0])
    for shift in range(4):
        sink = Kept()
        shifted = [replace(one, seed=number + shift) for number, one in enumerate(samples(items))]
        players = Players(model=ScriptedChat(quoting), logs=tmp_path / "logs")
        LIVECODEBENCH.run(shifted, preset(), players, sink)
        assert len(sink.scored) == 2
    for path in (tmp_path / "logs").iterdir():
        text = read_eval_log(str(path)).model_dump_json()
        assert "cartographer" not in text and items[0].id in text


def test_the_count_of_items_is_said_and_ids_do_not_change(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        items = LIVECODEBENCH.load(replace(preset(), slice={"release": "v6", "items": 175}), file)
    assert "2 items (release v6), where the preset speaks of 175" in caplog.text
    assert [item.id for item in items] == [item.id for item in LiveCodeBench().load(preset(), file)]
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    lines[0]["public_test_cases"] = lines[0]["public_test_cases"].replace("3", "4")
    changed = LIVECODEBENCH.load(preset(), written(file, lines))
    assert [item.id for item in changed] == [item.id for item in items] and changed[0].gold != items[0].gold


def test_words_of_a_preset_that_there_are_not_are_one_error(file: Path) -> None:
    for name, value in {"prompt": "oficial", "extraction": "last-fense", "scorer": "offical"}.items():
        with pytest.raises(InputError, match="did you mean"):
            LIVECODEBENCH.load(replace(preset(), **{name: value}), file)  # type: ignore[arg-type]
