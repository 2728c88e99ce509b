"""Files of LiveCodeBench: slices, dates, tests that are packed, and pickles that ask for more than a text."""

import base64
import json
import pickle
import zlib
from pathlib import Path

import pytest
from contest_files import packed, row, written

from spadework.harness.errors import InputError
from spadework.tasks.livecodebench_data import CHECKSUMS, read_problems, read_solution, read_tests, unverified

SUM = [("1 2", "3"), ("3 4", "7"), ("5 6", "11")]


def test_public_and_private_tests_come_in_their_order(tmp_path: Path) -> None:
    path = written(tmp_path / "mine.jsonl", [row("a", SUM), row("b", SUM[:1]), row("c", [("[1]", "1")] * 2, "f")])
    problems = read_problems(path, {})
    assert [problem.number for problem in problems] == ["a", "b", "c"]
    assert [tuple(test) for test in read_tests(problems[0])] == SUM
    assert len(read_tests(problems[1])) == 1 and problems[2].function == "f" and problems[0].function == ""


def test_private_tests_may_stand_there_as_plain_json(tmp_path: Path) -> None:
    plain = json.dumps([{"input": "9", "output": "8", "testtype": "stdin"}])
    (problem,) = read_problems(written(tmp_path / "mine.jsonl", [row("a", SUM[:1], private=plain)]), {})
    assert [tuple(test) for test in read_tests(problem)] == [SUM[0], ("9", "8")]


def test_a_genuine_payload_is_decoded(tmp_path: Path, data: Path) -> None:
    real = json.loads((data / "livecodebench" / "real_private_payload.json").read_text())
    path = written(tmp_path / "mine.jsonl", [row("a", SUM[:1], private=real["private_test_cases"])])
    (problem,) = read_problems(path, {})
    expected = [(case["input"], case["output"]) for case in real["decoded"]]
    assert [tuple(test) for test in read_tests(problem)][1:] == expected


def test_the_synthetic_set_is_read(data: Path) -> None:
    problems = read_problems(data / "livecodebench" / "synthetic_problems.jsonl", {})
    assert [len(read_tests(problem)) for problem in problems] == [12, 9, 11, 8, 9]
    assert {problem.difficulty for problem in problems} == {"easy", "medium", "hard"}


class Command:
    """What a hostile pickle holds."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return print, ("the pickle was run",)


@pytest.mark.parametrize(
    ("private", "says"),
    [
        (packed(Command()), "it asks for builtins.print"),
        (packed(["a list"]), "a pickle of a list"),
        (packed(b"bytes"), "it asks for _codecs.encode" if pickle.DEFAULT_PROTOCOL < 3 else "a pickle of a bytes"),
        (packed(Path("x")), "it asks for pathlib"),
        ("@@@", "no pickle of a text"),
        (base64.b64encode(b"not zlib").decode(), "no pickle of a text"),
        (base64.b64encode(zlib.compress(b"junk")).decode(), "no pickle of a text"),
        (base64.b64encode(zlib.compress(pickle.dumps("x"))[:-4]).decode(), "cut off"),
        (base64.b64encode(zlib.compress(b"\x80\x04P1\n.")).decode(), "from elsewhere"),
    ],
)
def test_a_pickle_yields_a_text_or_one_error(
    private: str, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:  # fmt: skip
    path = written(tmp_path / "mine.jsonl", [row("a", SUM), row("b", SUM, private=private)])
    with pytest.raises(InputError, match="mine.jsonl, byte") as caught:
        read_problems(path, {})
    assert says in str(caught.value)
    assert capsys.readouterr().out == ""


def test_a_slice_is_files_and_dates_both_ends_included(tmp_path: Path) -> None:
    written(tmp_path / "test.jsonl", [row("old", SUM, date="2023-06-01")])
    written(tmp_path / "test2.jsonl", [row(day, SUM, date=day) for day in ("2025-01-31", "2025-02-01", "2025-05-31")])

    def numbers(**part: str) -> list[str]:
        return [problem.number for problem in read_problems(tmp_path, part)]

    assert numbers(files="test1-test2") == ["old", "2025-01-31", "2025-02-01", "2025-05-31"]
    assert numbers(files="test2", start="2025-02-01", end="2025-05-31") == ["2025-02-01", "2025-05-31"]
    assert numbers(files="test1") == ["old"]


def test_what_is_missing_or_wrong_is_named(tmp_path: Path) -> None:
    written(tmp_path / "test.jsonl", [row("a", SUM)])
    with pytest.raises(InputError, match="test2.jsonl, .*test3.jsonl"):
        read_problems(tmp_path, {"files": "test1-test3"})
    with pytest.raises(InputError, match="give --data DIR"):
        read_problems(None, {"files": "test6"})
    written(tmp_path / "test6.jsonl", [row("a", SUM)])
    with pytest.raises(InputError, match=CHECKSUMS["test6.jsonl"]):
        read_problems(tmp_path, {"files": "test6"})
    with pytest.raises(InputError, match="write test6"):
        read_problems(tmp_path, {"files": "v6"})
    with pytest.raises(InputError, match="2025-02-01"):
        read_problems(tmp_path, {"files": "test1", "start": "February"})
    (tmp_path / "bad.jsonl").write_text('{"question_id": "a"}\n')
    with pytest.raises(InputError, match="no problem in the official format"):
        read_problems(tmp_path / "bad.jsonl", {})
    with pytest.raises(InputError, match="stand twice"):
        read_problems(written(tmp_path / "twice.jsonl", [row("a", SUM), row("a", SUM)]), {})


def test_a_file_that_changed_meanwhile_is_noticed(tmp_path: Path) -> None:
    path = written(tmp_path / "mine.jsonl", [row("a", SUM)])
    (problem,) = read_problems(path, {})
    written(path, [row("a", [("1 2", "4"), *SUM[1:]])])
    with pytest.raises(InputError):
        read_tests(problem)


def test_a_solution_beside_the_problems_is_known(tmp_path: Path) -> None:
    (first, second) = read_problems(written(tmp_path / "mine.jsonl", [row("a", SUM), row("b", SUM)]), {})
    assert read_solution(first) is None
    (tmp_path / "solutions.jsonl").write_text('{"question_id": "b", "code": "print(1)"}\n')
    assert read_solution(first) is None and read_solution(second) == "print(1)"


def test_a_file_is_checked_by_its_name_however_it_is_given_and_an_unknown_one_is_said_to_be(tmp_path: Path) -> None:
    path = written(tmp_path / "test6.jsonl", [row("a", SUM)])
    for data in (path, tmp_path):
        with pytest.raises(InputError, match=CHECKSUMS["test6.jsonl"]):
            read_problems(data, {"files": "test6"})
    mine = written(tmp_path / "mine.jsonl", [row("a", SUM)])
    assert len(read_problems(mine, {"files": "test6"})) == 1
    assert unverified(mine, {"files": "test6"}) == "no checksum is known of mine.jsonl"
    assert unverified(tmp_path, {"files": "test6"}) == ""
