"""The verdicts as pure functions: their rates at the corners, and what they say with several runs."""

import numpy as np
import pytest
from scipy import stats

from spadework.harness.errors import ExitCode
from spadework.harness.gate.bound import lower_bound
from spadework.harness.gate.decision import Decision, Evidence, Verdict, decide
from spadework.harness.gate.outcome import Line, Outcome, sentence
from spadework.harness.means import Floats
from spadework.harness.planning import two_digits


def pairs(n: int, better: int, worse: int, margin: float = 0.02) -> Evidence:
    reference_I, run_I = np.ones(n), np.ones(n)
    reference_I[:better] = 0
    run_I[better : better + worse] = 0
    return Evidence(
        name=f"{n}/{better}/{worse}", run_SI=run_I[None], reference_KI=reference_I[None], strata_I=None, margin=margin
    )


def decided(evidence: Evidence, alpha: float = 0.05) -> Decision:
    return decide([evidence], alpha)[0]


def test_thirty_equal_answers_are_underpowered_and_say_how_many_would_do() -> None:
    one = decided(pairs(30, 0, 0))
    assert one.verdict is Verdict.UNDERPOWERED and one.needed is not None and 130 < one.needed < 160
    assert decided(pairs(two_digits(one.needed), 0, 0)).verdict in (Verdict.PASS, Verdict.UNDERPOWERED)
    assert decided(pairs(160, 0, 0)).verdict is Verdict.PASS


def test_the_bound_of_equal_answers_is_clopper_and_pearsons() -> None:
    for n in (30, 149, 1000):
        exact = -float(stats.beta.ppf(0.95, 1, n))
        assert lower_bound(np.zeros(n), [np.arange(n)], 0.05) == pytest.approx(exact, rel=0.03)


def test_the_bound_is_the_same_every_time_and_never_above_the_estimate() -> None:
    gaps_I = np.random.default_rng(3).choice([-1.0, 0.0, 1.0], size=200)
    members = [np.arange(100), np.arange(100, 200)]
    assert lower_bound(gaps_I, members, 0.05) == lower_bound(gaps_I, members, 0.05) < gaps_I.mean()
    assert lower_bound(np.full(3, -1.0), [np.arange(3)], 0.05) == -1.0


def test_a_drop_fails_only_when_it_is_shown_and_larger_than_the_margin() -> None:
    assert decided(pairs(1000, 30, 90)).verdict is Verdict.FAIL
    small = decided(pairs(100_000, 1000, 1400))
    assert small.verdict is Verdict.PASS and small.p < 0.001, "shown, and within the margin"
    assert decided(pairs(100, 5, 9)).verdict is Verdict.UNDERPOWERED, "beyond the margin, and not shown"


def test_the_p_value_is_mcnemars_exact_one_and_holm_counts_every_benchmark() -> None:
    one, *rest = decide([pairs(400, 10, 22), *(pairs(400, 5, 5) for _ in range(9))], 0.05)
    assert one.p == pytest.approx(stats.binomtest(10, 32, alternative="less").pvalue)
    assert one.p_holm == pytest.approx(10 * one.p) and one.verdict is Verdict.UNDERPOWERED
    assert decided(pairs(400, 10, 22)).verdict is Verdict.FAIL
    assert all(other.p_holm == 1.0 for other in rest)


def test_an_equal_mean_of_categories_weighs_the_small_one_more() -> None:
    strata = ("a",) * 20 + ("b",) * 180
    run_I = np.ones(200)
    run_I[:4] = 0
    one = decided(
        Evidence(name="", run_SI=run_I[None], reference_KI=np.ones((1, 200)), strata_I=strata, margin=0.05)
    )
    assert one.difference == pytest.approx(-0.1) and one.n_worse == 4 and one.verdict is Verdict.UNDERPOWERED


def runs(rng: np.random.Generator, shifts: list[float]) -> Floats:
    return np.stack([(rng.random(2000) < 0.5 + shift).astype(float) for shift in shifts])


def test_a_spread_between_runs_is_no_drop_and_a_drop_beyond_it_is() -> None:
    rng = np.random.default_rng(0)
    reference_KI = runs(rng, [0.05, 0.02, 0.0, -0.02, -0.05])

    def against(shift: float, references: Floats) -> Decision:
        return decided(
            Evidence(name="", run_SI=runs(rng, [shift]), reference_KI=references, strata_I=None, margin=0.02)
        )

    assert against(-0.06, reference_KI[:1]).verdict is Verdict.FAIL, "two runs alone: these checkpoints differ"
    spread = against(-0.06, reference_KI)
    assert spread.verdict is Verdict.UNDERPOWERED and spread.needed is None
    assert spread.run_sd is not None and 0.02 < spread.run_sd < 0.07
    assert against(-0.25, reference_KI).verdict is Verdict.FAIL


def test_runs_that_do_not_differ_leave_the_word_to_the_items() -> None:
    same_KI = np.ones((3, 1000))
    run_I = np.ones(1000)
    run_I[:60] = 0
    one = decided(Evidence(name="", run_SI=run_I[None], reference_KI=same_KI, strata_I=None, margin=0.02))
    assert one.run_sd == 0.0 and one.verdict is Verdict.FAIL


def line(verdict: Verdict) -> Line:
    return Line(name=verdict, verdict=verdict, sentence="")


def test_the_worst_line_makes_the_exit_code() -> None:
    def code(*verdicts: Verdict) -> ExitCode:
        lines = tuple(line(verdict) for verdict in verdicts)
        return Outcome(run="r", reference="f", alpha=0.05, lines=lines, notes=()).code

    ok, silent, hole = Verdict.PASS, Verdict.UNDERPOWERED, Verdict.INCOMPLETE
    assert code(ok) == 0 and code(ok, silent) == 3 and code(ok, silent, hole) == 4
    assert code(ok, silent, hole, Verdict.FAIL) == 1 and code(ok, Verdict.MISSING) == 1


def test_sentences_say_what_is_ruled_out() -> None:
    assert "a drop of 0.3 or more is ruled out, the margin is 2" in sentence(decided(pairs(1000, 0, 0)))
    assert "a drop is ruled out" in sentence(decided(pairs(1000, 90, 10)))
    assert "is not ruled out" in sentence(decided(pairs(30, 0, 0)))
    assert sentence(decided(pairs(1000, 30, 90))).startswith("1000/30/90: FAIL, 97 % to 91 %, \u22126.0 points")
