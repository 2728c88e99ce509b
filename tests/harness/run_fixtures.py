"""Run folders as the trainer leaves them, with invented but seeded outcomes: for tests of the tables only."""

import json
from pathlib import Path

import numpy as np

from spadework.harness.seeds import derive
from spadework.harness.tables.spec import load_spec

ABLATIONS = Path(__file__).parents[2] / "results" / "ablations.toml"
RIGHT = {
    "base": 0.30, "spade": 0.42, "no_corpus": 0.34, "no_memory": 0.41, "frozen_no_memory": 0.31,
    "frozen_external": 0.37, "learning_potential": 0.40, "solve_rate": 0.39, "two_skills": 0.38,
    "fixed_env": 0.33, "rlve": 0.36,
}  # fmt: skip
NO_DESIGNER = {"base", "fixed_env", "rlve"}


def write_runs(
    folder: Path, *, rows: list[str] | None = None, seeds: int = 1, items: int = 40, scale: str = "nano", steps: int = 3
) -> Path:
    """All rows (or these) under `folder`; base has seed 0 only. `items` a category, two samples each when sampled."""
    for row in rows or list(RIGHT):
        for seed in range(1 if row == "base" else seeds):
            _write_run(folder / row / f"seed{seed}", row, seed, items, scale, steps)
    return folder


def _write_run(run: Path, row: str, seed: int, items: int, scale: str, steps: int) -> None:
    rng = np.random.default_rng(derive(seed, row, "fixture"))
    (run / "records").mkdir(parents=True)
    for checkpoint, loss in (("chosen", 0.0), ("last", 0.02)):
        for mode, repeats in (("greedy", 1), ("sampled", 2)):
            lines = _lines(rng, RIGHT[row] - loss, items, repeats)
            (run / "records" / f"{checkpoint}.{mode}.jsonl").write_text(
                "".join(json.dumps(line) + "\n" for line in lines)
            )
    (run / "config.json").write_text(json.dumps({"digest": "c0ffee", "config": {"row": row, "steps": steps}}))
    metrics = [{"step": step, "loss": round(float(rng.random()), 6)} for step in range(steps)]
    (run / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in metrics))
    write_summary(run, row, seed, scale, steps)


def _lines(rng: np.random.Generator, right: float, items: int, repeats: int) -> list[dict[str, object]]:
    hardness = np.random.default_rng(11).normal(0, 0.25, size=3 * items)
    lines: list[dict[str, object]] = []
    for number, category in enumerate(("hard", "new", "rg")):
        for item in range(items):
            chance = float(np.clip(right + hardness[number * items + item], 0, 1))
            for _ in range(repeats):
                won = bool(rng.random() < chance)
                outcome = "right" if won else ("wrong", "no_answer", "truncated")[int(rng.integers(3))]
                reward = 1.0 if won else float(rng.choice([0.0, 0.0, 0.25, -1.0]))
                lines.append(
                    {"item": f"{category}/w/{item}", "category": category, "outcome": outcome, "reward": reward}
                )
    return lines


def write_summary(
    run: Path, row: str, seed: int, scale: str, steps: int, changes: dict[str, object] | None = None
) -> None:
    """The last file of a run; `changes` replace keys."""
    rng = np.random.default_rng(derive(seed, row, "metrics"))
    designer, trained = row not in NO_DESIGNER, row != "base"
    metrics = {
        "valid_share": 0.9 + 0.05 * float(rng.random()) if designer else None,
        "valid_share_n": 400 if designer else None,
        "band_share": 0.4 + 0.1 * float(rng.random()) if designer else None,
        "vendi_per_n": 0.55 + 0.1 * float(rng.random()) if trained else None,
        "vendi_n": 72 if trained else None,
        "plays": 12000 if trained else 0,
        "tokens": 3_400_000 + 1000 * seed,
        "seconds": 100 + 10 * float(rng.random()),
        "zero_variance_share": 0.2,
        "skipped_updates": 0,
    }
    summary = {
        "row": row, "seed": seed, "scale": scale, "digest": "c0ffee", "steps": steps, "metrics": metrics,
        "checkpoints": {"chosen": max(0, steps - 1), "last": steps}, "task_digest": "a1b2c3",
        "corpus_digest": None if row in {"base", "no_corpus"} else "5eed5eed", **(changes or {}),
    }  # fmt: skip
    (run / "summary.json").write_text(json.dumps(summary, indent=2))


def write_insecure(run: Path, *lacking: str) -> None:
    """The provenance of a run in two sittings: a sandbox that held, then one without these layers."""
    lines = ["all layers hold", f"INSECURE: without {', '.join(f'{layer} (switched off)' for layer in lacking)}"]
    entries = [{"sandbox": {"describe": line, "insecure": line.startswith("INSECURE"), "layers": {}}} for line in lines]
    (run / "provenance.json").write_text(json.dumps(entries))


def write_definition(folder: Path) -> Path:
    """The shipped table definition with the paper's figures, in a folder of its own."""
    (folder / "paper").mkdir(parents=True)
    spec = load_spec(ABLATIONS)
    (folder / spec.paper).write_bytes((ABLATIONS.parent / spec.paper).read_bytes())
    path = folder / ABLATIONS.name
    path.write_bytes(ABLATIONS.read_bytes())
    return path
