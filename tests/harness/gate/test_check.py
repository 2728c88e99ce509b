"""`spadework check`: verdicts and exit codes on real runs, what is refused, what becomes a reference."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from commands import spadework

Make = Callable[..., Path]
PACKED = Path(__file__).parents[3] / "results" / "reference" / "nano"


def changed(reference: Path, out: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    document = json.loads(reference.read_text())
    change(document)
    out.write_text(json.dumps(document))
    return out


def test_an_unchanged_run_passes_and_the_rates_of_error_are_printed(run: Make, reference: Path) -> None:
    done = spadework("check", str(run(name="again")), "--reference", str(reference))
    assert done.returncode == 0, done.stderr
    assert "arithmetic: pass" in done.stdout and "0 % of 300 items changed (0 up, 0 down)" in done.stdout
    assert "fails by chance in at most 5 % of runs" in done.stdout
    assert "would be found four times in five" in done.stdout


def test_a_worse_model_fails_with_exit_code_1_and_is_named_in_every_file(
    run: Make, reference: Path, tmp_path: Path
) -> None:
    junit, summary, step = tmp_path / "gate.xml", tmp_path / "gate.md", tmp_path / "step.md"
    step.write_text("before\n")
    words = ("check", str(run("parrot_model")), "--reference", str(reference), "--junit", str(junit))
    done = spadework(*words, "--summary", str(summary), GITHUB_STEP_SUMMARY=str(step))
    assert done.returncode == 1 and "arithmetic: FAIL, 7" in done.stdout and "the margin is 2" in done.stdout
    suite = ElementTree.parse(junit).getroot().find("testsuite")
    assert suite is not None and suite.get("failures") == "1" and suite.get("tests") == "1"
    failure = suite.find("testcase/failure")
    assert failure is not None and "FAIL" in str(failure.get("message"))
    assert "| arithmetic |" in summary.read_text() and "exit code 1" in summary.read_text()
    assert step.read_text() == "before\n" + summary.read_text() + "\n"
    assert "the model differs from the reference's in model.name" in summary.read_text()


def test_noise_that_may_hide_a_drop_is_underpowered_and_a_wider_margin_lets_it_pass(run: Make, reference: Path) -> None:
    other = str(run("clever_model", "--seed", "1"))
    done = spadework("check", other, "--reference", str(reference))
    assert done.returncode == 3 and "arithmetic: underpowered" in done.stdout and "is not ruled out" in done.stdout
    assert "items would tell" in done.stdout
    assert spadework("check", other, "--reference", str(reference), "--margin", "arithmetic=12").returncode == 0


def test_a_run_that_is_not_wholly_scored_is_incomplete_and_makes_no_reference(
    run: Make, reference: Path, tmp_path: Path
) -> None:
    flaky, copy = str(run("flaky_model")), tmp_path / "reference.json"
    copy.write_bytes(reference.read_bytes())
    done = spadework("check", flaky, "--reference", str(copy), "--junit", str(tmp_path / "gate.xml"))
    assert done.returncode == 4 and "arithmetic: incomplete" in done.stdout and "samples are not scored" in done.stdout
    assert ElementTree.parse(tmp_path / "gate.xml").getroot().find("testsuite/testcase/error") is not None
    refused = spadework("check", flaky, "--reference", str(copy), "--update")
    assert refused.returncode == 4 and "arithmetic" in refused.stderr and copy.read_bytes() == reference.read_bytes()


def test_half_written_records_are_incomplete_and_damaged_ones_name_their_line(
    run: Make, reference: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    for source in run().rglob("*"):
        if source.is_file() and source.name not in ("lock", "scores.json"):
            (out / source.relative_to(run())).parent.mkdir(parents=True, exist_ok=True)
            (out / source.relative_to(run())).write_bytes(source.read_bytes())
    lines = out / "records" / "arithmetic.jsonl"
    whole = lines.read_bytes()
    lines.write_bytes(whole[: len(whole) * 2 // 3])
    done = spadework("check", str(out), "--reference", str(reference))
    assert done.returncode == 4 and "incomplete" in done.stdout
    assert spadework("check", str(out), "--reference", str(tmp_path / "new.json"), "--update").returncode == 4
    assert not (tmp_path / "new.json").exists()
    lines.write_bytes(whole.replace(b'"repeat":0', b'"repeat":NaN', 1))
    damaged = spadework("check", str(out), "--reference", str(reference))
    assert damaged.returncode == 2 and "line 1" in damaged.stderr and "arithmetic.jsonl" in damaged.stderr


def test_another_protocol_is_refused_and_every_key_is_named(run: Make, reference: Path, tmp_path: Path) -> None:
    once = run("clever_model", "--preset", "once", name="once")
    refused = spadework("check", str(once), "--reference", str(reference))
    assert refused.returncode == 2 and "--update" in refused.stderr
    for key in ("preset", "protocol.repeats", "protocol.slice.items", "samples", "task"):
        assert key in refused.stderr, key
    for key, value in (("scorer", "0"), ("weigh", "items"), ("limit", 5)):
        document = json.loads(reference.read_text())
        document["columns"]["arithmetic"][key] = value
        (tmp_path / "r.json").write_text(json.dumps(document))
        refused = spadework("check", str(run()), "--reference", str(tmp_path / "r.json"))
        assert refused.returncode == 2 and f"differs in {key}" in refused.stderr


def test_a_benchmark_that_the_run_lacks_fails_and_a_new_one_is_told(run: Make, reference: Path, tmp_path: Path) -> None:
    def double(document: dict[str, Any]) -> None:
        document["columns"]["gone"] = document["columns"]["arithmetic"]

    done = spadework("check", str(run()), "--reference", str(changed(reference, tmp_path / "r.json", double)))
    assert done.returncode == 1 and "gone: missing" in done.stdout and "arithmetic: pass" in done.stdout

    both = run("clever_model", "--task", "arithmetic:SUMS", "--task", "arithmetic:SECRET", name="both")
    with_secret = tmp_path / "both.json"
    assert spadework("check", str(both), "--reference", str(with_secret), "--update").returncode == 0
    smaller = changed(with_secret, tmp_path / "s.json", lambda document: document["columns"].pop("secret"))
    done = spadework("check", str(both), "--reference", str(smaller))
    assert done.returncode == 0 and "secret is new: the reference does not have it" in done.stdout


def test_runs_and_references_that_share_nothing_are_an_error(run: Make, reference: Path, tmp_path: Path) -> None:
    def rename(document: dict[str, Any]) -> None:
        document["columns"] = {"other": document["columns"]["arithmetic"]}

    refused = spadework("check", str(run()), "--reference", str(changed(reference, tmp_path / "r.json", rename)))
    assert refused.returncode == 2 and "share no benchmark" in refused.stderr and "r.json" in refused.stderr

    def foreign(document: dict[str, Any]) -> None:
        items = document["columns"]["arithmetic"]["items"]
        items["other"] = items.pop(next(iter(items)))

    refused = spadework("check", str(run()), "--reference", str(changed(reference, tmp_path / "r.json", foreign)))
    assert refused.returncode == 2 and "under the same digest" in refused.stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--alpha", "0"), "--alpha"),
        (("--margin", "nan"), "--margin"),
        (("--margin", "arithmetics=3"), "did you mean 'arithmetic'"),
        (("--margin", "-1"), "--margin"),
        (("--add",), "--update"),
    ],
)
def test_wrong_words_are_one_sentence(run: Make, reference: Path, words: tuple[str, ...], told: str) -> None:
    refused = spadework("check", str(run()), "--reference", str(reference), *words)
    assert refused.returncode == 2 and told in refused.stderr and refused.stderr.count("\n") == 1


def test_a_run_or_a_reference_that_is_not_there_is_named(run: Make, reference: Path, tmp_path: Path) -> None:
    assert "no run" in spadework("check", str(tmp_path / "none"), "--reference", str(reference)).stderr
    refused = spadework("check", str(run()), "--reference", str(tmp_path / "none.json"))
    assert refused.returncode == 2 and "none.json" in refused.stderr and "--update" in refused.stderr


def test_a_reference_of_several_runs_knows_how_runs_spread(run: Make, tmp_path: Path) -> None:
    path = tmp_path / "spread.json"
    seeds = [str(run("clever_model", "--seed", str(seed), name=f"seed{seed}")) for seed in (1, 2, 3)]
    assert spadework("check", ",".join(seeds[:2]), "--reference", str(path), "--update").returncode == 0
    assert len(json.loads(path.read_text())["runs"]) == 2
    added = spadework("check", seeds[2], "--reference", str(path), "--update", "--add")
    assert added.returncode == 0 and "3 runs" in added.stdout
    twice = spadework("check", seeds[2], "--reference", str(path), "--update", "--add")
    assert twice.returncode == 2 and "holds" in twice.stderr
    done = spadework("check", str(run()), "--reference", str(path))
    assert "points between runs" in done.stdout and "more runs would tell (1 against 3 here)" in done.stdout
    assert done.returncode == 3


def test_a_run_is_added_only_to_runs_of_the_same_kind(run: Make, reference: Path, tmp_path: Path) -> None:
    once = run("clever_model", "--preset", "once", name="once")
    copy = tmp_path / "copy.json"
    copy.write_bytes(reference.read_bytes())
    refused = spadework("check", str(once), "--reference", str(copy), "--update", "--add")
    assert refused.returncode == 2 and "protocol.repeats" in refused.stderr
    nothing = spadework("check", str(once), "--reference", str(tmp_path / "none.json"), "--update", "--add")
    assert nothing.returncode == 2 and "leave out --add" in nothing.stderr


def test_margins_are_kept_in_the_reference_and_the_command_line_goes_before_them(run: Make, tmp_path: Path) -> None:
    path, other = tmp_path / "r.json", str(run("clever_model", "--seed", "1"))
    words = ("--reference", str(path), "--update")
    assert spadework("check", str(run()), *words, "--margin", "arithmetic=12").returncode == 0
    assert spadework("check", str(run()), *words).returncode == 0
    assert json.loads(path.read_text())["margins"] == {"arithmetic": 12}
    assert spadework("check", other, "--reference", str(path)).returncode == 0
    assert spadework("check", other, "--reference", str(path), "--margin", "1").returncode == 0
    assert spadework("check", other, "--reference", str(path), "--margin", "arithmetic=1").returncode == 3


def test_a_reference_holds_ids_and_means_and_no_text(run: Make, tmp_path: Path) -> None:
    secret = run("clever_model", "--task", "arithmetic:SECRET", "--preset", "official", name="secret")
    path = tmp_path / "secret.json"
    assert spadework("check", str(secret), "--reference", str(path), "--update").returncode == 0
    text = path.read_text()
    assert "What is" not in text and "boxed" not in text
    column = json.loads(text)["columns"]["secret"]
    assert column["samples"] == 2 and column["weigh"] == "categories" and column["scorer"] == "1"
    assert {mean for item in column["items"].values() for mean in item["means"]} == {0.0, 0.5, 1.0}
    assert sum('"means"' in line for line in text.splitlines()) == len(column["items"]), "one line an item"


def test_training_runs_over_seeds_are_gated_by_their_held_out_suite(tmp_path: Path) -> None:
    path = tmp_path / "spade.json"
    rows = {row: str(PACKED / f"{row}.json.gz") for row in ("spade", "base")}
    assert spadework("check", rows["spade"], "--reference", str(path), "--update").returncode == 0
    done = spadework("check", rows["spade"], "--reference", str(path), "--margin", "5")
    assert done.returncode == 0 and "points between runs" in done.stdout and "held-out: pass" in done.stdout
    done = spadework("check", rows["base"], "--reference", str(path), "--margin", "5")
    assert done.returncode in (0, 3) and "held-out" in done.stdout
