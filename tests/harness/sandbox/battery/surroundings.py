"""What lies around a sandbox for hostile programs to reach for: files, secrets, sockets, a decoy process."""

import fcntl
import hashlib
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

from spadework.harness.sandbox import frames

from .hostile import Aim

MARK = "spadework-mark-"
VARIABLE = "SPADEWORK_BATTERY_SECRET"
FIRST_DESCRIPTOR = 70
LONELY = "import sys; sys.stdin.read()"
"""The decoy's whole life; it ends with us."""


def secret(label: str) -> str:
    """A text that nobody can guess."""
    return f"{MARK}{label}-{secrets.token_hex(8)}"


class Surroundings:
    """All of it. `damage` says what was reached since the last `restore`."""

    def __init__(self) -> None:
        self.secrets = {name: secret(name) for name in ("canary", "name", "environment", "descriptor", "host", "peer")}
        self.secrets["passwd"] = Path("/etc/passwd").read_text(encoding="utf-8").partition("\n")[0]
        self.source = Path(frames.__file__).with_name("host.py")
        self.secrets["source"] = self.source.read_text(encoding="utf-8").partition("\n")[0]
        self.folder = Path(tempfile.mkdtemp(prefix="spadework-arena-"))
        self.canary = self.folder / "canary"
        self._ears: dict[str, socket.socket] = {}
        self._open_ears()
        # A process that was started with the variable shows that value in /proc for ever.
        self.secrets["environment"] = os.environ.setdefault(VARIABLE, self.secrets["environment"])
        self._held = self._hold_a_descriptor()
        self._start_decoy()
        self.restore()

    def close(self) -> None:
        """Take everything away."""
        os.environ.pop(VARIABLE, None)
        os.close(self._held)
        for ear in self._ears.values():
            ear.close()
        self._end_decoy()
        shutil.rmtree(self.folder)

    def told(self) -> dict[str, object]:
        """What a program is told of all this."""
        return {
            "canary": str(self.canary), "folder": str(self.folder), "source": str(self.source), "mark": MARK,
            "variable": VARIABLE, "decoy": self.decoy.pid, "host": os.getpid(), "socket": str(self.folder / "ear"),
            "tcp": self._ears["tcp"].getsockname()[1], "udp": self._ears["udp"].getsockname()[1],
            "abstract": self._ears["abstract"].getsockname()[1:].decode(),
        }  # fmt: skip

    def damage(self) -> dict[Aim, str]:
        """What was reached, with the evidence."""
        found: dict[Aim, str] = {}
        now = self._files()
        changed = sorted(name for name in now.keys() | self._before.keys() if now.get(name) != self._before.get(name))
        if changed:
            found[Aim.FILE] = f"changed: {changed}"
        heard = [name for name, ear in self._ears.items() if self._heard(ear)]
        if heard:
            found[Aim.CONNECTION] = f"heard by {heard}"
        if self.decoy.poll() is not None:
            found[Aim.DECOY] = f"ended with {self.decoy.returncode}"
        return found

    def restore(self) -> None:
        """Lay everything out as it was."""
        for path in self.folder.iterdir():
            if path.is_dir() and not path.is_symlink():
                path.rmdir()
            elif path.name != "ear":
                path.unlink()
        self.folder.chmod(0o777)
        self.canary.write_text(self.secrets["canary"], encoding="utf-8")
        (self.folder / self.secrets["name"]).touch()
        for path in self.folder.iterdir():
            path.chmod(0o666)
        self._before = self._files()
        if self.decoy.poll() is not None:
            self._end_decoy()
            self._start_decoy()

    def _files(self) -> dict[str, tuple[int, int, str]]:
        return {path.name: _look_of(path) for path in self.folder.iterdir()}

    def _open_ears(self) -> None:
        kinds: dict[str, tuple[int, int, str | tuple[str, int]]] = {
            "tcp": (socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)),
            "udp": (socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0)),
            "abstract": (socket.AF_UNIX, socket.SOCK_DGRAM, f"\0spadework-{secrets.token_hex(8)}"),
            "path": (socket.AF_UNIX, socket.SOCK_DGRAM, str(self.folder / "ear")),
        }
        for name, (family, kind, address) in kinds.items():
            ear = self._ears[name] = socket.socket(family, kind)
            ear.bind(address)
            ear.setblocking(False)
        self._ears["tcp"].listen()

    def _heard(self, ear: socket.socket) -> bool:
        try:
            if ear.type is socket.SOCK_STREAM:
                ear.accept()[0].close()
            else:
                ear.recv(100)
        except BlockingIOError:
            return False
        return True

    def _hold_a_descriptor(self) -> int:
        """A descriptor that a careless start would hand down, with a secret behind it."""
        file = os.memfd_create("held")
        os.write(file, self.secrets["descriptor"].encode())
        held = fcntl.fcntl(file, fcntl.F_DUPFD, FIRST_DESCRIPTOR)
        os.close(file)
        return held

    def _start_decoy(self) -> None:
        command = [sys.executable, "-S", "-E", "-c", LONELY]
        self.decoy = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)

    def _end_decoy(self) -> None:
        assert self.decoy.stdin is not None
        self.decoy.stdin.close()
        self.decoy.wait()


def _look_of(path: Path) -> tuple[int, int, str]:
    status = path.lstat()
    content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
    return status.st_mode, status.st_size, content
