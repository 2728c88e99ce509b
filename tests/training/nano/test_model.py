"""The fresh nano model copies before it has learned anything, and is an ordinary Llama."""

from pathlib import Path

import pytest
import torch
from transformers import AutoModelForCausalLM

from spadework.training.nano.model import create
from spadework.training.nano.warm_start import MIXTURES

VOCABULARY = 1600
LENGTH, ROWS = 24, 32


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.mark.parametrize("name", list(MIXTURES))
def test_the_planted_circuit_goes_on_with_a_repeated_sequence(name: str) -> None:
    """Random words twice in a row: from the second time on the next one is known, if the model can look back."""
    model = create(VOCABULARY, MIXTURES[name].seed)
    draw = torch.Generator().manual_seed(0)
    rows = [torch.randperm(VOCABULARY - 2, generator=draw)[:LENGTH] + 2 for _ in range(ROWS)]
    ids = torch.stack([torch.cat([row, row]) for row in rows])
    with torch.no_grad():
        guessed = model(ids).logits.argmax(-1)
    right = (guessed[:, LENGTH:-1] == ids[:, LENGTH + 1 :]).float().mean()
    guesses = (guessed[:, : LENGTH - 1] == ids[:, 1:LENGTH]).float().mean()
    assert right > 0.5 and guesses < 0.05, (right, guesses)


def test_the_same_seed_gives_the_same_weights_and_another_seed_others() -> None:
    first, again, other = (create(64, seed).state_dict() for seed in (1, 1, 2))
    assert all(torch.equal(first[key], again[key]) for key in first)
    assert not torch.equal(first["model.embed_tokens.weight"], other["model.embed_tokens.weight"])


def test_plain_transformers_opens_what_was_saved(tmp_path: Path) -> None:
    model = create(64, 1)
    model.save_pretrained(tmp_path)
    opened = AutoModelForCausalLM.from_pretrained(tmp_path)
    ids = torch.arange(2, 30)[None]
    with torch.no_grad():
        assert torch.equal(opened(ids).logits, model(ids).logits)
