"""The evidence of a table: finished runs with their per-item answers, and what must agree between them.

A training run lies at `<runs>/<row>/seed<N>/`:

    summary.json                      `Summary`; written last, so a folder without it is an unfinished run
    records/<checkpoint>.<mode>.jsonl checkpoint chosen | last, mode greedy | sampled; one line a sample:
                                      {"item": "hard/order/6/17", "category": "hard", "outcome": "right", "reward": 0.5}
    config.json, metrics.jsonl        carried along by `pack`
    provenance.json                   whether a sandbox of the run lacked a layer that it must have

`last.*` may be left out when the summary says that the chosen checkpoint is the last. Evaluations become the same kind
of run in `evaluations`. The compact copy, which is committed, is read by `pack`. What this is not: a maker of numbers.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Literal

import msgspec

from ..answers import Answers, parse
from ..errors import InputError
from ..provenance import insecure_lines

CHECKPOINTS = ("chosen", "last")
MODES = ("greedy", "sampled")


class Steps(msgspec.Struct, frozen=True, kw_only=True):
    """At which training step each evaluated checkpoint was saved."""

    chosen: int
    last: int


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """What a finished run says of itself; keys beyond these are allowed and ignored."""

    row: str
    seed: int
    scale: str
    digest: str
    """Of the resolved config."""
    steps: int
    metrics: dict[str, float | None]
    """Numbers of the whole run; None where the row has no such thing (a fixed pool has no valid share)."""
    checkpoints: Steps
    task_digest: str
    corpus_digest: str | None = None


class Protocol(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How an evaluation played a benchmark; all but `reason` and `folder` must agree within a table."""

    preset: str
    """Its name, a star where something of it was changed, with the changes behind it."""
    scorer: str
    items: str
    """Digest of the items it was asked to play."""
    limit: int | None = None
    weigh: Literal["items", "categories"] = "items"
    """What the score is the mean of."""
    rules: str = ""
    """Digest of what the preset says, since a name may mean something else in another version."""
    reason: str = ""
    """Why the benchmark broke off, if it did."""
    folder: str = ""
    """Where it was played."""

    @property
    def agreed(self) -> tuple[object, ...]:
        """What must be equal."""
        return self.preset, self.rules, self.scorer, self.items, self.limit, self.weigh

    @property
    def words(self) -> str:
        """For the fine print."""
        first = "" if self.limit is None else f", first {self.limit:,} items"
        rules = f" (rules {self.rules})" if self.rules else ""
        return f"preset {self.preset}{rules}, scorer {self.scorer}, items {self.items}{first}"


@dataclass(frozen=True, kw_only=True)
class Run:
    """One finished run; the evaluations of one checkpoint (one row and seed) are one run."""

    summary: Summary
    answers: dict[str, Answers]
    """By `<checkpoint>.<mode>`; of an evaluation by benchmark."""
    files: dict[str, str]
    """Texts that travel with the packed copy, by file name."""
    insecure: tuple[str, ...] = ()
    """What its sandboxes lacked of the layers that must hold; empty for a run whose sandbox held."""
    protocols: Mapping[str, Protocol] = field(default_factory=dict)
    """Of each benchmark of an evaluation."""
    lacking: Mapping[str, str] = field(default_factory=dict)
    """Benchmarks that could not run, with the reason."""
    folders: Mapping[str, str] = field(default_factory=dict)
    """Of evaluations, each with the digest of its config."""

    @property
    def id(self) -> str:
        """What people find the run by: scale, row and seed of a training run, the folders of evaluations."""
        return " + ".join(self.folders) or f"{self.summary.scale}/{self.summary.row}/seed{self.summary.seed}"

    @property
    def digests(self) -> Mapping[str, str]:
        """The digest of the config by what people find it by."""
        return self.folders or {self.id: self.summary.digest}

    @property
    def metrics(self) -> Mapping[str, float | None]:
        """The summary's numbers; `updates` are the steps whose update was not skipped."""
        own = self.summary.metrics
        skipped = own.get("skipped_updates")
        return own if skipped is None else {"updates": self.summary.steps - skipped, **own}

    def answered(self, checkpoint: str, mode: str) -> Answers | None:
        """The answers of a checkpoint; the chosen one stands for the last (and back) when they are the same step."""
        found = self.answers.get(f"{checkpoint}.{mode}")
        steps = self.summary.checkpoints
        if found is None and steps.chosen == steps.last:
            found = next((a for c in CHECKPOINTS if (a := self.answers.get(f"{c}.{mode}"))), None)
        return found


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """Finished runs by row, each row's in the order of its seeds."""

    runs: dict[str, tuple[Run, ...]]
    absent: Mapping[str, str] = field(default_factory=dict)
    """Why a row has no run, where there is more to say than that."""

    @property
    def digest(self) -> str:
        """First 16 hex digits of the sha256 over items, outcomes and rewards of all runs; no time enters."""
        hasher = sha256()
        for run in self.every_run():
            for key, answers in sorted(run.answers.items()):
                hasher.update(f"{run.summary.row}/{run.summary.seed}/{key}/{answers.listed.digest}".encode())
                hasher.update(answers.outcomes_IR.tobytes())
                hasher.update(answers.rewards_IR.astype("<f8").tobytes())
        return hasher.hexdigest()[:16]

    def every_run(self) -> Iterator[Run]:
        """All runs, by row and seed."""
        return (run for row in sorted(self.runs) for run in self.runs[row])


def agree(evidence: Evidence, scale: str) -> None:
    """Refuse runs of another scale, of another task, or with other items than the first run has."""
    first: Summary | None = None
    lists: dict[str, tuple[str, str, int]] = {}
    agree_on_protocols(evidence)
    for run in evidence.every_run():
        own, name = run.summary, f"{run.summary.row}/seed{run.summary.seed}"
        if run.protocols:
            continue
        first = first or own
        if own.scale != scale:
            raise InputError(f"{name} was run at scale {own.scale!r}, the table is of {scale!r}; move that run away.")
        if own.task_digest != first.task_digest:
            raise InputError(
                f"{name} was evaluated on task {own.task_digest}, {first.row}/seed{first.seed} on {first.task_digest}; "
                "evaluate both on the same task."
            )
        for key, answers in sorted(run.answers.items()):
            mode = key.partition(".")[2]
            mine = (answers.listed.digest, name, answers.outcomes_IR.shape[1])
            theirs = lists.setdefault(mode, mine)
            if (mine[0], mine[2]) != (theirs[0], theirs[2]):
                raise InputError(
                    f"{name} and {theirs[1]} answered other {mode} items; evaluate the incomplete one again."
                )


def agree_on_protocols(evidence: Evidence) -> None:
    """Refuse evaluations that played a benchmark under different protocols, or other items of it."""
    known: dict[str, tuple[Run, Protocol]] = {}
    for run in evidence.every_run():
        for task, protocol in run.protocols.items():
            other, theirs = known.setdefault(task, (run, protocol))
            if protocol.agreed != theirs.agreed:
                raise InputError(
                    f"{task}: {run.id} has {protocol.words}, {other.id} has {theirs.words}; a column holds one "
                    "protocol, so evaluate one of them again."
                )
            pair = run.answers[task].outcomes_IR.shape, other.answers[task].outcomes_IR.shape
            if pair[0] != pair[1] and not (protocol.reason or theirs.reason):
                raise InputError(f"{task}: {run.id} and {other.id} hold other items; evaluate one of them again.")


def read_run(folder: Path) -> Run:
    """One finished run. Raises InputError, naming the file, for damage."""
    path = folder / "summary.json"
    try:
        summary = msgspec.json.decode(path.read_bytes(), type=Summary)
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise InputError(f"{path} is damaged ({error}); run this row again with --fresh.") from None
    answers = {}
    for checkpoint in CHECKPOINTS:
        for mode in MODES:
            lines = folder / "records" / f"{checkpoint}.{mode}.jsonl"
            if lines.is_file():
                answers[f"{checkpoint}.{mode}"] = parse(lines.read_bytes(), str(lines), repeats=mode == "sampled")
    files = {
        name: (folder / name).read_text() for name in ("config.json", "metrics.jsonl") if (folder / name).is_file()
    }
    insecure = tuple(insecure_lines(folder / "provenance.json"))
    return Run(summary=summary, answers=answers, files=files, insecure=insecure)
