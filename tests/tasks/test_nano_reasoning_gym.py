"""Compact reasoning-gym items: right by their own words, small, reproducible, and never shared between folds."""

from math import gcd

import pytest

from spadework.harness.errors import InputError
from spadework.tasks.nano_reasoning_gym import LARGEST, RENDERING_WORDS, TASKS, CompactItem, items

VOCABULARY = frozenset(
    "little think people century live past present world day air city great work light life power".split()
)


def known(word: str) -> bool:
    return word in VOCABULARY or (len(word) > 4 and word < "n")


@pytest.fixture(scope="module")
def some() -> list[CompactItem]:
    return items(60, 0, known)


def of(some: list[CompactItem], task: str) -> list[tuple[list[str], tuple[str, ...]]]:
    return [(item.observation.split(), item.plan) for item in some if item.task == task]


def test_every_task_gives_the_number_of_items_asked_for_and_no_item_twice(some: list[CompactItem]) -> None:
    assert [item.task for item in some] == [task for task in TASKS for _ in range(60)]
    assert len({item.id for item in some}) == len({item.observation for item in some}) == len(some)


def test_every_token_is_a_small_number_a_known_word_or_a_rendering_word(some: list[CompactItem]) -> None:
    for item in some:
        for token in (*item.observation.split(), *item.plan):
            assert int(token) <= LARGEST if token.isdecimal() else known(token) or token in RENDERING_WORDS


def test_sums_and_common_divisors_are_right(some: list[CompactItem]) -> None:
    assert all(plan == (str(sum(map(int, words[1:]))),) for words, plan in of(some, "chain_sum"))
    assert all(plan == (str(gcd(*map(int, words[1:]))),) for words, plan in of(some, "gcd"))
    assert all(plan != ("1",) for _, plan in of(some, "gcd"))


def test_sorted_numbers_go_the_way_the_last_word_says(some: list[CompactItem]) -> None:
    for words, plan in of(some, "number_sorting"):
        assert list(map(int, plan)) == sorted(map(int, words[1:-1]), reverse=words[-1] == "high")
    assert {words[-1] for words, _ in of(some, "number_sorting")} == {"low", "high"}


def test_filtered_numbers_are_those_on_the_named_side_in_their_order(some: list[CompactItem]) -> None:
    for words, plan in of(some, "number_filtering"):
        bound, above = int(words[-1]), words[-2] == "above"
        assert list(map(int, plan)) == [n for n in map(int, words[1:-2]) if (n > bound) == above and n != bound]
        assert plan
    assert {words[-2] for words, _ in of(some, "number_filtering")} == {"above", "below"}


def test_words_come_back_reversed(some: list[CompactItem]) -> None:
    for words, plan in of(some, "word_sequence_reversal"):
        assert plan == tuple(reversed(words[1:-1])) and 3 <= len(plan) <= 5
        assert not set(plan).intersection(RENDERING_WORDS)


def test_sequences_ask_for_one_next_term(some: list[CompactItem]) -> None:
    for words, plan in of(some, "number_sequence"):
        assert len(plan) == 1 and 4 <= len(words) - 1 <= 5
        steps = {int(b) - int(a) for a, b in zip(words[1:], [*words[2:], *plan], strict=True)}
        assert steps != {0}


def test_actions_are_compared_exactly_after_strip() -> None:
    item = CompactItem(id="t/1", task="t", observation="take 9 3 low", plan=("3", "9"), reply="next")
    assert item.right(0, " 3\n") and item.right(1, "9")
    assert not any(item.right(0, wrong) for wrong in ("9", "03", "3.0", "3 9", "", "[3]", "__import__('os')"))


def test_the_same_seed_gives_the_same_items_and_another_seed_others(some: list[CompactItem]) -> None:
    assert items(60, 0, known) == some
    other = {item.observation for item in items(60, 1, known)}
    shared = other.intersection(item.observation for item in some)
    assert len(shared) < 0.2 * len(some)


def test_folds_never_share_an_item_whatever_the_seeds() -> None:
    def contents(seed: int, fold: tuple[int, int]) -> set[tuple[str, ...]]:
        return {tuple(sorted(item.observation.split())) for item in items(150, seed, known, fold)}

    assert contents(0, (0, 2)).isdisjoint(contents(1, (1, 2)))
    with pytest.raises(InputError, match="fold 2 of 2"):
        items(1, 0, known, (2, 2))


def test_too_few_words_or_items_are_an_error() -> None:
    with pytest.raises(InputError, match="larger vocabulary"):
        items(1, 0, lambda word: word == "people")
    with pytest.raises(InputError, match="gcd has only .* ask for fewer"):
        items(200, 0, known, (0, 20))
