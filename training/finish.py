"""The end of a run: choosing the checkpoint on the validation suite, then the held-out test of the chosen and the last
one.

Test items are played after training only, so that nothing can be chosen on them. The summary is written last.
"""

import json
from collections import Counter, defaultdict
from hashlib import sha256
from typing import Callable, Sequence

from ..harness import jsonl
from ..harness.diversity import diversity
from ..harness.errors import IncompleteError
from ..harness.evaluate import MODES, Item, Player, evaluate, rows
from ..harness.returns import WIN
from ..harness.seeds import derive
from ..harness.store import ENVIRONMENTS, RunFolder
from ..harness.types import Episode
from .run import Run, RunState


def validate(run: Run, state: RunState) -> tuple[RunState, dict[str, object]]:
    """At every `validate_every`-th step and the last: greedy play of the validation suite; the best step is kept."""
    settings, step = run.recipe.evaluation, state.step
    if step % settings.validate_every and step != run.recipe.steps:
        return state, {}
    items = run.organism.validation_suite(run.dialect, settings.validation_share)
    episodes = _played(run, items, "greedy")
    score = success(items, episodes)
    if state.best is None or score > state.best:
        state = state.choosing(score)
    return state, {"validation": score}


def success(items: Sequence[Item], episodes: Sequence[Episode]) -> float:
    """Share of items solved, the mean over categories; unscored ones are outside."""
    solved: dict[str, list[bool]] = defaultdict(list)
    for item, episode in zip(items, episodes, strict=True):
        if episode.reward is not None:
            solved[item.category].append(episode.reward >= WIN)
    if not solved:
        raise IncompleteError("no item of the validation suite could be scored; look at the sandbox's errors.")
    return sum(sum(values) / len(values) for values in solved.values()) / len(solved)


def finish(run: Run, state: RunState, folder: RunFolder, report: Callable[[str], None]) -> None:
    """Play the test suite with the last and the chosen checkpoint in both modes, and write records and summary."""
    items = run.organism.test_suite(run.dialect, run.recipe.evaluation.share)
    _records(run, items, folder, "last" if state.chosen != state.step else "chosen", report)
    if state.chosen != state.step:
        run.load_weights(folder, state.chosen)
        _records(run, items, folder, "chosen", report)
    report("diversity")
    folder.write_summary(
        {
            "row": run.recipe.row,
            "seed": run.recipe.seed,
            "scale": run.recipe.scale,
            "digest": folder.digest,
            "steps": state.step,
            "metrics": _metrics(run, state),
            "checkpoints": {"chosen": state.chosen, "last": state.step},
            "corpus_digest": run.corpus.digest if run.corpus else None,
            "task_digest": task_digest(items),
            "hints": hint_counts(jsonl.read(folder.path / ENVIRONMENTS)),
            "gates": run.gates,
            "alarms": state.health.alarms,
            "corpus": run.corpus.report.lines() if run.corpus else [],
        }
    )


def task_digest(items: Sequence[Item]) -> str:
    """sha256 (16 hex digits) over ids, programs and instance seeds of a suite."""
    text = json.dumps([(item.id, item.program.id, item.seed) for item in items])
    return sha256(text.encode()).hexdigest()[:16]


def hint_counts(drafts: Sequence[jsonl.Row]) -> dict[str, dict[str, int]]:
    """By skill: programs with an accepted hint, and those whose last hint was rejected, by reason."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for draft in drafts:
        if draft["valid"]:
            counts[str(draft["skill"])][str(draft["hint_rejected"] or "accepted")] += 1
    return {skill: dict(sorted(found.items())) for skill, found in sorted(counts.items())}


def _records(run: Run, items: Sequence[Item], folder: RunFolder, name: str, report: Callable[[str], None]) -> None:
    for mode in MODES:
        report(f"test, {name} checkpoint, {mode}")
        episodes = _played(run, items, mode)
        folder.records(f"{name}.{mode}", [{"step": run.recipe.steps, **row} for row in rows(items, episodes)])


def _played(run: Run, items: Sequence[Item], mode: str) -> list[Episode]:
    player = Player(
        model=run.engine,
        dialect=run.dialect,
        sandbox=run.sandbox,
        max_new_tokens=run.recipe.evaluation.max_new_tokens,
    )
    return evaluate(items, player, mode, derive(run.recipe.seed, "evaluation", mode))


def _metrics(run: Run, state: RunState) -> dict[str, float | int | None]:
    """Numbers of the whole run; None where the row has no such thing."""
    totals = state.totals
    wanted = run.recipe.evaluation.diversity_programs
    sources = list(state.programs.values())
    spread = [sources[index * len(sources) // wanted] for index in range(wanted)] if len(sources) > wanted else sources
    vendi = diversity(spread) if len(spread) > 1 else None
    return {
        "valid_share": totals.valid / totals.proposed if totals.proposed else None,
        "valid_share_n": totals.proposed or None,
        "band_share": totals.in_band / totals.environments if totals.environments else None,
        "band_share_n": totals.environments or None,
        "zero_variance_share": totals.flat_groups / totals.groups if totals.groups else None,
        "vendi_per_n": vendi.vendi_per_n if vendi else None,
        "vendi_n": vendi.n if vendi else None,
        "plays": totals.plays,
        "tokens": totals.tokens,
        "unscored": totals.unscored,
        "skipped_updates": totals.skipped_updates,
        "seconds": totals.seconds,
    }
