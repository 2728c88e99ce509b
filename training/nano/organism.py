"""The nano organism as the loop sees it."""

from functools import partial
from pathlib import Path
from typing import Any, Callable, Mapping, Sequence

import msgspec
import torch
from safetensors import SafetensorError
from transformers import LlamaForCausalLM, PreTrainedModel
from transformers.utils import logging

from ...harness.dialect import Dialect
from ...harness.errors import InputError, nearest
from ...harness.evaluate import Item
from ...harness.seeds import generator, text_id
from ...harness.types import Program
from ...tasks import nano as suites
from ...tasks.nano_world import FAMILIES, draw
from ..organism import Gate
from .dialect import NanoDialect, load

HERE = Path(__file__).parent
GATES = {"hint_gap": 0.20, "valid": 0.85, "copied": 0.80}
"""What a warm start has to reach; `gates` measures it."""
SHIPPED = ("base", "external")
MAX_TURNS = suites.MAX_TURNS


class NanoOrganism:
    """Shipped checkpoints `base` and `external`, suites of `tasks.nano`, families of `tasks.nano_world`."""

    def folder(self, checkpoint: str) -> Path:
        return _existing(checkpoint)

    def dialect(self, checkpoint: str) -> Dialect:
        return load(_existing(checkpoint))

    def load(self, checkpoint: str) -> tuple[PreTrainedModel, Dialect]:
        logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        return _model(self.folder(checkpoint)).train(False), self.dialect(checkpoint)

    def gates(self, checkpoint: str) -> Mapping[str, Gate] | None:
        path = _folder(checkpoint) / "warm_start.json"
        if not path.is_file():
            _existing(checkpoint)
            return None
        try:
            measured = msgspec.json.decode(path.read_bytes(), type=_Measured).gates
            return {name: Gate(msgspec.convert(measured[name], float), least) for name, least in GATES.items()}
        except (msgspec.DecodeError, KeyError) as error:
            raise InputError(f"{path} is damaged ({error}); make it again with `nox -s nano_base`.") from None

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


class _Measured(msgspec.Struct, frozen=True, kw_only=True):
    gates: dict[str, object]


def _model(folder: Path) -> LlamaForCausalLM:
    """The model with every weight read from the folder: transformers would draw a missing one at random."""
    try:
        loaded: Any = LlamaForCausalLM.from_pretrained(folder, dtype=torch.float32, output_loading_info=True)
    except SafetensorError as error:
        raise _damaged(folder, str(error)) from None
    model, told = loaded
    wrong = sorted(map(str, (*told["missing_keys"], *told["mismatched_keys"])))
    if wrong:
        raise _damaged(folder, f"it lacks {wrong[0]}")
    assert isinstance(model, LlamaForCausalLM)
    return model


def _damaged(folder: Path, what: str) -> InputError:
    return InputError(f"{folder / 'model.safetensors'} is damaged ({what}); give a whole checkpoint.")


def _folder(checkpoint: str) -> Path:
    return HERE / checkpoint if checkpoint in SHIPPED else Path(checkpoint)


def _existing(checkpoint: str) -> Path:
    folder = _folder(checkpoint)
    if not (folder / "model.safetensors").is_file():
        raise InputError(
            f"no nano checkpoint {checkpoint!r}{nearest(checkpoint, SHIPPED)}: "
            f"{folder} holds no model.safetensors; make the shipped ones with `nox -s nano_base` or give a folder."
        )
    return folder


def _nouns(dialect: Dialect) -> tuple[str, ...]:
    assert isinstance(dialect, NanoDialect)
    return dialect.nouns
