"""The held-out suites: enough items, none twice, none in both, the same everywhere, and each of them can be won."""

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator

import pytest

from spadework.harness.evaluate import Item
from spadework.harness.sandbox import Sandbox, reset_all, step_all
from spadework.tasks import nano
from spadework.tasks.nano_games import instantiate
from spadework.tasks.nano_reasoning_gym import items as compact_items
from spadework.tasks.nano_world import FAMILIES, HELD_OUT
from spadework.training.nano.dialect import NanoDialect
from spadework.training.organism import resolve
from spadework.training.recipe import load_recipe

SHARE = 0.1
"""Part of the suite of which every item is played."""


@pytest.fixture(scope="module")
def nouns() -> tuple[str, ...]:
    _, dialect = resolve("nano").load("base")
    assert isinstance(dialect, NanoDialect)
    return dialect.nouns


@pytest.fixture(scope="module")
def test_items(nouns: tuple[str, ...]) -> list[Item]:
    return nano.test_suite(nouns)


@pytest.fixture(scope="module")
def validation_items(nouns: tuple[str, ...]) -> list[Item]:
    return nano.validation_suite(nouns)


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as shared:
        yield shared


def content(item: Item) -> tuple[str, str]:
    """What an item is, its class's name aside: the rest of its program, and what the instance shows first."""
    return item.program.source.split("\n", 2)[2], instantiate(item.program.source).reset(item.seed)[0]


def test_the_test_holds_two_thousand_items_of_the_three_categories_and_no_id_twice(test_items: list[Item]) -> None:
    counts = Counter(item.category for item in test_items)
    assert sum(counts.values()) >= 2000 and tuple(counts) == nano.CATEGORIES and min(counts.values()) >= 500
    assert len({item.id for item in test_items}) == len(test_items)


def test_no_item_is_shown_twice_and_none_in_both_suites(test_items: list[Item], validation_items: list[Item]) -> None:
    pairs = [{(item.program.id, item.seed) for item in suite} for suite in (test_items, validation_items)]
    assert pairs[0].isdisjoint(pairs[1])
    contents = Counter(content(item) for item in [*test_items, *validation_items])
    assert [shown for shown, times in contents.items() if times > 1] == []


def test_the_cells_are_the_families_and_levels_that_were_named(
    test_items: list[Item], validation_items: list[Item]
) -> None:
    def cells(items: list[Item]) -> set[tuple[str, ...]]:
        return {tuple(item.id.split("/")[:3]) for item in items if item.category != "rg"}

    def grid(category: str, families: object, levels: tuple[int, ...]) -> set[tuple[str, ...]]:
        assert isinstance(families, dict)
        return {(category, family, str(level)) for family in families for level in levels}

    hard = grid("hard", FAMILIES, nano.HARD_LEVELS)
    assert cells(test_items) == hard | grid("new", HELD_OUT, nano.NEW_LEVELS)
    assert cells(validation_items) == hard | grid("mid", FAMILIES, nano.MID_LEVELS)


def test_validation_items_come_from_many_cells_alike(validation_items: list[Item]) -> None:
    counts = Counter(item.id.rsplit("/", 2)[0] for item in validation_items)
    assert min(counts.values()) >= 3 and len(validation_items) >= 250


def test_a_share_is_the_first_part_of_every_program(nouns: tuple[str, ...], test_items: list[Item]) -> None:
    small, whole = nano.test_suite(nouns, 0.05), [item.id for item in test_items]
    known = {item.id: item for item in test_items}
    assert [item.id for item in small] == sorted((item.id for item in small), key=whole.index)
    assert len(small) < 0.1 * len(whole)
    first = {item.id.rsplit("/", 1)[0] for item in test_items if item.category != "rg"}
    assert {item.id.rsplit("/", 1)[0] for item in small if item.category != "rg"} == first
    assert all(item == known[item.id] for item in small if item.category != "rg")
    assert {item.id.split("/")[1] for item in small} == {item.id.split("/")[1] for item in test_items}


def test_the_compact_items_are_those_of_one_fold(nouns: tuple[str, ...], test_items: list[Item]) -> None:
    expected = compact_items(100, nano.TEST_SEED, frozenset(nouns).__contains__, nano.COMPACT_FOLD)
    assert nano.COMPACT_FOLD == (1, 2)
    assert [item.id for item in test_items if item.category == "rg"] == [f"rg/{item.id}" for item in expected]


def test_compact_items_show_their_own_observation_and_are_won_by_their_plan(
    sandbox: Sandbox, nouns: tuple[str, ...], test_items: list[Item]
) -> None:
    """Also played a wrong action, in a second instance: it ends there, with the share of right ones."""
    every = compact_items(100, nano.TEST_SEED, frozenset(nouns).__contains__, nano.COMPACT_FOLD)
    wanted = {f"rg/{item.id}": item for item in every}
    items = [item for item in test_items if item.category == "rg"][::6]
    processes = {item.program.id: sandbox.open(item.program.source) for item in items}
    for item in items:
        process, expected = processes[item.program.id], wanted[item.id]
        resets = reset_all({process: [(0, item.seed), (1, item.seed)]})[process]
        assert {step.observation for step in resets} == {expected.observation}
        for turn, action in enumerate(expected.plan, start=1):
            last = turn == len(expected.plan)
            actions = [(0, action), (1, "wrong" if last else action)]
            right, other = step_all({process: actions})[process]
            assert (right.reward, right.terminated) == (float(last), last)
        assert (other.reward, other.terminated) == ((turn - 1) / turn, True)


def test_every_item_of_the_world_begins_in_the_sandbox_as_its_template_says(
    sandbox: Sandbox, nouns: tuple[str, ...]
) -> None:
    items = [item for item in nano.test_suite(nouns, SHARE) if item.category != "rg"]
    processes = {item.program.id: sandbox.open(item.program.source) for item in items}
    batch: dict[str, list[Item]] = {}
    for item in items:
        batch.setdefault(item.program.id, []).append(item)
    answers = reset_all({processes[key]: [(n, i.seed) for n, i in enumerate(group)] for key, group in batch.items()})
    for key, group in batch.items():
        shown = [step.observation for step in answers[processes[key]]]
        assert shown == [content(item)[1] for item in group] and len(set(shown)) == len(shown)


def test_a_fresh_process_with_another_hash_seed_makes_the_same_suites(nouns: tuple[str, ...]) -> None:
    code = (
        "import sys; from spadework.tasks.nano import test_suite, validation_suite\n"
        "nouns = sys.stdin.read().split()\n"
        "print([test_suite(nouns, 0.05), validation_suite(nouns)])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input=" ".join(nouns), capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONHASHSEED": "12345"},
    )  # fmt: skip
    here = [nano.test_suite(nouns, 0.05), nano.validation_suite(nouns)]
    assert done.stdout == f"{here}\n"


def test_the_turn_cap_of_an_item_is_that_of_the_designers_programs(test_items: list[Item]) -> None:
    assert {item.program.max_turns for item in test_items} == {load_recipe("nano").designer.max_turns}
