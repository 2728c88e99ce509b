"""What a benchmark hands in becomes one sound line each, or is refused."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from arithmetic import SUMS

from spadework.harness.benchmark import Preset, Scored
from spadework.harness.errors import InputError
from spadework.harness.evaluation.due import still_due
from spadework.harness.evaluation.settings import EvaluationSettings
from spadework.harness.evaluation.sink import RecordSink, Rules
from spadework.harness.store import RunFolder
from spadework.harness.types import Outcome, Sampling

PRESET = Preset(benchmark="arithmetic", name="x", source="", sampling=Sampling(), slice={"items": 3})
GOOD = Scored(item="", category="even", repeat=0, outcome=Outcome.RIGHT, score=1.0, answer="7", gold="g")


def sink(tmp_path: Path, **rules: object) -> RecordSink:
    settings = EvaluationSettings(model="m", engine="scripted", tasks={})
    folder = RunFolder(tmp_path / "run", settings)
    due = still_due("arithmetic", SUMS.load(PRESET, None), 1, 0, ())
    return RecordSink(folder=folder, rules=Rules(name="arithmetic", scorer="1", **rules), due=due)  # type: ignore[arg-type]


def lines(tmp_path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (tmp_path / "run/records/arithmetic.jsonl").read_text().splitlines()]


def test_a_sample_that_was_not_asked_for_or_comes_twice_ends_the_run(tmp_path: Path) -> None:
    """Case P187: nothing is counted twice."""
    one = sink(tmp_path)
    good = replace(GOOD, item=one.due[0].item.id)
    one.put(good, [])
    for wrong in (good, replace(GOOD, item="stranger"), replace(good, repeat=1)):
        other = sink_again(one)
        with pytest.raises(InputError, match="unasked or twice"):
            other.put(wrong, [])
        assert other.failure is not None
        with pytest.raises(InputError):
            other.put(replace(GOOD, item=one.due[1].item.id), [])
    assert len(lines(tmp_path)) == 1


def sink_again(one: RecordSink) -> RecordSink:
    return RecordSink(folder=one.folder, rules=one.rules, due=one.due[1:])


@pytest.mark.parametrize("score", [None, float("nan"), float("inf"), 1.5, -0.1])
def test_a_score_that_is_no_share_is_the_scorers_fault_and_no_zero(tmp_path: Path, score: float | None) -> None:
    """Cases L231 and P020: `nan` from a scorer is no full mark."""
    one = sink(tmp_path)
    one.put(replace(GOOD, item=one.due[0].item.id, score=score), [])
    (line,) = lines(tmp_path)
    assert line["outcome"] == "scorer_error" and line["reward"] is None and "no number in" in str(line["detail"])


def test_an_unscored_sample_carries_no_score(tmp_path: Path) -> None:
    one = sink(tmp_path)
    one.put(replace(GOOD, item=one.due[0].item.id, outcome=Outcome.INFRA_ERROR, score=0.0), [])
    assert lines(tmp_path)[0]["reward"] is None


def test_what_fails_after_a_cap_is_not_recorded_and_stays_due(tmp_path: Path) -> None:
    one = sink(tmp_path, out_of_means=lambda: True)
    one.put(replace(GOOD, item=one.due[0].item.id, outcome=Outcome.INFRA_ERROR, score=None), [])
    one.put(replace(GOOD, item=one.due[1].item.id), [])
    assert len(lines(tmp_path)) == 1 and one.dropped == 1


def test_a_fact_or_a_detail_that_quotes_the_problem_is_not_written(tmp_path: Path) -> None:
    problem = "one two three four five six seven eight nine ten"
    one = sink(tmp_path, problem=lambda due: problem)
    told = replace(
        GOOD, item=one.due[0].item.id, detail=f"cannot read {problem}", facts={"said": problem.upper(), "tokens": 3}
    )
    one.put(told, [])
    (line,) = lines(tmp_path)
    assert "three four" not in json.dumps(line).lower() and line["facts"] == {"tokens": 3} and line["answer"] == "7"
