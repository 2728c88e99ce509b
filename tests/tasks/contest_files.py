"""Invented problems in the official files' format of LiveCodeBench; plain functions for tests."""

import base64
import json
import pickle
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

Tests = Sequence[tuple[str, str]]


def packed(value: object) -> str:
    return base64.b64encode(zlib.compress(pickle.dumps(value))).decode()


def row(
    number: str, tests: Tests, function: str = "", private: str | None = None, date: str = "2025-03-01"
) -> dict[str, Any]:  # fmt: skip
    """One line: the first test is public, the others are private."""
    kind = "functional" if function else "stdin"
    cases = [{"input": given, "output": wanted, "testtype": kind} for given, wanted in tests]
    return {
        "question_title": number,
        "question_content": f"Solve the entirely invented problem {number} of the cartographer who counts her maps.",
        "platform": "leetcode" if function else "atcoder", "question_id": number, "contest_id": "invented",
        "contest_date": f"{date}T00:00:00", "starter_code": f"class Solution:\n    def {function}" if function else "",
        "difficulty": "easy", "public_test_cases": json.dumps(cases[:1]),
        "private_test_cases": packed(json.dumps(cases[1:])) if private is None else private,
        "metadata": json.dumps({"func_name": function} if function else {}),
    }  # fmt: skip


def written(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(one) + "\n" for one in rows), encoding="utf-8")
    return path
