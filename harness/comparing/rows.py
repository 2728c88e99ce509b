"""A comparison in numbers: every other subject against the first, column by column, with one correction over all rows.

    base = the first subject; a row is (column, other): other minus base on the items that both played

Rows of whole columns are one family of tests, rows of categories another, so that a verdict on a benchmark does not
depend on whether somebody looked at its parts. What it is not: text (`words`), a gate (a comparison passes no verdict
on what is good enough).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ..comparison import Difference, holm, paired
from ..errors import IncompleteError, InputError
from .columns import Metric, Subject
from .flips import Flip, flips
from .groups import Group, group
from .needs import Needs, needs
from .pairing import Pair, Shared, means, paired_up


@dataclass(frozen=True, kw_only=True)
class Row:
    """One paired difference."""

    column: str
    category: str
    """Empty for a whole column."""
    base: str
    new: str
    value_base: float
    value_new: float
    """On the samples that were scored on both sides."""
    difference: Difference
    """New minus base."""
    shared: Shared
    unscored: int
    """Shared items that one side has no scored sample of; they are in no figure."""
    needs: Needs | None
    width: float
    """Span of the metric's bounds."""
    n_flips: int
    flips: tuple[Flip, ...]
    """The largest; not all where a number of them was asked for."""

    @property
    def name(self) -> str:
        """`column`, or `column/category`."""
        return f"{self.column}/{self.category}" if self.category else self.column


@dataclass(frozen=True, kw_only=True)
class Question:
    """What is asked of the subjects."""

    columns: tuple[str, ...]
    metric: Metric = "right"
    allow: frozenset[str] = frozenset()
    by_category: bool = False
    margin: float | None = None
    """The difference that the user wants to be able to tell, in the unit of the values."""
    n_flips: int | None = 10
    """So many a row; all when None."""


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """All of it."""

    question: Question
    subjects: tuple[Subject, ...]
    rows: tuple[Row, ...]
    parts: tuple[Row, ...]
    """Rows of categories."""
    groups: tuple[Group, ...]
    """Who is tied with the best, by column; none for two subjects."""
    lacking: Mapping[str, str]
    """Rows that could not be computed, with the reason."""


def compare(subjects: Sequence[Subject], question: Question) -> Comparison:
    """Raises InputError for what may not be compared, IncompleteError where not one row has a number."""
    base, *others = subjects
    pairs = {
        (name, new.label): paired_up(base, new, name, question.allow) for name in question.columns for new in others
        if name in base.columns and name in new.columns
    }  # fmt: skip
    if not pairs:
        raise InputError(_nothing_shared(subjects, question))
    rows, lacking = _family(base.label, {(*key, ""): pair for key, pair in pairs.items()}, question)
    parts: tuple[Row, ...] = ()
    if question.by_category:
        parts, more = _family(base.label, _categories(pairs), question)
        lacking = {**lacking, **more}
    if not rows:
        raise IncompleteError(f"nothing could be compared: {'; '.join(f'{k}: {v}' for k, v in lacking.items())}.")
    groups = tuple(
        found for name in question.columns if len(others) > 1
        and (found := group(subjects, name, question.metric, question.allow)) is not None
    )  # fmt: skip
    return Comparison(
        question=question, subjects=tuple(subjects), rows=rows, parts=parts, groups=groups, lacking=lacking
    )


def _categories(pairs: Mapping[tuple[str, str], Pair]) -> dict[tuple[str, str, str], Pair]:
    return {
        (name, new, category): pair.category(category)
        for (name, new), pair in pairs.items()
        for category in sorted(set(pair.base.listed.categories))
    }


def _family(
    base: str, pairs: Mapping[tuple[str, str, str], Pair], question: Question
) -> tuple[tuple[Row, ...], dict[str, str]]:
    """Rows that are corrected together, and why others are lacking."""
    rows: list[Row] = []
    lacking: dict[str, str] = {}
    for (name, new, category), pair in pairs.items():
        try:
            rows.append(_row((name, category, base, new), pair, question, len(pairs)))
        except IncompleteError as error:
            lacking[f"{name}/{category}" if category else name] = f"{base} against {new}: {error}"
    corrected = holm([row.difference.p for row in rows])
    return tuple(
        replace(row, difference=replace(row.difference, p_holm=p)) for row, p in zip(rows, corrected, strict=True)
    ), lacking


def _row(names: tuple[str, str, str, str], pair: Pair, question: Question, family: int) -> Row:
    name, category, base, new = names
    metric, strata = question.metric, pair.base.strata_I
    width = pair.base.bounds[1] - pair.base.bounds[0] if metric == "reward" else 1.0
    base_SI, new_SI = pair.values_SI(metric)
    difference = paired(new_SI, base_SI, strata, width=width, family=family)
    value_base, value_new = means(pair, metric)
    return Row(
        column=name, category=category, base=base, new=new, value_base=value_base, value_new=value_new,
        difference=difference, shared=pair.shared, unscored=pair.shared.n_items - difference.n_items, width=width,
        needs=needs(new_SI - base_SI, strata, difference, width=width, family=family, margin=question.margin),
        n_flips=difference.n_better + difference.n_worse,
        flips=() if category else tuple(flips(pair, metric, question.n_flips)),
    )  # fmt: skip


def _nothing_shared(subjects: Sequence[Subject], question: Question) -> str:
    held = "; ".join(f"{subject.runs[0]} holds {', '.join(subject.columns)}" for subject in subjects)
    asked = f" among {', '.join(question.columns)}" if question.columns else ""
    return f"the runs share no column{asked}: {held}; give runs of one benchmark, or name columns with --column."
