import json
from pathlib import Path

import pytest

from spadework.tasks.letters import POLICIES, robust

CASES = Path(__file__).parent.parent / "data" / "gpqa_extraction_cases.jsonl"
RECORDED = {
    "spade-offline": "spade_offline",
    "spade-inloop": "spade_inloop_boxed",
    "spade-json": "spade_json",
    "spade-scieval": "spade_scieval",
    "first-answer-line": "openai_simple_evals_first_match",
}
NO_ANSWER = {"", "\\boxed{Carbon}", "\\boxed{both A and C}", "\\boxed{2.4}"}
"""Replies that name no option, or two."""


def cases() -> list[dict[str, str | None]]:
    return [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]


def test_all_labelled_cases_are_read_as_a_person_reads_them() -> None:
    assert len(cases()) == 25
    for case in cases():
        reply = str(case["response"])
        assert robust(reply) == (None if reply in NO_ANSWER else case["gold"]), reply


@pytest.mark.parametrize("policy", RECORDED)
def test_each_peer_policy_gives_the_verdict_that_was_recorded_of_the_peer(policy: str) -> None:
    for case in cases():
        assert POLICIES[policy](str(case["response"])) == case[RECORDED[policy]], case["response"]


@pytest.mark.parametrize(
    ("reply", "letter"),
    [
        ("answer: options A and D look odd ...\nANSWER: B", "B"),
        ("The answer is a bit tricky. Answer: B", "B"),
        ("So the answer is:\n\n**C**", "C"),
        ("the answer is **C) 5**", "C"),
        ("Answer: A and C", None),
        ("\\boxed{A} or rather \\boxed{B, C}", None),
        ("I think the answer is not C", None),
        ("Final answer: $\\boxed{D}$", "D"),
        ("\\boxed{A}, which is \\boxed{2.4}", "A"),
        ("Therefore, option C is correct.", "C"),
        ("(D) is the correct answer", "D"),
        ("\\boxed{A bond}", None),
        ("\\boxed{Option C}", "C"),
        ("\\boxed{C, because it is}", "C"),
        ("\\boxed{C\\ 2.4}", "C"),
        ("\\boxed{C_2H_6}", None),
        ("\\boxed{D_2O}", None),
        ("\\boxed{B^2}", None),
        ("\\boxed{B = 2 T}", None),
        ("\\fbox{C}", "C"),
        ("C) 2.4 eV", "C"),
        ("A) 1\nB) 2\nC) 3\nD) 4", None),
        ("**Answer**: (D)", "D"),
        ("Answer: A because of symmetry", "A"),
        ("Answer: A good guess would be nice", None),
        ("the answer is either A or B", None),
        ("Answer\uff1aC", "C"),
        ("**Verdict: C**", None),
    ],
)
def test_a_letter_counts_where_the_text_commits_itself_to_it(reply: str, letter: str | None) -> None:
    """Report P036 among others: an earlier line that mentions options is not the answer."""
    assert robust(reply) == letter


@pytest.mark.parametrize("piece", ["\\boxed{", "\\boxed{A}", "answer is ", "( ", "A and ", "*", "answer: A, "])
def test_reading_long_junk_takes_time_in_proportion_to_its_length(piece: str) -> None:
    for policy in POLICIES.values():
        policy(piece * 20_000)
