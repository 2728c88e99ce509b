"""What these tests share is imported by its own name: `kept` of this folder, `commands` of the evaluation's tests."""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "harness" / "evaluation")]
