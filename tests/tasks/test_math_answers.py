import json
from pathlib import Path

import pytest

from spadework.harness.types import Outcome
from spadework.tasks.math_answers import EXTRACTIONS, LONGEST, NoComparer, final_answer, judge, judge_extracted

CASES = Path(__file__).parent.parent / "data" / "aime_extraction_cases.jsonl"
DIFFERENCES = {
    "\\boxed{7{0}}": "TeX prints 70",
    "\\boxed{1e2}": "a number in a program's notation",
    "The answer is 70.": "stated without a box",
}
"""Where `judge` calls right what both peers call wrong."""


def cases() -> list[dict[str, object]]:
    return [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]


def test_the_labelled_cases_are_judged_as_at_least_one_peer_does_or_the_reason_is_listed() -> None:
    differing = set()
    for case in cases():
        verdict = judge(str(case["response"]), case["label"], NoComparer(), integers=True)
        peers = (case["spade_offline_correct"], case["balanced_mathverify_correct"])
        assert verdict.outcome.scored
        if not any(peers) and verdict.outcome is Outcome.RIGHT:
            differing.add(str(case["response"]))
        else:
            assert (verdict.outcome is Outcome.RIGHT) == any(peers), case["response"]
    assert differing == set(DIFFERENCES)


def test_spades_own_extraction_is_repeated_for_its_protocol() -> None:
    for case in cases():
        assert EXTRACTIONS["last-plain-box"](str(case["response"]))[0] == case["spade_offline_extracted"]


def test_the_strict_extraction_reads_boxes_only() -> None:
    assert EXTRACTIONS["last-box"]("The answer is 70.") == (None, "")
    assert EXTRACTIONS["last-box"]("\\boxed{1} \\fbox{70} \\boxed{7") == ("70", "")


@pytest.mark.parametrize(
    ("said", "gold"),
    [
        ("\\boxed{1,250}", 1250), ("\\boxed{072}", "72"), ("\\boxed{72.0}", 72), ("\\boxed{{7}}", 7), ("\\fbox{7}", 7),
        ("\\boxed{\\frac{140}{2}}", 70), ("\\boxed{\\mathbf{70}}", 70), ("\\boxed{40^\\circ}", "40"),
        ("\\boxed{5!}", 120),
        ("\\boxed{588 \\text{ square units}}", 588), ("\\boxed{9 \\text{ ways}}", 9), ("\\boxed{m + n = 70}", 70),
        ("It is 72", 72), ("$x=3$ and so $72$", 72), ("The total is $2,560.00", 2560), ("= 72 (see step 2)", 72),
        ("#### 42.", 42), ("#### 42.00", 42), ("#### $42", 42), ("So it is 42.", 42),
        ("... so \\[ \\boxed{58} \\]", 58),
        ("example: #### 3 ... final: #### 42", 42), ("<answer>\\boxed{41}\\).</answer>", ["41"]),
        ("a \\boxed{1}###Response\\boxed{2}###Response\\boxed{31}", 31), ("Therefore \\boxed{31}", 31),
        ("final answer: **072**", 72), ("The final answer is $70$. I hope it is correct.", 70), ("\x08oxed{7}", 7),
    ],
)  # fmt: skip
def test_an_integer_is_right_in_whatever_dress(said: str, gold: object) -> None:
    """Reports L243, L244, L246, L250, P010, P029, P030, P032, P050, P054 and P055."""
    assert judge(said, gold, NoComparer(), integers=True).outcome is Outcome.RIGHT


@pytest.mark.parametrize(
    ("said", "gold"),
    [
        ("ANSWER: 836", 36), ("\\boxed{7000}", 70), ("\\boxed{1{,}510}", 510), ("\\boxed{16, 17}", 16),
        ("\\boxed{1 \\text{ or } 2}", 1), ("\\boxed{-244}", 244), ("\\boxed{\\pm 70}", 70), ("\\boxed{7}", 72),
        ("5.1 million. (Grader: output rating 2)", "61"), ("\\boxed{x}", 3), ("\\boxed{\\text{no solution}}", 3),
        ("\\boxed{\\frac{140}{0}}", 3), ("\\boxed{9^{9^{9^{9}}}}", 9),
        ("\\boxed{" + "1+" * LONGEST + "1}", LONGEST + 1),
        ("\\boxed{277} is final. Check: \\boxed{12}", 277), ("\\boxed{70.5}", 70), ("\\boxed{7\\text{ million}}", 7),
    ],
)  # fmt: skip
def test_another_number_is_wrong_without_asking_anybody(said: str, gold: object) -> None:
    """Reports P018, P038 and P053, and QwQ's equality within a factor of 100."""
    assert judge(said, gold, NoComparer(), integers=True).outcome in (Outcome.WRONG, Outcome.NO_ANSWER)


def test_five_answers_have_five_verdicts_and_the_extracted_answer_is_whole() -> None:
    """Report P019."""
    said = ["\\boxed{12}", "I am not sure.", "\\boxed{13}", "", "\\boxed{12}"]
    verdicts = [judge(text, 12, NoComparer(), integers=True) for text in said]
    right, wrong, nothing = Outcome.RIGHT, Outcome.WRONG, Outcome.NO_ANSWER
    assert [verdict.outcome for verdict in verdicts] == [right, nothing, wrong, nothing, right]
    assert [verdict.extracted for verdict in verdicts] == ["12", None, "13", None, "12"]


def test_an_integer_in_percent_is_right_and_the_record_says_so() -> None:
    """Report P043: where the question asks for an integer, a percent sign is a unit."""
    verdict = judge("It is 45%", 45, NoComparer(), integers=True)
    assert (verdict.outcome, verdict.detail) == (Outcome.RIGHT, "unboxed; percent_normalised")


@pytest.mark.parametrize(
    ("answer", "gold", "right"),
    [
        ("12 %", "12", False), ("12\\%", "12", False), ("12\\%", "0.12", True), ("45\\%", "45\\%", True),
        ("45", "45\\%", True), ("0.45", "45\\%", True), ("45\\%", "9/20", True), ("2^{-80}", "2^{-79}", False),
        ("2^{-80}", "2^{-80}", True), ("7000", "70", False), ("9^{9^{9^{9}}}", "3", False), ("\\frac12", "1/2", True),
        ("\x0crac35", "3/5", True), ("\\frac{3}{5}", "3/5", True), ("17", "\\text{17}", True),
        ("40^\\circ", "40", True),
        ("\\{2, 5\\}", "2, 5", True), ("5, 2", "\\{2, 5\\}", True), ("2, 6", "\\{2, 5\\}", False), ("1/2", "0.5", True),
        ("0.3333", "1/3", True), ("0.33", "1/3", False), ("0.0001", "1/30000", False), ("0.1234", "0.12345", False),
        ("x = 5", "5", True), ("5", "x = 5", True), ("6x + y + 9 = 0", "0", True), ("(2, \\frac{\\pi}{4})",
        "(2,\\frac{\\pi}{4})", True), ("9 \\text{ ways}", "9", True),
    ],
)  # fmt: skip
def test_a_general_answer_is_compared_exactly(answer: str, gold: str, right: bool) -> None:
    """Reports L247, P013, P014, P043 and P055; a percent sign is a hundredth unless the gold answer bears one."""
    if answer.startswith("6x"):
        assert judge_extracted(answer, gold, NoComparer()).outcome is Outcome.SCORER_ERROR, "left to algebra"
        return
    verdict = judge_extracted(answer, gold, NoComparer())
    assert verdict.outcome is (Outcome.RIGHT if right else Outcome.WRONG)


def test_a_stated_fraction_is_a_decimal() -> None:
    """Report L250."""
    verdict = judge("ANSWER: 1/2", "0.5", NoComparer())
    assert (verdict.outcome, verdict.extracted, verdict.detail) == (Outcome.RIGHT, "1/2", "unboxed")


@pytest.mark.parametrize("gold", ["", "  ", "the two sums agree", "\x0crac12", None, True, [], ["1", "2"]])
def test_a_gold_answer_that_is_none_never_pays(gold: object) -> None:
    """Reports P014, P020 and P022: the sample is excluded and counted, whatever was answered."""
    for said in ("\\boxed{7}", ""):
        verdict = judge(said, gold, NoComparer())
        assert (verdict.outcome, verdict.detail) == (Outcome.SCORER_ERROR, "gold_unparsable")


@pytest.mark.parametrize(
    "piece", ["answer: ", "\\boxed{", "#### ", "( ", "$", "1,", "answer is ab (", "7{0}", "\\frac"]
)
def test_finding_the_answer_in_long_junk_takes_time_in_proportion_to_its_length(piece: str) -> None:
    final_answer(piece * 20_000)
    judge("\\boxed{" + piece * (LONGEST // len(piece)) + "}", 7, NoComparer(), integers=True)
