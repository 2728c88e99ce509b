"""Run folders for tests of the report, with invented outcomes: evaluations with texts, training runs with curves."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from spadework.harness.benchmark import Preset
from spadework.harness.evaluation.settings import EvaluationSettings, TaskSettings
from spadework.harness.seeds import derive
from spadework.harness.types import Sampling

HOSTILE = (
    "</script><script>window.ran = 1</script><img src=x onerror=\"window.ran = 2\"><svg onload='window.ran = 3'>"
    "{{ 7 * 7 }}${window.ran = 4}<!-- <a href=\"javascript:window.ran = 5\">‮ ]]> &amp;"
)
"""What a model may write to get out of the place where its text is shown."""
SKILLS = ("Logical Deduction", "Spatial Reasoning", HOSTILE)
PROGRAM = '''import random


class HiddenEnv:
    """A number that is to be guessed."""

    def reset(self, seed):
        self.n = random.Random(seed).randint(1, 9)  # never shown
        return " guess", {}

    def step(self, action):
        won = action.strip() == str(self.n)
        return " no", 1.0 if won else 0.0, True, False, {}
'''


def write_evaluation(
    run: Path, *, items: int = 60, right: float = 0.7, preset: str = "official", answer: str = "", repeats: int = 1
) -> Path:
    """A finished evaluation of one benchmark `sums` in two categories; `answer` stands in every record."""
    sampling = Sampling(temperature=0.7, max_new_tokens=64)
    task = TaskSettings(
        reference="arithmetic:SUMS", scorer_version="1", closed=False, limit=None, n_items=items, items="a1b2",
        preset=Preset(benchmark="sums", name=preset, source="made up", sampling=sampling, repeats=repeats),
    )  # fmt: skip
    settings = EvaluationSettings(model=f"scripted-{right}", engine="scripted", tasks={"sums": task})
    rows = [row(run.name, number, repeat, right, answer) for number in range(items) for repeat in range(repeats)]
    (run / "records").mkdir(parents=True)
    (run / "config.json").write_bytes(msgspec.json.encode({"digest": "d1", "config": settings}))
    (run / "models.json").write_text(json.dumps({"model": {"weights": f"w{right}", "engine": "scripted"}}))
    write_provenance(run, "6.1")
    append(run / "records" / "sums.jsonl", rows)
    (run / "scores.json").write_text(json.dumps(
        {"digest": "d1", "complete": True, "tasks": [], "missing": {}, "models": {}}
    ))  # fmt: skip
    return run


def row(name: str, number: int, repeat: int, right: float, answer: str) -> dict[str, object]:
    won = derive(0, name, number, repeat) % 1000 < 1000 * right
    outcome = "right" if won else ("wrong", "no_answer", "truncated")[number % 3]
    return {
        "item": f"item-{number:05}", "category": ("even", "odd")[number % 2], "repeat": repeat, "outcome": outcome,
        "reward": float(won), "answer": None if outcome == "no_answer" else f"answer {number} of {name} {answer}",
        "gold": f"g{number}", "scorer": "1", "detail": "" if won else f"said to {name}: wrong {answer}",
    }  # fmt: skip


def write_training(run: Path, *, steps: int = 40, seed: int = 0, finished: bool = True, environments: int = 24) -> Path:
    """A training run with metrics and environments; the records of the test only where it is finished."""
    (run / "records").mkdir(parents=True)
    config = {"row": run.parent.name, "seed": seed, "steps": steps, "designer": {"corpus": run.parent.name == "spade"}}
    (run / "config.json").write_text(json.dumps({"digest": "d2", "config": config}))
    write_provenance(run, "6.1")
    append(run / "metrics.jsonl", [metrics(step, seed, steps) for step in range(steps)])
    append(run / "environments.jsonl", [environment(number, seed) for number in range(environments)])
    if finished:
        won = [derive(seed, run.parent.name, number) % 2 == 0 for number in range(50)]
        lines = [
            {"item": f"hard/{n}", "category": ("hard", "new")[n % 2], "outcome": "right" if one else "wrong",
             "reward": 1.0 if one else 0.25, "answer": f"last action {n}"} for n, one in enumerate(won)
        ]  # fmt: skip
        append(run / "records" / "chosen.greedy.jsonl", lines)
        summary = {
            "row": run.parent.name, "seed": seed, "scale": "nano", "digest": "d2", "steps": steps,
            "metrics": {"valid_share": 0.9, "band_share": None, "plays": 1000 + seed, "tokens": 5000},
            "checkpoints": {"chosen": steps, "last": steps}, "task_digest": "t1",
        }  # fmt: skip
        (run / "summary.json").write_text(json.dumps(summary))
    return run


def metrics(step: int, seed: int, steps: int) -> dict[str, object]:
    """A line in which now and then something was not measured."""
    way, noise = step / steps, derive(seed, "noise", step) % 100 / 1000
    line: dict[str, object] = {
        "step": step, "return": 0.2 + 0.4 * way + noise, "success": None if step % 7 == 3 else 0.1 + 0.3 * way + noise,
        "regret": 0.5 - 0.4 * way, "band_share": 0.3 + noise, "entropy": 1.2 - way, "flat_group_share": 0.4 + noise,
        "sampler_gap": 1e-6 * (1 + noise),
    }  # fmt: skip
    if step == 9:
        said = "all plays earned nothing; look at them."
        line["alarms"] = [{"alarm": "zero reward", "event": "begins", "text": said}]
    if step % 4 == 0:
        line |= {"hint_return": 0.8 - 0.2 * way, "proposed": 10, "valid": 8, "validation": 0.1 * way}
    return line


def environment(number: int, seed: int) -> dict[str, object]:
    valid = number % 5 != 0
    return {
        "step": 4 * (number // 6), "id": f"env{seed}{number:03}" if valid else None, "skill": SKILLS[number % 3],
        "source": PROGRAM.replace("9", str(number + 9)) + f"# {HOSTILE}\n", "hint": f"count to {number} {HOSTILE}",
        "valid": valid, "reason": None if valid else "raises", "written_by": "policy",
        "win_rate": number / 40 if valid else None, "regret": 0.5 - number / 40 if valid else None,
        "regret_low": 0.1 if valid else None, "regret_high": 0.9 if valid else None,
    }  # fmt: skip


def write_provenance(run: Path, kernel: str) -> None:
    entry = {"packages": {"torch": "2.13.0"}, "commit": "abc", "kernel": kernel}
    (run / "provenance.json").write_text(json.dumps([entry]))


def append(path: Path, rows: Sequence[Mapping[str, object]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.writelines(json.dumps(line) + "\n" for line in rows)
