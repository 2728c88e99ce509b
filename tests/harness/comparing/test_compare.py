"""`spadework compare`: what it says of two runs and of several, and what a reader can do with it."""

import json
from pathlib import Path

import pytest
from scipy import stats

from spadework.harness.comparison import holm, mcnemar
from spadework.harness.types import Outcome

from ..run_fixtures import write_runs, write_summary
from .evaluations import Task, answers, compared, spadework, write_evaluation

ROOT = Path(__file__).parents[3]
DOCS, PACKED = ROOT / "docs" / "compare.md", ROOT / "results" / "reference" / "nano"
RIGHT, WRONG = Outcome.RIGHT, Outcome.WRONG
ITEMS = 100
OLD, NEW = range(50), range(1, 62)
"""The worked example of the documentation: 50 of 100 items right, then 61, with 12 items won and 1 lost."""


@pytest.fixture
def example(tmp_path: Path) -> tuple[Path, Path]:
    """Two runs on the same hundred items."""
    old = write_evaluation(tmp_path / "old", Task(samples=answers(ITEMS, OLD)))
    new = write_evaluation(tmp_path / "new", Task(samples=answers(ITEMS, NEW)))
    return old, new


def test_the_same_data_are_unclear_to_unpaired_tests_and_clear_to_the_paired_one(example: tuple[Path, Path]) -> None:
    counts = [[len(right), ITEMS - len(right)] for right in (OLD, NEW)]
    unpaired = [stats.fisher_exact(counts).pvalue, stats.chi2_contingency(counts, correction=False).pvalue]
    (row,) = compared(*example)["rows"]
    assert min(unpaired) > 0.1
    assert row["p"] < 0.02 and row["p"] == mcnemar(row["n_better"], row["n_worse"])
    assert row["test"] == "exact McNemar" and row["verdict"] == "better"


def test_a_row_says_better_with_both_values_and_the_first_run_is_the_reference(example: tuple[Path, Path]) -> None:
    old, new = example
    ran, back = spadework("compare", old, new), spadework("compare", new, old)
    assert ran.code == back.code == 0
    assert "sums: new is better than old (61.0 % against 50.0 %, +11.0 points" in ran.out
    assert "sums: old is worse than new (50.0 % against 61.0 %, −11.0 points" in back.out
    assert "Differences are the other run minus old, the first named" in ran.out


def test_the_documentation_shows_what_the_verb_prints(example: tuple[Path, Path]) -> None:
    text = DOCS.read_text(encoding="utf-8")
    packed = [PACKED / f"{row}.json.gz" for row in ("spade", "solve_rate")]
    for words in ((*example, "--flips", "4"), (*packed, "--flips", "3")):
        said = "\n".join(line.rstrip() for line in spadework("compare", *words).out.splitlines())
        assert said in text, f"docs/compare.md does not show this output:\n{said}"


def test_what_cannot_be_told_says_how_many_more_items_would_tell_it(tmp_path: Path) -> None:
    old = write_evaluation(tmp_path / "old", Task(samples=answers(30, range(15))))
    new = write_evaluation(tmp_path / "new", Task(samples=answers(30, range(2, 18))))
    ran = spadework("compare", old, new)
    (row,) = compared(old, new)["rows"]
    assert row["verdict"] == "cannot tell" and row["needs"]["items"] > 30
    assert row["needs"]["more"] == row["needs"]["items"] - 30 and row["needs"]["seeds"] is None
    assert "cannot tell new from old" in ran.out and "it would take about" in ran.out
    assert "would be found four times in five here" in ran.out


def test_a_margin_asks_for_what_it_takes_to_tell_that_difference_instead(tmp_path: Path) -> None:
    old = write_evaluation(tmp_path / "old", Task(samples=answers(30, range(15))))
    new = write_evaluation(tmp_path / "new", Task(samples=answers(30, range(2, 18))))
    small, large = (compared(old, new, "--margin", margin)["rows"][0]["needs"] for margin in ("2", "10"))
    assert small["of_margin"] and small["size"] == pytest.approx(0.02) and small["items"] > large["items"] > 30
    said = spadework("compare", old, new, "--margin", "2").out
    assert "more items of this kind to tell a difference of 2.0 points" in said


def test_runs_that_answer_alike_differ_in_nothing_and_need_no_number(tmp_path: Path) -> None:
    old, new = (write_evaluation(tmp_path / name, Task(samples=answers(20, range(9)))) for name in ("old", "new"))
    (row,) = compared(old, new)["rows"]
    assert (row["value"], row["p"], row["needs"], row["n_flips"]) == (0, 1, None, 0)
    assert row["low"] < 0 < row["high"], "twenty equal items are no proof of equality"
    assert "no difference was seen" in spadework("compare", old, new).out


def test_every_changed_item_is_listed_with_both_answers(example: tuple[Path, Path]) -> None:
    (row,) = compared(*example, "--flips", "all")["rows"]
    assert row["n_flips"] == len(row["flips"]) == 13
    lost = next(flip for flip in row["flips"] if flip["base"]["outcome"] == "right")
    assert lost["item"] == "all-00000"
    assert lost["base"]["answer"] == "all-00000 is right" and lost["new"]["answer"] == "all-00000 is wrong"
    ran = spadework("compare", *example, "--flips", "3")
    assert "13 items changed, 12 for the better and 1 for the worse; the 3 largest changes" in ran.out
    assert "right: all-00000 is right" in ran.out and "wrong: all-00000 is wrong" in ran.out
    assert "items changed" not in spadework("compare", *example, "--flips", "0").out


def test_an_answer_cannot_drive_the_terminal(tmp_path: Path) -> None:
    runs = [
        write_evaluation(tmp_path / name, Task(samples={"a-\x1b[31m": [outcome]}))
        for name, outcome in (("old", RIGHT), ("new", WRONG))
    ]
    said = spadework("compare", *runs).out
    assert "1 item changed" in said and "\x1b" not in said


def test_of_an_item_with_several_samples_the_flip_shows_those_that_differ(tmp_path: Path) -> None:
    old = write_evaluation(tmp_path / "old", Task(samples={"a-1": [RIGHT, WRONG, WRONG], "a-2": [WRONG] * 3}))
    new = write_evaluation(tmp_path / "new", Task(samples={"a-1": [RIGHT, RIGHT, WRONG], "a-2": [WRONG] * 3}))
    (flip,) = compared(old, new)["rows"][0]["flips"]
    assert flip["base"]["mean"] == pytest.approx(1 / 3) and flip["new"]["mean"] == pytest.approx(2 / 3)
    assert (flip["base"]["outcome"], flip["new"]["outcome"]) == ("wrong", "right")
    assert "1 of 3 right, one wrong: a-1 is wrong" in spadework("compare", old, new).out


def test_items_that_only_one_run_has_and_unscored_ones_are_counted_and_left_out(tmp_path: Path) -> None:
    failed = {"all-00003": [Outcome.INFRA_ERROR], "all-00004": [Outcome.SCORER_ERROR]}
    old = write_evaluation(tmp_path / "old", Task(samples=answers(40, range(20)) | failed, limit=40))
    new = write_evaluation(tmp_path / "new", Task(samples=answers(45, range(5, 30), start=5), digest="0ther"))
    (row,) = compared(old, new)["rows"]
    assert (row["n_items"], row["unscored"]) == (35, 0)
    assert (row["shared"]["only_base"], row["shared"]["only_new"]) == (5, 10)
    whole = write_evaluation(tmp_path / "whole", Task(samples=answers(40, range(22)), limit=40))
    ran = spadework("compare", old, whole)
    assert "sums, old and whole: 2 items unscored in one of the two." in ran.out
    assert compared(old, whole)["rows"][0]["n_items"] == 38


def test_holm_goes_over_columns_and_subjects_and_categories_are_a_family_of_their_own(tmp_path: Path) -> None:
    runs = []
    for number, (one, two) in enumerate(((20, 20), (26, 21), (29, 30))):
        mixed = answers(30, range(one), category="even") | answers(30, range(one - 3), category="odd")
        tasks = Task(samples=mixed), Task(name="products", samples=answers(60, range(two)))
        runs.append(write_evaluation(tmp_path / f"run{number}", *tasks))
    found = compared(*runs, "--by-category")
    rows, parts = found["rows"], found["categories"]
    assert [(row["column"], row["new"]) for row in rows] == [
        ("sums", "run1"), ("sums", "run2"), ("products", "run1"), ("products", "run2"),
    ]  # fmt: skip
    assert [row["p_holm"] for row in rows] == pytest.approx(holm([row["p"] for row in rows]))
    assert [row["p_holm"] for row in rows] == [row["p_holm"] for row in compared(*runs)["rows"]]
    assert {(part["column"], part["category"]) for part in parts} == {
        ("sums", "even"), ("sums", "odd"), ("products", "all"),
    }  # fmt: skip
    assert [part["p_holm"] for part in parts] == pytest.approx(holm([part["p"] for part in parts]))
    assert found["remarks"][0].endswith("over 4 rows and over the 6 rows of categories by themselves.")
    assert [row["column"] for row in compared(*runs, "--column", "prod*")["rows"]] == ["products", "products"]


def test_a_mean_over_categories_is_compared_as_one(tmp_path: Path) -> None:
    def run(name: str, many: int, few: int) -> Path:
        mixed = answers(90, range(many), category="many") | answers(10, range(few), category="few")
        return write_evaluation(tmp_path / name, Task(samples=mixed, mean="categories"))

    (row,) = compared(run("old", 45, 5), run("new", 45, 8))["rows"]
    assert row["value"] == pytest.approx(0.15) and row["value_new"] == pytest.approx(0.65)


def test_with_three_runs_it_says_who_is_tied_with_the_best(tmp_path: Path) -> None:
    runs = [
        write_evaluation(tmp_path / name, Task(samples=answers(100, range(right))))
        for name, right in (("base", 30), ("good", 70), ("better", 72))
    ]
    (group,) = compared(*runs)["groups"]
    assert group["tied"] == ["better", "good"] and group["behind"] == ["base"]
    assert "sums: better is best at 72.0 % of 100 items; not told apart from it: good (70.0 %)" in (
        spadework("compare", *runs).out
    )
    assert compared(*runs[:2])["groups"] == []


def test_the_reward_can_be_compared_instead_of_the_share_of_right_items(tmp_path: Path) -> None:
    runs = write_runs(tmp_path, rows=["spade", "solve_rate"], seeds=3)
    (row,) = compared(runs / "spade", runs / "solve_rate", "--metric", "reward")["rows"]
    (right,) = compared(runs / "spade", runs / "solve_rate")["rows"]
    assert row["value"] != right["value"] and -1 <= row["low"] < row["value"] < row["high"] <= 1
    assert " points" not in spadework("compare", runs / "spade", runs / "solve_rate", "--metric", "reward").out


def test_methods_are_compared_over_their_seeds_and_one_seed_says_what_it_is_not(tmp_path: Path) -> None:
    runs = write_runs(tmp_path, rows=["base", "spade", "solve_rate"], seeds=4)
    (row,) = compared(runs / "spade", runs / "solve_rate")["rows"]
    assert (row["n_seeds"], row["test"], row["column"]) == (4, "paired t clustered by seed", "held-out")
    many = spadework("compare", runs / "spade", runs / "solve_rate")
    one = spadework("compare", runs / "spade" / "seed0", runs / "solve_rate" / "seed0")
    two = spadework("compare", *(f"{runs}/{row}/seed0,{runs}/{row}/seed1" for row in ("spade", "solve_rate")))
    assert "One seed compares checkpoints, not methods" in one.out and "spade/seed0" in one.out
    assert "Two seeds say little about methods" in two.out
    assert "One seed compares" not in many.out and "Two seeds" not in many.out
    write_summary(runs / "base" / "seed0", "base", 0, "nano", 0)
    (against,) = compared(runs / "base", runs / "spade")["rows"]
    assert against["n_seeds"] == 4 and "base is one checkpoint" in against["shared"]["notes"][0]


def test_seeds_that_only_one_method_has_are_left_out_and_named(tmp_path: Path) -> None:
    runs = write_runs(write_runs(tmp_path, rows=["spade"], seeds=4), rows=["solve_rate"], seeds=3)
    (row,) = compared(runs / "spade", runs / "solve_rate")["rows"]
    assert row["n_seeds"] == 3 and row["shared"]["notes"] == ["spade: seed 3 left out, the other side has none"]


def test_seeds_without_a_common_number_are_paired_in_order_and_it_says_so(tmp_path: Path) -> None:
    runs = write_runs(tmp_path, rows=["spade", "solve_rate"], seeds=5)
    first = ",".join(str(runs / "spade" / f"seed{seed}") for seed in (0, 1))
    second = ",".join(str(runs / "solve_rate" / f"seed{seed}") for seed in (2, 3, 4))
    (row,) = compared(f"one={first}", f"two={second}")["rows"]
    assert row["n_seeds"] == 2
    assert row["shared"]["notes"] == ["no seed in common: the first 2 of each are paired in order"]


def test_one_evaluation_is_set_against_every_seed_of_the_other_side(tmp_path: Path) -> None:
    base = write_evaluation(tmp_path / "base", Task(samples=answers(50, range(20))))
    runs = [write_evaluation(tmp_path / f"n{seed}", Task(samples=answers(50, range(22 + seed)))) for seed in range(3)]
    (row,) = compared(base, f"new={','.join(map(str, runs))}")["rows"]
    assert (row["n_seeds"], row["value"]) == (3, pytest.approx(3 / 50))
    assert row["shared"]["notes"] == ["base is one checkpoint, set against each of the 3 seeds"]


def test_checkpoint_and_mode_choose_the_column_of_training_runs(tmp_path: Path) -> None:
    runs = write_runs(tmp_path, rows=["spade", "solve_rate"], seeds=2)
    pair = runs / "spade", runs / "solve_rate"
    (last,) = compared(*pair, "--mode", "sampled", "--checkpoint", "last")["rows"]
    assert last["column"] == "held-out sampled last"
    named = compared(*pair, "--column", "held-out*")["rows"]
    assert [row["column"] for row in named] == [
        "held-out", "held-out sampled", "held-out last", "held-out sampled last",
    ]  # fmt: skip
    assert named[-1]["value"] == last["value"]


def test_evaluations_joined_by_commas_are_seeds_in_the_order_given(tmp_path: Path) -> None:
    sides = []
    for side, shift in (("old", 0), ("new", 5)):
        runs = [
            write_evaluation(tmp_path / f"{side}{seed}", Task(samples=answers(50, range(seed, 20 + seed + shift))))
            for seed in range(3)
        ]
        sides.append(f"{side}={','.join(map(str, runs))}")
    (row,) = compared(*sides)["rows"]
    assert (row["base"], row["new"], row["n_seeds"], row["value"]) == ("old", "new", 3, pytest.approx(0.1))


def test_markdown_holds_the_same_and_neither_mentions_nor_breaks_anything(tmp_path: Path) -> None:
    nasty = {"x|y-1": [RIGHT], "@you-2": [WRONG], "<b>-3": [RIGHT]}
    old = write_evaluation(tmp_path / "old", Task(samples=nasty))
    new = write_evaluation(tmp_path / "new", Task(samples={item: [WRONG] for item in nasty}))
    text = spadework("compare", old, new, "--format", "md").out
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert {line.replace("\\|", "").count("|") for line in rows if "code" in line} == {5}
    assert "<b>" not in text and "@you-2 |" not in text and "<details>" in text
    assert "* sums: cannot tell new from old" in text


def test_json_goes_to_a_file_beside_the_text_or_alone_to_the_output(example: tuple[Path, Path], tmp_path: Path) -> None:
    ran = spadework("compare", *example, "--json", tmp_path / "found.json")
    found = json.loads((tmp_path / "found.json").read_text())
    assert "new is better than old" in ran.out and found == compared(*example)
    assert found["reference"] == "old" and found["rows"][0]["sentence"] in ran.out
    assert {subject["label"]: subject["columns"]["sums"]["n_items"] for subject in found["subjects"]} == {
        "old": 100, "new": 100,
    }  # fmt: skip


def test_a_comparison_never_judges_by_its_exit_code(example: tuple[Path, Path]) -> None:
    old, new = example
    assert spadework("compare", new, old).code == spadework("compare", old, new).code == 0


def test_a_category_without_a_scored_sample_is_lacking_and_the_exit_code_says_so(tmp_path: Path) -> None:
    whole = answers(20, range(9), category="even") | answers(20, range(9), category="odd")
    broken = whole | {item: [Outcome.INFRA_ERROR] for item in whole if item.startswith("odd")}
    old = write_evaluation(tmp_path / "old", Task(samples=whole))
    new = write_evaluation(tmp_path / "new", Task(samples=broken))
    ran = spadework("compare", old, new, "--by-category")
    assert ran.code == 4 and "sums/odd: not compared" in ran.out
    nothing = write_evaluation(tmp_path / "none", Task(samples={item: [Outcome.INFRA_ERROR] for item in whole}))
    ran = spadework("compare", old, nothing)
    assert ran.code == 4 and "nothing could be compared" in ran.err
