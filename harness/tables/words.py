"""What may and what may not be concluded from a table, in plain sentences.

Every sentence is made from the same numbers as the cells. Nothing is called better or worse unless the test says so
after Holm's correction over the rows; a comparison that cannot tell says how large a difference it would have found.
"""

from ..comparison import ALPHA, Difference, Verdict
from ..numbers import MINUS, p_text, signed
from .result import RowResult, TableResult


def span(difference: Difference, *, percent: bool) -> str:
    """`[low, high]` of a difference."""
    return f"[{signed(difference.low, percent=percent)}, {signed(difference.high, percent=percent)}]"


def conclusions(table: TableResult) -> list[str]:
    """One summary sentence, then one entry a row, then what the number of seeds allows."""
    spec = table.spec
    subject, baseline = spec.row(spec.subject), spec.row(spec.baseline)
    found = [_tally(table, spec.subject), _tally(table, spec.baseline)]
    for row in table.rows:
        if row.spec.run == subject.run:
            parts = [_sentence(table, row, baseline.run)]
        else:
            parts = [_sentence(table, row, subject.run)]
            parts += [_sentence(table, row, baseline.run)] if row.spec.run != baseline.run else []
        found.append(f"{row.spec.label}: {'; '.join([*parts, *_paper_says(table, row)])}.")
    return [*filter(None, found), _reach(table)]


def _tally(table: TableResult, other: str) -> str:
    rows = [row for row in table.rows if row.spec.run != other]
    verdicts = [row.against[other].verdict for row in rows if other in row.against]
    silent = len(rows) - len(verdicts)
    label = table.spec.row(other).label
    if not verdicts:
        return f"Against {label} nothing can be said: no row can be compared with it."
    counts = {verdict: verdicts.count(verdict) for verdict in Verdict}
    better = counts[Verdict.BETTER]
    text = (
        f"Of {len(rows)} rows, {better} {'is' if better == 1 else 'are'} shown to be better than {label}, "
        f"{counts[Verdict.WORSE]} worse, and {counts[Verdict.CANNOT_TELL]} cannot be told from it"
    )
    return f"{text}; {silent} could not be compared." if silent else f"{text}."


def _sentence(table: TableResult, row: RowResult, other: str) -> str:
    label = table.spec.row(other).label
    difference = row.against.get(other)
    if difference is None:
        return f"nothing can be said against {label} (no records to compare)"
    percent = table.spec.column(table.spec.compare).kind == "right"
    unit = " points" if percent else ""
    size = f"{signed(difference.value, percent=percent)}{unit} {span(difference, percent=percent)}"
    if difference.verdict is not Verdict.CANNOT_TELL:
        return f"{difference.verdict} than {label}, {size}, p {p_text(difference.p_holm)} after Holm"
    text = f"cannot be told from {label}, {size}"
    if difference.p < ALPHA:
        text += f", p {p_text(difference.p)} alone but {p_text(difference.p_holm)} after Holm"
    detectable = f"{100 * difference.detectable:.1f}" if percent else f"{difference.detectable:.2f}"
    return f"{text} (a true difference of {detectable}{unit} would be found four times in five)"


def _paper_says(table: TableResult, row: RowResult) -> list[str]:
    compare, subject = table.spec.compare, table.spec.subject
    cells = row.cells.get(compare), table.row(subject).cells.get(compare)
    own, theirs = (None if cell is None else cell.paper for cell in cells)
    if row.spec.run == subject or own is None or theirs is None:
        return []
    gap = f"{own - theirs:+.1f}".replace("-", MINUS)
    return [f"the paper reports {gap} on its own tasks"]


def _reach(table: TableResult) -> str:
    differences = [found for row in table.rows for found in row.against.values()]
    seeds = max((found.n_seeds for found in differences), default=0)
    if not differences:
        return ""
    if seeds == 1:
        return (
            "One seed: these sentences are about the checkpoints at hand on these items. How far another training run "
            "of the same row would differ is not in the intervals; only more seeds can show that."
        )
    return (
        f"Up to {seeds} seeds: the differences cluster by seed, so these sentences are about the methods as trained "
        "here, at this scale and on these tasks."
    )


def title(table: TableResult) -> str:
    """The table's title with what has to be known before anything else."""
    marks = [mark for mark, given in ((" (INCOMPLETE)", table.gaps), (" (INSECURE)", table.insecure)) if given]
    return "".join([table.spec.title, *marks])


def row_label(row: RowResult) -> str:
    """The row's label, marked when any of its runs was insecure."""
    return f"{row.spec.label} (insecure)" if row.insecure else row.spec.label


def insecurity(table: TableResult) -> str:
    """Which rows and runs were made without a sandbox that holds, and what that means; empty when none was."""
    made = []
    for row in table.rows:
        by_lack: dict[str, list[int]] = {}
        for seed, lines in row.insecure.items():
            by_lack.setdefault("; ".join(line.removeprefix("INSECURE: ") for line in lines), []).append(seed)
        made += [f"{row.spec.label}, {_seeds(seeds)}: {lack}" for lack, seeds in by_lack.items()]
    if not made:
        return ""
    return (
        f"INSECURE: some runs were made with a sandbox that lacked a layer it must have ({'; '.join(made)}). Programs "
        "that a model wrote could reach beyond their process there, so nothing vouches for these rows' figures."
    )


def _seeds(seeds: list[int]) -> str:
    return f"seed{'s' * (len(seeds) > 1)} {' and '.join(map(str, seeds))}"


def facts(table: TableResult) -> list[str]:
    """The caption's fine print: metric, items, samples, seeds, tests, digests."""
    spec = table.spec
    repeats = ", ".join(f"{mode} {count} a checkpoint" for mode, count in sorted(table.repeats.items()))
    seeds = sorted({seed for row in table.rows if row.spec.trained for seed in row.seeds})
    tests = sorted({str(found.test) for row in table.rows for found in row.against.values()})
    lines = [
        *_scoring(table),
        f"Samples of an item: {repeats or 'none'}.",
        f"Seeds: {', '.join(map(str, seeds)) or 'none'}. Brackets are 95 % intervals over "
        + ("seeds and items." if len(seeds) > 1 else "items; a figure measured once a run has none at one seed."),
        f"Comparisons: {' or '.join(tests) or 'none'}, two-sided, Holm over the rows.",
        *([_corpora(table)] if spec.categories else []),
        f"Task digest {table.task_digest or 'none'}; outcomes digest {table.evidence_digest or 'none'}.",
    ]
    if any(cell.paper is not None for row in table.rows for cell in row.cells.values()):
        lines.append(f"Columns marked paper are the paper's own figures ({spec.paper_note}), not ours.")
    lines += spec.notes
    if table.gaps:
        lines.append(f"INCOMPLETE: {'; '.join(table.gaps)}.")
    return lines


def _scoring(table: TableResult) -> list[str]:
    """What a score is: of the held-out suite, of each benchmark."""
    spec, lines = table.spec, []
    if spec.categories:
        lines += [
            "Score: share of items whose final outcome is right, in %; average: unweighted mean of "
            f"{', '.join(spec.categories)}. Greedy unless a column says sampled; checkpoint chosen on the "
            "validation set unless a column says last.",
            "Items: "
            + "; ".join(f"{name} {table.items.get(name, 0):,} ({text})" for name, text in spec.categories.items())
            + ".",
        ]
    for task, words in table.protocols.items():
        lines.append(f"{task}: share of samples whose outcome is right, in %; {table.items[task]:,} items, {words}.")
    return lines


def run_lines(table: TableResult) -> list[tuple[str, str]]:
    """Label of each row, and the runs behind it with the digests of their configs."""
    found = []
    for row in table.rows:
        runs = ", ".join(f"{run} (config {digest})" for run, digest in row.runs.items())
        found.append((row.spec.label, runs or "none"))
    return found


def _corpora(table: TableResult) -> str:
    by_digest: dict[str, list[str]] = {}
    for row in table.rows:
        for digest in row.corpora:
            by_digest.setdefault(digest, []).append(row.spec.run)
    if len(by_digest) <= 1:
        return f"Corpus digest {next(iter(by_digest), 'none')}."
    listed = "; ".join(f"{digest} ({', '.join(rows)})" for digest, rows in sorted(by_digest.items()))
    return f"The rows saw different corpora: {listed}."
