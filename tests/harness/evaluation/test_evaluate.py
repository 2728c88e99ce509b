"""`spadework eval` from the command line to `scores.json`: what is refused, what is recorded, what is never kept."""

import json
import re
import shutil
import subprocess
from importlib.resources import files
from pathlib import Path

import pytest
from arithmetic import SECRET
from commands import command, environment, evaluate, evaluation, quoted, records, scores, spadework

from spadework.harness.evaluation.presets import read_protocols


def test_an_evaluation_leaves_config_provenance_records_and_scores(tmp_path: Path) -> None:
    out = tmp_path / "run"
    done = evaluate(out)
    assert done.returncode == 0 and "complete" in done.stdout
    (task,) = scores(out)["tasks"]
    assert task["preset"]["name"] == "official" and task["preset"]["source"] and task["scorer_version"] == "1"
    assert task["overall"]["n_scored"] == task["overall"]["n_samples"] == 120 == len(records(out))
    assert task["overall"]["low"] < task["overall"]["value"] < task["overall"]["high"]
    assert set(task["categories"]) == {"even", "odd"} and sum(task["overall"]["counts"].values()) == 120
    (origin,) = json.loads((out / "provenance.json").read_text())
    assert origin["scorers"]["arithmetic"] and origin["packages"]["spadework"] and "accelerators" in origin
    assert json.loads((out / "models.json").read_text())["model"]["weights"]
    assert not (out / "private").exists()


def test_the_same_command_without_out_has_the_same_folder_and_another_one_has_not(tmp_path: Path) -> None:
    """Case P172: a stable path."""
    words = [word for word in evaluation(tmp_path) if word not in ("--out", str(tmp_path))]
    for more in ((), (), ("--seed", "1")):
        assert spadework(*words, *more, cwd=tmp_path).returncode == 0
    folders = sorted((tmp_path / "results" / "runs" / "eval").iterdir())
    assert len(folders) == 2 and all(folder.name.startswith("arithmetic-clever_model-") for folder in folders)


@pytest.mark.parametrize(
    "words, sentence",
    [
        (("--task", "nanoo"), "did you mean 'nano'"),
        (("--suite", "gamse"), "did you mean 'games'"),
        (("--engine", "transformer"), "did you mean 'transformers'"),
        (("--preset", "oficial"), "did you mean 'official'"),
        (("--preset", "nano=chat"), "not asked for"),
        (("--limit", "0"), "from 1 on"),
        (("--limit", "few"), "from 1 on, not few"),
        (("--limit", "nano=5"), "not asked for"),
        (("--chunk", "0"), "from 1 on"),
        (("--price", "x"), "--price"),
        (("--engine", "transformers", "--engine-set", "dtyp=float32"), "did you mean 'dtype'"),
        (("--engine", "auto", "--model", "./no/such/folder"), "no/such/folder"),
        (("--model", "no_such_module:x"), "no_such_module"),
        (("--model", "arithmetic:no_such_player"), "no_such_player"),
    ],
)
def test_what_is_misspelt_is_refused_with_one_sentence_and_leaves_no_folder(
    tmp_path: Path, words: tuple[str, ...], sentence: str
) -> None:
    out = tmp_path / "run"
    refused = evaluate(out, *words)
    assert refused.returncode == 2 and sentence in refused.stderr and "Traceback" not in refused.stderr
    assert not out.exists()


def test_a_limit_for_one_task_goes_before_that_for_all_and_what_each_task_cost_is_told(tmp_path: Path) -> None:
    out = tmp_path / "run"
    both = ("--task", "arithmetic:SUMS", "--task", "arithmetic:SECRET")
    done = evaluate(out, *both, "--limit", "7", "--limit", "arithmetic:SECRET=5")
    assert done.returncode == 0, done.stderr
    assert [task["n_items"] for task in scores(out)["tasks"]] == [7, 5]
    shown = spadework("show", str(out)).stdout
    for said in (done.stdout, shown):
        (first,) = re.findall(r"^arithmetic: \d+ s, (\d+) requests, \d+ prompt tokens, \d+ new ones$", said, re.M)
        assert int(first) == 14, "two samples an item, a request each"


def test_an_evaluation_of_nothing_is_refused() -> None:
    assert "--suite or --task" in spadework("eval", "--model", "nano:base").stderr


def test_only_the_store_and_the_sink_know_the_folder_of_completions() -> None:
    """No report and no table reads it."""
    harness = Path(str(files("spadework.harness")))
    naming = {path.name for path in harness.rglob("*.py") if re.search(r"\bPRIVATE\b|\.private\(", path.read_text())}
    assert naming == {"store.py", "sink.py"}


def test_every_missing_file_is_named_at_once_before_the_model_is_looked_for(tmp_path: Path) -> None:
    out = tmp_path / "run"
    words = ("--task", "arithmetic:SUMS", "--task", "arithmetic:SECRET", "--data", str(tmp_path), "--offline")
    refused = evaluate(out, *words, model="no_such_player")
    assert refused.returncode == 2 and "2 of 2 tasks cannot run" in refused.stderr
    assert refused.stderr.count("sums.txt") == 2 and "no_such_player" not in refused.stderr and not out.exists()


def test_a_score_says_what_of_the_data_no_digest_vouches_for(tmp_path: Path) -> None:
    out = tmp_path / "run"
    done = evaluate(out, "--task", "arithmetic:DOUBTFUL", "--limit", "5")
    assert done.returncode == 0 and "data NOT verified, no checksum is known of sums.txt" in done.stdout
    assert scores(out)["tasks"][0]["unverified"] == "no checksum is known of sums.txt"
    assert "NOT verified" in spadework("show", str(out)).stdout
    assert "NOT verified" in spadework("score", str(out)).stdout
    known = evaluate(tmp_path / "known", "--limit", "5")
    assert "NOT verified" not in known.stdout + known.stderr


def test_a_task_that_cannot_run_is_a_failed_cell_and_the_exit_code_says_so(tmp_path: Path) -> None:
    out = tmp_path / "run"
    words = ("--task", "arithmetic:SUMS", "--task", "arithmetic:SECRET", "--data", "arithmetic:SECRET=" + str(tmp_path))
    assert evaluate(out, *words).returncode == 2
    done = evaluate(out, *words, "--allow-missing")
    assert done.returncode == 0 and "secret: FAILED, no file" in done.stdout
    assert not scores(out)["complete"] and list(scores(out)["missing"]) == ["secret"]


@pytest.mark.parametrize("model", ["parrot_model", "clever_model"])
def test_nothing_that_a_run_on_a_closed_benchmark_writes_quotes_a_problem(tmp_path: Path, model: str) -> None:
    """Not through records, scores, caches or a model that repeats the problem in its box."""
    out = tmp_path / "run"
    words = ("--task", "arithmetic:SECRET", "--cache", str(tmp_path / "cache" / "completions.sqlite"))
    assert evaluate(out, *words, model=model).returncode == 0
    preset = read_protocols(Path(__file__).parent / "presets" / "secret.toml").preset(None)
    problems = {item.id: SECRET.problem(item) for item in SECRET.load(preset, None)}
    assert quoted(problems, [tmp_path]) == []
    if model == "parrot_model":
        assert {row["answer"] for row in records(out, "secret")} == {None}
        assert all("quotes the problem" in row["detail"] for row in records(out, "secret"))


def test_whole_completions_are_kept_only_when_asked_for_and_git_ignores_them(tmp_path: Path) -> None:
    out = tmp_path / "run"
    assert evaluate(out, "--task", "arithmetic:SECRET", "--keep-completions", model="parrot_model").returncode == 0
    lines = [json.loads(line) for line in (out / "private" / "secret.jsonl").read_text().splitlines()]
    assert len(lines) == 120 and "What is" in lines[0]["completions"][0]["text"]
    assert (out / "private" / ".gitignore").read_text() == "*\n"
    shown = spadework("show", str(out))
    assert shown.returncode == 0 and "What is" not in shown.stdout


def test_the_search_for_quotations_finds_them_in_archives_escapes_and_other_cases(tmp_path: Path) -> None:
    import gzip
    import zipfile

    text = "If a train\nleaves at noon, when does the next one \u00e0 droite arrive?"
    (tmp_path / "a.json").write_text(json.dumps({"prompt": text.upper()}))
    (tmp_path / "b.gz").write_bytes(gzip.compress(text.encode()))
    with zipfile.ZipFile(tmp_path / "c.eval", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("samples/1.json", json.dumps([text]))
    (tmp_path / "d.txt").write_text("If a train leaves at noon, when do we meet?")
    found = quoted({"train": text}, [tmp_path])
    assert [Path(line.split("!")[0].removesuffix(": train")).name for line in found] == ["a.json", "b.gz", "c.eval"]


def test_the_cache_answers_for_the_same_model_and_for_no_other(tmp_path: Path) -> None:
    """Case P168: model A's text never becomes model B's result, whatever their names."""
    cache = ("--cache", str(tmp_path / "completions.sqlite"))
    assert evaluate(tmp_path / "first", *cache, "--limit", "10").returncode == 0
    assert evaluate(tmp_path / "all", *cache).returncode == 0
    toy = tmp_path / "elsewhere"
    toy.mkdir()
    shutil.copy(Path(__file__).parent / "arithmetic.py", toy / "other.py")
    with (toy / "other.py").open("a") as file:
        file.write("# other weights\n")
    path = f"{toy}:{Path(__file__).parent}"
    assert evaluate(tmp_path / "other", *cache, "--model", "other:clever_model", PYTHONPATH=path).returncode == 0
    hits = [json.loads((tmp_path / name / "metrics.jsonl").read_text())["cached"] for name in ("first", "all", "other")]
    assert hits == [0, 20, 0]
    assert (tmp_path / "all" / "scores.json").exists()


def test_a_cap_keeps_what_is_finished_and_the_same_command_goes_on(tmp_path: Path) -> None:
    out, calm = tmp_path / "run", tmp_path / "calm"
    capped = evaluate(out, "--cap-requests", "50")
    assert capped.returncode == 4 and "stopped by the cap of 50 requests" in capped.stdout
    assert len(records(out)) == 50 and {row["outcome"] for row in records(out)} <= {"right", "no_answer", "wrong"}
    assert not scores(out)["complete"]
    assert evaluate(out).returncode == 0 and evaluate(calm).returncode == 0
    assert (out / "scores.json").read_bytes() == (calm / "scores.json").read_bytes()


def test_without_a_network_a_run_on_data_of_the_house_goes_through(tmp_path: Path) -> None:
    words = command("eval", "--model", "nano:base", "--task", "nano", "--preset", "bare", "--limit", "6", "--offline")
    alone = ["unshare", "--net", "--map-root-user"]
    if subprocess.run([*alone, "true"], capture_output=True).returncode != 0:
        pytest.skip("this machine makes no network namespace")
    done = subprocess.run(
        [*alone, *words, "--out", str(tmp_path / "run")], env=environment(), capture_output=True, text=True, timeout=300
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert scores(tmp_path / "run")["tasks"][0]["overall"]["n_scored"] == 6


def test_a_run_under_way_is_shown_by_its_counts_and_has_no_score(tmp_path: Path) -> None:
    out = tmp_path / "run"
    assert evaluate(out, "--cap-requests", "50").returncode == 4
    (out / "scores.json").unlink()
    shown = spadework("show", str(out))
    assert shown.returncode == 0 and "not finished" in shown.stdout and "50 of 120" in shown.stdout
