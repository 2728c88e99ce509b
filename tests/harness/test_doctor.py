"""`spadework doctor` on whole machines and on ones that lack something: it tells, and never fails over it."""

import errno
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from spadework.harness import doctor_machine
from spadework.harness.devices import Device, Torch, look
from spadework.harness.doctor_sandbox import PROGRAM
from spadework.harness.errors import ExitCode
from spadework.harness.hardware import Groups, cores, memory
from spadework.harness.sandbox import Layer, Sandbox
from spadework.harness.sandbox.kernel import drop_capabilities

from .masked import LANDLOCK, PIDFD_OPEN, PRCTL, UNSHARE, spadework

POOL = Path(__file__).parents[2] / "baselines" / "pools" / "nano"


@pytest.fixture
def quick(tmp_path: Path) -> dict[str, str]:
    """An environment without torch, whose import takes most of the time."""
    return broken(tmp_path, "torch", "raise ImportError('no libcudart')")


def broken(folder: Path, package: str, code: str) -> dict[str, str]:
    """An environment in which this package is another one."""
    (folder / f"{package}.py").write_text(code)
    return {"PYTHONPATH": str(folder)}


def told(done: subprocess.CompletedProcess[str]) -> str:
    """What was printed, as running text."""
    return " ".join(done.stdout.split())


def test_it_shows_every_layer_as_a_sandbox_reports_it_and_ends_with_the_verdict() -> None:
    with Sandbox() as sandbox:
        report = sandbox.report
    done = spadework("doctor")
    assert done.returncode == ExitCode.OK
    lines = done.stdout.splitlines()
    for layer in Layer:
        words = next(line for line in lines if line.startswith(f"  {layer} ")).split()
        assert words[1] in ("required", "wanted") and words[2] == report.state(layer).state
    assert "a program answered after another" in told(done) and "started and ran one in" in told(done)
    assert [title for title in ("machine", "devices", "engines", "packages", "data") if title not in lines] == []
    end = told(done).rpartition("A sandbox can be started safely here")[2]
    assert end == ("; all layers hold." if not report.missing else f", {report.describe()}.")
    assert max(map(len, lines)) <= 80


def test_json_says_the_same_to_machines(quick: dict[str, str]) -> None:
    done = spadework("doctor", "--json", environ=quick)
    found = json.loads(done.stdout)
    assert found.keys() == {
        "sandbox", "machine", "devices", "engines", "packages", "data", "verdict", "exit_code"
    }  # fmt: skip
    assert found["exit_code"] == done.returncode == ExitCode.OK and found["sandbox"]["safe"] is True
    assert [row["layer"] for row in found["sandbox"]["layers"]] == list(Layer)
    assert min(found["sandbox"][f"{name}_ms"] for name in ("start", "answer", "script")) > 0
    assert {"name", "detail", "there", "remedy"} == found["machine"][0].keys()


def test_a_kernel_without_the_filter_is_refused_with_every_layer_shown(quick: dict[str, str]) -> None:
    done = spadework("doctor", lacking=PRCTL, code=errno.EINVAL, environ=quick)
    assert done.returncode == ExitCode.VERDICT_FAIL and "INSECURE" not in done.stderr
    assert "seccomp required missing prctl 22: Invalid argument to do: the kernel needs CONFIG_SECCOMP" in told(done)
    assert all(f"\n  {layer} " in done.stdout for layer in Layer)
    assert "No sandbox can be started safely here: this machine does not give the layers" in told(done)


@pytest.mark.parametrize(
    ("call", "code", "layer", "remedy"),
    [
        (LANDLOCK, errno.ENOSYS, "landlock", "CONFIG_SECURITY_LANDLOCK"),
        (UNSHARE, errno.EPERM, "namespaces", "apparmor"),
    ],
)
def test_a_machine_without_a_wanted_layer_is_safe_and_says_what_to_do(
    call: int, code: int, layer: str, remedy: str, quick: dict[str, str]
) -> None:
    done = spadework("doctor", lacking=call, code=code, environ=quick)
    assert done.returncode == ExitCode.OK
    assert f"{layer} wanted missing" in told(done) and remedy in told(done).partition(f"{layer} wanted")[2]
    assert f"can be started safely here, without {layer} (" in told(done)


def test_root_that_may_not_change_its_user_is_not_told_to_be_somebody_else() -> None:
    """Without capabilities root can enter a user namespace and not set it up; it is root all the same."""
    script = (
        "from pathlib import Path\nfrom spadework.harness.sandbox import Layer, Sandbox\n"
        f"with Sandbox() as sandbox:\n    process = sandbox.open({PROGRAM!r})\n    process.reset([(0, 1)])\n"
        "    status = Path(f'/proc/{process.pid}/status').read_text().splitlines()\n"
        "    user = next(line.split()[1] for line in status if line.startswith('Uid:'))\n"
        "    print(sandbox.report.state(Layer.UID).state == 'held', user != '0')"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, preexec_fn=drop_capabilities
    )  # fmt: skip
    held, other = done.stdout.split()
    assert held == other == str(os.getuid() != 0)


def test_a_sandbox_in_which_no_program_runs_is_no_safe_one(quick: dict[str, str]) -> None:
    done = spadework("doctor", lacking=PIDFD_OPEN, code=errno.EPERM, environ=quick)
    assert done.returncode == ExitCode.VERDICT_FAIL
    assert "the sandbox starts, but nothing runs in it" in told(done) and "PermissionError" in told(done)


@pytest.mark.parametrize(("system", "name"), [("darwin", "macOS"), ("win32", "Windows"), ("sunos5", "sunos5")])
def test_elsewhere_it_shows_the_layers_and_the_refusal_names_a_way(
    system: str, name: str, quick: dict[str, str]
) -> None:
    """The package where the parts of Python that only Linux (or only Unix) has are absent."""
    code = (
        "import os, select, signal, sys\n"
        "del select.poll, signal.SIGSYS, signal.SIGXCPU, signal.pidfd_send_signal\n"
        "del os.pidfd_open, os.sched_getaffinity\n"
        "sys.platform = sys.argv[1]\n"
        "from spadework.harness.cli import main\nraise SystemExit(main(sys.argv[2:]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, system, "doctor"], capture_output=True, text=True, timeout=120,
        env={**os.environ, **quick, "COLUMNS": "80"},
    )  # fmt: skip
    assert done.returncode == ExitCode.VERDICT_FAIL and done.stderr == ""
    assert all(f"  {layer} " in done.stdout for layer in Layer) and done.stdout.count("missing  needs Linux") == 9
    assert f"this is {name}, where it does not run, insecure or not; run the command in a Linux container" in told(done)


def test_it_works_without_torch(quick: dict[str, str]) -> None:
    done = spadework("doctor", environ=quick)
    assert done.returncode == ExitCode.OK, "the sandbox needs no torch"
    assert "- transformers ImportError: no libcudart to do: pip install torch" in told(done)
    assert "- cpu nothing computes here without torch" in told(done)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import os; os._exit(9)", "its process ended with code 9"),
        ("import os; os._exit(0)", "its process told nothing"),
        ("import time; time.sleep(60)", "importing it took more than 2 s"),
    ],
)
def test_a_broken_torch_is_told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, said: str) -> None:
    monkeypatch.setenv("PYTHONPATH", broken(tmp_path, "torch", code)["PYTHONPATH"])
    assert look(patience_s=2.0).problem == said


def test_it_works_without_what_the_sandbox_needs(tmp_path: Path, quick: dict[str, str]) -> None:
    broken(tmp_path, "msgspec", "raise ModuleNotFoundError('No module named msgspec')")
    done = spadework("doctor", environ=quick)
    assert done.returncode == ExitCode.VERDICT_FAIL
    assert done.stdout.startswith("sandbox: cannot be loaded")
    assert "No sandbox can be started: No module named msgspec; install spadework again" in told(done)
    assert json.loads(spadework("doctor", "--json", environ=quick).stdout)["sandbox"] is None


def test_the_devices_of_torch_are_listed_with_their_memory() -> None:
    torch = Torch(version="2", threads=1, devices=(Device(kind="cuda", name="H200", memory_bytes=139 * 2**30),))
    assert [(one.name, one.detail) for one in doctor_machine.devices(torch)] == [
        ("cuda", "H200, 139.0 GiB"), ("cpu", "1 thread by default"),
    ]  # fmt: skip


def test_the_test_data_are_told_by_their_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "aime").mkdir()
    (tmp_path / "aime" / "a.jsonl").write_text("")
    for folder, detail in ((tmp_path, "aime (1) files"), (tmp_path / "no", "which is no folder")):
        monkeypatch.setenv(doctor_machine.TEST_DATA, str(folder))
        (found,) = [one for one in doctor_machine.data() if one.name == "test data"]
        assert detail in found.detail and found.there == (folder == tmp_path)


def test_what_ships_is_checked_file_by_file(tmp_path: Path) -> None:
    shutil.copytree(POOL, tmp_path / "pool")
    assert doctor_machine.pool("nano", tmp_path / "pool").detail == "240 programs, checksums right"
    (tmp_path / "pool" / "game_00007.py").write_text("print(1)")
    (tmp_path / "pool" / "game_00009.py").unlink()
    found = doctor_machine.pool("nano", tmp_path / "pool")
    assert not found.there and found.detail == "game_00007.py is missing or changed, and 1 more" and found.remedy
    assert not doctor_machine.pool("nano", None).there
    (tmp_path / "config.json").write_text("{}")
    assert doctor_machine.checkpoint("base", tmp_path).detail == "lacks model.safetensors, tokenizer.json"


def test_the_limits_of_a_control_group_and_of_those_above_it_count(tmp_path: Path) -> None:
    own, root = tmp_path / "own", tmp_path / "cgroup"
    (root / "job" / "task").mkdir(parents=True)
    (root / "job" / "cpu.max").write_text("150000 100000\n")
    (root / "job" / "task" / "cpu.max").write_text("max 100000\n")
    (root / "job" / "task" / "memory.max").write_text(f"{2**30}\n")
    own.write_text("0::/job/task\n")
    groups = Groups(root=root, own=own)
    assert cores(groups).quota == 1.5 and memory(groups).limit == 2**30
    own.write_text("4:cpuacct,cpu:/old\n3:memory:/old\n")
    for name, text in (("cpu/old/cpu.cfs_quota_us", "50000"), ("cpu/old/cpu.cfs_period_us", "100000"),
                       ("cpu/cpu.cfs_quota_us", "-1"), ("cpu/cpu.cfs_period_us", "100000"),
                       ("memory/old/memory.limit_in_bytes", "9223372036854771712")):  # fmt: skip
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    assert cores(groups).quota == 0.5 and memory(groups).limit is None
    nothing = Groups(root=tmp_path / "none", own=tmp_path / "none")
    assert cores(nothing).quota is None and memory(nothing).limit is None
