"""Which samples of two subjects belong together, and what forbids to compare them: pure functions of their columns.

Items are paired by id. Two columns that were played by other protocols, scored by other scorers or made of other items
are refused unless that is allowed by name; a different limit alone is none of these, as long as the items that both
played are the same. What it is not: a test.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..config import difference
from ..errors import InputError
from ..statistics import Floats, item_means, macro_mean, strata_members
from .columns import Column, Metric, Subject

ALLOWANCES = ("preset", "scorer", "items")
"""What may differ where the user says so."""


@dataclass(frozen=True, kw_only=True)
class Shared:
    """What two columns have in common, in numbers of items, and what is left out."""

    n_items: int
    """Both played them; some may still be unscored."""
    only_base: int
    only_new: int
    other_gold: int = 0
    """Items of one id with two golds or categories: they are no longer the same question, and are left out."""
    notes: tuple[str, ...] = ()
    """What else a reader must know: what was allowed to differ, which seeds were left out."""


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two columns on the same items, in the same order, with seeds that fit: as many in both, or one in one of them."""

    base: Column
    new: Column
    shared: Shared

    def values_SI(self, metric: Metric) -> tuple[Floats, Floats]:
        """Item means of both, base first; NaN where an item is unscored."""
        return item_means(self.base.values_SIR(metric)), item_means(self.new.values_SIR(metric))

    def category(self, name: str) -> "Pair":
        """The part that belongs to one category, whose mean is then one over items."""
        keep_I = np.flatnonzero(np.asarray(self.base.listed.categories) == name)
        parts = [replace(column.only(keep_I), weigh="items") for column in (self.base, self.new)]
        return Pair(base=parts[0], new=parts[1], shared=Shared(n_items=keep_I.size, only_base=0, only_new=0))


def means(pair: Pair, metric: Metric) -> tuple[float, float]:
    """Both values on the samples that were scored on both sides, so that their difference is the paired one."""
    base_SI, new_SI = pair.values_SI(metric)
    both_SI = np.isfinite(base_SI) & np.isfinite(new_SI)
    members = strata_members(pair.base.strata_I, both_SI.shape[1])
    base, new = (
        float(np.mean([macro_mean(row_I, members) for row_I in np.where(both_SI, values_SI, np.nan)]))
        for values_SI in np.broadcast_arrays(base_SI, new_SI)
    )
    return base, new


def paired_up(base: Subject, new: Subject, name: str, allow: Collection[str] = ()) -> Pair:
    """The column `name` of both on what they share. Raises InputError, naming runs and remedy, where they may not be
    compared or share nothing."""
    first, second = base.columns[name], new.columns[name]
    same_I, shared = _shared(base, new, name)
    clashes = _clashes(first, second, shared, same_I)
    if refused := [key for key in clashes if key not in allow]:
        raise InputError(_refusal(base, new, name, {key: clashes[key] for key in refused}))
    if shared.n_items == 0:
        raise InputError(
            f"{base.runs[0]} and {new.runs[0]} share no item of {name}; evaluate both on the same items, or leave it "
            "out with --column."
        )
    one, other = _on(first, same_I, first), _on(second, same_I, first)
    one, other, seeds = _aligned(base, new, one, other)
    allowed = [f"{what}, as --allow {key} permits" for key, what in clashes.items()]
    return Pair(base=one, new=other, shared=replace(shared, notes=(*shared.notes, *allowed, *seeds)))


def _shared(base: Subject, new: Subject, name: str) -> tuple[Sequence[str], Shared]:
    """Items that are the same question on both sides, in order."""
    first, second = base.columns[name], new.columns[name]
    if (first.listed, first.golds) == (second.listed, second.golds):
        return first.listed.items, Shared(n_items=len(first.golds), only_base=0, only_new=0)
    meant = _meanings(second)
    mine = _meanings(first)
    both = [item for item in first.listed.items if item in meant]
    same_I = [item for item in both if mine[item] == meant[item]]
    shared = Shared(
        n_items=len(same_I), only_base=len(mine) - len(both), only_new=len(meant) - len(both),
        other_gold=len(both) - len(same_I),
    )  # fmt: skip
    return same_I, shared


def _meanings(column: Column) -> dict[str, tuple[str, str]]:
    parts = zip(column.listed.items, column.listed.categories, column.golds, strict=True)
    return {item: (category, gold) for item, category, gold in parts}


def _clashes(first: Column, second: Column, shared: Shared, same_I: Sequence[str]) -> dict[str, str]:
    """What differs of what must agree, with the words for it."""
    one, other = first.stamp, second.stamp
    found = {}
    keys = difference(one.protocol, other.protocol) if one.protocol and other.protocol else []
    if keys or one.preset != other.preset:
        where = f", which differ in {', '.join(keys)}" if keys else ""
        found["preset"] = f"preset {one.preset} against {other.preset}{where}"
    if one.scorer != other.scorer:
        found["scorer"] = f"scorer {one.scorer} against {other.scorer}"
    if shared.other_gold:
        found["items"] = f"{shared.other_gold:,} items with another gold answer or category"
    elif one.task != other.task and one.limit == other.limit and same_I:
        found["items"] = f"task digest {one.task} against {other.task}"
    return found


def _refusal(base: Subject, new: Subject, name: str, clashes: dict[str, str]) -> str:
    return (
        f"{name} differs between {base.runs[0]} and {new.runs[0]} ({'; '.join(clashes.values())}); evaluate or score "
        f"both in the same way, or compare all the same with --allow {','.join(clashes)}."
    )


def _on(column: Column, items: Sequence[str], order: Column) -> Column:
    if items is column.listed.items or (items is order.listed.items and column.listed == order.listed):
        return column
    places = {item: number for number, item in enumerate(column.listed.items)}
    return column.only([places[item] for item in items])


def _aligned(base: Subject, new: Subject, first: Column, second: Column) -> tuple[Column, Column, list[str]]:
    """Seeds that belong together. What was not trained has one, whatever was drawn how often."""
    first = first if base.trained else first.as_repeats()
    second = second if new.trained else second.as_repeats()
    if len(first.seeds) == len(second.seeds) == 1:
        return first, second, []
    for one, subject, many in ((first, base, second), (second, new, first)):
        if len(one.seeds) == 1 and (not subject.trained or subject.kind == "evaluation"):
            note = f"{subject.label} is one checkpoint, set against each of the {len(many.seeds)} seeds"
            return first, second, [note]
    shared = sorted(set(first.seeds) & set(second.seeds))
    if shared:
        left = [
            f"{subject.label}: seed {', '.join(str(seed) for seed in column.seeds if seed not in shared)} left out, "
            "the other side has none"
            for subject, column in ((base, first), (new, second)) if set(column.seeds) - set(shared)
        ]  # fmt: skip
        return first.of_seeds(shared), second.of_seeds(shared), left
    size = min(len(first.seeds), len(second.seeds))
    note = f"no seed in common: the first {size} of each are paired in order"
    return first.of_seeds(first.seeds[:size]), second.of_seeds(second.seeds[:size]), [note]
