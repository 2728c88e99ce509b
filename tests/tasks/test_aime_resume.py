"""An lm-eval task that is killed: what had come is on the disk, although lm-eval tells its results at the end."""

import json
import signal
import subprocess
import time
from pathlib import Path

import pytest

pytest.importorskip("lm_eval", reason="lm-eval is not installed")
pytest.importorskip("math_verify", reason="math-verify is not installed")

from commands import command, environment, records, spadework

HERE = str(Path(__file__).parent)


def test_killed_amid_its_answers_it_keeps_each_that_had_come_and_goes_on_to_the_same_scores(tmp_path: Path) -> None:
    """Reports P173 and P174."""
    rows = [{"problem": f"Invented: {n} modulo 3?", "answer": str(n % 3)} for n in range(30)]
    (tmp_path / "aime_2026.jsonl").write_text("\n".join(map(json.dumps, rows)))

    def words(out: str) -> list[str]:
        return [
            "eval", "--engine", "scripted", "--model", "quoting:SLOW", "--task", "aime_2026", "--preset", "validation",
            "--data", str(tmp_path), "--out", str(tmp_path / out), "--no-preflight",
        ]  # fmt: skip

    file = tmp_path / "killed" / "records" / "aime_2026.jsonl"
    process = subprocess.Popen(
        command(*words("killed")),
        env=environment(PYTHONPATH=HERE),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    for _ in range(600):
        if file.is_file() and len(file.read_bytes().splitlines()) >= 5:
            break
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    had_come = file.read_text().splitlines(keepends=True)
    assert 5 <= len(had_come) < 60
    for out in ("killed", "calm"):
        done = spadework(*words(out), PYTHONPATH=HERE)
        assert done.returncode == 0, done.stderr
    assert file.read_text().startswith("".join(line for line in had_come if line.endswith("\n")))
    killed, calm = (records(tmp_path / out, "aime_2026") for out in ("killed", "calm"))
    assert sorted(map(str, killed)) == sorted(map(str, calm)) and len(calm) == 60
    assert (tmp_path / "killed/scores.json").read_bytes() == (tmp_path / "calm/scores.json").read_bytes()
