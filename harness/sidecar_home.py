"""An environment of its own for a package whose pins clash with ours: made on first use, kept in the user's cache.

    home = sidecar_home(Requirements(name="bfcl-eval", pins=("bfcl-eval==2026.3.23", ...)))
    home.python, home.site_packages

A folder is known by its pins and by this Python's version. It counts as made once its marker is written, last of all,
so a half-made one is never used; makers of the same one wait for each other. Pins are installed without their own
dependencies: whatever is needed is named. It runs nothing of the package; see sidecar.py.
"""

import fcntl
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from importlib import metadata
from pathlib import Path

from .atomic import disk_refused, write_atomic
from .engines.gguf_folder import cache_root
from .errors import InputError
from .requirements import Requirements

MARKER = "made.json"
OFFLINE = "HF_HUB_OFFLINE"
"""`1` means that the network may not be asked, for packages as for models."""
LIMIT_S = 900.0
"""For making one environment; it took 15 s for 26 MB."""
POLL_S = 0.2
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class SidecarHome:
    """An environment that is whole."""

    folder: Path

    @property
    def python(self) -> Path:
        """Its interpreter, of our own version."""
        return self.folder / "bin" / "python"

    @property
    def site_packages(self) -> Path:
        """Where its packages lie."""
        return Path(sysconfig.get_path("purelib", "venv", {"base": str(self.folder), "platbase": str(self.folder)}))

    def versions(self) -> dict[str, str]:
        """What is installed in it, by name, whatever was asked for."""
        return {one.name: one.version for one in metadata.distributions(path=[str(self.site_packages)])}


def sidecar_home(needed: Requirements, say: Say | None = None) -> SidecarHome:
    """The environment of these pins, made now where it was not yet; `say` gets a line before that.

    Raises InputError when it is not there and cannot be made.
    """
    home = SidecarHome(cache_root() / "environments" / key_of(needed))
    if _made(home):
        return home
    if os.environ.get(OFFLINE) == "1":
        raise InputError(
            f"{needed.name} runs in an environment of its own ({home.folder}), which is not there yet and cannot be "
            "made offline; run the same command once with the network."
        )
    tell = say or _say
    with _alone(home.folder, tell):
        if not _made(home):
            tell(f"{needed.name}: making an environment of its own in {home.folder} (once, about half a minute)")
            began = time.monotonic()
            _make(home, needed)
            tell(f"{needed.name}: made in {time.monotonic() - began:.0f} s")
    return home


def _made(home: SidecarHome) -> bool:
    return (home.folder / MARKER).is_file() and home.python.exists()


def _make(home: SidecarHome, needed: Requirements) -> None:
    shutil.rmtree(home.folder, ignore_errors=True)
    _run([sys.executable, "-m", "venv", str(home.folder)], needed)
    quiet = ("--quiet", "--no-input", "--disable-pip-version-check", "--no-deps")
    _run([str(home.python), "-I", "-m", "pip", "install", *quiet, *needed.pins], needed)
    write_atomic(home.folder / MARKER, json.dumps({"name": needed.name, "pins": needed.pins}) + "\n")


def _run(command: list[str], needed: Requirements) -> None:
    """One step of making; raises InputError with the last word of what failed."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=LIMIT_S, check=False)
    except subprocess.TimeoutExpired:
        raise InputError(f"{needed.name} was not installed within {LIMIT_S:.0f} s; look at the network.") from None
    if done.returncode:
        lines = (done.stderr.strip() or done.stdout.strip()).splitlines()
        errors = [line for line in lines if line.startswith("ERROR")] or lines
        said = errors[-1] if errors else f"exit code {done.returncode}"
        raise InputError(
            f"an environment for {needed.name} cannot be made ({said}); it needs pip and its package index, once."
        )


@contextmanager
def _alone(folder: Path, say: Say) -> Iterator[None]:
    """Hold the lock beside a folder; waits for whoever else holds it."""
    path = folder.with_name(f"{folder.name}.lock")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = path.open("w", encoding="ascii")
    except OSError as error:
        raise disk_refused(path, error) from error
    with lock:
        told = False
        while not _locked(lock.fileno()):
            if not told:
                say(f"waiting for another process that makes {folder}")
            told = True
            time.sleep(POLL_S)
        yield


def _locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def key_of(needed: Requirements) -> str:
    """Name and digest of the pins and of the Python that they are installed for."""
    version = f"{sys.implementation.cache_tag}-{sysconfig.get_platform()}"
    digest = sha256("\n".join([version, *needed.pins]).encode()).hexdigest()[:16]
    return f"{needed.name}-{digest}"
