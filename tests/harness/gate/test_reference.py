"""The file of a reference: what is read, and what is refused with the remedy."""

import json
from pathlib import Path
from typing import Any

import pytest

from spadework.harness.errors import IncompleteError, InputError
from spadework.harness.gate.reference import FORMAT, read_reference, write_reference


def document() -> dict[str, Any]:
    items = {f"item-{number}": {"category": "all", "means": [number % 2, 0.5]} for number in range(4)}
    column = {
        "preset": "chat", "scorer": "1", "task": "d1ge57", "limit": None, "weigh": "items", "samples": 2,
        "items": items,
    }  # fmt: skip
    runs = [{"run": f"run{number}", "seed": number, "digest": "c0ffee"} for number in range(2)]
    return {"format": FORMAT, "spadework": "0.1.0", "runs": runs, "margins": {"sums": 3}, "columns": {"sums": column}}


def write(folder: Path, value: object) -> Path:
    path = folder / "reference.json"
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return path


def test_a_reference_is_written_as_it_was_read(tmp_path: Path) -> None:
    read = read_reference(write(tmp_path, document()))
    write_reference(tmp_path / "again.json", read)
    assert read_reference(tmp_path / "again.json") == read
    with pytest.raises(IncompleteError, match="cannot write"):
        write_reference(tmp_path / "reference.json" / "x.json", read)


def broken(path: str, value: object) -> dict[str, Any]:
    whole = document()
    *parts, last = path.split("/")
    place = whole
    for part in parts:
        place = place[int(part)] if isinstance(place, list) else place[part]
    if value is None:
        place.pop(last)
    else:
        place[last] = value
    return whole


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("", "damaged"),
        ('{"format": "spadework-ref', "damaged"),
        ("[1, 2]", "format None"),
        ("nothing", "damaged"),
        (broken("format", "spadework-reference/2"), "'spadework-reference/2' and this version reads"),
        (broken("runs", None), "damaged"),
        (broken("runs", []), "no run"),
        (broken("columns", {}), "no benchmark"),
        (broken("columns/sums/items", {}), "no item"),
        (broken("columns/sums/items/item-1/means", [1.0]), "item 'item-1': 1 means for 2 runs"),
        (broken("columns/sums/items/item-1/means", [1.0, 1.5]), "outside"),
        (broken("columns/sums/items/item-1/means", [1.0, float("nan")]), "damaged"),
        (broken("columns/sums/items/item-1/text", "What is 1 + 1?"), "damaged"),
        (broken("columns/sums/samples", 0), "no item"),
        (broken("columns/sums/weigh", "samples"), "damaged"),
        (broken("margins/sums", -3), "margin"),
    ],
)
def test_a_file_that_is_no_reference_is_named_with_the_remedy(tmp_path: Path, value: object, told: str) -> None:
    path = write(tmp_path, value)
    with pytest.raises(InputError) as refused:
        read_reference(path)
    assert told in str(refused.value) and str(path) in str(refused.value) and "--update" in str(refused.value)


def test_a_folder_in_its_place_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot read"):
        read_reference(tmp_path)
