"""The command that compares items and scores with the expected table of Reasoning-Gym, on a part of it."""

import json
from pathlib import Path

import pytest

pytest.importorskip("reasoning_gym", reason="reasoning-gym is not installed")

from spadework.tasks.reasoning_gym_parity import differences

TASKS = ("ab", "decimal_chain_sum", "graph_color", "jugs", "prime_factorization", "propositional_logic")


def rows(data: Path) -> list[dict[str, object]]:
    lines = (data / "reasoning_gym" / "a3_hard_expected.jsonl").read_text().splitlines()
    return [row for row in map(json.loads, lines) if row["task"] in TASKS]


def test_rows_of_the_expected_table_are_met(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    wanted = rows(data)
    assert len(wanted) == 8 * len(TASKS)
    assert list(differences(wanted)) == []
    changed = [{**row, "score_junk": 0.5} for row in wanted if row["task"] == "ab"]
    assert [name for _, name, *_ in differences(changed)] == ["score_junk"] * 8, "what differs is told"
