"""One step under watch: what its plays, its drafts and the canary say, as readings for the alarms of `health`."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from ..harness.types import Episode
from .canary import canary
from .designer import DUPLICATE
from .health import Health, canary_readings, draft_readings, play_readings, watched
from .run import Run, RunState
from .selfplay import SelfPlay


class Watched(NamedTuple):
    """The state with its alarms, and what goes into the metrics line."""

    state: RunState
    line: Mapping[str, object]


def watch(run: Run, state: RunState, step: int, episodes: Sequence[Episode], line: Mapping[str, object]) -> Watched:
    """After the update of `step`; `line` holds the step's other figures. Switched off, nothing is measured."""
    settings = run.recipe.health
    if not settings.enabled:
        return Watched(state, {})
    own: dict[str, float | None] = dict(play_readings(episodes))
    health = state.health
    if step % run.recipe.window == 0:
        health, drafts = _window(run, state)
        own |= drafts
        sung = canary(run.engine, run.policy, _prompt(run), settings.canary_tokens)
        own |= canary_readings(health.canary, sung)
        health = replace(health, canary=sung)
    known = {name: line.get(name) for name in ("flat_group_share", "sampler_gap")}
    whole = (step + 1) % run.recipe.window == 0 or step + 1 == run.recipe.steps
    known["win_rate"] = line.get("window_win_rate") if whole else None
    numbers = {name: value for name, value in known.items() if isinstance(value, int | float)}
    health = watched(health, step, {**own, **numbers}, settings)
    return Watched(replace(state, health=health), {**own, "alarms": health.told_at(step)})


def _window(run: Run, state: RunState) -> tuple[Health, dict[str, float | None]]:
    """Of the designer's new window; nothing where no designer writes."""
    if not isinstance(run.source, SelfPlay):
        return state.health, {}
    drafts = run.source.window.drafts
    before = [state.programs[key] for key in state.health.window if key in state.programs]
    programs = [draft.source for draft in drafts if draft.program is not None or draft.reason == DUPLICATE]
    limit = run.recipe.designer.max_new_tokens
    found = draft_readings([draft.trajectory for draft in drafts], limit, programs, before)
    return replace(state.health, window=tuple(d.program.id for d in drafts if d.program is not None)), found


def _prompt(run: Run) -> tuple[int, ...]:
    """The same in every run of a recipe: what a designer reads without passage and memory."""
    return tuple(run.dialect.designer(run.recipe.designer.skills[0], None, ()))
