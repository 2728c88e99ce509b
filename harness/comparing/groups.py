"""Who is tied with the best, among three subjects or more: a pure function.

The best was picked by the same data, so every pair is tested and Holm's correction goes over all of them: the chance
that a subject is wrongly put behind the best is at most 5 %, whichever of them happened to come out on top.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import combinations

import numpy as np

from ..comparison import ALPHA, holm, paired
from ..errors import IncompleteError
from ..statistics import item_means, macro_mean, strata_members
from .columns import Metric, Subject
from .pairing import paired_up


@dataclass(frozen=True, kw_only=True)
class Group:
    """One column's best with those that cannot be told from it."""

    column: str
    n_items: int
    """That all of the subjects played."""
    values: dict[str, float]
    """By label, the best first, on these items."""
    tied: tuple[str, ...]
    """Labels, the best first."""
    behind: tuple[str, ...]
    """Shown to be worse than the best."""


def group(subjects: Sequence[Subject], name: str, metric: Metric, allow: Collection[str]) -> Group | None:
    """None where a subject lacks the column, shares no item with the others, or a pair cannot be compared."""
    if any(name not in subject.columns for subject in subjects):
        return None
    common = reduce(set[str].__and__, (set(subject.columns[name].listed.items) for subject in subjects))
    if not common:
        return None
    narrowed = [_narrowed(subject, name, common) for subject in subjects]
    try:
        values = {one.label: _value(one, name, metric) for one in narrowed}
        tests = {
            frozenset((one.label, two.label)): _p(one, two, name, metric, allow)
            for one, two in combinations(narrowed, 2)
        }
    except IncompleteError:
        return None
    corrected = dict(zip(tests, holm(list(tests.values())), strict=True))
    order = sorted(values, key=lambda label: -values[label])
    best = order[0]
    behind = tuple(label for label in order[1:] if corrected[frozenset((best, label))] < ALPHA)
    return Group(
        column=name, n_items=len(common), values={label: values[label] for label in order}, behind=behind,
        tied=tuple(label for label in order if label not in behind),
    )  # fmt: skip


def _narrowed(subject: Subject, name: str, common: set[str]) -> Subject:
    column = subject.columns[name]
    if len(common) == len(column.listed.items):
        return subject
    keep = [number for number, item in enumerate(column.listed.items) if item in common]
    return replace(subject, columns={name: column.only(keep)})


def _value(subject: Subject, name: str, metric: Metric) -> float:
    column = subject.columns[name]
    means_SI = item_means(column.values_SIR(metric))
    members = strata_members(column.strata_I, means_SI.shape[1])
    return float(np.mean([macro_mean(row_I, members) for row_I in means_SI]))


def _p(one: Subject, two: Subject, name: str, metric: Metric, allow: Collection[str]) -> float:
    pair = paired_up(one, two, name, allow)
    width = pair.base.bounds[1] - pair.base.bounds[0] if metric == "reward" else 1.0
    first_SI, second_SI = pair.values_SI(metric)
    return paired(first_SI, second_SI, pair.base.strata_I, width=width).p
