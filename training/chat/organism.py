"""Pretrained chat models as an organism: any model that the engines open (`engines.located`), played by its template.

Its suites are small and easy on purpose: they choose a checkpoint and show that training works. What such a model is
worth is measured by `spadework eval` on the benchmarks.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from transformers import PreTrainedModel

from ...harness.dialect import Dialect
from ...harness.engines.located import locate
from ...harness.engines.parts import Parts
from ...harness.engines.settings import TransformersSettings
from ...harness.engines.weights import load_network
from ...harness.errors import InputError
from ...harness.evaluate import Item
from ...harness.types import Program
from ...tasks.reasoning_gym_programs import Fold, suite
from ..organism import Gate
from .dialect import ChatDialect

MIXTURE, FOLDS = "easy", 3
TRAIN, VALIDATE, TEST = (Fold(index=index, parts=FOLDS) for index in range(FOLDS))
"""Parts of the questions; the shipped pool holds those of TRAIN."""
PER_TASK = {"validate": 16, "test": 50}


class ChatOrganism:
    """See the module; `checkpoint` is whatever `spadework eval --model` takes but an endpoint."""

    def folder(self, checkpoint: str) -> Path:
        return _parts(checkpoint).weights

    def dialect(self, checkpoint: str) -> Dialect:
        return _dialect(_parts(checkpoint))

    def load(self, checkpoint: str) -> tuple[PreTrainedModel, Dialect]:
        parts = _parts(checkpoint)
        dialect = _dialect(parts)
        network: PreTrainedModel = load_network(parts.weights, "float32", "auto")
        return network, dialect

    def gates(self, checkpoint: str) -> Mapping[str, Gate] | None:
        return None

    def test_suite(self, dialect: Dialect, share: float) -> Sequence[Item]:
        return suite(MIXTURE, _part(PER_TASK["test"], share), TEST)

    def validation_suite(self, dialect: Dialect, share: float) -> Sequence[Item]:
        return suite(MIXTURE, _part(PER_TASK["validate"], share), VALIDATE)

    def families(self, dialect: Dialect) -> Mapping[str, Callable[[int, int], Program]]:
        raise InputError("a chat model has no parametric families yet; train it on a pool or by self-play.")


def _parts(checkpoint: str) -> Parts:
    return Parts(locate(checkpoint), TransformersSettings())


def _dialect(parts: Parts) -> ChatDialect:
    specials = [str(token) for token in parts.tokenizer.added_tokens_decoder.values()]
    return ChatDialect(parts.template, pad_id=_pad(parts.tokenizer, parts.template.stops), specials=specials)


def _pad(tokenizer: Any, stops: Sequence[int]) -> int:
    """An id for positions that nobody reads. It may be a stop token: rows are cut by their length, never by an id."""
    return int(stops[0] if tokenizer.pad_token_id is None else tokenizer.pad_token_id)


def _part(count: int, share: float) -> int:
    return max(1, round(count * share))
