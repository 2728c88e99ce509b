"""What a benchmark is: items, presets, and a way to play samples; the port between the evaluation and its tasks.

A benchmark knows its data, prompts and scorers. It does not know folders, caches, resume or statistics: it gets the
samples that are still due and gives each result to the sink the moment it is known.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Mapping, Protocol, Sequence

from .dialect import Dialect
from .requirements import Requirements
from .sandbox.layers import Policy, SandboxReport
from .types import Completion, Finish, Message, Model, Outcome, Sampling

CUT_SHORT: Mapping[Finish, Outcome] = {
    Finish.LENGTH: Outcome.TRUNCATED, Finish.REFUSED: Outcome.REFUSED, Finish.CONTEXT: Outcome.CONTEXT_OVERFLOW,
    Finish.FAILED: Outcome.INFRA_ERROR,
}  # fmt: skip
"""The outcome of a sample whose completion ended like this, whatever the completion says."""

@dataclass(frozen=True, kw_only=True, slots=True)
class Expect:
    """What one sample costs, for the forecast before a run; a guess that is written down, never part of a score."""

    turns: int = 1
    """Requests to the model."""
    prompt_tokens: int = 500
    """Of each request."""
    completion_tokens: int = 1000
    """Of each request."""
    user_turns: int = 0
    """Requests to the simulated user and the judge."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Preset:
    """One named protocol of one benchmark. Read from tasks/presets/BENCHMARK.toml; stamped on every score."""

    benchmark: str
    name: str
    """"paper-inloop", "paper-offline", "official", "corrected", "validation", ..."""
    source: str
    """Where the protocol stands: paper, repository and commit."""
    sampling: Sampling
    repeats: int = 1
    """Samples per item."""
    prompt: str = "default"
    extraction: str = "default"
    scorer: str = "default"
    slice: Mapping[str, str | int] = field(default_factory=dict)
    """Which items: release, dates, task version, seed, size."""
    max_turns: int = 1
    user: str = ""
    """The simulated user's model, as `open_model` takes it; empty where there is none."""
    judge: str = ""
    user_sampling: Sampling | None = None
    """Of the simulated user."""
    exclude: tuple[str, ...] = ()
    """Categories or items that this preset leaves out, with the reason beside them in the TOML file."""
    options: Mapping[str, str | int | float | bool] = field(default_factory=dict)
    """What else the protocol fixes and only this benchmark reads."""
    mean: Literal["items", "categories"] = "items"
    """The headline is the mean over items, or the unweighted mean of the categories' means."""
    expect: Expect = Expect()


@dataclass(frozen=True, kw_only=True, slots=True)
class TaskItem:
    """One item in memory. `payload` is never written, printed or hashed by anyone but its benchmark."""

    id: str
    """Hash of the item's content, stable over runs."""
    category: str
    """A part of the benchmark with a number of its own; `group/part` where that number is a mean over parts."""
    gold: str
    """Hash of the gold answer."""
    payload: object = field(repr=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class Due:
    """One sample that is still to be played."""

    item: TaskItem
    repeat: int
    seed: int
    """Of the sampling; depends on (run seed, benchmark, item, repeat) alone. Every request that is made for this
    sample, to whichever player, carries it as its seed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Scored:
    """The result of one sample, as it is recorded. It holds no prompt and no problem text."""

    item: str
    category: str
    repeat: int
    outcome: Outcome
    score: float | None
    """In [0, 1]; None when the sample is unscored."""
    answer: str | None
    """What was extracted; enough to score again without the completion."""
    gold: str
    detail: str = ""
    """Why, for people: the scorer's or the server's word. Never the problem's text."""
    facts: Mapping[str, float | int | str] = field(default_factory=dict)
    """Tokens, turns, seconds, partial scores."""


class Sink(Protocol):
    """Where results go, from any thread, each at most once."""

    def put(self, scored: Scored, completions: Sequence[Completion]) -> None:
        """Record one sample; the completions are kept only where the user asked for it."""
        ...

    def sandboxed(self, report: SandboxReport) -> None:
        """Record the sandbox in which what the model wrote is run; as often as it is opened."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Players:
    """The models of one evaluation, and the terms on which programs that they write may run."""

    model: Model
    user: Model | None = None
    judge: Model | None = None
    dialect: Dialect | None = None
    """Of a model under test with a prompt format of its own, which is asked in token ids and in nothing else."""
    sandbox: Policy = Policy()
    logs: Path | None = None
    """Folder of the run for logs in a package's own format; None where none are kept."""


class Benchmark(Protocol):
    """One benchmark of the suite. Modules of `tasks` hold one each; `tasks/benchmarks.py` lists them.

    Its presets stand in `presets/NAME.toml` beside its module. A class that names this one as its base needs only the
    members without a default.
    """

    name: str
    scorer_version: str
    """Changes whenever a verdict may change."""
    closed: bool = False
    """The problems' texts may not reach the disk: nothing is cached, and what quotes `problem` is not recorded."""
    packages: tuple[str, ...] = ()
    """Distributions on which a verdict depends; their versions stand in the provenance."""
    environments: tuple[Requirements, ...] = ()
    """Packages in environments of their own, on which it depends too; `load` has made them."""
    constant: str = "0"
    """An answer that somebody might give to every item; the preflight tells how often it is right."""

    def load(self, preset: Preset, data: Path | None) -> list[TaskItem]:
        """The items of the preset's slice, the same in the same order each time, without the network when
        HF_HUB_OFFLINE is 1. Raises InputError naming every missing or wrong file; no model is loaded yet."""
        ...

    def run(self, due: Sequence[Due], preset: Preset, players: Players, sink: Sink) -> None:
        """Play the samples; every one of them reaches the sink, the failed ones too."""
        ...

    def unverified(self, preset: Preset, data: Path | None) -> str:
        """What of the items that `load` gave is not known to be the benchmark's own, in words that stand beside every
        score; empty where digests vouch for all of it. It names files without their folders."""
        return ""

    def rescore(self, item: TaskItem, answer: str | None, preset: Preset) -> tuple[Outcome, float | None]:
        """The verdict on an answer that was extracted earlier."""
        ...

    def gold_replies(self, item: TaskItem) -> list[Message]:
        """The replies of a perfect player, for the preflight; empty when no gold solution is known."""
        ...

    def user_replies(self, item: TaskItem) -> list[Message]:
        """What the simulated user says in the preflight, the last one again and again; empty without a user."""
        return []

    def passive_user_replies(self, item: TaskItem) -> list[Message]:
        """The same towards a player who knows nothing, whose work a user who acts by himself would do."""
        return self.user_replies(item)

    def judge_replies(self, item: TaskItem) -> list[Message]:
        """What a judge says who accepts everything, in the preflight; as `user_replies`."""
        return []

    def says(self, answer: str) -> str:
        """A reply with this answer in the form that the prompts ask for, for the preflight's simple players."""
        return f"The answer is \\boxed{{{answer}}}."

    def problem(self, item: TaskItem) -> str:
        """The text that a closed benchmark keeps off the disk, with options and whatever else may not be quoted."""
        return ""
