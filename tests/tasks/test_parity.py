"""docs/validation.md lists every labelled case where our verdict differs from a peer's, with the reason."""

import json
from pathlib import Path

from spadework.harness.types import Outcome
from spadework.tasks.letters import POLICIES, robust
from spadework.tasks.math_answers import NoComparer, judge

TESTS = Path(__file__).parent.parent
PEERS = {
    "spade-offline": "spade_offline", "spade-inloop": "spade_inloop_boxed", "spade-json": "spade_json",
    "spade-scieval": "spade_scieval", "first-answer-line": "openai_simple_evals_first_match",
}  # fmt: skip
GRADERS = {"spade-offline": "spade_offline_correct", "balanced": "balanced_mathverify_correct"}


def listed(width: int) -> dict[str, list[str]]:
    """First cell to the others, of the tables with so many columns whose first cell is code."""
    found = {}
    for line in (TESTS.parent / "docs" / "validation.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if len(cells) == width and cells[0].startswith("`"):
            found[cells[0].strip("`")] = cells[1:]
    return found


def cases(name: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in (TESTS / "data" / name).read_text(encoding="utf-8").splitlines()]


def test_every_reply_that_another_extractor_reads_otherwise_stands_there_with_its_reason() -> None:
    rows, differing = listed(4), 0
    for case in cases("gpqa_extraction_cases.jsonl"):
        reply = str(case["response"])
        others = [f"{peer} {case[key] or '-'}" for peer, key in PEERS.items() if case[key] != robust(reply)]
        row = rows.get(reply.replace("\n", "\\n"))
        assert (row is not None) == bool(others), reply
        if row is not None:
            assert row[:2] == [robust(reply) or "-", ", ".join(others)] and row[2]
            differing += len(others)
    assert differing == 63 and set(PEERS) < set(POLICIES)


def test_every_answer_that_another_grader_judges_otherwise_stands_there_with_its_reason() -> None:
    rows, differing = listed(5), 0
    for case in cases("aime_extraction_cases.jsonl"):
        reply = str(case["response"])
        right = judge(reply, case["label"], NoComparer(), integers=True).outcome is Outcome.RIGHT
        others = [f"{peer} {'wrong' if right else 'right'}" for peer, key in GRADERS.items() if case[key] != right]
        row = rows.get(reply)
        assert (row is not None) == bool(others), reply
        if row is not None:
            assert row[:3] == [case["label"], "right" if right else "wrong", ", ".join(others)] and row[3]
            differing += len(others)
    assert differing == 12
