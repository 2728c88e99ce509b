"""No official vector is forgotten: each is compared with in a test, or named in the table of deviations."""

import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
TABLE = "## Where we deviate from the official functions"


def test_every_official_vector_is_a_test_or_a_named_deviation() -> None:
    vectors = json.loads((ROOT / "tests/data/spade_vectors.json").read_text(encoding="utf-8"))["vectors"]
    tests = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    used = set(re.findall(r'vector\("(\w+)"\)|\["id"\] == "(\w+)"', tests))
    tested = {name for pair in used for name in pair if name}
    section = (ROOT / "docs/method.md").read_text(encoding="utf-8").split(TABLE)[1].split("\n## ")[0]
    named = set(re.findall(r"^\| `(\w+)` \|", section, flags=re.MULTILINE))
    known = {entry["id"] for entry in vectors}
    assert known - tested - named == set()
    assert (tested | named) - known == set(), "a vector that is not in the file"
