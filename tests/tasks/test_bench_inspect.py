"""What our harness adds to inspect-ai is measured by a command."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("inspect_ai", reason="inspect-ai is not installed")
pytest.importorskip("reasoning_gym", reason="reasoning-gym is not installed")


def test_the_overhead_is_measured_on_the_same_engine_in_one_run(tmp_path: Path) -> None:
    words = ["inspect", "--items", "3", "--turns", "1", "--tokens", "8"]
    done = subprocess.run(
        [sys.executable, "-m", "spadework.harness.bench", *words], capture_output=True, text=True, timeout=300,
        env={**os.environ, "XDG_CACHE_HOME": str(tmp_path)},
    )  # fmt: skip
    assert re.search(r"ours / native: \d+\.\d+ \(at most 1.1\)", done.stdout), done.stderr
    assert done.returncode in (0, 1)
