"""Training checkpoints on disk: one folder a step, written whole or not at all, checked when read.

    root/step-000012/
        config.json          with model.safetensors: what transformers and vLLM open as a model
        model.safetensors    weights; tied ones once
        optimizer.safetensors  moments of the optimiser, "<parameter index>.<name>"
        state.json           step, counters, the optimiser's settings, digest of the KL reference
        record.json          whatever the loop wants back: opaque here
        SHA256SUMS           of the files above; `sha256sum -c` reads it

A folder is written beside its final name and renamed, so a crash or a full disk leaves the one before it whole. Nothing
is pickled. Not here: what the loop keeps in its record, and when it saves.
"""

import copy
import hashlib
import os
import re
import shutil
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from safetensors.torch import load as tensors_from
from safetensors.torch import save as tensors_to
from torch import Tensor
from transformers import PreTrainedModel

from ..harness.atomic import disk_refused
from ..harness.errors import InputError
from .policy import PolicyState

SUMS = "SHA256SUMS"
_NAME = re.compile(r"step-(\d{6,})")
_SAVING, _REPLACED = ".saving-", ".replaced-"


@dataclass(frozen=True, kw_only=True, slots=True)
class Checkpoint:
    """A run after `step` steps."""

    step: int
    policy: PolicyState
    record: bytes
    """JSON of the loop's own state."""


class _State(msgspec.Struct, frozen=True, kw_only=True):
    step: int
    counters: dict[str, int]
    reference: str
    groups: list[dict[str, Any]]


def save(
    root: Path,
    checkpoint: Checkpoint,
    model: PreTrainedModel,
    *,
    keep: int = 2,
    protect: Collection[int] = (),
    sync: bool = False,
) -> Path:
    """Write a checkpoint and remove all but the newest `keep`; the steps in `protect` are never removed.

    `model` gives the architecture, the weights come from the checkpoint. `sync` also survives a power cut, at the
    cost of a disk flush. Raises IncompleteError when the disk refuses; earlier checkpoints stay as they were.
    """
    files = _files(checkpoint, model)
    name = f"step-{checkpoint.step:06d}"
    try:
        root.mkdir(parents=True, exist_ok=True)
        _sweep(root)
        _write(root / (_SAVING + name), files, sync)
        _publish(root, name, sync)
    except OSError as error:
        shutil.rmtree(root / (_SAVING + name), ignore_errors=True)
        raise disk_refused(root / name, error) from error
    _prune(root, keep, protect)
    return root / name


def latest(root: Path) -> Path | None:
    """Folder of the newest checkpoint, None when there is none."""
    steps = _steps(root)
    return steps[max(steps)] if steps else None


def load(folder: Path) -> Checkpoint:
    """Read a checkpoint. Raises InputError when a file is missing or differs from what was written."""
    files = _verified(folder)
    state = msgspec.json.decode(files["state.json"], type=_State)
    moments: dict[int, dict[str, Tensor]] = {}
    for name, tensor in tensors_from(files["optimizer.safetensors"]).items():
        index, _, key = name.partition(".")
        moments.setdefault(int(index), {})[key] = tensor
    policy = PolicyState(
        weights=tensors_from(files["model.safetensors"]),
        optimizer={"state": moments, "param_groups": state.groups},
        counters=state.counters,
        reference=state.reference,
    )
    return Checkpoint(step=state.step, policy=policy, record=files["record.json"])


def _files(checkpoint: Checkpoint, model: PreTrainedModel) -> dict[str, bytes]:
    """Every file of a checkpoint by name, checksums last."""
    policy = checkpoint.policy
    state = _State(
        step=checkpoint.step,
        counters=policy.counters,
        reference=policy.reference,
        groups=policy.optimizer["param_groups"],
    )
    moments = {f"{i}.{key}": value for i, kept in policy.optimizer["state"].items() for key, value in kept.items()}
    files = {
        "config.json": _config(model).encode(),
        "model.safetensors": _packed(policy.weights),
        "optimizer.safetensors": _packed(moments),
        "state.json": msgspec.json.encode(state),
        "record.json": checkpoint.record,
    }
    sums = "".join(f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in files.items())
    return files | {SUMS: sums.encode()}


def _config(model: PreTrainedModel) -> str:
    config = copy.deepcopy(model.config)
    config.architectures = [type(model).__name__]
    config.dtype = model.dtype
    text: str = config.to_json_string()
    return text


def _packed(tensors: dict[str, Tensor]) -> bytes:
    return tensors_to({name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}, {"format": "pt"})


def _write(folder: Path, files: dict[str, bytes], sync: bool) -> None:
    folder.mkdir()
    for name, data in files.items():
        with open(folder / name, "wb") as file:
            file.write(data)
            if sync:
                file.flush()
                os.fsync(file.fileno())


def _publish(root: Path, name: str, sync: bool) -> None:
    """Give a finished folder its name; one that has the name already is moved away first."""
    if (root / name).exists():
        (root / name).rename(root / (_REPLACED + name))
    (root / (_SAVING + name)).rename(root / name)
    shutil.rmtree(root / (_REPLACED + name), ignore_errors=True)
    if sync:
        handle = os.open(root, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _sweep(root: Path) -> None:
    """Remove what an interrupted save left."""
    for path in root.iterdir():
        if path.name.startswith((_SAVING, _REPLACED)):
            shutil.rmtree(path)


def _steps(root: Path) -> dict[int, Path]:
    if not root.is_dir():
        return {}
    return {int(match[1]): path for path in root.iterdir() if (match := _NAME.fullmatch(path.name))}


def _prune(root: Path, keep: int, protect: Collection[int]) -> None:
    steps = _steps(root)
    for step in sorted(steps)[: -max(keep, 1)]:
        if step not in protect:
            shutil.rmtree(steps[step], ignore_errors=True)


def _verified(folder: Path) -> dict[str, bytes]:
    try:
        lines = (folder / SUMS).read_text().splitlines()
        wanted = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
        files = {name: (folder / name).read_bytes() for name in wanted}
    except (OSError, UnicodeDecodeError) as error:
        raise _damaged(folder, f"{getattr(error, 'filename', None) or SUMS} cannot be read") from error
    for name, data in files.items():
        if hashlib.sha256(data).hexdigest() != wanted[name]:
            raise _damaged(folder, f"{name} is not what was written")
    missing = {"model.safetensors", "optimizer.safetensors", "state.json", "record.json"} - set(files)
    if missing:
        raise _damaged(folder, f"{SUMS} does not list {sorted(missing)[0]}")
    return files


def _damaged(folder: Path, what: str) -> InputError:
    return InputError(
        f"the checkpoint {folder} is damaged ({what}); delete that folder to go on from the one before it"
    )
