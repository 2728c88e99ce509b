"""Every row of the expected table of Reasoning-Gym against what is made and scored here; prints the differences.

    python -m spadework.tasks.reasoning_gym_parity a3_hard_expected.jsonl [--task NAME ...]

The table has a row for each (task, episode) of SPADE's selection with hashes of question and answer, and the package's
scores for its own answer, an empty one, none, and junk, all made outside any sandbox. Exit code 1 when a row differs
without a reason.
"""

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from multiprocessing.pool import ThreadPool
from pathlib import Path
from typing import Any

from ..harness.errors import ExitCode
from ..harness.evaluation.presets import read_protocols
from .reasoning_gym_items import Job, Made, jobs, make
from .reasoning_gym_scores import PackageScorer

PRESETS = Path(__file__).parent / "presets" / "reasoning_gym.toml"
JUNK = "zzz wrong"
DIGITS = 6
"""Of the scores in the table."""
UNMADE = "an item that does not end is made nowhere"
RAISED = "the table holds the name of an exception, which is wrong here"
Row = Mapping[str, Any]


def main() -> ExitCode:
    """Compare and print."""
    parser = argparse.ArgumentParser(prog="python -m spadework.tasks.reasoning_gym_parity")
    parser.add_argument("expected", type=Path)
    parser.add_argument("--task", action="append", default=[], help="only these tasks")
    arguments = parser.parse_args()
    rows = [json.loads(line) for line in arguments.expected.read_text(encoding="utf-8").splitlines()]
    rows = [row for row in rows if not arguments.task or row["task"] in arguments.task]
    found = Counter[str]()
    for row, name, ours, theirs, reason in differences(rows):
        found["explained" if reason else "unexplained"] += 1
        print(f"{row['task']}/{row['episode']}: {name} {ours} here, {theirs} in the table; {reason or 'NO REASON'}")
    print(f"{len(rows)} rows, {found['explained']} differences with a reason, {found['unexplained']} without")
    return ExitCode.VERDICT_FAIL if found["unexplained"] else ExitCode.OK


def differences(rows: Sequence[Row]) -> Iterator[tuple[Row, str, Any, Any, str]]:
    """(row, what, here, in the table, reason) for each difference; the reason is empty when there is none."""
    wanted = _wanted(rows)
    items = make(wanted)
    with PackageScorer() as scorer, ThreadPool(scorer.workers) as pool:
        checked = pool.imap(lambda pair: _facts(scorer, *pair), zip(wanted, items))
        for row, facts in zip(rows, checked):
            for name, ours in facts.items():
                if ours != row.get(name):
                    yield row, name, ours, row.get(name), _reason(row, name, ours)


def _wanted(rows: Sequence[Row]) -> list[Job]:
    preset = read_protocols(PRESETS).preset("paper-offline")
    known = {(job.task, job.index): job for job in jobs(replace(preset, exclude=()))}
    return [known[row["task"], row["index"]] for row in rows]


def _facts(scorer: PackageScorer, job: Job, item: Made) -> dict[str, Any]:
    """What the table should say of an item."""
    if item.error:
        return {"generation": "TIMEOUT"}
    answers = {"gold": item.answer, "empty": "", "none": None, "junk": JUNK}
    scores = {f"score_{name}": _score(scorer, job.task, item, answer) for name, answer in answers.items()}
    return {
        "question_sha256": sha256(item.question.encode()).hexdigest(),
        "answer_sha256": sha256(repr(item.answer).encode()).hexdigest(),
        "oracle_is_none": item.answer is None,
        **scores,
    }


def _score(scorer: PackageScorer, task: str, item: Made, answer: str | None) -> float | str:
    result = scorer.value(task, item, answer)
    if isinstance(result.value, float):
        return round(result.value, DIGITS)
    return f"EXC {result.message.partition(':')[0]}" if result.kind == "exception" else str(result.kind)


def _reason(row: Row, name: str, ours: Any) -> str:
    if row.get("generation") == "TIMEOUT":
        return UNMADE
    return RAISED if str(row.get(name)).startswith("EXC") and str(ours).startswith("EXC") else ""


if __name__ == "__main__":
    raise SystemExit(main())
