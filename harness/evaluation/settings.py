"""What an evaluation is, resolved: the config of its run folder. A change of any key is another evaluation.

How long it may take, where it writes, and what it prints is not part of it. The items stand in it as a digest, so
changed data is another evaluation too.
"""

from collections.abc import Mapping
from typing import Literal

import msgspec

from ..benchmark import Preset
from ..config import Section
from ..errors import InputError


class TaskSettings(Section, frozen=True, kw_only=True):
    """One benchmark of the evaluation."""

    reference: str
    """`module:object` of the benchmark."""
    preset: Preset
    """As it is played, with what was changed on the command line."""
    changed: tuple[str, ...] = ()
    """Keys that differ from the preset of that name."""
    scorer_version: str
    closed: bool
    limit: int | None
    """The first so many items in the order of their hashes."""
    n_items: int
    items: str
    """Digest of ids, categories and golds."""
    unverified: str = ""
    """What of the data no digest vouches for."""

    @property
    def n_samples(self) -> int:
        """Items times repeats."""
        return self.n_items * self.preset.repeats

    @property
    def stamp(self) -> str:
        """The preset as people name it; a star where something was changed."""
        return self.preset.name + ("*" if self.changed else "")


class EvaluationSettings(Section, frozen=True, kw_only=True):
    """One model on some benchmarks."""

    kind: Literal["evaluation"] = "evaluation"
    model: str
    engine: str
    seed: int = 0
    tasks: dict[str, TaskSettings]
    missing: dict[str, str] = {}
    """Tasks that were asked for and cannot run here, with the reason."""


def is_evaluation(document: Mapping[str, object]) -> bool:
    """Whether a run's config is one of an evaluation."""
    config = document.get("config")
    return isinstance(config, dict) and config.get("kind") == "evaluation"


def from_document(document: Mapping[str, object], where: str) -> EvaluationSettings:
    """The settings as a run folder keeps them. Raises InputError for another kind of run."""
    if not is_evaluation(document):
        raise InputError(f"{where} is no evaluation; give a folder that `spadework eval` made.")
    try:
        return msgspec.convert(document["config"], EvaluationSettings)
    except msgspec.ValidationError as error:
        raise InputError(f"{where}: {error}; evaluate again with --fresh.") from None
