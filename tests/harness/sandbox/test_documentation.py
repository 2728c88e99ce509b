"""docs/sandbox.md against the code: its example runs, its tables name what there is."""

import re
import subprocess
import sys
from pathlib import Path

from spadework.harness.sandbox import REQUIRED, ErrorKind, Layer, Limits, Sandbox, ValidEnvironment, validate
from spadework.harness.sandbox.layers import CLEAN_ENVIRONMENT
from spadework.harness.sandbox.limits import HOST_KINDS
from spadework.harness.sandbox.probes import LOOKED_THROUGH
from spadework.harness.sandbox.seccomp import WORKER

TEXT = (Path(__file__).parents[3] / "docs" / "sandbox.md").read_text(encoding="utf-8")


def table(heading: str) -> list[list[str]]:
    """The cells of the first table under a heading, without its head."""
    lines = TEXT.partition(f"## {heading}\n")[2].splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("|---"))
    rows = lines[start + 1 : start + 1 + [line.startswith("|") for line in [*lines[start + 1 :], ""]].index(False)]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in rows]


def test_its_examples_run_and_say_what_they_should() -> None:
    code = "\n".join(re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert [line.strip() for line in done.stdout.splitlines()[1:] if line] == [
        "0 0 to go 1.0 True None", "1 2 to go 0.0 False None", "42", "0 None", "5", "7", "3",
    ]  # fmt: skip


def test_its_program_is_an_environment() -> None:
    (source,) = re.findall(r'PROGRAM = """\n(.*?)"""', TEXT, re.DOTALL)
    with Sandbox() as sandbox:
        (verdict,) = validate([source], sandbox)
    assert isinstance(verdict, ValidEnvironment) and not verdict.dead_end, verdict


def test_the_layers_are_named_with_their_need() -> None:
    rows = {cells[0].strip("`"): cells[1] for cells in table("Layers")}
    assert rows == {layer: "required" if layer in REQUIRED else "wanted" for layer in Layer}
    assert "five variables" in TEXT and len(CLEAN_ENVIRONMENT) == 5
    assert f"{LOOKED_THROUGH:,} descriptors" in TEXT and 24 <= len(WORKER) <= 36


def test_every_kind_of_error_stands_there_once_with_its_fault() -> None:
    found = [(kind, cells[2]) for cells in table("Errors, and whose fault they are") for kind in named(cells[0])]
    assert sorted(found) == sorted((kind, "host" if kind in HOST_KINDS else "program") for kind in ErrorKind)


def named(cell: str) -> list[str]:
    return re.findall(r"`(\w+)`", cell)


def test_the_limits_are_the_defaults() -> None:
    told, limits = " ".join(cells[1] for cells in table("Limits")), Limits()
    for text in (f"{limits.source_bytes:,} bytes", f"{limits.memory_mb} MiB", f"{limits.frame_wall_s:g} s;",
                 f"{limits.load_cpu_s:g} s, {limits.call_cpu_s:g} s, {limits.life_cpu_s} s",
                 f"{limits.obs_chars:,} characters, {limits.action_chars:,} characters", f"{limits.info_bytes:,} bytes",
                 f"at most {limits.abs_reward:,.0f} in", f"{limits.respawns}, {limits.culprits}"):  # fmt: skip
        assert text in told, text
