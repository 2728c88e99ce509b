"""Passages: the built-in texts, a user's files, the filter, the split, and the draw."""

import importlib.util
import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from spadework.harness.errors import InputError
from spadework.training.corpus import Corpus, Cutting, Document, Need, build, builtin, cut, numerals
from spadework.training.corpus_files import HubData, from_hub, from_jsonl, record_text
from spadework.training.corpus_texts import DEFAULT_TEXTS, TEXTS, builtin_text, verified

WHOLE = Cutting(words=None, heldout=0.0)


def digits_and_words(text: str) -> tuple[int, int]:
    """Words of four letters and more, numbers up to 199."""
    tokens = "".join(c if c.isalnum() else " " for c in text.lower()).split()
    words = {token for token in tokens if token.isalpha() and len(token) > 3}
    return len(words), sum(token.isdecimal() and int(token) < 200 for token in tokens)


def write(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return builtin((16, 24))


def test_every_builtin_text_is_the_listed_one_and_reads_as_prose() -> None:
    texts = dict(builtin_text(tuple(TEXTS)))
    assert set(texts) == set(TEXTS) >= set(DEFAULT_TEXTS)
    assert texts["in_the_year_2889"].startswith("IN THE YEAR 2889.\n\nLittle though they seem")
    assert "Gutenberg" not in texts["in_the_year_2889"] and "Redactor" not in texts["in_the_year_2889"]
    assert "`" not in texts["codeio_tasks"] and texts["codeio_tasks"].count("\n\n") == 3001
    assert "final answer" not in texts["gsm_questions"]


def test_builtin_passages_have_the_words_that_were_asked_for(corpus: Corpus) -> None:
    lengths = {len(passage.text.split()) for passage in corpus.passages + corpus.heldout}
    assert min(lengths) == 16 and max(lengths) == 24
    assert len(corpus.passages) + len(corpus.heldout) == 8634
    assert all(passage.licence for passage in corpus.passages)
    long = builtin((150, 300))
    assert len(long.passages) > 500
    assert all(150 <= len(passage.text.split()) <= 300 for passage in long.passages)


def test_at_least_two_thousand_passages_pass_the_filter_of_the_smallest_scale() -> None:
    need = Need(count=digits_and_words, words=4, numbers=1)
    filtered = builtin((16, 24), need=need, at_least=2000)
    assert all(need.met(passage.text) for passage in filtered.passages)
    for row in filtered.report.sources:
        assert row.cut == row.kept + row.dropped + row.duplicates
    assert sum(row.dropped for row in filtered.report.sources) > 1000
    with pytest.raises(InputError, match="at least 9000 are needed"):
        builtin((16, 24), need=need, at_least=9000)


def test_a_changed_text_is_an_error_that_names_it_and_its_version() -> None:
    entry = TEXTS["codeio_tasks"]
    with pytest.raises(
        InputError, match=r"codeio_tasks.*version 0\.1\.25, its sha256 differs: install reasoning-gym==0"
    ):
        verified("codeio_tasks", replace(entry, fetch=lambda: entry.fetch() + b" "))


def test_a_missing_text_or_package_is_an_error_that_names_it(tmp_path: Path) -> None:
    gone = replace(TEXTS["in_the_year_2889"], fetch=(tmp_path / "gone.txt").read_bytes)
    with pytest.raises(InputError, match=r"in_the_year_2889.*missing.*install reasoning-gym==0\.1\.25"):
        verified("in_the_year_2889", gone)


def test_an_unknown_builtin_text_offers_the_nearest() -> None:
    with pytest.raises(InputError, match="did you mean 'codeio_tasks'"):
        builtin(names=("codeio_task",))


def test_cutting_prefers_ends_of_paragraphs_then_of_sentences_and_never_overlaps() -> None:
    text = "a b c d. e f g\n\nh i j k l m n o p q r"
    assert cut(text, 3, 5) == ["a b c d.", "e f g", "h i j k l", "m n o p q"]
    assert cut(text, 5, 8) == ["a b c d. e f g", "h i j k l m n o"]
    with pytest.raises(InputError, match="1 <= least <= most"):
        cut(text, 5, 4)


def test_spelled_numbers_become_digits_only_where_they_stand_alone() -> None:
    assert numerals("Twenty-five men, two boys and one dog, NINETY") == "25 men, 2 boys and one dog, 90"
    assert numerals("thirty-one") == "31"
    for same in (
        "two hundred",
        "twenty-five thousand",
        "the twenty-ninth",
        "a two-fold gain",
        "often",
        "sixty-million",
    ):
        assert numerals(same) == same


def test_the_passage_is_a_pure_function_of_seed_step_and_index(corpus: Corpus) -> None:
    places = [(seed, step, index) for seed in range(4) for step in range(10) for index in range(10)]
    drawn = [corpus.passage(*place).id for place in places]
    again = builtin((16, 24))
    assert drawn == [again.passage(*place).id for place in places] and corpus.digest == again.digest
    assert len(set(drawn)) > 370
    assert {corpus.passage(0, 1, i).id for i in range(50)}.isdisjoint(corpus.passage(0, 2, i).id for i in range(50))


def test_passages_for_evaluation_are_never_shown_in_training(corpus: Corpus) -> None:
    assert {p.text for p in corpus.passages}.isdisjoint(p.text for p in corpus.heldout)
    assert 0.08 < len(corpus.heldout) / (len(corpus.passages) + len(corpus.heldout)) < 0.12
    assert corpus.evaluation(0, 3) in corpus.heldout
    with pytest.raises(InputError, match="set heldout above 0"):
        builtin(names=("in_the_year_2889",), heldout=0.0).evaluation(0, 0)


def test_the_digest_moves_with_every_parameter_and_with_the_text() -> None:
    book = Document(text="one two three four. five six seven eight.", source="book", licence="mine")
    base = Cutting(words=(2, 4), heldout=0.0)
    digests = [
        build([book], base).digest,
        build([replace(book, text=book.text + " nine ten")], base).digest,
        build([replace(book, source="other")], base).digest,
        build([book], replace(base, numerals=False)).digest,
        build([book], replace(base, words=(2, 3))).digest,
        build([book], base, Need(count=digits_and_words)).digest,
    ]
    assert len(set(digests)) == len(digests)
    assert build([book], base).digest == digests[0]


def test_duplicates_are_kept_once_and_counted() -> None:
    documents = [
        Document(text=text, source=source, licence="") for text, source in (("x y", "a"), ("x y", "a"), ("x y", "b"))
    ]
    made = build(documents, WHOLE)
    assert [passage.source for passage in made.passages] == ["a"]
    assert [(row.cut, row.kept, row.duplicates) for row in made.report.sources] == [(2, 1, 1), (1, 0, 1)]
    assert "b: 1 cut, 0 lack what is needed, 1 duplicates, 0 kept" in made.report.lines()[1]


def test_jsonl_takes_text_or_orig_doc(tmp_path: Path) -> None:
    path = write(
        tmp_path / "c.jsonl", "\ufeff" + json.dumps({"text": "first"}), "", json.dumps({"orig_doc": "sec\u2028ond"})
    )
    made = from_jsonl(path, WHOLE, licence="CC0")
    assert [(p.text, p.source, p.licence) for p in made.passages] == [
        ("first", "c.jsonl", "CC0"),
        ("sec\u2028ond", "c.jsonl", "CC0"),
    ]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"text": "cut off', "is not JSON"),
        ('["text"]', "is no JSON object"),
        ('{"body": "x"}', "has neither 'text' nor 'orig_doc'"),
        ('{"text": "  "}', "has a text that is empty or no string"),
        ('{"text": 5}', "has a text that is empty or no string"),
    ],
)
def test_a_bad_line_is_an_error_with_its_number_and_skipped_only_if_told(
    tmp_path: Path, line: str, reason: str
) -> None:
    path = write(tmp_path / "c.jsonl", '{"text": "good one"}', line, '{"text": "good two"}')
    with pytest.raises(InputError, match=rf"line 2: {reason}.*skip_bad = true"):
        from_jsonl(path, WHOLE)
    made = from_jsonl(path, WHOLE, skip_bad=True)
    assert len(made.passages) == 2 and made.report.sources[0].bad_lines == 1
    assert "1 bad lines skipped" in made.report.lines()[0]


def test_bytes_that_are_no_utf8_are_a_bad_line(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_bytes(b'{"text": "caf\xe9"}\n{"text": "good"}\n')
    with pytest.raises(InputError, match="line 1: is not UTF-8"):
        from_jsonl(path, WHOLE)


@pytest.mark.parametrize("lines", [[], ["", "  "], ["nonsense"]])
def test_an_empty_corpus_is_an_error(tmp_path: Path, lines: list[str]) -> None:
    with pytest.raises(InputError, match="is empty"):
        from_jsonl(write(tmp_path / "c.jsonl", *lines), WHOLE, skip_bad=True)


def test_a_missing_corpus_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        from_jsonl(tmp_path / "none.jsonl", WHOLE)


def test_documents_too_short_to_cut_are_counted(tmp_path: Path) -> None:
    path = write(tmp_path / "c.jsonl", '{"text": "a b"}', '{"text": "a b c d"}')
    made = from_jsonl(path, Cutting(words=(3, 4), heldout=0.0))
    assert (made.report.sources[0].short, len(made.passages)) == (1, 1)


def test_a_corpus_in_which_nothing_passes_says_what_became_of_it(tmp_path: Path) -> None:
    path = write(tmp_path / "c.jsonl", '{"text": "no numbers here"}')
    with pytest.raises(InputError, match="1 lack what is needed"):
        from_jsonl(path, WHOLE, Need(count=digits_and_words, numbers=1))


def test_a_record_of_the_hub_without_text_is_refused() -> None:
    with pytest.raises(ValueError, match="neither 'text' nor 'orig_doc'"):
        record_text({"content": "x"})


@pytest.mark.skipif(importlib.util.find_spec("datasets") is None, reason="the datasets library is not installed")
def test_a_data_set_in_a_folder_loads_as_one_of_the_hub_does(tmp_path: Path) -> None:
    write(tmp_path / "train.jsonl", '{"text": "first"}', '{"text": "second"}')
    made = from_hub(HubData(name=str(tmp_path), revision="main"), WHOLE)
    assert [passage.text for passage in made.passages] == ["first", "second"]


@pytest.mark.network
@pytest.mark.skipif(os.environ.get("HF_HUB_OFFLINE") == "1", reason="HF_HUB_OFFLINE=1 forbids the network")
@pytest.mark.skipif(importlib.util.find_spec("datasets") is None, reason="the datasets library is not installed")
def test_a_data_set_of_the_hub_loads() -> None:
    data = HubData(name="roneneldan/TinyStories", revision="main", split="validation[:20]")
    assert len(from_hub(data, WHOLE).passages) > 10


@pytest.mark.skipif(importlib.util.find_spec("datasets") is not None, reason="the datasets library is installed")
def test_a_hub_corpus_without_the_library_says_what_to_install() -> None:
    with pytest.raises(InputError, match="pip install datasets"):
        from_hub(HubData(name="any", revision="main"), WHOLE)
