"""Every fault of a benchmark's files is told at once."""

from hashlib import sha256
from pathlib import Path

import pytest

from spadework.harness.errors import InputError
from spadework.harness.evaluation.datafiles import DataFile, read_files

GOOD = sha256(b"good").hexdigest()
FILES = [DataFile(name=f"sub/{name}.json", digests=(GOOD,), source="a place") for name in ("a", "b", "c")]


def test_files_with_the_right_digest_are_read(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    for file in FILES:
        (tmp_path / file.name).write_bytes(b"good")
    assert set(read_files(tmp_path, FILES).values()) == {b"good"}


def test_missing_and_changed_files_are_named_together_with_digests_and_where_to_get_them(tmp_path: Path) -> None:
    (tmp_path / "sub" / "c.json").mkdir(parents=True)
    (tmp_path / FILES[1].name).write_bytes(b"bad")
    with pytest.raises(InputError) as caught:
        read_files(tmp_path, FILES)
    told = str(caught.value)
    assert "a.json is not there" in told and f"b.json is another file (sha256 {sha256(b'bad').hexdigest()}" in told
    assert "c.json cannot be read" in told and told.count("a place") == 3 and GOOD in told


def test_without_a_folder_every_file_is_named() -> None:
    with pytest.raises(InputError, match="a.json.*b.json.*c.json.*--data"):
        read_files(None, FILES)
