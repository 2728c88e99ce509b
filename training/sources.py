"""Makers of sources: from a recipe and the opened parts of a run to the `Source` of its row. Self-play's own lives
here.

The other rows' makers live in `baselines.sources` and are found by the strings in `recipe.SOURCES`.
"""

from dataclasses import dataclass
from importlib import import_module
from typing import Callable, Literal, cast

from ..harness.dialect import Dialect
from ..harness.sandbox import Sandbox
from ..harness.types import Model, Sampling
from .corpus import Corpus
from .designer import Designer
from .organism import Organism
from .recipe import SOURCES, Recipe
from .selfplay import Pay, SelfPlay
from .source import PlaySettings, Source


@dataclass(frozen=True, kw_only=True)
class Parts:
    """What a run has opened before its source is made."""

    recipe: Recipe
    organism: Organism
    model: Model
    """The engine over the trained policy."""
    dialect: Dialect
    sandbox: Sandbox
    corpus: Corpus | None


def make(parts: Parts) -> Source | None:
    """The source of the recipe; None where nothing is trained."""
    where = SOURCES[parts.recipe.source.kind]
    if not where:
        return None
    module, _, function = where.partition(":")
    return cast(Callable[[Parts], Source], getattr(import_module(module), function))(parts)


def self_play(parts: Parts) -> SelfPlay:
    """The policy designs for itself."""
    return designed(parts, parts.model, parts.dialect, author="policy")


def designed(parts: Parts, writer: Model, dialect: Dialect, author: Literal["policy", "other"]) -> SelfPlay:
    """Self-play with that writer; of another model's writing nothing is trained."""
    recipe = parts.recipe
    designer = Designer(
        model=writer,
        dialect=dialect,
        corpus=parts.corpus,
        settings=recipe.designer,
        window=recipe.window,
        seed=recipe.seed,
        author=author,
    )
    pay = Pay(
        reward=recipe.source.reward,
        settings=recipe.reward,
        advantages=recipe.advantages,
        trained=author == "policy",
        window=recipe.window,
        steps=recipe.steps,
    )
    return SelfPlay(designer, parts.sandbox, play_settings(parts), pay)


def play_settings(parts: Parts) -> PlaySettings:
    """The recipe's plays with the dialect's stop tokens."""
    play = parts.recipe.play
    sampling = Sampling(
        temperature=play.temperature,
        top_p=play.top_p,
        top_k=play.top_k,
        max_new_tokens=play.max_new_tokens,
        stop=parts.dialect.stops("agent"),
    )
    return PlaySettings(instances=play.instances, plays_per_instance=play.plays_per_instance, sampling=sampling)
