"""JSON lines: whole or not at all, torn ends tolerated, cut back to a step."""

from pathlib import Path

import pytest

from spadework.harness import jsonl
from spadework.harness.errors import InputError


def test_what_was_appended_is_read_back_in_order(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "a.jsonl"
    jsonl.append(path, [{"step": 0}, {"step": 1, "text": "a\nb\u2028c"}])
    jsonl.append(path, [])
    jsonl.append(path, [{"step": 2}])
    assert jsonl.read(path) == [{"step": 0}, {"step": 1, "text": "a\nb\u2028c"}, {"step": 2}]


def test_a_file_that_is_not_there_has_no_lines(tmp_path: Path) -> None:
    assert jsonl.read(tmp_path / "a.jsonl") == []


def test_a_number_that_is_not_finite_is_null_and_never_a_number(tmp_path: Path) -> None:
    jsonl.append(tmp_path / "a.jsonl", [{"x": float("nan")}])
    assert jsonl.read(tmp_path / "a.jsonl") == [{"x": None}]


def test_a_torn_last_line_is_ignored_then_mended(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"step":0}\n{"step":1')
    assert jsonl.read(path) == [{"step": 0}]
    jsonl.mend(path)
    jsonl.append(path, [{"step": 1}])
    assert path.read_bytes() == b'{"step":0}\n{"step":1}\n'


def test_a_torn_only_line_leaves_an_empty_file(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"st')
    jsonl.mend(path)
    assert path.read_bytes() == b""


def test_a_damaged_line_is_an_error_with_its_number(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"step":0}\nnonsense\n{"step":2}\n')
    with pytest.raises(InputError, match="line 2"):
        jsonl.read(path)


def test_cut_keeps_the_bytes_of_earlier_steps_and_lines_without_a_step(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"step": 0,  "x":1}\n{"note":"n"}\n{"step":1}\n{"step":2}\n')
    jsonl.cut(path, 1)
    assert path.read_bytes() == b'{"step": 0,  "x":1}\n{"note":"n"}\n'
