"""Completions with the verdicts of lcb_runner against the verdicts here; prints the differences.

    python -m spadework.tasks.livecodebench_parity DIR [--scorer official|corrected]

DIR holds `synthetic_problems.jsonl` in the official format and `synthetic_completions.jsonl` with official_pass,
official_error_code and official_results (one entry a test, the first failure is the last). Exit code 1 when a verdict,
or the kind or place of a failure, differs.
"""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..harness.errors import ExitCode
from ..harness.types import Outcome
from .livecodebench_data import read_problems
from .livecodebench_tests import SCORERS, Grader, Terms
from .livecodebench_text import between_last_fences

PROBLEMS, COMPLETIONS = "synthetic_problems.jsonl", "synthetic_completions.jsonl"
TIMEOUT, OUTPUT = -3, -2


def main() -> ExitCode:
    """Compare and print."""
    parser = argparse.ArgumentParser(prog="python -m spadework.tasks.livecodebench_parity")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--scorer", choices=SCORERS, default=SCORERS[0])
    arguments = parser.parse_args()
    lines = [json.loads(line) for line in (arguments.folder / COMPLETIONS).read_text(encoding="utf-8").splitlines()]
    found = list(differences(arguments.folder, lines, Terms(scorer=arguments.scorer)))
    for line, text in found:
        print(f"{line['question_id']}/{line['completion_id']}: {text} ({line['note'] or 'no note'})")
    right = sum(line["official_pass"] for line in lines)
    print(f"{len(lines)} completions, {right} officially right, {len(found)} differences")
    return ExitCode.VERDICT_FAIL if found else ExitCode.OK


def differences(folder: Path, lines: list[dict[str, Any]], terms: Terms) -> Iterator[tuple[dict[str, Any], str]]:
    """A completion and what is otherwise here, for each that differs."""
    problems = {problem.number: problem for problem in read_problems(folder / PROBLEMS, {})}
    with Grader() as grader:
        for line in lines:
            judged = grader.grade(problems[line["question_id"]], between_last_fences(line["completion"]), terms)
            code, place = line["official_error_code"], f"test {len(line['official_results'])} of"
            if (judged.outcome is Outcome.RIGHT) != line["official_pass"]:
                yield line, f"{judged.outcome} here, error code {code} there; {judged.detail}"
            elif (judged.outcome is Outcome.TIMEOUT) != (code == TIMEOUT):
                yield line, f"{judged.outcome} here, error code {code} there"
            elif code == OUTPUT and place not in judged.detail:
                yield line, f"{judged.detail} here, {place} there"


if __name__ == "__main__":
    raise SystemExit(main())
