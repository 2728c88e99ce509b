"""One batch on several processes: real ones, over gloo, against a single one."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from spadework.training.batch import pack
from spadework.training.ranks import roles_of, share

from .rank_worker import updated
from .test_policy import drawn, model

WORKER = Path(__file__).with_name("rank_worker.py")
CASES: dict[str, dict[str, Any]] = {
    "tokens": {"max_grad_norm": 1e9, "micro_batch_tokens": 100},
    "clipped by role": {
        "max_grad_norm": 0.5, "micro_batch_tokens": 100, "role_grad_clip": 0.1, "kl": 0.1, "epochs": 2,
    },
    "fewer micro-batches than processes": {"max_grad_norm": 1e9, "micro_batch_tokens": 100_000, "normalise": "sample"},
}  # fmt: skip


@pytest.fixture(scope="module")
def in_two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what two processes, which talk over gloo, made of every case."""
    folder = tmp_path_factory.mktemp("ranks")
    (folder / "settings.json").write_text(json.dumps(list(CASES.values())))
    with socket.create_server(("127.0.0.1", 0)) as one:
        port = str(one.getsockname()[1])
    started = []
    for rank in ("0", "1"):
        place = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
        environment = {**os.environ, **place, "OMP_NUM_THREADS": "1", "ACCELERATE_USE_CPU": "true"}
        command = [sys.executable, "-W", "ignore", str(WORKER), str(folder)]
        started.append(subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True))
    for process in started:
        _, errors = process.communicate(timeout=600)
        assert process.returncode == 0, errors[-2000:]
    return folder


@pytest.mark.parametrize("case", CASES)
def test_two_processes_take_the_step_that_one_takes(in_two: Path, case: str) -> None:
    """Gradient, weights after the step and every figure, although each process computed a part."""
    torch.set_num_threads(1)
    alone, told = updated(CASES[case])
    number = list(CASES).index(case)
    first, second = (load_file(in_two / f"{number}-{rank}.safetensors") for rank in (0, 1))
    for key, value in alone.items():
        torch.testing.assert_close(first[key], value, rtol=1e-4, atol=1e-6, msg=key)
        assert torch.equal(first[key], second[key]), f"{key} differs between the processes"
    said, repeated = (json.loads((in_two / f"{number}-{rank}.json").read_text()) for rank in (0, 1))
    assert said == repeated
    for key, figure in told.items():
        if figure is None or isinstance(figure, str):
            assert said[key] == figure, key
        else:
            assert said[key] == pytest.approx(figure, rel=1e-4, abs=1e-6), key


@pytest.mark.parametrize("ranks", [1, 2, 3, 8])
@pytest.mark.parametrize("by_role", [False, True])
def test_every_micro_batch_is_counted_once_and_all_processes_make_as_many_passes(ranks: int, by_role: bool) -> None:
    batch = pack(drawn(model(), 40), budget=120, split_roles=by_role)
    parts = [share(batch, rank, ranks, by_role=by_role) for rank in range(ranks)]
    counted = [id(one) for part in parts for one, real in zip(part.micro, part.counted) if real]
    assert sorted(counted) == sorted(map(id, batch.micro))
    assert len({len(part.micro) for part in parts}) == 1
    if by_role:
        assert len({tuple(roles_of(part)) for part in parts}) == 1, "the same roles in the same order"
    for part in parts:
        assert all(bool(one.weight_M.any()) == real for one, real in zip(part.micro, part.counted))


def test_the_parts_are_of_about_the_same_size() -> None:
    batch = pack(drawn(model(), 64), budget=120)
    parts = [share(batch, rank, 4) for rank in range(4)]
    sizes = [sum(one.ids_BT.numel() for one, real in zip(part.micro, part.counted) if real) for part in parts]
    assert max(sizes) <= 1.2 * min(sizes)
