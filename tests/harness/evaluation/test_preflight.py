"""The preflight finds graders that do not know right from wrong, on the benchmark's own path."""

from pathlib import Path

import pytest
from commands import evaluate, records, scores, spadework

from spadework.harness.evaluation.check import check
from spadework.harness.evaluation.plan import Wish, make_plan
from spadework.harness.evaluation.preflight import Finding, preflight
from spadework.harness.evaluation.presets import Known, Unsolved


def findings(task: str, *known: Known) -> dict[str, Finding]:
    (cell,) = make_plan(Wish(tasks=[task])).cells
    return {one.player: one for one in (preflight(cell, known, None) if known else check(cell, None))}


def test_a_sound_benchmark_passes_with_every_player() -> None:
    """Wish 2 of the users: gold is right to the last item, and who says nothing wins nothing."""
    found = findings("arithmetic:SUMS")
    assert all(one.sound and one.played == 60 for one in found.values())
    assert found["gold"].right == 60 and not any(found[name].right for name in ("noop", "empty", "nan"))


def test_the_nano_suite_passes_in_the_sandbox() -> None:
    (cell,) = make_plan(Wish(tasks=["nano"], limit=["30"])).cells
    found = check(cell, None)
    assert all(one.sound for one in found) and found[0].right == 30


@pytest.mark.parametrize(
    "task, player, words",
    [
        ("PAYS_FOR_NOTHING", "empty", "is right"),
        ("PAYS_FOR_NOTHING", "noop", "is right"),
        ("PAYS_FOR_NAN", "nan", "is right"),
        ("WRONG_GOLD", "gold", "the gold solution is wrong"),
        ("CRASHES", "empty", "ValueError in faulty.py"),
        ("SWALLOWS", "gold", "never came back"),
        ("OWN_SEEDS", "gold", "the seed of no sample"),
    ],
)
def test_each_fault_of_a_grader_is_found_and_named(task: str, player: str, words: str) -> None:
    """Cases L231, L232, P020 and P022 of their kind."""
    found = findings(f"faulty:{task}")[player]
    assert not found.sound and words in " ".join(found.faults)


def test_a_known_exception_is_excused_with_its_reason_and_only_for_its_items() -> None:
    known = Known(player="gold", match="odd", why="the file says -1 for seven")
    found = findings("faulty:WRONG_GOLD", known)["gold"]
    assert found.sound and found.excused == ("the file says -1 for seven",) and found.right == 59
    other = Known(player="gold", match="even", why="not this one")
    assert not findings("faulty:WRONG_GOLD", other)["gold"].sound


def test_items_without_a_known_solution_are_told_with_the_reason_and_never_called_checked() -> None:
    """Cases L237 and P116: what no gold solution has tried is no success."""
    (cell,) = make_plan(Wish(tasks=["faulty:UNSOLVED"])).cells
    why = Unsolved(match="odd", why="nobody has solved an odd one")
    gold, *others = preflight(cell, (), None, [why])
    assert gold.sound and gold.played == 0 and gold.verdict == "NOT CHECKED"
    assert "of 60 of 60 items no solution is known" in gold.note
    assert "30 since nobody has solved an odd one" in gold.note and "30 since no reason is given" in gold.note
    assert [one.verdict for one in others] == ["ok"] * 4
    told = spadework("preflight", "faulty:UNSOLVED")
    assert told.returncode == 0 and "NOT CHECKED" in told.stdout and "no solution is known" in told.stdout


def test_a_long_or_paid_evaluation_is_checked_first_and_refused_when_its_grader_fails(tmp_path: Path) -> None:
    out = tmp_path / "run"
    refused = evaluate(out, "--task", "faulty:PAYS_FOR_NOTHING", "--price", "1,2")
    assert refused.returncode == 1 and "do not know right from wrong" in refused.stderr and not out.exists()
    assert "--no-preflight" in refused.stderr
    assert evaluate(out, "--task", "faulty:PAYS_FOR_NOTHING", "--price", "1,2", "--no-preflight").returncode == 0
    short = evaluate(tmp_path / "short", "--task", "faulty:PAYS_FOR_NOTHING")
    assert short.returncode == 0 and "preflight" not in short.stdout
    users = evaluate(tmp_path / "users", "--task", "faulty:PAYS_FOR_NOTHING", "--other-price", "1,2")
    assert users.returncode == 1, "users and judges may be paid too"
    long = evaluate(tmp_path / "long", "--preset", "many")
    assert long.returncode == 0 and "preflight: 5 players of 1 tasks end as they should" in long.stdout


def test_the_verb_prints_players_and_forecast_and_its_exit_code_is_the_verdict() -> None:
    good = spadework("preflight", "arithmetic:SUMS", "--rate", "50", "--price", "1,2", "--limit", "12")
    assert good.returncode == 0 and "forecast" not in good.stderr
    assert [line.split()[:2] for line in good.stdout.splitlines()[1:6]] == [
        ["arithmetic", player] for player in ("gold", "noop", "empty", "constant", "nan")
    ]
    assert "24" in good.stdout.splitlines()[7]
    assert "NOT verified" in spadework("preflight", "arithmetic:DOUBTFUL", "--limit", "2").stdout
    bad = spadework("preflight", "faulty:PAYS_FOR_NAN")
    assert bad.returncode == 1 and "FAILED" in bad.stdout and "and 57 more" in bad.stdout


def test_a_benchmark_that_crashes_in_a_run_is_a_failed_cell_and_the_next_one_runs(tmp_path: Path) -> None:
    out = tmp_path / "run"
    words = ("--task", "faulty:CRASHES", "--task", "arithmetic:SECRET")
    done = evaluate(out, *words)
    assert done.returncode == 4 and "ValueError in faulty.py" in done.stdout
    crashed, sound = scores(out)["tasks"]
    assert crashed["overall"]["value"] is None or not scores(out)["complete"]
    assert sound["overall"]["n_scored"] == 120 == len(records(out, "secret"))


def test_samples_that_a_benchmark_forgets_are_missed(tmp_path: Path) -> None:
    out = tmp_path / "run"
    done = evaluate(out, "--task", "faulty:SWALLOWS")
    assert done.returncode == 4 and "never came back" in done.stdout and len(records(out)) == 80


def test_what_a_closed_benchmarks_exception_says_is_not_told(tmp_path: Path) -> None:
    refused = evaluate(tmp_path / "run", "--task", "faulty:UNREADABLE")
    assert refused.returncode == 2 and "KeyError in faulty.py" in refused.stderr
    assert "nobody may see" not in refused.stderr + refused.stdout
