"""A comparison as tables: heads and rows of text, for the terminal and for Markdown alike. Pure."""

from dataclasses import dataclass

from ..comparison import PairedTest
from ..numbers import p_text
from ..types import Outcome
from .columns import Metric
from .flips import Side
from .rows import Comparison, Row
from .words import amount, counted, interval, size, step

TESTS = {PairedTest.MCNEMAR: "McNemar", PairedTest.SIGN_FLIP: "sign flip", PairedTest.SEEDS: "t over seeds"}
ANSWER_CHARACTERS = 60


@dataclass(frozen=True, kw_only=True)
class Grid:
    """One table. Texts are as they came from the evidence: whoever prints them makes them harmless."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    right: frozenset[int] = frozenset()
    """Columns that are numbers."""


def differences(comparison: Comparison) -> Grid:
    """All rows, each whole column followed by its categories."""
    metric, base = comparison.question.metric, comparison.subjects[0].label
    several = len(comparison.subjects) > 2
    head = (
        "column", *(("run",) if several else ()), base, "value" if several else comparison.subjects[1].label,
        "points" if metric == "right" else "difference", "95 % interval", "detectable", "p", "p Holm", "items",
        "seeds", "up, down", "test",
    )  # fmt: skip
    rows = []
    for row in comparison.rows:
        rows.append(_line(row, row.name, metric, several))
        own = [part for part in comparison.parts if (part.column, part.new) == (row.column, row.new)]
        rows += [_line(part, f"  {part.category}", metric, several) for part in own]
    return Grid(title="", head=head, rows=tuple(rows), right=frozenset(range(2 if several else 1, len(head) - 1)))


def _line(row: Row, name: str, metric: Metric, several: bool) -> tuple[str, ...]:
    found = row.difference
    return (
        name, *((row.new,) if several else ()), amount(row.value_base, metric), amount(row.value_new, metric),
        step(found.value, metric), interval(row, metric), size(found.detectable, metric).partition(" ")[0],
        p_text(found.p).removeprefix("= "), p_text(found.p_holm).removeprefix("= "), f"{found.n_items:,}",
        str(found.n_seeds), f"{found.n_better:,}, {found.n_worse:,}", TESTS[found.test],
    )  # fmt: skip


def flip_grids(comparison: Comparison) -> list[Grid]:
    """One table for each row with the items that changed; none where none is to be shown."""
    metric = comparison.question.metric
    grids = []
    for row in comparison.rows:
        if not row.flips:
            continue
        found = row.difference
        shown = "" if len(row.flips) == row.n_flips else f"; the {len(row.flips)} largest changes"
        title = (
            f"{row.name}, {row.base} to {row.new}: {counted(row.n_flips, 'item')} changed, {found.n_better:,} for the "
            f"better and {found.n_worse:,} for the worse{shown}"
        )
        lines = tuple(
            (flip.item, flip.category, _cell(flip.base, metric), _cell(flip.new, metric)) for flip in row.flips
        )
        grids.append(Grid(title=title, head=("item", "category", row.base, row.new), rows=lines))
    return grids


def _cell(side: Side, metric: Metric) -> str:
    """`right: 42`; of several samples the share that is right or their mean, then one of them."""
    answer = "" if side.answer is None else " ".join(side.answer.split())
    if len(answer) > ANSWER_CHARACTERS:
        answer = answer[: ANSWER_CHARACTERS - 1] + "…"
    sample = f"{side.outcome}: {answer}" if answer else side.outcome
    if metric == "reward":
        return f"{side.mean:.3g}, {sample}"
    if side.n_samples == 1:
        return sample
    of_all = f"{round(side.mean * side.n_samples)} of {side.n_samples} right"
    plain = side.outcome in (Outcome.RIGHT, Outcome.WRONG)
    return of_all if plain and not answer else f"{of_all}, one {sample}"
