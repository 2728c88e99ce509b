"""Which items, which samples, which seeds: by hashes, whatever the order of a file."""

import pytest

from spadework.harness.benchmark import TaskItem
from spadework.harness.errors import InputError
from spadework.harness.evaluation.due import chunks, items_digest, picked, still_due


def items(count: int, groups: int = 4) -> list[TaskItem]:
    return [
        TaskItem(id=f"item{number}", category=f"group{number % groups}/part{number % 7}", gold="g", payload=None)
        for number in range(count)
    ]


def test_a_limit_takes_every_group_in_turn_and_not_the_head_of_the_file() -> None:
    """Case P213: the first items of a file are not a sample of it."""
    chosen = picked(items(200), 20)
    assert [sum(item.category.startswith(f"group{n}") for item in chosen) for n in range(4)] == [5, 5, 5, 5]
    assert {item.id for item in chosen} != {f"item{number}" for number in range(20)}
    assert [item.id for item in chosen] == [item.id for item in items(200) if item in chosen]


def test_a_larger_limit_only_adds_items_and_the_order_of_the_file_changes_nothing() -> None:
    few, many = ({item.id for item in picked(items(200), limit)} for limit in (20, 50))
    assert few < many
    assert {item.id for item in picked(items(200)[::-1], 20)} == few


def test_a_limit_beyond_the_items_is_all_of_them() -> None:
    assert picked(items(5), 20) == picked(items(5), None) == items(5)


def test_seeds_differ_between_neighbours_and_are_the_same_at_every_call() -> None:
    """Cases L230 and P180 of their kind: neighbouring run seeds share no sample seed."""
    seeds = [{one.seed for one in still_due("b", items(50), 4, seed, ())} for seed in (0, 1, 2)]
    assert all(len(one) == 200 for one in seeds) and not seeds[0] & seeds[1] and not seeds[1] & seeds[2]
    assert still_due("b", items(50), 4, 0, ()) == still_due("b", items(50), 4, 0, ())
    assert not {one.seed for one in still_due("c", items(50), 4, 0, ())} & seeds[0]


def test_what_is_done_is_not_due_and_every_item_comes_once_before_any_comes_twice() -> None:
    due = still_due("b", items(3), 2, 0, {("item1", 0), ("item2", 1)})
    assert [(one.item.id, one.repeat) for one in due] == [("item0", 0), ("item2", 0), ("item0", 1), ("item1", 1)]
    assert [len(piece) for piece in chunks(due, 3)] == [3, 1]


def test_changed_items_have_another_digest_and_a_double_id_is_refused() -> None:
    changed = [*items(2), TaskItem(id="item2", category="group2/part2", gold="other", payload=None)]
    assert items_digest(items(3)) != items_digest(changed)
    with pytest.raises(InputError, match="item1"):
        items_digest([*items(2), items(2)[1]])
