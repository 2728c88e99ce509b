"""Where a result comes from: versions, commit, machine, sandbox. A shell module: it reads the installation, asks git.

Nothing here enters a config digest, and no path of the machine is recorded.
"""

import os
import platform
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import TypeVar

import msgspec

from .errors import InputError
from .hardware import cpu_model
from .sandbox import SandboxReport

PACKAGES = (
    "spadework",
    "torch",
    "transformers",
    "accelerate",
    "gymnasium",
    "reasoning-gym",
    "numpy",
    "scipy",
    "msgspec",
    "tokenizers",
    "safetensors",
)
THIS_FILE = Path(__file__).resolve()
EntryT = TypeVar("EntryT")


def provenance() -> dict[str, object]:
    """Package versions (null when absent), commit and whether the tree differed from it, processor, Python, threads."""
    commit, dirty = _commit()
    return {
        "packages": {name: _version(name) for name in PACKAGES},
        "commit": commit,
        "dirty": dirty,
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "cpu": cpu_model(),
        "cores": os.cpu_count(),
        "torch_threads": _torch_threads(),
        "omp_num_threads": os.environ.get("OMP_NUM_THREADS"),
    }


def sandbox_record(report: SandboxReport) -> dict[str, object]:
    """What is kept of a sandbox: one line for people, whether it was insecure, each layer's state and detail."""
    return {
        "describe": report.describe(),
        "insecure": report.insecure,
        "machine": report.machine,
        "kernel": report.kernel,
        "layers": {
            str(layer): {"state": state.state, "detail": state.detail} for layer, state in sorted(report.layers.items())
        },
    }


def read_provenance(path: Path) -> list[dict[str, object]]:
    """The entries of a run's file, none where there is no file. Raises InputError when it is damaged."""
    return _decoded(path, list[dict[str, object]])


def sandbox_lines(path: Path) -> list[str]:
    """The `describe` lines of the sandboxes that a run used, each once; a run that recorded none has none."""
    return list(dict.fromkeys(entry.sandbox.describe for entry in _decoded(path, list[_Entry]) if entry.sandbox))


def insecure_lines(path: Path) -> list[str]:
    """Those of them that lacked a required layer."""
    found = [entry.sandbox for entry in _decoded(path, list[_Entry]) if entry.sandbox]
    return list(dict.fromkeys(sandbox.describe for sandbox in found if sandbox.insecure))


class _Sandbox(msgspec.Struct, frozen=True, kw_only=True):
    insecure: bool
    describe: str


class _Entry(msgspec.Struct, frozen=True, kw_only=True):
    sandbox: _Sandbox | None = None


def _decoded(path: Path, kind: type[list[EntryT]]) -> list[EntryT]:
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind) if path.is_file() else []
    except msgspec.DecodeError as error:
        raise InputError(f"{path} is damaged ({error}); start the run over with --fresh.") from None


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _torch_threads() -> int | None:
    """Threads of torch where the run uses it; it is never imported for this."""
    torch = sys.modules.get("torch")
    return torch.get_num_threads() if torch is not None else None


def _commit() -> tuple[str | None, bool | None]:
    """(commit, dirty) of the checkout this code was installed from, found at the code itself or in the current folder.

    A folder counts only when it holds this very file, so another project's repository around a virtual environment
    does not.
    """
    for root in (THIS_FILE.parent.parent, Path.cwd()):
        twin = root / "harness" / THIS_FILE.name
        if twin.is_file() and twin.read_bytes() == THIS_FILE.read_bytes():
            commit = _git(root, "rev-parse", "HEAD")
            if commit and _git(root, "ls-files", "harness/" + THIS_FILE.name):
                return commit, bool(_git(root, "status", "--porcelain"))
    return None, None


def _git(root: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=True, timeout=20)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
