"""A checkpoint gives back exactly what went in, or says in one sentence why it cannot."""

import os
import resource
import subprocess
import time
from pathlib import Path

import pytest
import torch
from transformers import AutoModelForCausalLM, LlamaConfig, LlamaForCausalLM

from spadework.harness.errors import IncompleteError, InputError
from spadework.harness.types import Sample, Trajectory
from spadework.training.checkpoint import SUMS, Checkpoint, latest, load, save
from spadework.training.policy import Policy
from spadework.training.update_settings import UpdateSettings

SETTINGS = UpdateSettings(lr=0.003)


def model(hidden: int = 32, layers: int = 2, vocabulary: int = 32) -> LlamaForCausalLM:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=vocabulary,
            hidden_size=hidden,
            intermediate_size=hidden * 3,
            num_hidden_layers=layers,
            num_attention_heads=4,
            tie_word_embeddings=True,
        )
    )


def samples(seed: int) -> list[Sample]:
    ids = torch.randint(0, 32, (4, 12), generator=torch.Generator().manual_seed(seed)).tolist()
    mask = (False,) * 4 + (True,) * 8
    return [
        Sample(
            trajectory=Trajectory(ids=tuple(row), generated=mask, logprobs=(-3.5,) * 12, temperature=1.0),
            advantage=1.0 - i,
            role="agent",
            group="g",
        )
        for i, row in enumerate(ids)
    ]


def taken(policy: Policy, step: int, record: bytes = b"{}") -> Checkpoint:
    return Checkpoint(step=step, policy=policy.state(copied=False), record=record)


def saved(root: Path, steps: int) -> Policy:
    policy = Policy(model(), SETTINGS)
    for step in range(1, steps + 1):
        policy.update(samples(step))
        save(root, taken(policy, step), policy.model)
    return policy


def test_a_run_resumed_from_disk_is_bitwise_equal(tmp_path: Path) -> None:
    policy = Policy(model(), SETTINGS)
    policy.update(samples(1))
    folder = save(tmp_path, taken(policy, 1, b'{"memory": [1, 0.1]}'), policy.model)
    expected = [policy.update(samples(2)), policy.update(samples(3))]
    again = load(folder)
    assert (again.step, again.record) == (1, b'{"memory": [1, 0.1]}')
    resumed = Policy(model(), SETTINGS)
    resumed.restore(again.policy)
    assert [resumed.update(samples(2)), resumed.update(samples(3))] == expected
    assert resumed.updates == 3
    assert all(torch.equal(a, b) for a, b in zip(policy.model.parameters(), resumed.model.parameters(), strict=True))


def test_transformers_opens_the_folder_as_a_model(tmp_path: Path) -> None:
    policy = saved(tmp_path, 1)
    opened: torch.nn.Module = AutoModelForCausalLM.from_pretrained(tmp_path / "step-000001")
    ids = torch.tensor([[1, 2, 3]])
    assert type(opened) is LlamaForCausalLM
    assert torch.equal(opened(ids).logits, policy.model(ids).logits)


def test_the_newest_two_are_kept_and_protected_steps_stay(tmp_path: Path) -> None:
    policy = saved(tmp_path, 3)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["step-000002", "step-000003"]
    save(tmp_path, taken(policy, 4), policy.model, protect=[2])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["step-000002", "step-000003", "step-000004"]
    found = latest(tmp_path)
    assert found is not None and found.name == "step-000004"
    assert latest(tmp_path / "nothing") is None


def test_saving_a_step_again_replaces_it(tmp_path: Path) -> None:
    policy = saved(tmp_path, 1)
    folder = save(tmp_path, taken(policy, 1, b"[2]"), policy.model, sync=True)
    assert load(folder).record == b"[2]"
    assert [path.name for path in tmp_path.iterdir()] == ["step-000001"]


@pytest.mark.parametrize(
    "name", ["model.safetensors", "optimizer.safetensors", "state.json", "record.json", "config.json"]
)
def test_a_changed_byte_is_one_sentence_with_the_remedy(tmp_path: Path, name: str) -> None:
    saved(tmp_path, 1)
    folder = latest(tmp_path)
    assert folder is not None
    data = bytearray((folder / name).read_bytes())
    data[-1] ^= 1
    (folder / name).write_bytes(data)
    with pytest.raises(InputError, match=rf"{name} is not what was written\); delete that folder"):
        load(folder)


@pytest.mark.parametrize("name", ["model.safetensors", SUMS])
def test_a_missing_file_is_one_sentence_with_the_remedy(tmp_path: Path, name: str) -> None:
    saved(tmp_path, 1)
    folder = latest(tmp_path)
    assert folder is not None
    (folder / name).unlink()
    with pytest.raises(InputError, match="is damaged .* delete that folder"):
        load(folder)


def test_sums_that_list_nothing_are_damage(tmp_path: Path) -> None:
    saved(tmp_path, 1)
    (tmp_path / "step-000001" / SUMS).write_text("")
    with pytest.raises(InputError, match="does not list"):
        load(tmp_path / "step-000001")


def test_a_disk_that_fills_leaves_the_earlier_checkpoint_whole(tmp_path: Path) -> None:
    policy = saved(tmp_path, 1)
    before = {path.name: path.read_bytes() for path in (tmp_path / "step-000001").iterdir()}
    unlimited = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8192, unlimited[1]))
    try:
        with pytest.raises(IncompleteError, match="step-000002 .* free some room"):
            save(tmp_path, taken(policy, 2), policy.model)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, unlimited)
    assert [path.name for path in tmp_path.iterdir()] == ["step-000001"]
    assert {path.name: path.read_bytes() for path in (tmp_path / "step-000001").iterdir()} == before


def test_what_an_interrupted_save_left_is_never_loaded_and_is_swept(tmp_path: Path) -> None:
    policy = saved(tmp_path, 1)
    (tmp_path / ".saving-step-000002").mkdir()
    (tmp_path / ".saving-step-000002" / "model.safetensors").write_bytes(b"half")
    found = latest(tmp_path)
    assert found is not None and found.name == "step-000001"
    save(tmp_path, taken(policy, 2), policy.model)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["step-000001", "step-000002"]


def test_sha256sum_agrees(tmp_path: Path) -> None:
    saved(tmp_path, 1)
    done = subprocess.run(["sha256sum", "-c", SUMS], cwd=tmp_path / "step-000001", capture_output=True, check=False)
    assert done.returncode == 0, done.stdout


def test_one_million_parameters_are_saved_in_a_blink(tmp_path: Path) -> None:
    policy = Policy(model(hidden=128, layers=4, vocabulary=1700), SETTINGS)
    policy.update(samples(1))
    times = []
    for step in range(5):
        start = time.process_time()
        save(tmp_path, taken(policy, step), policy.model)
        times.append(time.process_time() - start)
    assert min(times) < 0.1
    assert os.path.getsize(tmp_path / "step-000004" / "model.safetensors") < 5_000_000
