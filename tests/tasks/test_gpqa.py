import csv
import hashlib
import io
import json
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("lm_eval", reason="lm-eval is not installed")

from kept import Kept, players, preset_of, samples

from spadework.harness.errors import InputError
from spadework.harness.types import Outcome
from spadework.tasks.gpqa import LETTERS, ORDERS, Gpqa, judged
from spadework.tasks.gpqa_data import COLUMNS, PASSWORD, VOUCHED

MODULE = "spadework.tasks.gpqa"
ORDER_FILE = Path(__file__).parent.parent / "data" / "gpqa_option_orders.json"
PRESETS = ("corrected", "paper-offline", "paper-inloop", "official", "validation")


def table(count: int = 12) -> bytes:
    """Invented questions in the authors' layout."""
    sheet = io.StringIO()
    writer = csv.writer(sheet)
    writer.writerow([*COLUMNS, "High-level domain", "Record ID"])
    for n in range(count):
        options = [f"invented option {n} {kind}" for kind in ("right", "first", "second", "third")]
        writer.writerow([f"Invented question {n}, with a \n line break?", *options, ("Physics", "Biology")[n % 2], n])
    return sheet.getvalue().encode()


def vouched(folder: Path, content: bytes | None = None, name: str = "gpqa_diamond.csv") -> Gpqa:
    """The benchmark on a file of invented questions that the user vouches for."""
    content = table() if content is None else content
    (folder / name).write_bytes(content)
    return Gpqa({VOUCHED: hashlib.sha256(content).hexdigest()})


@pytest.mark.parametrize(
    ("order", "recorded"),
    [
        ("random-42-stream", "spade_offline_Random42_sequential"),
        ("random-42-plus-row", "spade_inloop_Random42plusidx"),
    ],
)
def test_the_options_stand_in_the_recorded_orders(order: str, recorded: str) -> None:
    letters = json.loads(ORDER_FILE.read_text())[recorded]
    orders = ORDERS[order]([str(row) for row in range(198)], 8)
    assert "".join(LETTERS[own[0].index(0)] for own in orders) == letters


@pytest.mark.parametrize("order", ORDERS)
def test_gold_letters_are_spread_evenly_and_the_same_every_time(order: str) -> None:
    """Reports P046 and P047: chi-square over 198 rows below the 0.01 level of three degrees of freedom."""
    ids = [f"item {row}" for row in range(198)]
    orders = ORDERS[order](ids, 4)
    assert orders == ORDERS[order](ids, 4)
    for repeat in range(len(orders[0])):
        counts = [sum(own[repeat].index(0) == place for own in orders) for place in range(4)]
        assert sum((count - 49.5) ** 2 / 49.5 for count in counts) < 11.35


def test_the_order_of_a_hash_does_not_depend_on_the_other_rows(tmp_path: Path) -> None:
    ids = [f"item {row}" for row in range(20)]
    assert ORDERS["item-hash"](ids, 1)[10:] == ORDERS["item-hash"](ids[10:], 1)


def test_simple_evals_draws_an_order_for_each_repeat() -> None:
    orders = ORDERS["random-0-stream-repeats"](["a", "b"], 3)
    assert [len(own) for own in orders] == [3, 3] and len({*orders[0], *orders[1]}) > 2


@pytest.mark.parametrize("name", PRESETS)
def test_a_perfect_player_is_right_under_every_protocol(tmp_path: Path, name: str) -> None:
    benchmark = vouched(tmp_path)
    preset = preset_of(benchmark, MODULE, name)
    items = benchmark.load(preset, tmp_path)
    due = samples(items)
    replies = {one.seed: benchmark.gold_replies(one.item)[0].content for one in due}
    sink = Kept()
    benchmark.run(due, preset, players(lambda request: replies[request.seed]), sink)
    assert len(sink.scored) == 12 and all(one.outcome is Outcome.RIGHT for one in sink.scored)
    by_id = {item.id: item for item in items}
    assert all(benchmark.rescore(by_id[one.item], one.answer, preset) == (Outcome.RIGHT, 1.0) for one in sink.scored)


@pytest.mark.parametrize("name", PRESETS)
def test_the_letter_of_the_right_option_as_it_is_shown_is_right(tmp_path: Path, name: str) -> None:
    """A player that finds the right option in the prompt: order, prompt and verdict belong together."""
    benchmark = vouched(tmp_path)
    preset = preset_of(benchmark, MODULE, name)
    items = benchmark.load(preset, tmp_path)

    def script(request: object) -> str:
        shown = request.messages[0].content.splitlines()  # type: ignore[attr-defined]
        (letter,) = [line[0] for line in shown if line.rstrip().endswith("right")]
        return benchmark.says(letter)

    sink = Kept()
    benchmark.run(samples(items, preset.repeats), preset, players(script), sink)
    assert len(sink.by_key) == 12 * preset.repeats
    assert all(one.outcome is Outcome.RIGHT for one in sink.scored)
    assert benchmark.rescore(items[0], None, preset) == (Outcome.NO_ANSWER, 0.0)


def test_a_verdict_is_given_again_from_the_letter_and_the_order_alone() -> None:
    """Reports P045 and P048: no later shuffle can change it, and the option of the file is known."""
    assert judged("C:2013").outcome is Outcome.WRONG and judged("B:2013").outcome is Outcome.RIGHT
    assert judged("C").outcome is judged("C:2014").outcome is Outcome.SCORER_ERROR


def test_prompts_are_those_of_the_protocols(tmp_path: Path) -> None:
    benchmark = vouched(tmp_path)
    for name, middle, end in (
        ("corrected", "\n\nA. invented", "\\boxed{LETTER} where LETTER is one of ABCD."),
        ("paper-inloop", "\n\nA: invented", "\\boxed{}.\nPlease only provide the letter of the answer in the box."),
        ("official", "\n\nA) invented", ("right", "first", "second", "third")),
    ):
        preset, cast = preset_of(benchmark, MODULE, name), players(lambda _: "")
        benchmark.run(samples(benchmark.load(preset, tmp_path)), preset, cast, Kept())
        for request in cast.model.requests:  # type: ignore[attr-defined]
            text = request.messages[0].content
            assert middle in text and text.endswith(end)


def test_ids_golds_and_categories_are_the_same_under_every_protocol(tmp_path: Path) -> None:
    benchmark = vouched(tmp_path)
    loaded = [benchmark.load(preset_of(benchmark, MODULE, name), tmp_path) for name in PRESETS]
    keys = [[(item.id, item.gold, item.category) for item in items] for items in loaded]
    assert keys[1:] == keys[:-1] and {category for _, _, category in keys[0]} == {"Physics", "Biology"}
    assert "nvented" not in repr(loaded)


def test_an_encrypted_zip_needs_its_password_and_a_wrong_one_is_one_sentence(data: Path) -> None:
    path = data / "gpqa" / "synthetic_gpqa_format.zip"
    preset = preset_of(Gpqa({}), MODULE, "corrected")
    items = Gpqa({PASSWORD: "synthetic-fixture"}).load(preset, path)
    assert len(items) == 8 and items == Gpqa({PASSWORD: "synthetic-fixture"}).load(preset, data)
    with pytest.raises(InputError, match=f"is encrypted; set {PASSWORD}"):
        Gpqa({}).load(preset, path)
    for wrong in (f"wrong {n}" for n in range(300)):  # one in 256 passes zip's first check
        with pytest.raises(InputError, match="does not open with this password"):
            Gpqa({PASSWORD: wrong}).load(preset, path)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "no column Question"),
        (b"Question,Correct Answer\nsecret,secret", "no column Incorrect Answer 1"),
        (table() + b"secret,a,,c,d,e,f\n", "question 13: an empty field"),
        (table() + table().split(b"\n", 1)[1], "a question stands twice"),
        (b"\xff\xfe" + table(), "is no UTF-8 text"),
    ],
)
def test_a_wrong_table_is_one_sentence_that_quotes_nothing(tmp_path: Path, content: bytes, sentence: str) -> None:
    benchmark = vouched(tmp_path, content)
    with pytest.raises(InputError, match=sentence) as told:
        benchmark.load(preset_of(benchmark, MODULE, "corrected"), tmp_path)
    assert "secret" not in str(told.value) and "nvented" not in str(told.value)


def test_a_file_with_an_unknown_checksum_is_refused(tmp_path: Path) -> None:
    content = table()
    (tmp_path / "gpqa_diamond.csv").write_bytes(content)
    preset = preset_of(Gpqa({}), MODULE, "corrected")
    with pytest.raises(InputError, match=hashlib.sha256(content).hexdigest()):
        Gpqa({}).load(preset, tmp_path)
    with pytest.raises(InputError, match="give --data DIR"):
        Gpqa({}).load(preset, None)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no file .*gpqa/dataset.zip"):
        Gpqa({}).load(preset, tmp_path / "empty")


def test_a_plain_zip_needs_no_password_and_one_without_the_table_is_refused(tmp_path: Path) -> None:
    for name, sentence in (("dataset/gpqa_diamond.csv", None), ("dataset/other.csv", "holds no gpqa_diamond.csv")):
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            archive.writestr(name, table())
        benchmark = vouched(tmp_path, packed.getvalue(), "dataset.zip")
        preset = preset_of(benchmark, MODULE, "corrected")
        if sentence is None:
            assert len(benchmark.load(preset, tmp_path)) == 12
        else:
            with pytest.raises(InputError, match=sentence):
                benchmark.load(preset, tmp_path)


def test_questions_that_are_not_known_to_be_gpqas_are_said_to_be(data: Path, tmp_path: Path) -> None:
    benchmark = vouched(tmp_path)
    preset = preset_of(benchmark, MODULE, "validation")
    assert benchmark.unverified(preset, tmp_path) == f"gpqa_diamond.csv is vouched for by {VOUCHED} alone"
    synthetic = data / "gpqa" / "synthetic_gpqa_format.zip"
    assert benchmark.unverified(preset, synthetic) == "synthetic_gpqa_format.zip holds invented questions, for tests"
