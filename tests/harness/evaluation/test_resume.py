"""A stopped evaluation goes on as if it had never been stopped; another evaluation is refused."""

import random
import resource
import signal
import subprocess
import time
from pathlib import Path

import pytest
from commands import command, environment, evaluate, evaluation, records, scores

KILLS = 12


def test_killed_at_random_moments_it_leaves_what_an_undisturbed_run_leaves(tmp_path: Path) -> None:
    """Cases P173, P174, P176, P179 and P187: nothing done is lost, nothing is counted twice, a resume may be killed."""
    calm, shaken = tmp_path / "calm", tmp_path / "shaken"
    options = ("--preset", "many", "--chunk", "64", "--no-preflight")
    assert evaluate(calm, *options, model="slow_model").returncode == 0
    rng = random.Random(4)
    seen: set[str] = set()
    amid = 0
    for _ in range(KILLS):
        words = command(*evaluation(shaken, *options, model="slow_model"))
        process = subprocess.Popen(words, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if rng.random() < 0.3:
            time.sleep(rng.uniform(0, 1.0))
        else:
            wait_for_lines(shaken, len(seen) + rng.randrange(1, 60))
            time.sleep(rng.uniform(0, 0.01))
        process.send_signal(signal.SIGKILL)
        process.wait()
        now = set(whole_lines(shaken))
        assert now >= seen, "a record that was there is gone"
        amid += 0 < len(now) < 600
        seen = now
    assert amid > KILLS // 3, "most kills came too early or too late"
    assert evaluate(shaken, *options, model="slow_model").returncode == 0
    keys = [(row["item"], row["repeat"]) for row in records(shaken)]
    assert len(keys) == len(set(keys)) == 600
    assert sorted(map(str, records(shaken))) == sorted(map(str, records(calm)))
    assert (shaken / "scores.json").read_bytes() == (calm / "scores.json").read_bytes()


def whole_lines(out: Path) -> list[str]:
    path = out / "records" / "arithmetic.jsonl"
    lines = path.read_text().splitlines(keepends=True) if path.is_file() else []
    return [line for line in lines if line.endswith("\n")]


def wait_for_lines(out: Path, count: int) -> None:
    deadline = time.monotonic() + 60
    while len(whole_lines(out)) < count and not (out / "scores.json").exists() and time.monotonic() < deadline:
        time.sleep(0.002)


def test_a_finished_run_is_not_played_again_and_needs_no_model(tmp_path: Path) -> None:
    out = tmp_path / "run"
    assert evaluate(out).returncode == 0
    before = {path: path.read_bytes() for path in out.rglob("*.jsonl")}
    again = evaluate(out)
    assert again.returncode == 0 and "0 of 120 samples are to be played" in again.stdout
    assert {path: path.read_bytes() for path in out.rglob("*.jsonl")} == before


@pytest.mark.parametrize(
    "words, key",
    [
        (("--seed", "1"), "seed"),
        (("--repeats", "3"), "tasks.arithmetic.preset.repeats"),
        (("--limit", "10"), "tasks.arithmetic.items"),
        (("--preset", "once"), "tasks.arithmetic.preset.name"),
    ],
)
def test_another_evaluation_in_the_same_folder_is_refused_with_the_keys_that_differ(
    tmp_path: Path, words: tuple[str, ...], key: str
) -> None:
    out = tmp_path / "run"
    assert evaluate(out).returncode == 0
    refused = evaluate(out, *words)
    assert refused.returncode == 2 and key in refused.stderr and "--fresh" in refused.stderr
    assert evaluate(out, *words, "--fresh").returncode == 0


def test_another_model_under_the_same_name_is_refused(tmp_path: Path) -> None:
    """Case P168: a name is not an identity."""
    out = tmp_path / "run"
    toy = tmp_path / "elsewhere"
    toy.mkdir()
    source = (Path(__file__).parent / "arithmetic.py").read_text()
    (toy / "other_player.py").write_text(source)
    path = f"{toy}:{Path(__file__).parent}"
    words = ("--task", "arithmetic:SUMS", "--cap-requests", "10", "--model", "other_player:clever_model")
    assert evaluate(out, *words, PYTHONPATH=path).returncode == 4
    (toy / "other_player.py").write_text(source + "\n")
    refused = evaluate(out, *words, PYTHONPATH=path)
    assert refused.returncode == 2 and "model.weights" in refused.stderr


def test_what_the_infrastructure_failed_is_no_zero_and_is_played_again(tmp_path: Path) -> None:
    """Case P208: both rates are told, and the failures are retried."""
    out = tmp_path / "run"
    first = evaluate(out, model="flaky_model")
    overall = scores(out)["tasks"][0]["overall"]
    failed = overall["counts"]["infra_error"]
    assert first.returncode == 4 and 0 < failed < 60 and not scores(out)["complete"]
    assert overall["n_scored"] == 120 - failed and f"{120 - failed} scored of 120" in " ".join(first.stdout.split())
    assert overall["value_all"] < overall["value"]
    assert "most failures say: connection refused" in " ".join(first.stdout.split())
    second = evaluate(out, model="flaky_model", MENDED="1")
    assert second.returncode == 0 and f"{failed} of 120 samples are to be played" in second.stdout
    assert "infra_error" not in scores(out)["tasks"][0]["overall"]["counts"] and "failures" not in second.stdout
    assert len(records(out)) == 120 and len((out / "retries.jsonl").read_text().splitlines()) == failed
    calm = tmp_path / "calm"
    assert evaluate(calm, model="flaky_model", MENDED="1").returncode == 0
    assert (calm / "scores.json").read_bytes() == (out / "scores.json").read_bytes()


def test_a_server_that_is_down_ends_the_task_and_not_after_every_sample(tmp_path: Path) -> None:
    out = tmp_path / "run"
    ended = evaluate(out, "--chunk", "20", model="broken_model")
    assert ended.returncode == 4 and "connection refused" in scores(out)["tasks"][0]["overall"]["reason"]
    assert len(records(out)) == 20 and scores(out)["tasks"][0]["overall"]["value"] is None
    assert evaluate(out, "--chunk", "20", "--allow-missing", model="broken_model").returncode == 0


def test_a_full_disk_ends_the_run_with_one_sentence_and_the_same_command_goes_on(tmp_path: Path) -> None:
    """Case P175: what was there stays whole."""

    def small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (9000, 9000))

    out, calm = tmp_path / "run", tmp_path / "calm"
    words = command(*evaluation(out))
    full = subprocess.run(
        words, env=environment(), capture_output=True, text=True, preexec_fn=small_files, timeout=60
    )  # fmt: skip
    assert full.returncode == 4 and "cannot write" in full.stderr and "Traceback" not in full.stderr
    kept = records(out)
    assert 20 < len(kept) < 120 and not (out / "scores.json").exists()
    assert evaluate(out).returncode == 0 and records(out)[: len(kept)] == kept
    assert evaluate(calm).returncode == 0
    assert (out / "scores.json").read_bytes() == (calm / "scores.json").read_bytes()


SMALL_DISK = """
mount -t tmpfs -o size=44k small "$1" || exit 99
shift
"$@" 2> "$HERE/first"; echo $? > "$HERE/codes"
mount -o remount,size=4m "$DISK"
"$@" 2> "$HERE/second"; echo $? >> "$HERE/codes"
cp "$DISK/run/scores.json" "$HERE/"
"""


def test_a_disk_without_room_is_told_and_the_run_goes_on_when_there_is_some(tmp_path: Path) -> None:
    """Case P175, on a file system of 44 kB."""
    disk, calm = tmp_path / "disk", tmp_path / "calm"
    disk.mkdir()
    script = ["unshare", "--mount", "--map-root-user", "bash", "-c", SMALL_DISK, "small-disk", str(disk)]
    variables = environment(HERE=str(tmp_path), DISK=str(disk))
    words = command(*evaluation(disk / "run"))
    done = subprocess.run([*script, *words], env=variables, capture_output=True, text=True, timeout=300)
    if not (tmp_path / "codes").is_file():
        pytest.skip(f"this machine mounts no file system for us ({done.stderr.strip()})")
    assert (tmp_path / "codes").read_text().split() == ["4", "0"]
    first = (tmp_path / "first").read_text()
    assert "cannot write" in first and "No space left" in first and "Traceback" not in first
    assert evaluate(calm).returncode == 0
    assert (tmp_path / "scores.json").read_bytes() == (calm / "scores.json").read_bytes()


def test_two_processes_do_not_work_on_one_folder(tmp_path: Path) -> None:
    """Case P178."""
    out = tmp_path / "run"
    words = command(*evaluation(out, "--preset", "many", model="slow_model"))
    first = subprocess.Popen(words, env=environment(), stdout=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 30
        while not (out / "records" / "arithmetic.jsonl").is_file() and time.monotonic() < deadline:
            time.sleep(0.02)
        first.send_signal(signal.SIGSTOP)
        second = evaluate(out, "--preset", "many", model="slow_model")
    finally:
        first.kill()
        first.wait()
    assert second.returncode == 2 and str(first.pid) in second.stderr
