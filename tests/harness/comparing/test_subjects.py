"""Reading subjects: the same evidence in a folder and packed, answers of training runs, and what a column holds."""

import json
from pathlib import Path

import numpy as np
import pytest

from spadework.harness.cli import main
from spadework.harness.comparing.subjects import read_subject
from spadework.harness.evaluate import ANSWER_CHARACTERS, Item, rows
from spadework.harness.types import Arm, Episode, Outcome, Play, Program, Sampling, Trajectory

from ..run_fixtures import write_definition, write_runs, write_summary
from .evaluations import Task, answers, compared, write_evaluation


def test_a_packed_row_reads_as_its_run_folders_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    definition = write_definition(tmp_path / "results")
    write_runs(tmp_path / "results" / "runs" / "nano", seeds=2)
    monkeypatch.chdir(tmp_path)
    assert main(["table", str(definition), "--pack", "--allow-incomplete"]) in (0, 4)
    whole = read_subject("results/runs/nano/spade")
    packed = read_subject("results/reference/nano/spade.json.gz")
    assert whole.columns.keys() == packed.columns.keys() and whole.label == packed.label == "spade"
    for name, column in whole.columns.items():
        other = packed.columns[name]
        assert (column.stamp, column.listed, column.seeds) == (other.stamp, other.listed, other.seeds)
        assert np.array_equal(column.outcomes_SIR, other.outcomes_SIR)
        assert np.array_equal(column.rewards_SIR, other.rewards_SIR, equal_nan=True)


def test_a_run_is_found_by_its_name_under_the_runs_before_the_packed_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_runs(tmp_path / "results" / "runs" / "nano", rows=["spade"], seeds=2)
    monkeypatch.chdir(tmp_path)
    assert read_subject("spade").runs == read_subject("nano/spade").runs
    assert read_subject("nano/spade/seed1").columns["held-out"].seeds == (1,)


def test_a_checkpoint_that_is_chosen_and_last_stands_for_both(tmp_path: Path) -> None:
    runs = write_runs(tmp_path, rows=["spade"])
    write_summary(runs / "spade" / "seed0", "spade", 0, "nano", 3, {"checkpoints": {"chosen": 3, "last": 3}})
    for name in ("last.greedy", "last.sampled"):
        (runs / "spade" / "seed0" / "records" / f"{name}.jsonl").unlink()
    columns = read_subject(str(runs / "spade")).columns
    assert np.array_equal(columns["held-out"].outcomes_SIR, columns["held-out last"].outcomes_SIR)


def test_a_training_runs_records_hold_the_last_action_and_a_flip_shows_it(tmp_path: Path) -> None:
    runs = write_runs(tmp_path, rows=["spade", "solve_rate"])
    for row in ("spade", "solve_rate"):
        path = runs / row / "seed0" / "records" / "chosen.greedy.jsonl"
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        path.write_text("".join(json.dumps({**line, "answer": f"{row} did {line['item']}"}) + "\n" for line in lines))
    flip = compared(runs / "spade", runs / "solve_rate")["rows"][0]["flips"][0]
    assert flip["base"]["answer"] == f"spade did {flip['item']}"
    assert flip["new"]["answer"] == f"solve_rate did {flip['item']}"


def test_the_answer_of_an_episode_is_its_last_action_cut_short() -> None:
    program = Program(id="p", source="", skill="s")
    items = [Item(id=name, category="c", program=program, seed=0) for name in ("a", "b")]
    episodes = [episode(program, actions) for actions in (("one", "x" * 999), ())]
    first, second = rows(items, episodes)
    assert first["answer"] == "x" * ANSWER_CHARACTERS and second["answer"] is None
    assert {"item", "category", "outcome", "reward"} < first.keys()


def episode(program: Program, actions: tuple[str, ...]) -> Episode:
    """An episode with these actions."""
    play = Play(program=program, seed=0, arm=Arm.PLAIN, sample_seed=0, sampling=Sampling())
    return Episode(
        play=play, trajectory=Trajectory(ids=(), generated=(), logprobs=(), temperature=0.0), reward=0.0,
        outcome=Outcome.WRONG, terminated=True, truncated=False, turns=len(actions), actions=actions,
    )  # fmt: skip


def test_a_column_counts_what_was_never_played_and_its_parts_are_columns(tmp_path: Path) -> None:
    mixed = answers(4, range(2), category="even") | answers(3, range(3), category="odd")
    run = write_evaluation(tmp_path / "run", Task(samples={**mixed, "odd-00009": [Outcome.RIGHT, Outcome.TIMEOUT]}))
    column = read_subject(str(run)).columns["sums"]
    assert column.counts() == {"right": 6, "wrong": 2, "timeout": 1, "unplayed": 7} and not column.complete
    parts = column.by_category()
    assert {name: len(part.golds) for name, part in parts.items()} == {"sums/even": 4, "sums/odd": 4}
