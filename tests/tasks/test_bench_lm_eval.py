import re
import subprocess
import sys

import pytest

pytest.importorskip("lm_eval", reason="lm-eval is not installed")
pytest.importorskip("math_verify", reason="math-verify is not installed")


def test_the_overhead_is_measured_on_the_same_engine_in_one_run() -> None:
    words = ["lm_eval", "--items", "2", "--turns", "1", "--no-hf"]
    done = subprocess.run(
        [sys.executable, "-m", "spadework.harness.bench", *words], capture_output=True, text=True, timeout=300
    )
    assert re.search(r"ours / native: \d+\.\d+ \(at most 1.1\)", done.stdout), done.stderr
    assert done.returncode in (0, 1)
