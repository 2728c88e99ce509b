"""What torch and transformers say of themselves and of the machine, as JSON: `python -m spadework.harness.devices`.

It runs in a process of its own, because importing torch takes seconds and a broken installation can end the process.
`look` is the caller's side and needs no torch; it never raises for what is missing, it tells it.
"""

import json
import subprocess
import sys
import time
from dataclasses import dataclass

PATIENCE_S = 120.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Device:
    """One device that torch could compute on, beside the processor."""

    kind: str
    """cuda or mps."""
    name: str
    memory_bytes: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Torch:
    """What a fresh process found; with a `problem` nothing else is known."""

    problem: str = ""
    version: str = ""
    threads: int = 0
    import_s: float = 0.0
    transformers: str = ""
    """Its version, empty when it cannot be imported."""
    devices: tuple[Device, ...] = ()


def look(patience_s: float = PATIENCE_S) -> Torch:
    """What torch sees here; a reason instead when it is missing, broken, or takes longer than that."""
    command = [sys.executable, "-m", __name__]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=patience_s, errors="replace")
    except subprocess.TimeoutExpired:
        return Torch(problem=f"importing it took more than {patience_s:g} s")
    if done.returncode != 0:
        words = [line for line in done.stderr.splitlines() if line.strip()]
        return Torch(problem=words[-1].strip() if words else f"its process ended with code {done.returncode}")
    try:
        told = json.loads(done.stdout.splitlines()[-1])
        return Torch(**{**told, "devices": tuple(Device(**device) for device in told["devices"])})
    except (IndexError, KeyError, TypeError, ValueError):
        return Torch(problem="its process told nothing")


def found() -> dict[str, object]:
    """What this process's torch sees. Raises whatever a broken torch raises."""
    began = time.perf_counter()
    import torch

    import_s = time.perf_counter() - began
    devices: list[dict[str, object]] = []
    for number in range(torch.cuda.device_count() if torch.cuda.is_available() else 0):
        told = torch.cuda.get_device_properties(number)
        devices.append({"kind": "cuda", "name": told.name, "memory_bytes": told.total_memory})
    if torch.backends.mps.is_available():
        devices.append({"kind": "mps", "name": "Apple GPU", "memory_bytes": None})
    return {
        "version": str(torch.__version__), "threads": torch.get_num_threads(), "import_s": import_s,
        "devices": devices, "transformers": _transformers(),
    }  # fmt: skip


def _transformers() -> str:
    try:
        import transformers
    except ImportError:
        return ""
    return str(transformers.__version__)


if __name__ == "__main__":
    print(json.dumps(found()))
