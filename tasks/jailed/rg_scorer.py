"""What runs in the jail for Reasoning-Gym: the package's own scorers, four of which evaluate an answer as Python.

`warm` makes a scorer for each task of the suite while files can still be read, and uses it once; `score` is asked with
the name of the task, an answer, and the item as `reasoning_gym_maker` pickled it. What an answer provokes is raised. It
needs the package reasoning-gym and knows no limits of its own.
"""

import base64
import decimal
import json
import pickle
from pathlib import Path
from typing import Any

import reasoning_gym

CONFIGS = Path(__file__).parent.parent / "presets" / "reasoning_gym_hard.json"
DIGITS = 28
"""Of decimal arithmetic, as Python begins with: `decimal_arithmetic` sets another precision for its whole process."""
_scorers: dict[str, Any] = {}


def warm() -> None:
    """Make every scorer; score one item with each, but for the tasks whose items take long."""
    for task, found in json.loads(CONFIGS.read_text(encoding="utf-8"))["tasks"].items():
        data = _scorers[task] = reasoning_gym.create_dataset(task, size=500, seed=42, **found["params"])
        if task not in ("knight_swap", "number_sequence"):
            item = data[0]
            data.score_answer(item["answer"] or "0", item)
    decimal.getcontext().prec = DIGITS


def score(task: str, answer: str | None, entry: str) -> float:
    """What the package says, from 0 to 1."""
    if task not in _scorers:
        _scorers[task] = reasoning_gym.create_dataset(task, size=1, seed=0)
    return float(_scorers[task].score_answer(answer, pickle.loads(base64.b64decode(entry))))
