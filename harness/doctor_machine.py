"""What `spadework doctor` says beside the sandbox: machine, devices, engines, packages, data.

Every section is a list of findings and none of them raises for what is missing; that is what it is there to tell.
Nothing is downloaded. What upper layers ship is looked at as files, or named by a string.
"""

import importlib
import os
import platform
import re
import shutil
import tempfile
from dataclasses import dataclass
from hashlib import sha256
from importlib import metadata, resources
from importlib.resources.abc import Traversable
from pathlib import Path

from .devices import Torch
from .engines.address import KEYS
from .hardware import cores, cpu_model, memory

TEST_DATA, VLLM_PYTHON = "SPADEWORK_TEST_DATA", "SPADEWORK_VLLM_PYTHON"
CHECKPOINTS = ("base", "external")
CHECKPOINT_FILES = ("config.json", "model.safetensors", "tokenizer.json")
CORPUS = "spadework.training.corpus_texts:wanting"
NVIDIA_DRIVER = Path("/proc/driver/nvidia/version")
OTHER_HARNESSES = ("lm-eval", "inspect-ai", "bfcl-eval")
REINSTALL = "install spadework again, for example pip install '.[report]'"


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One line of a section."""

    name: str
    detail: str
    there: bool = True
    """False when it is missing or broken."""
    remedy: str = ""
    """What to do about it; empty when nothing needs to be done."""


def machine() -> list[Finding]:
    """Python, system, processor, memory, disk."""
    found = [
        Finding(name="python", detail=f"{platform.python_implementation()} {platform.python_version()}"),
        Finding(name="system", detail=f"{_system()}, {platform.machine()}"),
        Finding(name="processor", detail=f"{cpu_model() or 'not told'}, {_cores()}"),
        Finding(name="memory", detail=_memory()),
    ]
    for name, folder in (("disk, here", Path.cwd()), ("disk, temporary", Path(tempfile.gettempdir()))):
        try:
            found.append(Finding(name=name, detail=f"{size(shutil.disk_usage(folder).free)} free"))
        except OSError as error:
            found.append(Finding(name=name, detail=str(error.strerror), there=False))
    return found


def devices(torch: Torch) -> list[Finding]:
    """What a model can compute on."""
    if torch.problem:
        return [Finding(name="cpu", detail="nothing computes here without torch", there=False)]
    found = [
        Finding(name=device.kind, detail=", ".join(filter(None, (device.name, size(device.memory_bytes)))))
        for device in torch.devices
    ]
    if not found and NVIDIA_DRIVER.exists():
        told = f"there is an NVIDIA driver, and torch {torch.version} sees no device of it"
        found = [Finding(name="cuda", detail=told, there=False, remedy="install a CUDA build of torch")]
    return [*found, Finding(name="cpu", detail=f"{torch.threads} thread{'s' * (torch.threads != 1)} by default")]


def engines(torch: Torch) -> list[Finding]:
    """What draws tokens: the engine inside this process, a server of ours, somebody else's server."""
    problem = torch.problem or ("" if torch.transformers else "transformers cannot be imported")
    told = f"{torch.transformers} in this process, torch {torch.version} (imported in {torch.import_s:.1f} s)"
    remedy = f"pip install torch==2.13.0, then {REINSTALL}" if problem else ""
    own = Finding(name="transformers", detail=problem or told, there=not problem, remedy=remedy)
    return [own, _vllm(), _endpoint()]


def packages() -> list[Finding]:
    """What spadework itself needs, and other harnesses."""
    needed = [re.split(r"[^\w.-]", line, maxsplit=1)[0] for line in _requirements() if "extra ==" not in line]
    lacking = [name for name in needed if version(name) is None]
    own = Finding(
        name="spadework", detail=version("spadework") or "not installed; run from a folder of sources",
        there=version("spadework") is not None,
    )  # fmt: skip
    told = f"lacks {', '.join(lacking)}" if lacking else ", ".join(f"{name} {version(name)}" for name in needed)
    required = Finding(name="it needs", detail=told, there=not lacking, remedy=REINSTALL if lacking else "")
    others = [
        Finding(name=name, detail=version(name) or "not installed", there=version(name) is not None)
        for name in OTHER_HARNESSES
    ]
    return [own, required, *others]


def data() -> list[Finding]:
    """What ships with the package, checked; and the folder of test data."""
    nano = [checkpoint(name, _shipped("spadework.training", "nano", name)) for name in CHECKPOINTS]
    static = pool("nano", _shipped("spadework.baselines", "pools", "nano"))
    return [*nano, static, _corpus(), *_test_data()]


def version(name: str) -> str | None:
    """The installed version of a distribution."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _vllm() -> Finding:
    """vLLM may live in an environment of its own, which a variable names."""
    here, python = version("vllm"), os.environ.get(VLLM_PYTHON)
    if python:
        there = shutil.which(python) is not None
        detail = f"{VLLM_PYTHON} names {python}{'' if there else ', which is no program'}"
        return Finding(name="vllm", detail=detail, there=there, remedy="" if there else "correct or unset it")
    detail = here or f"not installed here, and {VLLM_PYTHON} names no other Python"
    return Finding(name="vllm", detail=detail, there=here is not None)


def _endpoint() -> Finding:
    """An OpenAI-compatible server is named on the command line; what can be told before is its package and its keys."""
    httpx = version("httpx2")
    keys = [name for name in KEYS.values() if os.environ.get(name)]
    told = f"keys in the environment: {', '.join(keys)}" if keys else "no key of a known service in the environment"
    detail = f"httpx2 {httpx}; {told}" if httpx else "httpx2 is not installed"
    remedy = "" if httpx else "pip install 'spadework[endpoint]' to reach OpenAI-compatible servers"
    return Finding(name="openai", detail=detail, there=httpx is not None, remedy=remedy)


def _requirements() -> list[str]:
    try:
        return metadata.requires("spadework") or []
    except metadata.PackageNotFoundError:
        return []


def _system() -> str:
    try:
        distribution = platform.freedesktop_os_release().get("PRETTY_NAME", "")
    except OSError:
        distribution = ""
    return " ".join(filter(None, (platform.system(), platform.release(), distribution and f"({distribution})")))


def _cores() -> str:
    found = cores()
    quota = "" if found.quota is None else f", held to {found.quota:g} by its control group"
    return f"{found.usable} of {found.present} cores usable{quota}"


def _memory() -> str:
    found = memory()
    limit = "" if found.limit is None else f", held to {size(found.limit)} by its control group"
    return f"{size(found.present) or 'not told'}{limit}"


def size(count: int | None) -> str:
    """Bytes for people; empty when nobody knows."""
    if count is None:
        return ""
    return f"{count / 2**30:.1f} GiB" if count >= 2**30 else f"{count / 2**20:.1f} MiB"


def _shipped(package: str, *parts: str) -> Traversable | None:
    try:
        return resources.files(package).joinpath(*parts)
    except ModuleNotFoundError:
        return None


def checkpoint(name: str, folder: Traversable | None) -> Finding:
    """A model's folder, by the names of its files."""
    lacking = [file for file in CHECKPOINT_FILES if folder is None or not folder.joinpath(file).is_file()]
    detail = f"lacks {', '.join(lacking)}" if lacking else "model, tokenizer and settings are there"
    return Finding(
        name=f"checkpoint {name}", detail=detail, there=not lacking, remedy=REINSTALL if lacking else ""
    )  # fmt: skip


def pool(name: str, folder: Traversable | None) -> Finding:
    """A static pool, by its list of checksums."""
    sums = folder.joinpath("checksums.sha256") if folder is not None else None
    if folder is None or sums is None or not sums.is_file():
        return Finding(name=f"pool {name}", detail="not there", there=False, remedy=REINSTALL)
    listed = [line.split(maxsplit=1) for line in sums.read_text(encoding="utf-8").splitlines()]
    wrong = [file for digest, file in listed if not _is(folder.joinpath(file), digest)]
    detail = f"{len(listed) - 1} programs, checksums right"
    if wrong:
        detail = f"{wrong[0]} is missing or changed" + (f", and {len(wrong) - 1} more" if len(wrong) > 1 else "")
    return Finding(name=f"pool {name}", detail=detail, there=not wrong, remedy=REINSTALL if wrong else "")


def _is(file: Traversable, digest: str) -> bool:
    return file.is_file() and sha256(file.read_bytes()).hexdigest() == digest


def _corpus() -> Finding:
    module, _, function = CORPUS.partition(":")
    try:
        wanting: dict[str, str] = getattr(importlib.import_module(module), function)()
    except (ImportError, AttributeError) as error:  # the second where a package was not made for this system
        return Finding(name="built-in corpus", detail=str(error), there=False, remedy=REINSTALL)
    told = "its texts are there, checksums right"
    return Finding(name="built-in corpus", detail="; ".join(wanting.values()) or told, there=not wanting)


def _test_data() -> list[Finding]:
    name = os.environ.get(TEST_DATA)
    if not name:
        return [Finding(name="test data", detail=f"{TEST_DATA} is not set; some tests are skipped", there=False)]
    folder = Path(name)
    if not folder.is_dir():
        detail = f"{TEST_DATA} names {name}, which is no folder"
        return [Finding(name="test data", detail=detail, there=False, remedy="correct or unset it")]
    parts = sorted(path for path in folder.iterdir() if path.is_dir())
    told = ", ".join(f"{part.name} ({sum(path.is_file() for path in part.rglob('*'))})" for part in parts)
    return [Finding(name="test data", detail=f"{told} files" if told else "the folder is empty", there=bool(parts))]
