"""Where a result comes from: versions, commit, machine. A shell module; it reads the installation and asks git.

Nothing here enters a config digest, and no path of the machine is recorded.
"""

import os
import platform
import subprocess
import sys
from importlib import metadata
from pathlib import Path

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


def provenance() -> dict[str, object]:
    """Package versions (null when absent), commit and whether the tree differed from it, processor, Python, threads."""
    commit, dirty = _commit()
    return {
        "packages": {name: _version(name) for name in PACKAGES},
        "commit": commit,
        "dirty": dirty,
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "torch_threads": _torch_threads(),
        "omp_num_threads": os.environ.get("OMP_NUM_THREADS"),
    }


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor()


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
