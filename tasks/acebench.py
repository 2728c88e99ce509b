"""ACEBench-Agent in English: 20 tasks in several steps and 30 in several turns with a simulated user.

The agent calls functions of small worlds (a telephone, a delivery service, an airline); what counts is the state in
which it leaves them. The score is the mean over the two kinds, not over items.
"""

import importlib.util
from collections.abc import Sequence
from pathlib import Path

from ..harness.benchmark import Benchmark, Due, Players, Preset, Sink, TaskItem
from ..harness.errors import InputError, nearest
from ..harness.types import Message, Outcome
from .acebench_check import SCORERS
from .acebench_data import load_items, problem_of
from .acebench_episode import EXTRACTIONS, PROMPTINGS
from .acebench_gold import gold_calls, written
from .acebench_play import VERSION, play_inspected, play_together
from .acebench_prompts import FINISH
from .acebench_verdict import from_answer, judged

DIFFERENCES: tuple[tuple[str, str, str], ...] = (
    ("system prompt of multi_step", "Chinese on English data", "English"),
    ("history of multi_step", "results only, without the agent's own calls", "calls and results"),
    ("the user's own lines", "in the role `system`", "in the role `assistant`"),
    ("function list", "Python's way of writing, though it says JSON", "JSON"),
    ("`finish conversation`", "unheard in the first two messages, heard inside of calls", "heard in any words"),
    ("call in a message", "the whole message; multi_step: brackets or not", "without thinking; words may follow"),
    ("class that the answer misspells", "gets the verdict of the class before it", "is compared under its right name"),
    ("entries that the answer lacks", "unseen", "wrong"),
    ("texts", "compared to the letter", "compared but for case, kind of quotation marks, closing stop"),
    ("possible answers of multi_step 0, 1, 19 and multi_turn 28", "as they are", "mended (acebench_gold.MENDED)"),
    ("process accuracy", "messages to the letter, none after a missed one", "calls compared, later ones count"),
    ("tokens a message", "1000", "16384"),
)  # fmt: skip
"""Subject, `upstream-faithful`, `fixed`."""
OURS: tuple[str, ...] = (
    "prompts and the worlds' answers are in our own words, with the same rules and facts",
    "arguments are literals and nothing is evaluated; upstream evaluates expressions and takes names for texts",
    "a call that fails is told so and the others of its message are run; upstream breaks off, or crashes",
    "a message that is cut at the limit ends the episode as truncated; upstream plays on with the stump",
    "functions that no item tells of are not there, and search_reminders, which every item tells of, is",
)
"""What differs from upstream in both."""


class AceBenchAgent(Benchmark):
    """The agent part of ACEBench."""

    name = "acebench_agent"
    scorer_version = VERSION
    constant = "turn_on_wifi"

    def load(self, preset: Preset, data: Path | None) -> list[TaskItem]:
        """See `Benchmark`. `data` holds acebench/COMMIT/..., or is a checkout of upstream."""
        for word, names, what in (
            (preset.prompt, PROMPTINGS, "prompt"), (preset.extraction, EXTRACTIONS, "extraction"),
            (preset.scorer, SCORERS, "scorer"),
        ):  # fmt: skip
            if word not in names:
                raise InputError(f"no {what} {word!r}{nearest(word, names)}; the preset may say {', '.join(names)}.")
        return load_items(preset, data)

    def run(self, due: Sequence[Due], preset: Preset, players: Players, sink: Sink) -> None:
        """See `Benchmark`."""
        inspected = importlib.util.find_spec("inspect_ai") is not None
        (play_inspected if inspected else play_together)(due, preset, players, sink)

    def rescore(self, item: TaskItem, answer: str | None, preset: Preset) -> tuple[Outcome, float | None]:
        """See `Benchmark`."""
        outcome = judged(
            problem_of(item), from_answer(answer), EXTRACTIONS[preset.extraction], preset.scorer
        ).outcome  # fmt: skip
        return outcome, float(outcome is Outcome.RIGHT)

    def gold_replies(self, item: TaskItem) -> list[Message]:
        """The repaired milestones, message by message."""
        problem = problem_of(item)
        calls = gold_calls(problem.name, problem.commit, problem.milestones)
        texts = [*map(written, calls), FINISH]
        return [Message(role="assistant", content=text) for text in texts]

    def user_replies(self, item: TaskItem) -> list[Message]:
        """One who never says anything of use."""
        if not problem_of(item).several_turns:
            return []
        return [Message(role="assistant", content="Please do what I need.")]

    def says(self, answer: str) -> str:
        """See `Benchmark`."""
        return f"[{answer}()]"


ACEBENCH_AGENT = AceBenchAgent()
