"""Benchmark: how often the 95 % intervals hold the truth, and how wide they are, over a grid of simulated evaluations.

    python -m spadework.harness.bench coverage [--draws 2000] [--seed 0] [--seeds]

An evaluation has n items; an item's probability comes from a Beta distribution with mean p, whose spread makes two
repeats of an item correlate as asked; it is tried `repeats` times. The truth is p, not the mean of the items drawn.
Three bounds, and the command fails when one is broken: coverage is never under 93 %; it is at most 97 % where repeats
are independent and n x min(p, 1-p) x repeats >= 10; the mean width is at most 1.15 times that of Clopper and Pearson's
interval of one try of each item, at the same p. Of n items, because the data cannot say more when nothing is right: all
wrong comes of p = 0 and, seven times in ten, of p = .02 with repeats alike, so an interval that holds .02 in that cell
is wider than Clopper and Pearson's of n x repeats. That interval's width, by the true correlation, stands beside it.
Unrepeated cells are sums over the binomial distribution and not draws. `--seeds` simulates the interval over seeds
instead: 400 draws, each a score with its bootstrap, several minutes.
"""

import argparse
from itertools import product
from typing import NamedTuple

import numpy as np
from rich.table import Table
from scipy import special, stats

from .console import Terminal
from .errors import ExitCode
from .intervals import binary_ends
from .means import Floats, Ints
from .seeds import derive
from .statistics import score

ITEMS, MEANS, REPEATS, CORRELATIONS = (15, 30, 198), (0.0, 0.02, 0.5, 0.98, 1.0), (1, 4, 32), (0.0, 0.3, 0.9)
LEAST, MOST, WIDEST, ENOUGH = 0.93, 0.97, 1.15, 10.0
SEEDS, SEED_ITEMS, SEED_SDS = (2, 3, 5), (30, 198), (0.0, 0.03, 0.1)
SEED_DRAWS = 400
WIDTH = 110


class Case(NamedTuple):
    """One simulated evaluation."""

    n: int
    p: float
    repeats: int
    correlation: float

    @property
    def two_sided(self) -> bool:
        """Whether coverage is bounded from above as well: there discreteness is no excuse."""
        return self.correlation == 0 and self.n * min(self.p, 1 - self.p) * self.repeats >= ENOUGH - 1e-9


class Coverage(NamedTuple):
    """What was found of one case."""

    case: Case
    covered: float
    width: float
    exact_width: float
    """Mean width of Clopper and Pearson's interval of n items at this p."""
    known_width: float
    """Of the same interval on the samples that the evaluation is worth when the correlation is known."""

    @property
    def fault(self) -> str:
        """The bound that is broken, or an empty string."""
        if self.covered < LEAST:
            return f"under {LEAST:.0%}"
        if self.case.two_sided and self.covered > MOST:
            return f"over {MOST:.0%}"
        return f"wider than {WIDEST} x" if self.width > WIDEST * self.exact_width else ""


def main() -> int:
    """Simulate the grid, print it, and fail when a bound is broken."""
    parser = argparse.ArgumentParser(prog="bench coverage", description="Coverage of the 95 % intervals.")
    parser.add_argument("--draws", type=int, default=2000, metavar="N", help="simulated evaluations of a case")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the simulation")
    parser.add_argument("--seeds", action="store_true", help="the interval over seeds instead")
    given = parser.parse_args()
    if given.seeds:
        return _seeds(given.seed)
    found = [covered(case, given.draws, given.seed) for case in cases()]
    terminal = Terminal(width=WIDTH)
    terminal.print(_table(found))
    broken = sum(bool(one.fault) for one in found)
    least, widest = min(one.covered for one in found), max(one.width / one.exact_width for one in found)
    terminal.print(
        f"{len(found)} cases, {broken} broken; coverage from {least:.1%}, width up to {widest:.2f} x Clopper-Pearson's"
    )
    return int(ExitCode.VERDICT_FAIL if broken else ExitCode.OK)


def cases() -> list[Case]:
    """The whole grid."""
    return [Case(*values) for values in product(ITEMS, MEANS, REPEATS, CORRELATIONS)]


def covered(case: Case, draws: int, seed: int) -> Coverage:
    """Coverage and mean width of one case, by the functions that make every score."""
    if case.repeats == 1:
        right_BI = np.tril(np.ones((case.n + 1, case.n), dtype=np.int64), -1)
        weight_B = stats.binom.pmf(np.arange(case.n + 1), case.n, case.p)
    else:
        right_BI = simulated(case, draws, seed)
        weight_B = np.full(draws, 1 / draws)
    ends = binary_ends(right_BI, np.full(case.n, case.repeats))
    holds_B = (ends.low_B <= case.p + 1e-12) & (ends.high_B >= case.p - 1e-12)
    worth = case.n * case.repeats / (1 + (case.repeats - 1) * case.correlation)
    return Coverage(
        case, float(weight_B @ holds_B), float(weight_B @ (ends.high_B - ends.low_B)), exact_width(case.n, case.p),
        exact_width(round(worth), case.p),
    )  # fmt: skip


def simulated(case: Case, draws: int, seed: int) -> Ints:
    """How often each item is right, in each of `draws` evaluations."""
    rng = np.random.default_rng(derive(seed, "coverage", str(case)))
    chance_BI: Floats = np.full((draws, case.n), case.p)
    if case.correlation and 0 < case.p < 1:
        size = (1 - case.correlation) / case.correlation
        chance_BI = rng.beta(case.p * size, (1 - case.p) * size, size=chance_BI.shape)
    return rng.binomial(case.repeats, chance_BI)


def exact_width(n: int, p: float) -> float:
    """Mean width of Clopper and Pearson's interval of `n` independent tries, summed over the binomial distribution.

    scipy's `binomtest(...).proportion_ci` gives the same interval for one count at a time.
    """
    right = np.arange(n + 1)
    low = np.where(right > 0, special.betaincinv(np.maximum(right, 1), n - right + 1, 0.025), 0.0)
    high = np.where(right < n, special.betaincinv(right + 1, np.maximum(n - right, 1), 0.975), 1.0)
    return float(stats.binom.pmf(right, n, p) @ (high - low))


def _table(found: list[Coverage]) -> Table:
    head = ("n", "p", "repeats", "correlation", "coverage", "bound", "width", "CP of n items", "ratio", "CP known", "")
    table = Table(*head, box=None, pad_edge=False)
    for one in found:
        case = one.case
        bound = f"{LEAST:.0%} to {MOST:.0%}" if case.two_sided else f"{LEAST:.0%} up"
        table.add_row(
            str(case.n), f"{case.p:g}", str(case.repeats), f"{case.correlation:g}", f"{one.covered:.1%}", bound,
            f"{one.width:.4f}", f"{one.exact_width:.4f}", f"{one.width / one.exact_width:.2f}",
            f"{one.known_width:.4f}", f"FAILED {one.fault}" if one.fault else "ok",
        )  # fmt: skip
    return table


def _seeds(seed: int) -> int:
    """Coverage of the interval over seeds x items: seeds move all items, items differ, both are drawn anew."""
    table = Table("seeds", "n", "sd between seeds", "coverage", "width", "", box=None, pad_edge=False)
    broken = 0
    for n_seeds, n, seed_sd in product(SEEDS, SEED_ITEMS, SEED_SDS):
        share, width = covered_seeds(n_seeds, n, seed_sd, draws=SEED_DRAWS, seed=seed)
        broken += share < LEAST
        verdict = f"FAILED under {LEAST:.0%}" if share < LEAST else "ok"
        table.add_row(str(n_seeds), str(n), f"{seed_sd:g}", f"{share:.1%}", f"{width:.3f}", verdict)
    Terminal(width=WIDTH).print(table)
    return int(ExitCode.VERDICT_FAIL if broken else ExitCode.OK)


def covered_seeds(n_seeds: int, n: int, seed_sd: float, *, draws: int, seed: int) -> tuple[float, float]:
    """Coverage and mean width of `score` with several seeds; the truth is the mean over all seeds and items."""
    rng = np.random.default_rng(derive(seed, "coverage of seeds", n_seeds, n, str(seed_sd)))
    spread = 0.25
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    truth = float(special.ndtr(nodes * np.hypot(seed_sd, spread) * 2.5 - 0.3) @ weights / weights.sum())
    held, widths = 0, 0.0
    for _ in range(draws):
        place_SI = rng.normal(0, seed_sd, (n_seeds, 1)) + rng.normal(0, spread, n)
        chance_SI = special.ndtr(place_SI * 2.5 - 0.3)
        found = score((rng.random(chance_SI.shape) < chance_SI).astype(np.float64)[:, :, None])
        held += found.low <= truth <= found.high
        widths += found.high - found.low
    return held / draws, widths / draws
