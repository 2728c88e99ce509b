"""A script in an environment of its own: made once and whole, asked in lines of JSON, ended when it misbehaves."""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from spadework.harness.errors import InputError
from spadework.harness.requirements import Requirements
from spadework.harness.sidecar import Sidecar, SidecarError
from spadework.harness.sidecar_home import MARKER, SidecarHome, key_of, sidecar_home

SCRIPT = """
import json, os, subprocess, sys, time
for line in sys.stdin:
    asked = json.loads(line)
    match asked["do"]:
        case "say": answer = {"value": asked["what"]}
        case "pid": answer = {"value": [os.getpid(), sorted(os.environ)]}
        case "refuse": answer = {"error": "no such thing"}
        case "hang":
            child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
            open(asked["file"], "w").write(str(child.pid)); time.sleep(600)
        case "die": print("about to die: \\u00e4", file=sys.stderr); os._exit(7)
        case "babble": print("hello"); continue
        case "odd": answer = [1]
    print(json.dumps(answer), flush=True)
"""


@pytest.fixture
def sidecar(tmp_path: Path) -> Iterator[Sidecar]:
    """Our own interpreter stands for the environment: what is tested here is the conversation."""
    home = tmp_path / "home"
    (home / "bin").mkdir(parents=True)
    (home / "bin" / "python").symlink_to(sys.executable)
    script = tmp_path / "script.py"
    script.write_text(SCRIPT, encoding="utf-8")
    with Sidecar(SidecarHome(home), script, time_limit_s=20) as made:
        yield made


def test_it_answers_in_order_and_large_values_pass(sidecar: Sidecar) -> None:
    for value in (1, "ä\n", None, ["x" * 3_000_000], {"a": [1.5, True]}):
        assert sidecar.ask({"do": "say", "what": value}) == value


def test_it_sees_few_variables_of_ours(sidecar: Sidecar, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_SECRET_KEY", "1")
    _, names = sidecar.ask({"do": "pid"})  # type: ignore[misc]
    assert "A_SECRET_KEY" not in names and "PYTHONHASHSEED" in names


def test_a_refusal_is_an_error_and_the_process_goes_on(sidecar: Sidecar) -> None:
    sidecar.ask({"do": "pid"})
    before = sidecar.pid
    with pytest.raises(SidecarError, match=r"script.py: no such thing"):
        sidecar.ask({"do": "refuse"})
    assert sidecar.ask({"do": "say", "what": 2}) == 2 and sidecar.pid == before


def test_one_that_hangs_is_killed_with_its_children_and_started_again(sidecar: Sidecar, tmp_path: Path) -> None:
    child = tmp_path / "child"
    began = time.monotonic()
    with pytest.raises(SidecarError, match="was silent for 1 s"):
        sidecar.ask({"do": "hang", "file": str(child)}, time_limit_s=1)
    assert time.monotonic() - began < 10 and sidecar.pid is None
    assert gone(int(child.read_text(encoding="ascii")))
    assert sidecar.ask({"do": "say", "what": "again"}) == "again"


def gone(pid: int) -> bool:
    for _ in range(100):
        state = Path(f"/proc/{pid}/stat")
        if not state.exists() or state.read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "Z":
            return True
        time.sleep(0.05)
    return False


def test_one_that_dies_is_quoted_and_started_again(sidecar: Sidecar) -> None:
    with pytest.raises(SidecarError, match=r"ended with code 7: about to die: ä"):
        sidecar.ask({"do": "die"})
    assert sidecar.ask({"do": "say", "what": 1}) == 1


@pytest.mark.parametrize(("do", "word"), [("babble", "no JSON"), ("odd", "no answer")])
def test_what_is_no_answer_is_an_error(sidecar: Sidecar, do: str, word: str) -> None:
    with pytest.raises(SidecarError, match=word):
        sidecar.ask({"do": do}, time_limit_s=2 if do == "odd" else None)
    assert sidecar.ask({"do": "say", "what": 1}) == 1


def test_questions_of_several_threads_do_not_mix(sidecar: Sidecar) -> None:
    heard: dict[int, object] = {}

    def ask(number: int) -> None:
        heard[number] = sidecar.ask({"do": "say", "what": number})

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert heard == {number: number for number in range(20)}


@pytest.fixture
def wheel(tmp_path: Path) -> str:
    """A package without code, small enough to be written by hand, so that no index is asked."""
    import zipfile

    path = tmp_path / "emptything-1.0-py3-none-any.whl"
    meta = "emptything-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("emptything.py", "ANSWER = 42\n")
        file.writestr(f"{meta}/METADATA", "Metadata-Version: 2.1\nName: emptything\nVersion: 1.0\n")
        tag = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        file.writestr(f"{meta}/WHEEL", tag)
        file.writestr(f"{meta}/RECORD", f"emptything.py,,\n{meta}/METADATA,,\n{meta}/WHEEL,,\n{meta}/RECORD,,\n")
    return f"emptything @ file://{path}"


def test_an_environment_is_made_once_by_two_makers_at_a_time(
    wheel: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPADEWORK_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    program = (
        "import sys; from spadework.harness.sidecar_home import *; "
        "print(sidecar_home(Requirements(name='emptything', pins=(sys.argv[1],))).site_packages)"
    )
    makers = [
        subprocess.Popen([sys.executable, "-c", program, wheel], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(2)
    ]
    told = [maker.communicate() for maker in makers]
    assert [maker.returncode for maker in makers] == [0, 0], told
    assert told[0][0] == told[1][0] and (Path(told[0][0].decode().strip()) / "emptything.py").is_file()
    lines = b"".join(errors for _, errors in told).decode()
    assert lines.count("making an environment of its own") == 1 and lines.count("made in") == 1
    assert "waiting for another process" in lines

    # It is there now, offline too; and a half-made one is never used.
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    needed, said = Requirements(name="emptything", pins=(wheel,)), list[str]()
    home = sidecar_home(needed, said.append)
    assert not said and json.loads((home.folder / MARKER).read_text(encoding="utf-8"))["pins"] == [wheel]
    (home.folder / MARKER).unlink()
    with pytest.raises(InputError, match="cannot be made offline"):
        sidecar_home(needed, said.append)


def test_pins_and_name_make_another_folder() -> None:
    asked = [("a", ("b==1",)), ("a", ("b==2",)), ("c", ("b==1",))]
    assert len({key_of(Requirements(name=name, pins=pins)) for name, pins in asked}) == 3


def test_what_cannot_be_installed_is_one_sentence_and_leaves_nothing_that_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPADEWORK_CACHE", str(tmp_path))
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    needed = Requirements(name="nothing", pins=(f"nothing @ file://{tmp_path}/no.whl",))
    with pytest.raises(InputError) as caught:
        sidecar_home(needed, lambda line: None)
    assert "\n" not in str(caught.value) and "it needs pip" in str(caught.value)
    assert not (tmp_path / "environments" / key_of(needed) / MARKER).exists()
    assert os.environ.get("HF_HUB_OFFLINE") is None
