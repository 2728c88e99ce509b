"""The items of Reasoning-Gym: which ones, the same ones every time, and those that never end."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
from kept import preset_of

from spadework.harness.benchmark import Preset
from spadework.harness.errors import InputError
from spadework.tasks.reasoning_gym import REASONING_GYM
from spadework.tasks.reasoning_gym_items import LEFT_BEHIND, MAKER, Job, jobs, make, suite

QUICK = ("gcd", "isomorphic_strings", "polynomial_multiplication", "ransom_note", "word_ladder", "decimal_chain_sum")
"""Made at once; all but the first change with the hash seed, or with what was made before."""


def preset(name: str) -> Preset:
    return preset_of(REASONING_GYM, "spadework.tasks.reasoning_gym", name)


def only(found: list[Job], *tasks: str) -> list[Job]:
    return [job for job in found if job.task in tasks]


def test_the_suite_has_a_hundred_tasks_in_four_groups() -> None:
    groups = [config["bucket"] for config in suite().values()]
    assert {name: groups.count(name) for name in set(groups)} == {
        "math": 31, "algorithmic": 36, "cognition": 24, "logic": 9,
    }  # fmt: skip


def test_presets_name_their_items() -> None:
    counts = {name: len(jobs(preset(name))) for name in ("paper-inloop", "paper-offline", "official", "corrected")}
    assert counts == {"paper-inloop": 400, "paper-offline": 800, "official": 5000, "corrected": 784}
    assert all(counts[name] == preset(name).slice["items"] for name in counts)


def test_spades_episodes_are_the_same_indices_for_every_task() -> None:
    found = jobs(preset("paper-offline"))
    assert {tuple(job.index for job in only(found, task)) for task in suite()} == {
        (432, 68, 489, 121, 120, 318, 406, 165),
    }  # fmt: skip
    assert {job.index for job in jobs(preset("paper-inloop"))} == {432, 68, 489, 121}


def test_hashed_seeds_never_meet_whatever_the_seed_of_the_run() -> None:
    """P165: items of seeds s and s + 1 of the package are nearly the same; here no two share one."""
    sums: set[tuple[str, int]] = set()
    chosen = preset("corrected")
    for seed in (42, 43, 0):
        found = jobs(replace(chosen, slice={**chosen.slice, "seed": seed}))
        sums |= {(job.task, job.seed + job.index) for job in found}
    assert len(sums) == 3 * 784


def test_the_tasks_that_pay_for_nothing_are_left_out_of_the_corrected_preset() -> None:
    left_out = set(suite()) - {job.task for job in jobs(preset("corrected"))}
    assert left_out == {"game_of_life_halting", "complex_arithmetic"}
    assert "*/coin_flip" in preset("corrected").exclude


def test_a_slice_that_is_none_is_one_error() -> None:
    chosen = preset("corrected")
    for options in ({"selection": "hashd"}, {"selection": "hashed", "hash_seed": 1}):
        with pytest.raises(InputError):
            jobs(replace(chosen, options=options))


def expected(data: Path) -> Mapping[tuple[str, int], Mapping[str, object]]:
    lines = (data / "reasoning_gym" / "a3_hard_expected.jsonl").read_text().splitlines()
    return {(row["task"], row["index"]): row for row in map(json.loads, lines)}


def test_items_are_those_of_the_table_whatever_this_process_hashes_with(data: Path, tmp_path: Path) -> None:
    pytest.importorskip("reasoning_gym")
    wanted, table = only(jobs(preset("paper-offline")), *QUICK), expected(data)
    for job, item in zip(wanted, make(wanted, tmp_path), strict=True):
        row = table[job.task, job.index]
        assert sha256(item.question.encode()).hexdigest() == row["question_sha256"], job
        assert sha256(repr(item.answer).encode()).hexdigest() == row["answer_sha256"], job


def test_items_are_made_once_and_kept(tmp_path: Path) -> None:
    wanted = only(jobs(preset("corrected")), "gcd")
    made = make(wanted, tmp_path)
    (file,) = tmp_path.iterdir()
    before = file.stat()
    assert make(wanted, tmp_path) == made and file.stat() == before
    file.write_text("[{")
    assert make(wanted, tmp_path) == made, "a damaged file is made anew"
    assert make(only(jobs(preset("corrected")), "lcm"), tmp_path) != made
    assert len(list(tmp_path.iterdir())) == 2


def test_a_folder_that_takes_no_file_costs_the_keeping_alone(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert len(make(only(jobs(preset("corrected")), "gcd"), tmp_path / "file" / "folder")) == 8


def made(job: Job, cpu_s: int, hash_seed: str = "0", digits: int | None = None) -> dict[str, str]:
    asked = {
        "task": job.task, "params": dict(job.params), "seed": job.seed, "size": job.size, "index": job.index,
        "digits": job.digits if digits is None else digits,
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-P", str(MAKER), str(cpu_s), "4096"], input=json.dumps(asked) + "\n", text=True, check=True,
        capture_output=True, env={**os.environ, "PYTHONHASHSEED": hash_seed},
    )  # fmt: skip
    found: dict[str, str] = json.loads(done.stdout)
    return found


def test_an_item_that_never_ends_is_ended() -> None:
    (job,) = [job for job in only(jobs(preset("paper-inloop")), "number_sequence") if job.index == 121]
    assert made(job, 2) == {"error": "not made in 2 s of CPU time"}


def test_an_item_that_cannot_be_made_says_so() -> None:
    job = replace(only(jobs(preset("paper-inloop")), "gcd")[0], params={"no_such_option": 1})
    assert "ended with code" in made(job, 5)["error"]


def test_the_hash_seed_and_the_precision_of_another_task_change_items() -> None:
    """Why both are fixed."""
    (strings, *_) = only(jobs(preset("paper-inloop")), "isomorphic_strings")
    assert made(strings, 9)["question"] != made(strings, 9, hash_seed="1")["question"]
    (_, sums, *_) = only(jobs(preset("paper-inloop")), "decimal_chain_sum")
    assert sums.digits == LEFT_BEHIND["decimal_chain_sum"]
    assert made(sums, 9)["question"] != made(sums, 9, digits=28)["question"]
    assert only(jobs(preset("corrected")), "decimal_chain_sum")[0].digits == 28
