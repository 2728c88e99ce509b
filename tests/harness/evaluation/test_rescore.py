"""Scoring again: from stored answers, all of a task or none, and what changed is said."""

import json
from pathlib import Path

from commands import evaluate, records, scores, spadework


def test_the_same_scorer_changes_nothing(tmp_path: Path) -> None:
    """Case P045: score, read again, score again: the same."""
    out = tmp_path / "run"
    assert evaluate(out).returncode == 0
    before = (out / "scores.json").read_bytes(), (out / "records" / "arithmetic.jsonl").read_bytes()
    again = spadework("score", str(out))
    assert again.returncode == 0 and "0 of 120 verdicts changed" in again.stdout
    assert ((out / "scores.json").read_bytes(), (out / "records" / "arithmetic.jsonl").read_bytes()) == before


def test_a_newer_scorer_says_what_it_changed_and_gives_every_verdict_anew(tmp_path: Path) -> None:
    out = tmp_path / "run"
    task = ("--task", "arithmetic:SUMS_NOW")
    assert evaluate(out, *task).returncode == 0
    old = scores(out)["tasks"][0]["overall"]["value"]
    refused = evaluate(out, *task, ARITHMETIC_SCORER="2")
    assert refused.returncode == 2 and "tasks.arithmetic.scorer_version" in refused.stderr
    assert f"`spadework score {out}`" in refused.stderr
    told = spadework("score", str(out), "--dry-run", ARITHMETIC_SCORER="2")
    assert told.returncode == 0 and "scorer 1 -> 2" in told.stdout and "right -> wrong" in told.stdout
    assert {row["scorer"] for row in records(out)} == {"1"}
    done = spadework("score", str(out), ARITHMETIC_SCORER="2")
    assert done.returncode == 0 and scores(out)["tasks"][0]["overall"]["value"] < old
    assert {row["scorer"] for row in records(out)} == {"2"} and scores(out)["tasks"][0]["scorer_version"] == "2"
    changes = [json.loads(line) for line in (out / "rescored.jsonl").read_text().splitlines()]
    assert changes and all(line["outcome"] == ["right", "wrong"] and line["scorer"] == ["1", "2"] for line in changes)
    assert evaluate(out, *task, ARITHMETIC_SCORER="2").returncode == 0


def test_verdicts_of_two_scorers_in_one_file_are_refused(tmp_path: Path) -> None:
    out = tmp_path / "run"
    assert evaluate(out).returncode == 0
    path = out / "records" / "arithmetic.jsonl"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0].replace('"scorer":"1"', '"scorer":"0"'), *lines[1:]]) + "\n")
    refused = evaluate(out)
    assert refused.returncode == 2 and "by scorer 0" in refused.stderr
    assert spadework("score", str(out)).returncode == 0 and evaluate(out).returncode == 0


def test_samples_that_never_came_to_a_verdict_stay_what_they_are(tmp_path: Path) -> None:
    out = tmp_path / "run"
    assert evaluate(out, model="flaky_model").returncode == 4
    before = [row["outcome"] for row in records(out)]
    assert spadework("score", str(out)).returncode == 4
    assert [row["outcome"] for row in records(out)] == before


def test_a_run_that_is_no_evaluation_and_one_that_is_not_there_are_refused(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"digest": "x", "config": {"row": "spade"}}')
    assert "is no evaluation" in spadework("score", str(tmp_path)).stderr
    assert "no run" in spadework("score", str(tmp_path / "nothing")).stderr
