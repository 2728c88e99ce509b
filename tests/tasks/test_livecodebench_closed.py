"""A whole evaluation of LiveCodeBench by a model that quotes what it is asked: no problem's text is left anywhere."""

import json
from pathlib import Path

import pytest

pytest.importorskip("inspect_ai", reason="inspect-ai is not installed")

from commands import quoted, records, spadework
from contest_files import row, written

HERE = Path(__file__).parent


@pytest.mark.parametrize("model", ["QUOTING", "BROKEN"])
def test_no_text_is_left_in_a_file_a_cache_or_what_is_printed(model: str, tmp_path: Path) -> None:
    tests = [("1 2", "3"), ("3 4", "7")]
    file = written(tmp_path / "data" / "problems.jsonl", [row(f"number {n}", tests) for n in range(12)])
    home, work = tmp_path / "home", tmp_path / "work"
    for folder in (home / "tmp", work):
        folder.mkdir(parents=True)
    places = {
        "HOME": str(home), "XDG_CACHE_HOME": str(home / "cache"), "XDG_DATA_HOME": str(home / "data"),
        "TMPDIR": str(home / "tmp"), "PYTHONPATH": str(HERE), "PYTHONDONTWRITEBYTECODE": "1",
    }  # fmt: skip
    done = spadework(
        "eval", "--engine", "scripted", "--model", f"quoting:{model}", "--task", "livecodebench",
        "--preset", "validation", "--data", str(file), "--out", str(work / "run"), "--offline",
        "--cache", "cache.sqlite",
        cwd=work, **places,
    )  # fmt: skip
    said = done.stdout + done.stderr
    (home / "said.txt").write_text(said)
    found = records(work / "run", "livecodebench")
    assert len(found) == 12, said
    outcomes = {line["outcome"] for line in found}
    assert outcomes >= {"infra_error", "truncated"} if model == "QUOTING" else outcomes == {"infra_error"}
    lines = map(json.loads, file.read_text().splitlines())
    problems = {line["question_id"]: line["question_content"] for line in lines}
    assert quoted(problems, [tmp_path / "data"]), "the search finds them where they are"
    assert quoted(problems, [home, work]) == []
    assert len(list((work / "run" / "logs" / "livecodebench").glob("*.eval"))) >= 1
