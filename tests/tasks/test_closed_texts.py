"""Whole evaluations of AIME and GPQA by models that quote what they are asked: no problem's text is left anywhere."""

import csv
import hashlib
import io
import json
from pathlib import Path

import pytest

pytest.importorskip("lm_eval", reason="lm-eval is not installed")
pytest.importorskip("math_verify", reason="math-verify is not installed")

from commands import quoted, records, spadework

from spadework.tasks.gpqa_data import COLUMNS, PASSWORD, VOUCHED, read_rows

HERE = Path(__file__).parent
FILLER = "with a rather long and quite unmistakable wording that nobody else would ever have chosen for it"


@pytest.fixture
def invented(tmp_path: Path) -> Path:
    """Thirty problems and twelve questions that were made up for this test."""
    folder = tmp_path / "data"
    (folder / "aime").mkdir(parents=True)
    rows = [{"problem": f"Find the number {n} {FILLER}, times {n}.", "answer": str(n * n)} for n in range(30)]
    (folder / "aime" / "aime_2026.jsonl").write_text("\n".join(map(json.dumps, rows)))
    sheet = io.StringIO()
    writer = csv.writer(sheet)
    writer.writerow([*COLUMNS, "High-level domain"])
    for n in range(12):
        options = [f"the {kind} of the options {FILLER} in row {n}" for kind in ("best", "first", "second", "third")]
        writer.writerow([f"Which is best {FILLER}, in row {n}?", *options, "Physics"])
    (folder / "gpqa").mkdir()
    (folder / "gpqa" / "gpqa_diamond.csv").write_text(sheet.getvalue())
    return folder


def texts_of(data: Path) -> dict[str, str]:
    """Name to text of every problem, question and option under a data folder."""
    found = {}
    for path in (data / "aime").glob("aime_*.jsonl"):
        for number, line in enumerate(path.read_text().splitlines()):
            found[f"{path.name} {number}"] = json.loads(line)["problem"]
    for path in (data / "gpqa").glob("*.csv"):
        for number, row in enumerate(csv.DictReader(io.StringIO(path.read_text(), newline=""))):
            found |= {f"{path.name} {number} {column}": row[column] for column in COLUMNS}
    return found


def evaluated(tmp_path: Path, data: Path, *words: str, model: str = "QUOTING", **variables: str) -> tuple[Path, str]:
    """A run with the whole home of its user in a folder of its own; that folder, and what was said."""
    home, work = tmp_path / "home", tmp_path / "work"
    for folder in (home / "tmp", work):
        folder.mkdir(parents=True, exist_ok=True)
    places = {
        "HOME": str(home), "XDG_CACHE_HOME": str(home / "cache"), "HF_HOME": str(home / "hf"),
        "TMPDIR": str(home / "tmp"), "LM_HARNESS_CACHE_PATH": str(home / "lm-eval"),
        "PYTHONPATH": str(HERE), "PYTHONDONTWRITEBYTECODE": "1",
    }  # fmt: skip
    done = spadework(
        "eval", "--engine", "scripted", "--model", f"quoting:{model}", "--preset", "validation", "--data", str(data),
        "--out", str(work / "run"), "--offline", *words, cwd=work, **places, **variables,
    )  # fmt: skip
    (home / "said.txt").write_text(done.stdout + done.stderr)
    return work / "run", done.stdout + done.stderr


def test_no_text_is_left_in_a_file_a_cache_or_what_is_printed(tmp_path: Path, invented: Path) -> None:
    vouched = hashlib.sha256((invented / "gpqa" / "gpqa_diamond.csv").read_bytes()).hexdigest()
    tasks = ("--task", "aime_2026", "--task", "gpqa_diamond")
    run, said = evaluated(tmp_path, invented, *tasks, "--cache", "cache.sqlite", **{VOUCHED: vouched})
    assert len(records(run, "aime_2026")) == 60 and len(records(run, "gpqa_diamond")) == 12, said
    outcomes = {row["outcome"] for name in ("aime_2026", "gpqa_diamond") for row in records(run, name)}
    assert {"truncated", "infra_error"} < outcomes
    problems = texts_of(invented)
    assert quoted(problems, [invented]), "the search finds them where they are"
    assert quoted(problems, [tmp_path / "home", tmp_path / "work"]) == []
    assert "Traceback" not in said


def test_completions_are_kept_only_on_request_and_in_the_private_folder_only(tmp_path: Path, invented: Path) -> None:
    run, said = evaluated(tmp_path, invented, "--task", "aime_2026", "--keep-completions")
    assert (run / "private").is_dir(), said
    found = quoted(texts_of(invented), [tmp_path / "home", tmp_path / "work"])
    assert found and all(f"{run}/private/" in entry for entry in found)


def test_an_engine_that_breaks_with_the_prompt_in_its_words_says_its_class_and_place_only(
    tmp_path: Path, invented: Path
) -> None:
    run, said = evaluated(tmp_path, invented, "--task", "aime_2026", "--no-preflight", model="BROKEN")
    assert "RuntimeError in quoting.py" in said
    assert quoted(texts_of(invented), [tmp_path / "home", tmp_path / "work"]) == []


def test_the_real_problems_and_the_encrypted_questions_leave_nothing(tmp_path: Path, data: Path) -> None:
    variables = {PASSWORD: "synthetic-fixture"}
    tasks = ("--task", "aime_2025", "--task", "gpqa_diamond")
    run, said = evaluated(tmp_path, data, *tasks, **variables)
    assert len(records(run, "aime_2025")) == 60 and len(records(run, "gpqa_diamond")) == 8, said
    rows = read_rows(data / "gpqa" / "synthetic_gpqa_format.zip", variables)
    texts = [text for row in rows for text in (row.question, *row.options) if len(text.split()) >= 8]
    problems = texts_of(data) | {f"question {number}": text for number, text in enumerate(texts)}
    count, long_enough = len(problems), len(texts)
    assert long_enough >= 6 and count == 30 + long_enough
    assert quoted(problems, [tmp_path / "home", tmp_path / "work"]) == []
