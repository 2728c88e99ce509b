"""The checkpoints that ship: openable by anyone, small, past their gates, and made as the page about them says."""

import json
import shutil
from pathlib import Path
from typing import Any, Callable

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM, AutoTokenizer

from spadework.harness.errors import InputError
from spadework.training.corpora import open_corpus
from spadework.training.nano import organism
from spadework.training.nano.dialect import NanoDialect
from spadework.training.organism import resolve
from spadework.training.recipe import load_recipe

FOLDER = Path(organism.__file__).parent


def facts(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FOLDER / name / "warm_start.json").read_text())
    return found


@pytest.mark.parametrize("name", organism.SHIPPED)
def test_plain_transformers_opens_a_checkpoint(name: str) -> None:
    torch.set_num_threads(1)
    loaded, dialect = resolve("nano").load(name)
    assert isinstance(dialect, NanoDialect)
    model, tokenizer = AutoModelForCausalLM.from_pretrained(FOLDER / name), AutoTokenizer.from_pretrained(FOLDER / name)
    text = "import random\nclass lampEnv:\n n, k = 3, 2\n"
    assert tokenizer.encode(text, add_special_tokens=False) == dialect.encode(text)
    ids = torch.tensor([dialect.encode(text)])
    with torch.no_grad():
        assert torch.equal(model(ids).logits, loaded(ids).logits)
    assert loaded.dtype == torch.float32 and not loaded.training


@pytest.mark.parametrize("name", organism.SHIPPED)
def test_generation_by_others_ends_and_pads_with_the_tokenizers_own_marks(name: str) -> None:
    model, tokenizer = AutoModelForCausalLM.from_pretrained(FOLDER / name), AutoTokenizer.from_pretrained(FOLDER / name)
    marks = (tokenizer.pad_token_id, tokenizer.eos_token_id)
    for settings in (model.config, model.generation_config):
        assert (settings.pad_token_id, settings.eos_token_id) == marks


@pytest.mark.parametrize(("name", "needed"), [("base", {*organism.GATES}), ("external", {"valid", "copied"})])
def test_a_checkpoint_passed_the_gates_of_what_it_does(name: str, needed: set[str]) -> None:
    """The external one designs and never plays."""
    gates = resolve("nano").gates(name)
    assert gates is not None and set(gates) == set(organism.GATES)
    assert {gate: gates[gate].value for gate in needed if not gates[gate].passed} == {}
    told = facts(name)["gates"]["passed"]
    assert told == {gate: found.passed for gate, found in gates.items()}


@pytest.mark.parametrize("name", organism.SHIPPED)
def test_a_checkpoint_is_of_the_size_that_was_promised(name: str) -> None:
    size = sum(path.stat().st_size for path in (FOLDER / name).rglob("*") if path.is_file())
    model, _ = resolve("nano").load(name)
    assert size <= 20_000_000
    assert facts(name)["parameters"] == sum(p.numel() for p in model.parameters()) <= 10_000_000


def test_the_external_designer_has_another_seed_and_twice_the_designer_tokens() -> None:
    base, external = facts("base"), facts("external")
    assert external["seed"] != base["seed"] and external["parameters"] == base["parameters"]
    assert external["tokens"]["designer"] >= 2 * base["tokens"]["designer"]


def test_the_warm_start_was_made_with_the_corpus_of_the_recipe() -> None:
    _, dialect = resolve("nano").load("base")
    digest = open_corpus(load_recipe("nano").corpus, dialect).digest
    assert facts("base")["corpus"] == facts("external")["corpus"] == digest


def test_both_checkpoints_speak_with_the_same_tokens() -> None:
    first, second = ((FOLDER / name / "tokenizer.json").read_bytes() for name in organism.SHIPPED)
    assert first == second


def test_a_checkpoint_that_is_not_there_is_named_with_the_nearest_and_the_command() -> None:
    with pytest.raises(InputError, match=r"no nano checkpoint 'bases' \(did you mean 'base'\?\).*nox -s nano_base"):
        resolve("nano").load("bases")
    with pytest.raises(InputError, match="did you mean 'base'"):
        resolve("nano").gates("bases")


def test_the_families_of_rlve_grow_with_the_level_and_are_the_same_for_the_same_seed() -> None:
    nano = resolve("nano")
    _, dialect = nano.load("base")
    for name, family in nano.families(dialect).items():
        assert family(2, 7) == family(2, 7), name
        assert family(2, 7) != family(2, 8)
        assert "import random" in family(0, 1).source


def torn(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:1000])


def without_a_matrix(path: Path) -> None:
    weights = load_file(path)
    del weights["model.layers.2.mlp.down_proj.weight"]
    save_file(weights, path, {"format": "pt"})


@pytest.mark.parametrize("damage", [torn, without_a_matrix])
def test_a_checkpoint_whose_weights_are_not_whole_is_refused_and_nothing_is_made_up(
    tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    shutil.copytree(FOLDER / "base", tmp_path / "mine")
    damage(tmp_path / "mine" / "model.safetensors")
    with pytest.raises(InputError, match="mine.*damaged"):
        resolve("nano").load(str(tmp_path / "mine"))


@pytest.mark.parametrize("text", ["{", "{}", '{"gates": {"hint_gap": 1.0}}'])
def test_damaged_gates_are_one_sentence(tmp_path: Path, text: str) -> None:
    (tmp_path / "warm_start.json").write_text(text)
    with pytest.raises(InputError, match="warm_start.json.*damaged"):
        resolve("nano").gates(str(tmp_path))
