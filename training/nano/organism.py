"""The nano organism as the loop sees it."""

from functools import partial
from pathlib import Path
from typing import Callable, Mapping, Sequence

import torch
from transformers import LlamaForCausalLM, PreTrainedModel
from transformers.utils import logging

from ...harness.dialect import Dialect
from ...harness.errors import InputError, nearest
from ...harness.evaluate import Item
from ...harness.seeds import generator, text_id
from ...harness.types import Program
from ...tasks import nano as suites
from ...tasks.nano_world import FAMILIES, draw
from .dialect import NanoDialect, load

HERE = Path(__file__).parent
SHIPPED = ("base", "external")
MAX_TURNS = suites.MAX_TURNS


class NanoOrganism:
    """Shipped checkpoints `base` and `external`, suites of `tasks.nano`, families of `tasks.nano_world`."""

    def load(self, checkpoint: str) -> tuple[PreTrainedModel, Dialect]:
        folder = HERE / checkpoint if checkpoint in SHIPPED else Path(checkpoint)
        if not (folder / "model.safetensors").is_file():
            raise InputError(
                f"no nano checkpoint {checkpoint!r}{nearest(checkpoint, SHIPPED)}: "
                f"{folder} holds no model.safetensors; make the shipped ones with `nox -s nano_base` or give a folder."
            )
        logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        model: LlamaForCausalLM = LlamaForCausalLM.from_pretrained(folder, dtype=torch.float32)
        return model.train(False), load(folder)

    def test_suite(self, dialect: Dialect, share: float) -> Sequence[Item]:
        return suites.test_suite(_nouns(dialect), share)

    def validation_suite(self, dialect: Dialect, share: float) -> Sequence[Item]:
        return suites.validation_suite(_nouns(dialect), share)

    def families(self, dialect: Dialect) -> Mapping[str, Callable[[int, int], Program]]:
        return {name: partial(parametric, name, _nouns(dialect)) for name in FAMILIES}


def parametric(family: str, nouns: Sequence[str], level: int, seed: int) -> Program:
    """An environment of a family at RLVE's difficulty `level` (0 is the world's level 1)."""
    text = draw(FAMILIES[family], level + 1, nouns, generator(seed, "parametric", family))
    return Program(id=text_id(text), source=text, skill=FAMILIES[family].skill, max_turns=MAX_TURNS)


def _nouns(dialect: Dialect) -> tuple[str, ...]:
    assert isinstance(dialect, NanoDialect)
    return dialect.nouns
