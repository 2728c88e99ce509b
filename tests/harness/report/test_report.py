"""The verb: what it takes, what it says of runs that lack something, and what never reaches the page."""

import contextlib
import io
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from spadework.harness.cli import main
from spadework.harness.errors import ExitCode

from .written import HOSTILE, append, write_evaluation, write_training

PACKED = Path(__file__).parents[3] / "results" / "reference" / "nano"


def report(tmp_path: Path, *runs: object) -> tuple[int, str, str]:
    """(exit code, page, what was printed to both streams)."""
    page, said = tmp_path / "page.html", io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        code = main(["report", *map(str, runs), "--out", str(page)])
    return code, page.read_text() if page.is_file() else "", said.getvalue()


def words(page: str) -> str:
    """The text of the page, without style, script and data."""
    return re.sub(r"\s+", " ", "".join(Text(page).found))


def embedded(page: str, name: str) -> dict[str, object]:
    """A block of data of the page."""
    found = re.search(rf'<script type="application/json" id="data-{name}">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    data: dict[str, object] = json.loads(found[1])
    return data


class Text(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self._silent = 0
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._silent += tag in ("script", "style")

    def handle_endtag(self, tag: str) -> None:
        self._silent -= tag in ("script", "style")

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.found.append(data)


def test_two_evaluations_are_compared_in_one_file_that_names_nothing_outside(tmp_path: Path) -> None:
    runs = write_evaluation(tmp_path / "old", right=0.5), write_evaluation(tmp_path / "new", right=0.9)
    code, page, said = report(tmp_path, *runs)
    assert code == ExitCode.OK and said.startswith("wrote ")
    assert "new is better than old" in words(page)
    tags = Text(page).tags
    addresses = [value for _, attributes in tags for key, value in attributes.items() if key in ("src", "href")]
    assert all(address and address.startswith("#") for address in addresses)
    assert "http" not in re.sub(r"<script type=.*?</script>", "", page, flags=re.DOTALL).replace("http-equiv", "")


def test_the_differences_are_those_of_compare(tmp_path: Path) -> None:
    runs = write_evaluation(tmp_path / "old", right=0.5), write_evaluation(tmp_path / "new", right=0.6)
    _, page, _ = report(tmp_path, *runs)
    out = tmp_path / "compare.json"
    with contextlib.redirect_stdout(io.StringIO()):
        assert main(["compare", *map(str, runs), "--json", str(out)]) == ExitCode.OK
    (row,) = json.loads(out.read_text())["rows"]
    text = words(page)
    assert row["sentence"] in text and f"{100 * row['value']:+.1f} points".replace("-", "−") in text


def test_packed_rows_have_curves_and_samples_and_say_what_they_lack(tmp_path: Path) -> None:
    code, page, _ = report(tmp_path, PACKED / "spade.json.gz", PACKED / "base.json.gz")
    text = words(page)
    assert code == ExitCode.OK
    assert "spade: the packed copy holds no texts, no environments and no provenance." in text
    assert "base: the packed copy holds no texts" in text and "so there are no curves" in text
    assert "No run holds environments" in text
    assert "These runs hold outcomes and rewards only, no answers." in text


def test_seeds_of_a_training_method_are_one_side_with_a_band(tmp_path: Path) -> None:
    for seed in range(3):
        write_training(tmp_path / "spade" / f"seed{seed}", seed=seed)
    code, page, _ = report(tmp_path, tmp_path / "spade")
    text = words(page)
    assert code == ExitCode.OK and '<polygon class="band s0"' in page
    assert "One run alone: there is nothing to compare it with." in text
    assert "72 proposals, 57 accepted" in text
    assert text.count("step 9, zero reward begins: all plays earned nothing; look at them.") == 3
    rows = embedded(page, "environments")["rows"]
    assert isinstance(rows, list) and len(rows) == 72


def test_a_run_that_is_not_finished_is_shown_with_what_it_has(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    done = write_training(tmp_path / "spade" / "seed0")
    half = write_training(tmp_path / "no_corpus" / "seed0", steps=10, finished=False)
    code, page, _ = report(tmp_path, done, half)
    text = words(page)
    assert code == ExitCode.INCOMPLETE
    assert f"{half} is not finished" in caplog.text and f"{half} is not finished" in text
    assert "Nothing could be compared." in text and "no samples in no_corpus/seed0" in text
    assert "Training curves" in text and 'data-chart="return"' in page


def test_of_a_method_whose_second_seed_is_not_finished_the_first_is_scored_and_both_are_drawn(tmp_path: Path) -> None:
    write_training(tmp_path / "spade" / "seed0")
    write_training(tmp_path / "spade" / "seed1", seed=1, finished=False)
    code, page, _ = report(tmp_path, tmp_path / "spade")
    assert code == ExitCode.INCOMPLETE and "50 samples of 50 items" in words(page)
    (curve, *_) = embedded(page, "curves")[0]["curves"]  # type: ignore[index]
    assert curve["many"] and "seed1 is not finished" in words(page)


def test_runs_of_which_none_is_finished_and_nothing_is_written_yet_make_a_page_that_says_so(tmp_path: Path) -> None:
    run = tmp_path / "begun"
    run.mkdir()
    (run / "config.json").write_text(json.dumps({"digest": "d", "config": {"steps": 3}}))
    code, page, _ = report(tmp_path, run)
    text = words(page)
    assert code == ExitCode.INCOMPLETE
    assert "No run has samples that could be scored." in text and "there are no curves" in text


def test_other_presets_stand_beside_each_other_and_are_not_compared(tmp_path: Path) -> None:
    runs = write_evaluation(tmp_path / "old"), write_evaluation(tmp_path / "new", preset="paper")
    code, page, _ = report(tmp_path, *runs)
    text = words(page)
    assert code == ExitCode.OK
    assert "official · scorer 1" in text and "paper · scorer 1" in text
    assert "Beside each other, not compared" in text and "preset official against paper" in text
    (benchmark,) = embedded(page, "samples")["benchmarks"]  # type: ignore[misc]
    assert "preset" in benchmark["sides"][1]["refused"]  # type: ignore[index]


def test_a_torn_last_record_is_a_sample_that_is_missing(tmp_path: Path) -> None:
    run = write_evaluation(tmp_path / "torn", items=10)
    lines = run / "records" / "sums.jsonl"
    lines.write_bytes(lines.read_bytes()[:-30])
    code, page, _ = report(tmp_path, run)
    assert code == ExitCode.INCOMPLETE and "9 of 10 items were played" in words(page)


@pytest.mark.parametrize(
    ("file", "line"), [("metrics.jsonl", '{"step": 40, "return": NaN}'), ("environments.jsonl", "{]")]
)
def test_a_damaged_line_is_named_with_its_file(tmp_path: Path, file: str, line: str) -> None:
    run = write_training(tmp_path / "spade" / "seed0")
    with (run / file).open("a") as lines:
        lines.write(line + "\n")
    code, page, said = report(tmp_path, run)
    assert code == ExitCode.WRONG_INPUT and not page
    assert f"{run / file}, line {41 if file == 'metrics.jsonl' else 25}" in said and said.count("\n") == 1


def test_a_run_that_is_not_there_and_a_run_given_twice_are_refused(tmp_path: Path) -> None:
    run = write_evaluation(tmp_path / "old")
    code, page, said = report(tmp_path, run, tmp_path / "odl")
    assert code == ExitCode.WRONG_INPUT and not page and "odl" in said
    code, page, said = report(tmp_path, run, run)
    assert code == ExitCode.WRONG_INPUT and not page and "twice" in said


def test_the_file_must_be_an_html_file(tmp_path: Path) -> None:
    run = write_evaluation(tmp_path / "old")
    with contextlib.redirect_stderr(io.StringIO()) as said:
        assert main(["report", str(run), "--out", str(run / "records" / "sums.jsonl")]) == ExitCode.WRONG_INPUT
    assert "--out" in said.getvalue() and (run / "records" / "sums.jsonl").stat().st_size > 100


def test_names_given_on_the_command_line_are_the_labels(tmp_path: Path) -> None:
    runs = write_evaluation(tmp_path / "a" / "run"), write_evaluation(tmp_path / "b" / "run")
    _, page, _ = report(tmp_path, f"before={runs[0]}", f"after={runs[1]}")
    assert "Report: before · after" in words(page)


def test_texts_of_models_are_escaped_everywhere(tmp_path: Path) -> None:
    run = write_evaluation(tmp_path / "old", answer=HOSTILE)
    config = json.loads((run / "config.json").read_text())
    config["config"]["model"] = HOSTILE
    (run / "config.json").write_text(json.dumps(config))
    other = write_training(tmp_path / "spade" / "seed0")
    _, page, _ = report(tmp_path, run, other)
    tags = Text(page).tags
    assert not [tag for tag, _ in tags if tag in ("img", "iframe", "object", "link", "base")]
    assert not [key for _, attributes in tags for key in attributes if key.startswith("on")]
    assert "window.ran = 1" in words(page)
    texts = embedded(page, "samples")["texts"]
    assert isinstance(texts, list) and any(HOSTILE in text for text in texts)


def test_no_prompt_and_nothing_of_private_or_logs_reaches_the_page(tmp_path: Path) -> None:
    run = write_evaluation(tmp_path / "old")
    for name in ("private/sums.jsonl", "logs/sums/log.jsonl", "retries.jsonl"):
        append(run / name, [{"completions": "SECRET of a closed benchmark"}])
    _, page, _ = report(tmp_path, run)
    assert page and "SECRET" not in page
