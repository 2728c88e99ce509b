"""Files that are whole or not there."""

import os
from pathlib import Path

import pytest

from spadework.harness.atomic import write_atomic
from spadework.harness.errors import InputError


def test_a_file_is_replaced_whole_and_nothing_else_is_left(tmp_path: Path) -> None:
    target = tmp_path / "folder" / "file"
    write_atomic(target, "one")
    write_atomic(target, b"two")
    assert target.read_bytes() == b"two" and [path.name for path in target.parent.iterdir()] == ["file"]


def test_what_is_no_file_is_never_replaced(tmp_path: Path) -> None:
    """Renaming over /dev/null would take it away from the whole machine."""
    pipe, folder = tmp_path / "pipe", tmp_path / "folder"
    os.mkfifo(pipe)
    folder.mkdir()
    for path in (pipe, folder):
        with pytest.raises(InputError, match="is no file"):
            write_atomic(path, "text")
    assert pipe.is_fifo() and folder.is_dir()
