"""The command that compares verdicts on programs with those of lcb_runner."""

import subprocess
import sys
from pathlib import Path


def test_the_official_verdicts_on_programs_are_met(data: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "spadework.tasks.livecodebench_parity", str(data / "livecodebench")],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0 and "27 completions, 14 officially right, 0 differences" in done.stdout, done
