"""A comparison in plain sentences: one a row, then who is tied with the best, then what a reader must know.

Nothing is called better or worse unless the corrected test says so; a row that cannot tell says what would be needed.
"""

from collections.abc import Iterator

from ..comparison import ALPHA, Verdict
from ..numbers import MINUS, p_text, signed
from ..planning import MOST_ITEMS, two_digits
from .columns import Metric
from .groups import Group
from .needs import Needs
from .rows import Comparison, Row

ONE_SEED = (
    "One seed compares checkpoints, not methods: how far another training run of the same recipe would differ is in no "
    "interval here, and only more seeds can show it."
)
TWO_SEEDS = (
    "Two seeds say little about methods: the noise between seeds is estimated from two numbers, and the intervals are "
    "wide for that reason."
)


def amount(value: float, metric: Metric) -> str:
    """A value as people read it: a share in percent, a reward with three decimals."""
    return f"{100 * value:.1f} %" if metric == "right" else f"{value:.3f}"


def step(value: float, metric: Metric) -> str:
    """A difference with its sign and without its unit: points in one decimal, rewards in three."""
    if metric == "right":
        return signed(value, percent=True)
    text = f"{value:+.3f}"
    return text.replace("-", MINUS) if float(text) else text.lstrip("+-")


def change(value: float, metric: Metric) -> str:
    """A difference with its sign: in points, or in units of the reward."""
    return f"{step(value, metric)} points" if metric == "right" else step(value, metric)


def size(value: float, metric: Metric) -> str:
    """A difference without a sign."""
    return f"{100 * value:.1f} points" if metric == "right" else f"{value:.3f}"


def interval(row: Row, metric: Metric) -> str:
    """`[low, high]` of the difference, as in the table."""
    return f"[{step(row.difference.low, metric)}, {step(row.difference.high, metric)}]"


def counted(number: int, noun: str) -> str:
    """`1 item`, `2,000 items`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def sentence(row: Row, metric: Metric) -> str:
    """What may be said of one row, without a term of statistics that is not explained by the words around it."""
    found, verdict = row.difference, row.difference.verdict
    low, high = step(found.low, metric), step(found.high, metric)
    said = f"{row.new} is {verdict} than {row.base}"
    if verdict is Verdict.CANNOT_TELL:
        said = f"cannot tell {row.new} from {row.base}"
    text = (
        f"{row.name}: {said} ({amount(row.value_new, metric)} against {amount(row.value_base, metric)}, "
        f"{change(found.value, metric)}, anything from {low} to {high} fits)"
    )
    if verdict is not Verdict.CANNOT_TELL:
        return f"{text}; p {p_text(found.p_holm)}{' after Holm' if found.p_holm > found.p else ''}."
    if found.p < ALPHA:
        text += f"; p {p_text(found.p)} alone, but {p_text(found.p_holm)} after Holm's correction for all rows"
    return f"{text}; {_needed(row, metric)}."


def _needed(row: Row, metric: Metric) -> str:
    """What would be enough, and what would have been found."""
    here = f"a true difference of {size(row.difference.detectable, metric)} would be found four times in five here"
    wanted = row.needs
    if wanted is None:
        return f"no difference was seen, {here}"
    what = f"a difference of {size(wanted.size, metric)}" if wanted.of_margin else "a difference of this size"
    if wanted.more == 0:
        return f"what is here is enough to tell {what} four times in five"
    return f"it would take {_more(wanted, row)} to tell {what}; {here}"


def _more(wanted: Needs, row: Row) -> str:
    if wanted.seeds is not None:
        return f"about {rounded(wanted.more, 'more seed')}"
    assert wanted.items is not None
    if wanted.items >= MOST_ITEMS:
        return f"more than {MOST_ITEMS:,} items of this kind"
    if row.difference.n_seeds > 1:
        return f"about {rounded(wanted.more, 'more item')} of this kind, and more seeds,"
    return f"about {rounded(wanted.more, 'more item')} of this kind"


def rounded(number: int, noun: str) -> str:
    """A forecast: it is no more exact than its two digits."""
    return counted(two_digits(number), noun)


def group_sentence(group: Group, metric: Metric) -> str:
    """Who is tied with the best of one column."""
    best, *rest = group.tied
    named = f"{best} is best at {amount(group.values[best], metric)} of {counted(group.n_items, 'item')}"
    behind = ", ".join(f"{label} ({amount(group.values[label], metric)})" for label in group.behind)
    if not rest:
        return f"{group.column}: {named}, and better than each of {behind}."
    tied = ", ".join(f"{label} ({amount(group.values[label], metric)})" for label in rest)
    last = f"; shown to be worse: {behind}" if behind else "; nobody is shown to be worse"
    return f"{group.column}: {named}; not told apart from it: {tied}{last}."


def remarks(comparison: Comparison) -> list[str]:
    """What a reader must know beside the rows: direction, correction, what is not shared, seeds, how runs were made."""
    rows, parts = len(comparison.rows), len(comparison.parts)
    families = [counted(rows, "row")] if rows > 1 else []
    families += [f"the {counted(parts, 'row')} of categories by themselves"] if parts > 1 else []
    found = [
        f"Differences are the other run minus {comparison.subjects[0].label}, the first named, item by item on what "
        "both played; intervals are 95 % and not corrected, p is two-sided"
        + (f", Holm's correction goes over {' and over '.join(families)}." if families else ".")
    ]
    if comparison.groups:
        found.append("Who is tied with the best is decided over all pairs of runs, which is stricter than the rows.")
    for row in comparison.rows:
        if lines := list(_unshared(row)):
            found.append(f"{row.name}, {row.base} and {row.new}: {', '.join(lines)}.")
    found += dict.fromkeys(f"{row.name}: {note}." for row in comparison.rows for note in row.shared.notes)
    for name in {name: None for subject in comparison.subjects for name in subject.columns}:
        lack = [subject.label for subject in comparison.subjects if name not in subject.columns]
        if lack and name in comparison.question.columns:
            found.append(f"{name}: not in {', '.join(lack)}.")
    found += [f"{name}: not compared, {why}." for name, why in comparison.lacking.items()]
    found += [f"{note}." for subject in comparison.subjects for note in subject.notes]
    seeds = max(row.difference.n_seeds for row in comparison.rows)
    return found + ([ONE_SEED] if seeds == 1 else [TWO_SEEDS] if seeds == 2 else [])


def _unshared(row: Row) -> Iterator[str]:
    shared = row.shared
    for number, what in (
        (shared.only_base, f"only in {row.base}"), (shared.only_new, f"only in {row.new}"),
        (row.unscored, "unscored in one of the two"), (shared.other_gold, "with another gold answer, left out"),
    ):  # fmt: skip
        if number:
            yield f"{counted(number, 'item')} {what}"
