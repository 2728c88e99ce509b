"""A chat model from a folder as an organism: opened, trained for a step, and opened again by its run."""

from pathlib import Path

import pytest
import torch

from spadework.baselines.fixed_pool import read_pool
from spadework.baselines.sources import POOLS
from spadework.harness.engines.opening import open_model
from spadework.harness.errors import InputError
from spadework.harness.store import read_document
from spadework.harness.types import Message, Request, Sampling
from spadework.training.chat.organism import TRAIN, ChatOrganism
from spadework.training.loop import train
from spadework.training.recipe import load_recipe

from ...harness.engines import tiny_folder

SMALL = (
    "steps=2", "designer.environments=2", "play.max_new_tokens=6", "play.plays_per_instance=2", "play.max_tokens=600",
    "evaluation.share=0.02", "evaluation.validation_share=0.1", "evaluation.max_new_tokens=4",
    "evaluation.diversity_programs=2",
)  # fmt: skip


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


def test_a_folder_trains_on_the_shipped_pool_and_its_run_opens_as_a_chat_model(tmp_path: Path) -> None:
    folder = tiny_folder.write(tmp_path / "model", context=1024)
    recipe = load_recipe("smol_fixed", [*SMALL, f"checkpoint={folder}"])
    train(recipe, tmp_path / "run")
    summary = read_document(tmp_path / "run" / "summary.json")
    assert summary["steps"] == 2
    with open_model(str(tmp_path / "run")) as opened:
        asked = Request(messages=(Message(role="user", content="Hi"),), sampling=Sampling(max_new_tokens=4), seed=1)
        (said,) = opened.model.generate([asked])
    assert said.ids and opened.dialect is None, "conversations by its template"


def test_the_shipped_pool_holds_training_questions_only_and_is_what_its_command_makes() -> None:
    from spadework.baselines.rg_pool import PER_TASK
    from spadework.tasks.reasoning_gym_programs import programs

    assert list(read_pool(POOLS / "rg_easy")) == programs("easy", PER_TASK, TRAIN)


def test_a_folder_without_a_chat_template_is_refused_before_its_weights_are_read(tmp_path: Path) -> None:
    folder = tiny_folder.write(tmp_path / "model", None)
    (folder / "model.safetensors").write_bytes(b"never read")
    with pytest.raises(InputError, match="chat_template"):
        ChatOrganism().dialect(str(folder))
