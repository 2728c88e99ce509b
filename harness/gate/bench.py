"""Benchmark: how often the gate is wrong, by simulation and by exact sums, against the rates it promises.

    python -m spadework.harness.gate.bench [--reruns 1000]

No change: item probabilities from a Beta, the same for reference and run, both drawn anew; some benchmark fails in at
most alpha + 1 point of the re-runs. Drop of the margin: a benchmark passes in at most alpha (pairs of binary answers by
exact sums, repeats and categories by simulation). Drop of 5 points in 1,000 items at a discordance of 20 %: fails four
times in five. Items of 30 never suffice. The command fails when one of these bounds does. Three minutes of one core.
It measures no speed.
"""

import argparse
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from scipy import stats

from ..errors import ExitCode
from ..means import Floats, macro_mean, strata_members
from ..seeds import derive
from .bound import lower_bound
from .decision import Decision, Evidence, Verdict, decide

ALPHA, MARGIN = 0.05, 0.02
SLACK = 0.01
"""What a simulated rate may lie above its bound."""
EXACT_SLACK = 0.002
"""What an exact sum may: the weights of the bound are drawn."""


class Suite(NamedTuple):
    """A benchmark to simulate; probabilities of the items are Beta(a, b)."""

    name: str
    strata: tuple[int, ...]
    samples: int
    a: float
    b: float

    @property
    def categories(self) -> tuple[str, ...] | None:
        """Of the items, where the metric is the mean of several."""
        if len(self.strata) == 1:
            return None
        return tuple(str(number) for number, size in enumerate(self.strata) for _ in range(size))

    def truths(self, rng: np.random.Generator) -> Floats:
        """Probabilities of the items."""
        return rng.beta(self.a, self.b, size=sum(self.strata))

    def drawn(self, truths_I: Floats, runs: int, rng: np.random.Generator) -> Floats:
        """Item means of some runs."""
        return rng.binomial(self.samples, truths_I, size=(runs, truths_I.size)) / self.samples


SUITES = (
    Suite("30 items", (30,), 1, 0.6, 0.9),
    Suite("198 items x 4", (198,), 4, 1.0, 0.8),
    Suite("1,000 items", (1000,), 1, 0.4, 0.4),
    Suite("3 categories", (60, 40, 100), 1, 0.5, 1.0),
)


class Row(NamedTuple):
    """One figure; `bound` is None where it is only told."""

    what: str
    value: float
    bound: float | None = None
    at_least: bool = False
    note: str = ""

    @property
    def holds(self) -> bool:
        """Whether the figure keeps its bound."""
        if self.bound is None:
            return True
        return self.value >= self.bound if self.at_least else self.value <= self.bound


def generator(*parts: int | str) -> np.random.Generator:
    """By what it is for."""
    return np.random.default_rng(derive(0, "bench gate", *parts))


def no_change(reruns: int) -> Iterator[Row]:
    """All suites in one gate, reference and run of the same probabilities."""
    failed, shown = 0, 0
    for number in range(reruns):
        rng = generator("no change", number)
        decisions = decide([_pair(suite, suite.truths(rng), 0.0, rng) for suite in SUITES], ALPHA)
        failed += any(one.verdict is Verdict.FAIL for one in decisions)
        shown += any(one.p_holm <= ALPHA for one in decisions)
    what = f"P(any of {len(SUITES)} fails | no change)"
    note = f"{reruns:,} re-runs; a drop of any size is shown in {shown / reruns:.1%}"
    yield Row(what, failed / reruns, ALPHA + SLACK, note=note)


def one_reference(reruns: int) -> Iterator[Row]:
    """A reference is drawn once and met by many runs: one that was lucky raises the rate for all of them."""
    suite, rates = SUITES[2], {}
    for runs in (1, 5):
        found = []
        for number in range(20):
            rng = generator("reference", runs, number)
            truths_I = suite.truths(rng)
            fixed_KI = suite.drawn(truths_I, runs, rng)
            one = [_fails(_evidence(suite, suite.drawn(truths_I, 1, rng), fixed_KI)) for _ in range(reruns // 20)]
            found.append(float(np.mean(one)))
        rates[runs] = found
    for runs, found in rates.items():
        what = f"P(fails | no change, one reference of {runs} run{'s' * (runs > 1)})"
        bound = ALPHA + SLACK
        yield Row(what, float(np.mean(found)), bound, note=f"{min(found):.0%} to {max(found):.0%} over 20 references")


def between_runs(reruns: int) -> Iterator[Row]:
    """Runs that differ by more than their items: each training has an effect of its own, 1.5 points in size."""
    suite = Suite("400 items", (400,), 1, 0.4, 0.4)
    for references, runs in ((1, 1), (3, 1), (5, 1), (3, 3)):
        failed = 0
        for number in range(reruns):
            rng = generator("between runs", references, runs, number)
            truths_I = suite.truths(rng)
            sides = [
                np.concatenate([suite.drawn(_shifted(truths_I, rng.normal(0, 0.015)), 1, rng) for _ in range(size)])
                for size in (runs, references)
            ]
            failed += _fails(_evidence(suite, sides[0], sides[1]))
        known = references + runs > 2
        what = f"P(fails | no change, runs spread by 1.5 points, {runs} against {references})"
        bound, note = (ALPHA + SLACK, "") if known else (None, "nothing is known of the spread")
        yield Row(what, failed / reruns, bound, note=note)


def _shifted(truths_I: Floats, shift: float) -> Floats:
    return np.asarray(np.clip(truths_I + shift, 0, 1))


def margin_pairs() -> Iterator[Row]:
    """Exact: every pair of counts (better, worse) with its probability."""
    for n in (30, 150, 200, 500, 1000):
        for discordance in (MARGIN, 0.05, 0.2, 0.5):
            what = f"P(passes | drop {MARGIN:.0%}, {n:,} items, discordance {discordance:.0%})"
            value = exactly(n, MARGIN, discordance, _passes)
            yield Row(what, value, ALPHA + EXACT_SLACK, note="exact")


def exactly(n: int, drop: float, discordance: float, accepts: Callable[[int, int, int], bool]) -> float:
    """Probability of the pairs that are accepted: for each number of gains those with few enough losses."""
    gains, losses = (discordance - drop) / 2, (discordance + drop) / 2
    last = int(stats.binom.isf(1e-9, n, gains)) + 1 if gains > 0 else 0
    total, worse = 0.0, -1
    for better in range(last + 1):
        while worse + 1 <= n - better and accepts(n, better, worse + 1):
            worse += 1
        share = losses / (1 - gains)
        below = float(stats.binom.cdf(worse, n - better, share)) if worse >= 0 else 0.0
        total += float(stats.binom.pmf(better, n, gains)) * below
    return total


def _passes(n: int, better: int, worse: int) -> bool:
    gaps_I = np.repeat([1.0, -1.0, 0.0], [better, worse, n - better - worse])
    return lower_bound(gaps_I, [np.arange(n)], ALPHA) > -MARGIN


def margin_suites(reruns: int) -> Iterator[Row]:
    """By simulation: repeats, and a mean over categories of which one holds all of the drop or none."""
    for suite in (SUITES[1], SUITES[3], Suite("2 categories", (150, 900), 1, 0.8, 0.5)):
        members = strata_members(suite.categories, sum(suite.strata))
        for margin in (0.02, 0.1):
            for where in ("all", "first category") if len(suite.strata) > 1 else ("all",):
                passed = 0
                for number in range(reruns):
                    rng = generator("margin", suite.name, str(margin), where, number)
                    one = _pair(suite, suite.truths(rng), margin, rng, first=where != "all")
                    gaps_I = one.run_SI[0] - one.reference_KI[0]
                    # The bound never lies above the estimate, so half of the runs need none.
                    passed += macro_mean(gaps_I, members) > -margin and lower_bound(gaps_I, members, ALPHA) > -margin
                what = f"P(passes | drop {margin:.0%} in {where}, {suite.name})"
                yield Row(what, passed / reruns, ALPHA + SLACK, note=f"{reruns:,} re-runs")


def power(reruns: int) -> Iterator[Row]:
    """The drop that has to be found, with the discordance as the two runs showed it."""
    n, drop, discordance = 1000, 0.05, 0.2
    failed, seen = 0, []
    for number in range(reruns):
        rng = generator("power", number)
        counts = rng.multinomial(n, [(discordance - drop) / 2, (discordance + drop) / 2, 1 - discordance])
        reference_I = np.repeat([0.0, 1.0, 1.0], counts)
        run_I = np.repeat([1.0, 0.0, 1.0], counts)
        one = _decided(_binary(run_I, reference_I))
        failed += one.verdict is Verdict.FAIL
        seen.append(one.discordance)
    note = f"discordance of the two runs {np.mean(seen):.1%} on average"
    yield Row(f"P(fails | drop {drop:.0%}, 1,000 items, margin 2)", failed / reruns, 0.8, at_least=True, note=note)


def too_few() -> Iterator[Row]:
    """Thirty items that did not change at all."""
    same_I = np.tile([0.0, 1.0], 15)
    one = _decided(_binary(same_I, same_I))
    what, note = "30 equal answers are underpowered", f"about {one.needed} equal answers would pass"
    yield Row(what, float(one.verdict is Verdict.UNDERPOWERED), 1.0, at_least=True, note=note)


def _pair(suite: Suite, truths_I: Floats, drop: float, rng: np.random.Generator, *, first: bool = False) -> Evidence:
    """One run on each side; the run's probabilities are lower by `drop` in the metric's mean."""
    lowered_I = truths_I.copy()
    members = strata_members(suite.categories, truths_I.size)
    chosen = members[:1] if first else members
    # The drop is one of the Beta's mean, not of these items' mean: items are drawn too.
    share = drop * len(members) / len(chosen) / (suite.a / (suite.a + suite.b))
    for index in chosen:
        lowered_I[index] *= 1 - share
    return _evidence(suite, suite.drawn(lowered_I, 1, rng), suite.drawn(truths_I, 1, rng))


def _evidence(suite: Suite, run_SI: Floats, reference_KI: Floats) -> Evidence:
    return Evidence(
        name=suite.name, run_SI=run_SI, reference_KI=reference_KI, strata_I=suite.categories, margin=MARGIN
    )  # fmt: skip


def _binary(run_I: Floats, reference_I: Floats) -> Evidence:
    return Evidence(name="", run_SI=run_I[None], reference_KI=reference_I[None], strata_I=None, margin=MARGIN)


def _decided(evidence: Evidence) -> Decision:
    return decide([evidence], ALPHA)[0]


def _fails(evidence: Evidence) -> bool:
    return _decided(evidence).verdict is Verdict.FAIL


def rows(reruns: int) -> Iterator[Row]:
    """Every figure, as it is found."""
    yield from too_few()
    yield from power(reruns)
    yield from no_change(reruns)
    yield from one_reference(reruns // 2)
    yield from between_runs(reruns // 2)
    yield from margin_pairs()
    yield from margin_suites(reruns // 2)


def main() -> int:
    """Print the figures; 1 when a bound does not hold."""
    parser = argparse.ArgumentParser(prog="bench gate", description=__doc__)
    parser.add_argument("--reruns", type=int, default=1000, help="simulated re-runs a figure (default 1000)")
    arguments = parser.parse_args()
    good = True
    for row in rows(arguments.reruns):
        limit = "" if row.bound is None else f"  {'at least' if row.at_least else 'at most'} {row.bound:.1%}"
        print(f"{'ok  ' if row.holds else 'FAIL'} {row.what}: {row.value:.1%}{limit}  {row.note}", flush=True)
        good &= row.holds
    return int(ExitCode.OK if good else ExitCode.VERDICT_FAIL)


if __name__ == "__main__":
    raise SystemExit(main())
