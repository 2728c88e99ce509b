"""Alarms of real steps on the shipped checkpoint: what goes wrong is made to go wrong, and the alarm names it."""

import copy
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from spadework.harness import jsonl
from spadework.harness.engine import LocalEngine
from spadework.harness.scripted import ScriptedModel
from spadework.harness.show import sections
from spadework.harness.store import RunFolder
from spadework.harness.types import Request
from spadework.training import sources
from spadework.training.loop import train, train_step
from spadework.training.nano.dialect import NanoDialect
from spadework.training.recipe import Recipe, load_recipe
from spadework.training.run import Run, RunState, opened

SMALL = (
    "steps=3", "window=1", "designer.environments=3", "designer.attempts=1", "designer.hints=false", "play.instances=2",
    "designer.skills_per_window=1", "evaluation.share=0.01", "evaluation.validation_share=0.01",
    "evaluation.validate_every=9", "require_gates=false", "source.reward=solve_rate",
)  # fmt: skip
LOST = Path(__file__).parents[2] / "baselines" / "pools" / "nano" / "game_00003.py"


def recipe(*more: str) -> Recipe:
    return load_recipe("spade", [*SMALL, *more])


def always_lost() -> str:
    """A valid program of the shipped pool, with every reward 0."""
    source = LOST.read_text()
    lost = source.replace("self.i / len(self.p) if end else 0", "0")
    assert lost != source
    return lost


@contextmanager
def written_by(own: Recipe, write: Callable[[NanoDialect], Sequence[int]]) -> Iterator[Run]:
    """A run whose designer writes the same ids each time."""
    with opened(own) as run:
        assert isinstance(run.dialect, NanoDialect)
        ids = write(run.dialect)
        parts = sources.Parts(
            recipe=own, organism=run.organism, model=run.engine, dialect=run.dialect, sandbox=run.sandbox,
            corpus=run.corpus,
        )  # fmt: skip

        def script(request: Request) -> Sequence[int]:
            return ids

        writer = ScriptedModel(script, run.dialect.decode)
        yield replace(run, source=sources.designed(parts, writer, run.dialect, author="other"))


def stepped(run: Run, path: Path) -> tuple[RunState, list[jsonl.Row]]:
    """The state after every step of the recipe, and the metrics lines."""
    torch.set_num_threads(1)
    state = RunState()
    with RunFolder(path, run.recipe) as folder:
        for step in range(run.recipe.steps):
            state = train_step(run, state, step, folder)
    return state, jsonl.read(path / "metrics.jsonl")


def test_one_program_that_nobody_can_win_raises_its_four_alarms(tmp_path: Path) -> None:
    with written_by(recipe(), lambda dialect: [*dialect.encode(always_lost()), dialect.eos_id]) as run:
        state, lines = stepped(run, tmp_path / "run")
    assert [line["return"] for line in lines] == [0.0] * 3
    assert [line["distinct_share"] for line in lines] == [pytest.approx(1 / 3), 0.0, 0.0]
    assert {alarm.name for alarm in state.health.active} == {
        "zero reward", "zero variance", "win rate at 0", "diversity",
    }  # fmt: skip
    told = {str(one["alarm"]): line["step"] for line in lines for one in line["alarms"]}  # type: ignore[attr-defined]
    assert told == {"win rate at 0": 1, "diversity": 2, "zero reward": 2, "zero variance": 2}
    shown = sections(tmp_path / "run")["alarms"]
    assert len(shown) == 4 and all(str(text).count(": ") for text in shown.values())


def test_a_designer_that_repeats_a_word_is_caught_in_its_loop_and_cut_off(tmp_path: Path) -> None:
    own = recipe("designer.max_new_tokens=60", "stop_after_empty=9")
    with written_by(own, lambda dialect: [dialect.words[dialect.nouns[0]]] * 99) as run:
        state, _ = stepped(run, tmp_path / "run")
    assert {alarm.name for alarm in state.health.active} == {"designer's loops", "designer's truncation"}


def test_a_sampler_that_keeps_the_old_weights_is_found_by_the_canary_and_by_the_gap(tmp_path: Path) -> None:
    with opened(recipe("health.sampler_gap=1e-4", "health.patience=1")) as run:
        stale = LocalEngine(copy.deepcopy(run.policy.model), pad_id=run.dialect.pad_id, decode=run.dialect.decode)
        state, lines = stepped(replace(run, engine=stale), tmp_path / "run")
        assert all(float(str(line["canary_gap"])) > 1e-4 for line in lines)
        assert {(a.name, a.began) for a in state.health.active} >= {("weight sync", 1), ("sampler gap", 1)}
    with opened(recipe()) as run:
        state, lines = stepped(run, tmp_path / "sound")
        assert all(float(str(line["canary_gap"])) < 1e-4 for line in lines)
        assert not {alarm.name for alarm in state.health.alarms} & {"weight sync", "sampler gap"}


def test_plays_without_room_are_cut_off_and_an_alarm_says_so(tmp_path: Path) -> None:
    with opened(recipe("play.max_tokens=5")) as run:
        state, lines = stepped(run, tmp_path / "run")
    assert all(line["truncated_share"] == 1.0 for line in lines)
    assert "truncation" in {alarm.name for alarm in state.health.active}


def test_alarms_are_said_shown_and_kept_in_the_summary_and_can_be_switched_off(tmp_path: Path) -> None:
    said: list[str] = []
    words: list[str] = []
    bound = ("health.zero_variance_share=0.0", "health.patience=1")
    train(recipe(*bound), tmp_path / "on", say=said.append, report=lambda done, total, text: words.append(text))
    summary = json.loads((tmp_path / "on" / "summary.json").read_text())
    assert [(alarm["name"], alarm["began"]) for alarm in summary["alarms"]] == [("zero variance", 0)]
    assert len(said) == 1 and said[0].startswith("step 1: zero variance: ")
    assert "ALARM zero variance" in words[0]
    train(recipe(*bound, "health.enabled=false"), tmp_path / "off", say=said.append)
    off, on = (jsonl.read(tmp_path / name / "metrics.jsonl") for name in ("off", "on"))
    assert len(said) == 1 and "alarms" not in off[0]
    for one, other in zip(off, on, strict=True):
        assert {key: other[key] for key in one if key != "seconds"} == {k: v for k, v in one.items() if k != "seconds"}
