"""Run folders: one run each, locked, resumable, and never half written."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from spadework.harness.atomic import replacing, write_atomic
from spadework.harness.config import Section
from spadework.harness.errors import IncompleteError, InputError
from spadework.harness.provenance import insecure_lines, sandbox_lines
from spadework.harness.sandbox import Layer, LayerState, SandboxReport
from spadework.harness.store import RunFolder, find_run


class Config(Section, frozen=True, kw_only=True):
    steps: int = 4
    name: str = "x"


PREAMBLE = """
import os, resource, signal, sys, time
from pathlib import Path
from spadework.harness.config import Section
from spadework.harness.errors import IncompleteError
from spadework.harness.store import RunFolder
class Config(Section, frozen=True, kw_only=True):
    steps: int = 4
    name: str = "x"
folder = RunFolder(Path(sys.argv[1]), Config())
"""


def tree(path: Path) -> dict[str, bytes]:
    files = sorted(p for p in path.rglob("*") if p.is_file())
    return {str(p.relative_to(path)): p.read_bytes() for p in files if p.name != "lock"}


def run_steps(folder: RunFolder, first: int, last: int) -> None:
    for step in range(first, last):
        folder.environments([{"step": step, "id": f"e{step}"}])
        folder.records("held_out", [{"step": step, "item": i} for i in range(5)])
        folder.metrics(step, {"loss": step / 3})
        folder.save_checkpoint("state", str(step + 1).encode())


def test_the_layout_is_the_one_drawn_in_the_docstring(tmp_path: Path) -> None:
    with RunFolder(tmp_path / "r", Config()) as folder:
        run_steps(folder, 0, 1)
        folder.write_summary({"score": 0.5})
    assert sorted(tree(tmp_path / "r")) == [
        "checkpoint/state",
        "config.json",
        "environments.jsonl",
        "metrics.jsonl",
        "provenance.json",
        "records/held_out.jsonl",
        "summary.json",
    ]


def test_a_run_resumed_from_its_checkpoint_has_the_bytes_of_one_never_stopped(tmp_path: Path) -> None:
    with RunFolder(tmp_path / "whole", Config()) as folder:
        run_steps(folder, 0, 6)
    with RunFolder(tmp_path / "stopped", Config()) as folder:
        run_steps(folder, 0, 3)
        folder.metrics(3, {"loss": 99})
        folder.records("held_out", [{"step": 3, "item": 0}])
    with RunFolder(tmp_path / "stopped", Config()) as folder:
        saved = folder.load_checkpoint("state")
        assert saved == b"3"
        folder.resume(int(saved))
        run_steps(folder, int(saved), 6)
        assert len(folder.read_records("held_out")) == 30
    assert tree(tmp_path / "stopped") == tree(tmp_path / "whole")


def test_a_run_killed_in_the_middle_of_a_line_can_be_opened_and_continued(tmp_path: Path) -> None:
    code = PREAMBLE + (
        "folder.metrics(0, {'a': 1})\n"
        "(folder.path / 'metrics.jsonl').open('ab').write(b'{\"step\": 1, \"a')\n"
        "(folder.path / 'checkpoint').mkdir(); (folder.path / 'checkpoint/.state.partial').write_bytes(b'half')\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path / "r")])
    assert done.returncode == -signal.SIGKILL
    with RunFolder(tmp_path / "r", Config()) as folder:
        assert folder.load_checkpoint("state") is None
        assert (tmp_path / "r/metrics.jsonl").read_bytes() == b'{"step":0,"a":1}\n'
        assert not list((tmp_path / "r").rglob("*.partial"))


def test_another_config_is_refused_and_the_keys_that_differ_are_named(tmp_path: Path) -> None:
    RunFolder(tmp_path / "r", Config()).close()
    with pytest.raises(InputError, match=r"another config \(it differs in name, steps\); give --fresh"):
        RunFolder(tmp_path / "r", Config(steps=5, name="y"))
    RunFolder(tmp_path / "r", Config()).close()


def test_fresh_removes_the_old_run_and_takes_another_config(tmp_path: Path) -> None:
    with RunFolder(tmp_path / "r", Config()) as folder:
        run_steps(folder, 0, 2)
        folder.write_summary({})
    with RunFolder(tmp_path / "r", Config(steps=9), fresh=True) as folder:
        assert folder.summary() is None and folder.load_checkpoint("state") is None
        assert sorted(tree(tmp_path / "r")) == ["config.json", "provenance.json"]


def test_a_folder_with_other_things_in_it_is_neither_used_nor_removed(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    for fresh in (False, True):
        with pytest.raises(InputError, match="holds no run"):
            RunFolder(tmp_path, Config(), fresh=fresh)
    assert [p.name for p in tmp_path.iterdir()] == ["thesis.txt"]


def test_two_runs_cannot_share_a_folder_and_a_killed_one_leaves_it_free(tmp_path: Path) -> None:
    code = PREAMBLE + "print('open', flush=True)\ntime.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "r")], stdout=subprocess.PIPE) as other:
        assert other.stdout is not None and other.stdout.readline() == b"open\n"
        with pytest.raises(InputError, match=f"process {other.pid} works on"):
            RunFolder(tmp_path / "r", Config(), fresh=True)
        other.kill()
    RunFolder(tmp_path / "r", Config()).close()


def test_a_full_disk_leaves_the_old_checkpoint_and_whole_lines(tmp_path: Path) -> None:
    code = PREAMBLE + (
        "folder.save_checkpoint('state', b'old'); folder.metrics(0, {'a': 1})\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "big = 'x' * 5000\n"
        "for act in (lambda: folder.save_checkpoint('state', big.encode()), lambda: folder.metrics(1, {'a': big})):\n"
        "    try: act()\n"
        "    except IncompleteError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path / "r")], capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert len(lines) == 2 and all(
        line.endswith("free some room there and run the same command again.") for line in lines
    )
    assert (tmp_path / "r/checkpoint/state").read_bytes() == b"old"
    assert (tmp_path / "r/metrics.jsonl").read_bytes() == b'{"step":0,"a":1}\n'
    assert not list((tmp_path / "r").rglob("*.partial"))


def test_a_writer_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    write_atomic(tmp_path / "a", "old")
    with pytest.raises(ZeroDivisionError), replacing(tmp_path / "a") as partial:
        partial.write_text("ne")
        1 / 0  # noqa: B018
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("a", "old")]


def test_a_place_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot make the run folder"):
        RunFolder(tmp_path / "file" / "r", Config())
    with pytest.raises(IncompleteError, match="cannot write"):
        write_atomic(tmp_path / "file" / "a", b"")


def test_the_summary_makes_a_run_finished_and_going_back_unmakes_it(tmp_path: Path) -> None:
    with RunFolder(tmp_path / "r", Config()) as folder:
        run_steps(folder, 0, 4)
        folder.write_summary({"score": 0.25})
        assert folder.summary() == {"score": 0.25}
        folder.resume(2)
        assert folder.summary() is None


def test_provenance_names_versions_and_machine_once_for_each_installation(tmp_path: Path) -> None:
    RunFolder(tmp_path / "r", Config()).close()
    RunFolder(tmp_path / "r", Config()).close()
    entries = json.loads((tmp_path / "r/provenance.json").read_text())
    assert len(entries) == 1
    assert entries[0]["packages"]["msgspec"] and entries[0]["python"] and entries[0]["cpu"]
    assert os.path.expanduser("~") not in json.dumps(entries)


def report(**states: str) -> SandboxReport:
    """Every layer holds but for those named with their state."""
    layers = {layer: LayerState(state=states.get(layer.value, "held"), detail="told") for layer in Layer}
    return SandboxReport(machine="m", kernel="k", layers=layers)


def test_the_sandbox_of_a_run_is_recorded_once_for_each_that_it_had(tmp_path: Path) -> None:
    path = tmp_path / "r" / "provenance.json"
    for found in (report(), report(), report(landlock="missing"), report()):
        with RunFolder(tmp_path / "r", Config()) as folder:
            folder.sandboxed(found)
    first, second = (entry["sandbox"] for entry in json.loads(path.read_text()))
    assert (first["describe"], first["insecure"]) == ("all layers hold", False)
    assert first["layers"]["seccomp"] == {"state": "held", "detail": "told"} and len(first["layers"]) == len(Layer)
    assert (second["describe"], second["insecure"]) == ("without landlock (told)", False)
    assert sandbox_lines(path) == ["all layers hold", "without landlock (told)"] and insecure_lines(path) == []
    with RunFolder(tmp_path / "r", Config()) as folder:
        folder.sandboxed(report(seccomp="off"))
    assert insecure_lines(path) == ["INSECURE: without seccomp (told)"]


def test_a_run_from_before_sandboxes_were_recorded_goes_on_and_keeps_its_entry(tmp_path: Path) -> None:
    path = tmp_path / "r" / "provenance.json"
    RunFolder(tmp_path / "r", Config()).close()
    (old,) = json.loads(path.read_text())
    elsewhere = {**old, "cpu": "another machine's"}
    path.write_text(json.dumps([elsewhere, old]))
    for _ in range(2):
        with RunFolder(tmp_path / "r", Config()) as folder:
            folder.sandboxed(report())
    *before, now = json.loads(path.read_text())
    assert before == [elsewhere, old] and now["sandbox"]["describe"] == "all layers hold"
    assert {key: now[key] for key in now if key != "sandbox"} == old


@pytest.mark.parametrize("damage", [b"[", b"\xff", b"{}"])
def test_a_damaged_provenance_is_one_sentence_and_fresh_removes_it(tmp_path: Path, damage: bytes) -> None:
    RunFolder(tmp_path / "r", Config()).close()
    (tmp_path / "r/provenance.json").write_bytes(damage)
    with pytest.raises(InputError, match="provenance.json is damaged"):
        RunFolder(tmp_path / "r", Config())
    RunFolder(tmp_path / "r", Config(), fresh=True).close()


def test_a_run_is_found_by_path_or_id_and_a_wrong_id_offers_the_nearest(tmp_path: Path) -> None:
    RunFolder(tmp_path / "nano" / "spade-s0", Config()).close()
    assert find_run("nano/spade-s0", tmp_path) == tmp_path / "nano/spade-s0"
    assert find_run(str(tmp_path / "nano/spade-s0"), tmp_path) == tmp_path / "nano/spade-s0"
    with pytest.raises(InputError, match="did you mean 'nano/spade-s0'"):
        find_run("nano/spade-s1", tmp_path)
