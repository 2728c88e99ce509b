"""What `spadework compare` refuses or leaves out: one sentence that names the file and the remedy."""

import json
import shutil
from pathlib import Path

import pytest

from spadework.harness.types import Outcome

from ..run_fixtures import write_insecure, write_runs
from .evaluations import Ran, Task, answers, compared, spadework, write_evaluation


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A good run, to compare bad ones with."""
    return write_evaluation(tmp_path / "old", Task(samples=answers(40, range(20))))


def other(folder: Path, **changes: object) -> Path:
    """A second run that differs in something of its task."""
    return write_evaluation(folder / "new", Task(**{"samples": answers(40, range(25)), **changes}))  # type: ignore[arg-type]


def refused(*words: str | Path, code: int = 2) -> str:
    """The one sentence of a refusal."""
    ran = spadework("compare", *words)
    assert ran.code == code and ran.out == ""
    return sentence_of(ran)


def sentence_of(ran: Ran) -> str:
    said = ran.err.strip()
    assert said.startswith("spadework: ") and said.endswith(".") and "\n" not in said and "Traceback" not in said
    return said


def test_a_run_that_is_not_there_offers_the_nearest_name(
    old: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.move(old, tmp_path / "results" / "runs" / "qwen-old")
    monkeypatch.chdir(tmp_path)
    assert "no run 'qwen-odl' (did you mean 'qwen-old'?)" in refused("qwen-odl", "qwen-old")
    assert "results holds no run" in refused(tmp_path / "results", "qwen-old")


def test_a_name_that_stands_for_several_runs_is_refused(
    old: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for scale in ("nano", "smoke"):
        shutil.copytree(old, tmp_path / "results" / "runs" / scale / "same")
    monkeypatch.chdir(tmp_path)
    said = refused("same", old)
    assert "results/runs/nano/same, results/runs/smoke/same; give the path of one" in said
    assert compared("nano/same", "smoke/same")["rows"][0]["new"] == "smoke/same"


def test_one_run_alone_and_a_run_named_twice_are_refused(old: Path, tmp_path: Path) -> None:
    assert "one run has nothing to be compared with" in refused(old)
    new = other(tmp_path)
    assert "old is named twice" in refused(old, f"mine={tmp_path / 'new' / '..' / 'old'}")
    assert "stands twice in" in refused(f"{old},{old}", new)


def test_a_torn_last_line_is_ignored(old: Path, tmp_path: Path) -> None:
    new = other(tmp_path)
    before = compared(old, new)["rows"]
    with (new / "records" / "sums.jsonl").open("a") as lines:
        lines.write('{"item": "all-99')
    assert compared(old, new)["rows"] == before


def test_a_broken_line_in_the_middle_is_named(old: Path, tmp_path: Path) -> None:
    new = other(tmp_path)
    lines = (new / "records" / "sums.jsonl").read_text().splitlines()
    lines[6] = lines[6][:20]
    (new / "records" / "sums.jsonl").write_text("\n".join(lines) + "\n")
    said = refused(old, new)
    assert f"{new / 'records' / 'sums.jsonl'}, line 7: " in said and "remove that line" in said


def test_a_record_without_a_sound_number_is_named(old: Path, tmp_path: Path) -> None:
    new = other(tmp_path)
    path = new / "records" / "sums.jsonl"
    whole = path.read_text()
    for number in ("null", "7.5", "NaN"):
        path.write_text(whole.replace('"reward":1.0', f'"reward":{number}', 1))
        said = refused(old, new)
        assert f"{path}, line 1: " in said and ("spadework score" in said or "remove that line" in said)


def test_a_sample_that_stands_twice_or_is_of_another_evaluation_is_named(old: Path, tmp_path: Path) -> None:
    new = other(tmp_path)
    path = new / "records" / "sums.jsonl"
    whole = path.read_text()
    path.write_text(whole + whole.splitlines()[3] + "\n")
    assert f"{path}: sample ('all-00003', 0) stands there 2 times" in refused(old, new)
    path.write_text(whole.replace('"repeat":0', '"repeat":4', 1))
    assert f"{path}, line 1: there is no repeat 4" in refused(old, new)
    path.write_text(whole.replace('"scorer":"1"', '"scorer":"0"', 1))
    assert f"{path} holds verdicts of scorer 0, the run's is 1" in refused(old, new)


@pytest.mark.parametrize(
    ("changes", "what", "key"),
    [
        ({"preset": "paper"}, "preset official against paper", "preset"),
        ({"scorer": "2"}, "scorer 1 against 2", "scorer"),
        ({"digest": "0ther"}, "task digest d1ge57 against 0ther", "items"),
        ({"preset": "paper", "scorer": "2"}, "preset official against paper; scorer 1 against 2", "preset,scorer"),
    ],
)
def test_another_protocol_is_refused_until_it_is_allowed_by_name(
    old: Path, tmp_path: Path, changes: dict[str, object], what: str, key: str
) -> None:
    new = other(tmp_path, **changes)
    said = refused(old, new)
    assert str(old) in said and str(new) in said and what in said and f"--allow {key}." in said
    found = compared(old, new, "--allow", key)
    assert found["rows"][0]["n_items"] == 40 and found["allowed"] == sorted(key.split(","))
    assert f"as --allow {key.partition(',')[0]} permits" in spadework("compare", old, new, "--allow", key).out


def test_a_preset_that_means_something_else_under_the_same_name_is_refused_with_the_key(
    old: Path, tmp_path: Path
) -> None:
    new = other(tmp_path)
    config = (new / "config.json").read_text()
    assert '"temperature":1.0' in config
    (new / "config.json").write_text(config.replace('"temperature":1.0', '"temperature":0.5'))
    assert "preset official against official, which differ in sampling.temperature" in refused(old, new)
    assert compared(old, new, "--allow", "preset")["rows"][0]["n_items"] == 40


def test_another_limit_alone_is_no_refusal_and_other_golds_are(old: Path, tmp_path: Path) -> None:
    fewer = other(tmp_path, samples=answers(10, range(7)), limit=10, digest="0ther")
    assert compared(old, fewer)["rows"][0]["n_items"] == 10
    changed = write_evaluation(
        tmp_path / "changed",
        Task(samples=answers(10, range(7)), limit=10, digest="0ther", golds={"all-00002": "a corrected gold"}),
    )
    assert "1 items with another gold answer or category" in refused(old, changed)
    (row,) = compared(old, changed, "--allow", "items")["rows"]
    assert (row["n_items"], row["shared"]["other_gold"]) == (9, 1)


def test_runs_without_a_common_item_or_benchmark_are_refused(old: Path, tmp_path: Path) -> None:
    far = other(tmp_path, samples=answers(10, range(5), start=500), limit=10, digest="0ther")
    assert f"{old} and {far} share no item of sums" in refused(old, far)
    products = write_evaluation(tmp_path / "products", Task(name="products", samples=answers(9, range(5))))
    said = refused(old, products)
    assert f"{old} holds sums" in said and f"{products} holds products" in said
    runs = write_runs(tmp_path / "runs", rows=["spade"])
    assert "the runs share no column" in refused(old, runs / "spade")


def test_a_benchmark_that_one_run_lacks_is_said_and_the_others_are_compared(old: Path, tmp_path: Path) -> None:
    both = Task(samples=answers(40, range(25))), Task(name="products", samples=answers(9, range(5)))
    new = write_evaluation(tmp_path / "new", *both)
    assert "products: not in old." in spadework("compare", old, new).out
    assert "no run holds a column 'summs' (did you mean 'sums'?)" in refused(old, new, "--column", "summs")


def test_an_unfinished_run_is_compared_on_what_it_has_and_says_so(old: Path, tmp_path: Path) -> None:
    new = write_evaluation(tmp_path / "new", Task(samples=answers(40, range(25))), finished=False)
    lines = (new / "records" / "sums.jsonl").read_text().splitlines(keepends=True)
    (new / "records" / "sums.jsonl").write_text("".join(lines[:30]))
    ran = spadework("compare", old, new)
    assert ran.code == 0 and f"{new} is not finished" in ran.out and "30 of 40 items were played" in ran.out
    (new / "scores.json").write_text("{")
    assert f"{new / 'scores.json'} is damaged" in refused(old, new)
    (new / "records" / "sums.jsonl").unlink()
    (new / "scores.json").unlink()
    assert f"{new} holds no record" in refused(old, new)


def test_a_seed_that_is_not_finished_is_left_out_and_a_method_without_any_is_refused(tmp_path: Path) -> None:
    runs = write_runs(tmp_path, rows=["spade", "solve_rate"], seeds=3)
    (runs / "spade" / "seed1" / "summary.json").unlink()
    ran = spadework("compare", runs / "spade", runs / "solve_rate")
    assert ran.code == 0 and f"{runs / 'spade' / 'seed1'} is not finished and is left out" in ran.out
    assert "seed1 is not finished" in refused(runs / "spade" / "seed1", runs / "solve_rate" / "seed0")
    for seed in (0, 2):
        (runs / "spade" / f"seed{seed}" / "summary.json").unlink()
    assert f"{runs / 'spade'} holds no finished run" in refused(runs / "spade", runs / "solve_rate")


def test_training_runs_of_two_tasks_or_with_a_damaged_file_are_refused(tmp_path: Path) -> None:
    runs = write_runs(tmp_path, rows=["spade", "solve_rate"])
    summary = runs / "spade" / "seed0" / "summary.json"
    whole = summary.read_text()
    summary.write_text(json.dumps({**json.loads(whole), "task_digest": "0ther"}))
    assert "task digest 0ther against a1b2c3" in refused(runs / "spade", runs / "solve_rate")
    summary.write_text(whole[:-9])
    assert f"{summary} is damaged" in refused(runs / "spade", runs / "solve_rate")
    summary.write_text(whole)
    records = runs / "spade" / "seed0" / "records" / "chosen.greedy.jsonl"
    records.write_text(records.read_text().replace('"reward": 1.0', '"reward": null', 1))
    assert f"{records}, line " in refused(runs / "spade", runs / "solve_rate")


def test_runs_that_are_no_seeds_of_one_subject_are_refused(old: Path, tmp_path: Path) -> None:
    new = other(tmp_path, preset="paper")
    third = write_evaluation(tmp_path / "third", Task(samples=answers(40, range(3))))
    said = refused(third, f"{old},{new}")
    assert f"{new} and {old} cannot be two seeds of one subject: sums has another preset" in said
    runs = write_runs(tmp_path / "runs", rows=["spade"])
    assert "joins evaluations and training runs" in refused(third, f"{old},{runs / 'spade'}")


def test_a_run_whose_sandbox_was_not_safe_says_so(tmp_path: Path) -> None:
    runs = write_runs(tmp_path, rows=["spade", "solve_rate"])
    write_insecure(runs / "spade" / "seed0", "network")
    assert "its sandbox was not safe" in spadework("compare", runs / "spade", runs / "solve_rate").out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--allow", "presets"), "--allow 'presets' is unknown (did you mean 'preset'?)"),
        (("--flips", "some"), "--flips 'some' is neither a number nor all"),
        (("--margin", "0"), "--margin 0 must be above 0"),
        (("--margin", "nan"), "--margin nan must be above 0"),
        (("--mode", "greedy"), "use --column here"),
        (("--column", "sums", "--mode", "greedy"), "give one or the other"),
    ],
)
def test_a_wrong_option_is_one_sentence(old: Path, tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    assert said in refused(old, other(tmp_path), *words)


def test_two_runs_of_one_name_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    runs = [
        write_evaluation(tmp_path / side / "run", Task(samples=answers(40, range(right))))
        for side, right in (("old", 20), ("new", 25))
    ]
    assert [subject["label"] for subject in compared(*runs)["subjects"]] == ["old/run", "new/run"]
    assert [subject["label"] for subject in compared(runs[0], f"mine={runs[1]}")["subjects"]] == ["run", "mine"]


def test_a_failed_sample_is_no_wrong_one(old: Path, tmp_path: Path) -> None:
    samples = answers(40, range(20)) | {f"all-{number:05d}": [Outcome.INFRA_ERROR] for number in range(5)}
    (row,) = compared(old, other(tmp_path, samples=samples))["rows"]
    assert (row["value"], row["n_items"], row["unscored"]) == (0, 35, 5)
