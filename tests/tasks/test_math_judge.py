"""Algebra in jailed processes: what math-verify knows, and what it is not believed."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

pytest.importorskip("math_verify", reason="math-verify is not installed")

from spadework.harness.sandbox import SandboxReport
from spadework.harness.sandbox.runs import RunLimits
from spadework.harness.types import Outcome
from spadework.tasks.math_answers import judge, judge_extracted
from spadework.tasks.math_judge import MathJudge

CASES = Path(__file__).parent.parent / "data" / "aime_extraction_cases.jsonl"


@pytest.fixture(scope="module")
def comparer() -> Iterator[MathJudge]:
    with MathJudge(limits=RunLimits(cpu_s=2.0, memory_mb=2048)) as made:
        yield made


@pytest.fixture(scope="module")
def patient() -> Iterator[MathJudge]:
    """An integral takes its seconds on a crowded machine."""
    with MathJudge(limits=RunLimits(cpu_s=30.0, memory_mb=2048)) as made:
        yield made


@pytest.mark.parametrize(
    ("answer", "gold"),
    [
        ("1+\\sqrt{2}", "\\sqrt{2}+1"), ("7pi/6", "$\\frac{7\\pi}{6}$"), ("-1 + exp(9)", "$e^{9}-1$"),
        ("14.0 + -2.0i", "$14-2i$"), ("0 < x < 8.5", "$(0, 8.5)$"), ("$(0, 8.5)$", "0 < x < 8.5"), ("2x - x", "x"),
        ("sqrt(3)/2", "\\frac{\\sqrt{3}}{2}"), ("3.141593", "\\pi"), ("(x+1)^2", "x^2+2x+1"), ("3x(x+2)", "3x^2+6x"),
        ("\\frac{\\sqrt6+\\sqrt2}{2}", "\\sqrt{2+\\sqrt{3}}"),
        ("\\frac{22}{7}-\\pi", "\\int_0^1\\frac{x^4(1-x)^4}{1+x^2}dx"),
    ],
)  # fmt: skip
def test_equal_expressions_are_right(patient: MathJudge, answer: str, gold: str) -> None:
    """Reports L244, P007 (both directions) and P011."""
    assert judge_extracted(answer, gold, patient).outcome is Outcome.RIGHT


@pytest.mark.parametrize(
    ("answer", "gold"),
    [
        ("5\\sqrt(3)", "$5$"), ("6x + y + 9=0", "2*x-5*y+7=0"), ("$2$", "\\left( 2, \\frac{\\pi}{4} \\right)"),
        ("2^{-79}\\pi", "2^{-80}\\pi"), ("12\\%\\pi", "12\\pi"), ("y=2x+2", "y=2x+1"), ("banana", "7"),
        ("(5,2)", "(2,5)"),
        ("3.1", "\\pi"), ("1250", "(1,250)"), ("5+", "5"), ("5 \\foo", "5"), ("y", "x"),
    ],
)  # fmt: skip
def test_the_known_false_matches_are_wrong(comparer: MathJudge, answer: str, gold: str) -> None:
    """Reports P001, P003 and P012; numbers are compared by their leading digits."""
    assert judge_extracted(answer, gold, comparer).outcome is Outcome.WRONG


def test_an_integer_that_takes_algebra_is_found(comparer: MathJudge) -> None:
    assert judge("\\boxed{\\log_2 1024}", 10, comparer, integers=True).outcome is Outcome.RIGHT
    assert judge("\\boxed{8\\sin\\frac{\\pi}{6}}", 5, comparer, integers=True).outcome is Outcome.WRONG


@pytest.mark.parametrize("answer", ["\\pi^{9^{9^{9^{9}}}}", "(x+1)^{4000}"])
def test_an_answer_that_hangs_algebra_is_wrong_and_the_next_one_is_judged(comparer: MathJudge, answer: str) -> None:
    """Reports P018 and P119."""
    verdict = judge_extracted(answer, "(x+2)^{3}", comparer)
    assert (verdict.outcome, verdict.detail[:8]) == (Outcome.WRONG, "timeout:")
    assert judge_extracted("5\\sqrt{2}", "\\sqrt{50}", comparer).outcome is Outcome.RIGHT


def test_a_gold_answer_that_hangs_algebra_is_a_scorer_error(comparer: MathJudge) -> None:
    verdict = judge_extracted("y", "\\pi^{9^{9^{9^{9}}}}", comparer)
    assert verdict.outcome is Outcome.SCORER_ERROR and "timeout" in verdict.detail


def test_threads_may_judge(comparer: MathJudge) -> None:
    """Report P015."""
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: comparer.compare("\\sqrt{50}", "5\\sqrt{2}")[0], range(16)))
    assert found == [Outcome.RIGHT] * 16


def test_the_server_starts_only_when_algebra_is_needed_and_says_what_it_is_jailed_by() -> None:
    reports: list[SandboxReport] = []
    with MathJudge(opened=reports.append) as comparer:
        assert judge("\\boxed{\\frac{140}{2}}", 70, comparer, integers=True).outcome is Outcome.RIGHT
        assert not comparer.started and not reports
        judge("\\boxed{\\log_2 1024}", 10, comparer, integers=True)
        assert comparer.started and len(reports) == 1


def test_math_verify_alone_gives_the_verdicts_that_were_recorded_of_it(comparer: MathJudge) -> None:
    """`spade_offline_*` and `balanced_*` of the labelled cases: what the peers' protocols say."""
    for case in map(json.loads, CASES.read_text(encoding="utf-8").splitlines()):
        for peer, verdict in (("spade_offline_extracted", "spade_offline_correct"),
                              ("balanced_extracted", "balanced_mathverify_correct")):  # fmt: skip
            extracted = case[peer]
            right = extracted is not None and comparer.official(case["label"], extracted)[0] is Outcome.RIGHT
            assert right == case[verdict], (peer, case)
