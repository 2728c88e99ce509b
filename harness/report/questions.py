"""What the training curves show: a literal list of panels, and the one figure that no line of the metrics holds."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

from .curves import Quantity, Question, number, share
from .values import Row, RunFiles

WORD = re.compile(r"\w+|[^\w\s]")
DISTINCT = "distinct_pairs"
"""Key of a row that `rows_of` adds."""

QUESTIONS = (
    Question(
        id="return", title="Return", unit="mean return of a step's plays",
        quantities=(Quantity("without hint", number("return")), Quantity("with hint", number("hint_return"))),
        explained="Plays without and with the hint (dashed).",
    ),
    Question(
        id="regret", title="Regret", unit="return with the hint minus without",
        quantities=(Quantity("regret", number("regret")),),
        explained="On the same instances; the mean over the environments of the window so far.",
    ),
    Question(
        id="win_rate", title="Win rate", unit="share of plays won", quantities=(Quantity("won", number("success")),),
        explained="Plays without the hint that solve their environment.",
    ),
    Question(
        id="band", title="Learnable band", unit="share of environments",
        quantities=(Quantity("in the band", number("band_share")),),
        explained="Environments that are won neither too seldom nor too often (mean return from 0.2 to 0.8).",
    ),
    Question(
        id="validity", title="Validity", unit="share of programs accepted",
        quantities=(Quantity("valid", share("valid", "proposed")),),
        explained="Proposals that the validator accepts; in the steps in which programs are proposed.",
    ),
    Question(
        id="diversity", title="Diversity", unit="share of a window's programs, or of their pairs of tokens",
        quantities=(
            Quantity("no near copies", number("distinct_share")), Quantity("distinct pairs", number(DISTINCT)),
        ),
        explained="Programs that are no near copy of another; and (dashed) distinct pairs of tokens over all pairs "
        "(distinct-2, Li et al. 2016). The Vendi score of a run stands in the table.",
    ),
    Question(
        id="entropy", title="Entropy", unit="nats per token", quantities=(Quantity("entropy", number("entropy")),),
        explained="Of the policy at the sampling temperature, over the trained tokens.",
    ),
    Question(
        id="zero_variance", title="Zero variance", unit="share of groups",
        quantities=(Quantity("flat", number("flat_group_share")),),
        explained="Groups whose plays all return the same, from which the agent learns nothing.",
    ),
    Question(
        id="gap", title="Sampler-trainer gap", unit="mean |difference of log-probs|, nats",
        quantities=(Quantity("gap", number("sampler_gap")),),
        explained="Log-probabilities of the agent's tokens: as the sampler drew them, as the trainer computes them.",
    ),
    Question(
        id="validation", title="Validation", unit="share solved, mean over categories",
        quantities=(Quantity("solved", number("validation")),),
        explained="The suite on which the checkpoint is chosen; it shares no item with the test.",
    ),
)  # fmt: skip


def rows_of(run: RunFiles) -> list[Row]:
    """The lines of the metrics, and one for each window of the environments."""
    return [*run.metrics, *windows(run.environments)]


def windows(environments: Sequence[Row]) -> list[Row]:
    """How different the valid programs of each window are from each other."""
    sources: dict[int, list[str]] = defaultdict(list)
    for row in environments:
        step, source = row.get("step"), row.get("source")
        if row.get("valid") and isinstance(step, int) and isinstance(source, str):
            sources[step].append(source)
    return [{"step": step, DISTINCT: distinct_pairs(found)} for step, found in sorted(sources.items())]


def distinct_pairs(texts: Iterable[str]) -> float | None:
    """Distinct pairs of neighbouring tokens over all such pairs; None where there is no pair (arXiv 1510.03055)."""
    pairs = [pair for text in texts for words in [WORD.findall(text)] for pair in zip(words, words[1:], strict=False)]
    return len(set(pairs)) / len(pairs) if pairs else None
