"""A server of our own dies with us, whole, however we end; and it says why when it does not serve."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from spadework.harness.engines.kept_server import KeptServer
from spadework.harness.errors import IncompleteError

PATIENCE_S = 120.0
"""The most a crowded machine may take for what takes a moment."""
TREE = """
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if len(sys.argv) > 2:
    os.setsid()
else:
    subprocess.Popen([sys.executable, "-c", open(sys.argv[1] + "/tree.py").read(), sys.argv[1], "grandchild"])
open(f"{sys.argv[1]}/{os.getpid()}.pid", "w").close()
time.sleep(600)
"""
"""A server that ignores SIGTERM, with a child that does too and has left its session."""


def tree(folder: Path) -> list[str]:
    (folder / "tree.py").write_text(TREE)
    return [sys.executable, "-c", TREE, str(folder)]


def pids(folder: Path) -> list[int]:
    return [int(path.stem) for path in folder.glob("*.pid")]


def up(folder: Path) -> Callable[[], bool]:
    return lambda: len(pids(folder)) == 2


def alive(number: int) -> bool:
    try:
        state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def gone(numbers: list[int], within_s: float = PATIENCE_S) -> bool:
    end = time.monotonic() + within_s
    while any(map(alive, numbers)) and time.monotonic() < end:
        time.sleep(0.02)
    return not any(map(alive, numbers))


@pytest.fixture(autouse=True)
def short_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spadework.harness.engines.kept_server.GRACE_S", 0.3)


def test_closing_ends_the_server_and_everything_it_started(tmp_path: Path) -> None:
    server = KeptServer("the tree", tree(tmp_path), {}, tmp_path / "log")
    server.wait(up(tmp_path), PATIENCE_S)
    assert server.dead() == "" and all(map(alive, pids(tmp_path)))
    server.close()
    assert gone(pids(tmp_path), 0.1)
    assert "exit code" in server.dead()
    server.close()


SCRIPT = """
import signal, sys
from pathlib import Path
from spadework.harness.engines import kept_server
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job begins without it
kept_server.GRACE_S = 0.3
folder = Path(sys.argv[1])
server = kept_server.KeptServer("the tree", [sys.executable, "-c", (folder / "tree.py").read_text(), str(folder)], {})
try:
    server.wait(lambda: len(list(folder.glob("*.pid"))) == 2, 120)
    print("up", flush=True)
    HOW
finally:
    if len(sys.argv) > 2:
        server.close()
"""


@pytest.mark.parametrize(
    ("how", "number", "closes"),
    [
        ("import time; time.sleep(600)", signal.SIGKILL, False),
        ("import time; time.sleep(600)", signal.SIGINT, True),
        ("import time; time.sleep(600)", signal.SIGTERM, False),
        ("import os; os._exit(3)", None, False),
        ("raise RuntimeError('crash')", None, False),
        ("import threading; t = threading.Thread(target=print); t.start(); t.join()", None, False),
    ],
)
def test_the_server_dies_with_us_however_we_end(
    tmp_path: Path, how: str, number: signal.Signals | None, closes: bool
) -> None:
    tree(tmp_path)
    command = [sys.executable, "-c", SCRIPT.replace("HOW", how), str(tmp_path), *["close"] * closes]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None and process.stdout.readline() == b"up\n"
        if number is not None:
            os.kill(process.pid, number)
        process.wait(PATIENCE_S)
    assert gone(pids(tmp_path))


def test_a_server_that_was_started_in_a_thread_outlives_that_thread(tmp_path: Path) -> None:
    import threading

    started: list[KeptServer] = []
    thread = threading.Thread(target=lambda: started.append(KeptServer("t", tree(tmp_path), {}, tmp_path / "log")))
    thread.start()
    thread.join()
    started[0].wait(up(tmp_path), PATIENCE_S)
    time.sleep(0.6)
    assert started[0].dead() == ""
    started[0].close()


def test_a_server_that_dies_at_its_start_is_told_with_the_cause_and_the_end_of_its_log() -> None:
    dies = (
        "import sys\nprint('12:00 ERROR ValueError: the root')\nprint('ERROR RuntimeError: the follower')\n"
        "[print('line', n) for n in range(40)]\nprint('out of memory ' + 'x' * 400)\nsys.exit(3)"
    )
    server = KeptServer("the server", [sys.executable, "-c", dies], {})
    with pytest.raises(IncompleteError) as caught:
        server.wait(lambda: False, PATIENCE_S)
    told = str(caught.value)
    assert "the server ended with exit code 3; its log " in told
    assert told.index("ValueError: the root") < told.index("RuntimeError: the follower") < told.index("line 39")
    assert "line 5\n" not in told and "out of memory" in told and "x" * 200 not in told
    server.close()
    assert server.log.is_file(), "the log of a failure is kept"
    server.log.unlink()


def test_a_server_that_does_not_serve_in_time_is_ended(tmp_path: Path) -> None:
    server = KeptServer("the server", tree(tmp_path), {})
    with pytest.raises(IncompleteError, match=r"the server does not serve after 1\.5 s; its log .* is empty"):
        server.wait(lambda: False, 1.5)
    assert gone(pids(tmp_path))
    server.close()
    server.log.unlink()


def test_the_log_of_a_server_that_was_closed_well_leaves_nothing_behind(tmp_path: Path) -> None:
    server = KeptServer("the server", [sys.executable, "-c", "import time; time.sleep(600)"], {})
    assert server.log.is_file()
    server.close()
    assert not server.log.exists()


def test_a_named_log_is_kept_and_the_environment_is_the_servers(tmp_path: Path) -> None:
    shows = textwrap.dedent("""
        import os, time
        print(os.environ["GIVEN"], flush=True)
        time.sleep(600)
    """)
    log = tmp_path / "new" / "server.log"
    server = KeptServer("the server", [sys.executable, "-c", shows], {"GIVEN": "here"}, log)
    server.wait(lambda: "here" in log.read_text(), PATIENCE_S)
    server.close()
    assert log.read_text() == "here\n"


def test_a_place_that_takes_no_log_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(IncompleteError, match="the server cannot be started .*give another place for its log"):
        KeptServer("the server", ["true"], {}, tmp_path / "file" / "log")
