"""Easy reasoning-gym tasks as programs: same each time, right answers win, and folds share nothing."""

from ast import literal_eval
from collections.abc import Iterator

import pytest

from spadework.harness.errors import InputError
from spadework.harness.sandbox import Sandbox, ValidationSettings, ValidEnvironment, validate
from spadework.tasks.reasoning_gym_programs import MIXTURES, Fold, programs, suite


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as shared:
        yield shared


def questions(fold: Fold) -> set[str]:
    """Every question that stands in a program of the fold."""
    rows = [line for program in programs("easy", 30, fold) for line in program.source.splitlines()]
    return {line for line in rows if line.startswith('    ("')}


def test_the_same_programs_come_each_time_and_hold_different_items() -> None:
    first, again = (programs("easy", 20, Fold(index=0, parts=3)) for _ in range(2))
    assert [one.id for one in first] == [one.id for one in again]
    assert [one.meta["task"] for one in first] == list(MIXTURES["easy"])
    for program in first:
        rows = [line for line in program.source.splitlines() if line.startswith('    ("')]
        assert len(set(rows)) == len(rows) == program.meta["items"]


def test_folds_share_no_question() -> None:
    parts = [questions(Fold(index=index, parts=3)) for index in range(3)]
    assert all(parts) and not (parts[0] & parts[1] or parts[1] & parts[2] or parts[0] & parts[2])


def test_every_program_is_a_valid_environment_that_nobody_wins_by_saying_nothing(sandbox: Sandbox) -> None:
    made = programs("easy", 40, Fold(index=0, parts=3))
    verdicts = validate([one.source for one in made], sandbox, ValidationSettings(max_turns=1))
    assert all(isinstance(verdict, ValidEnvironment) for verdict in verdicts), verdicts


def test_the_answer_wins_in_any_case_and_a_wrong_one_does_not(sandbox: Sandbox) -> None:
    for program in programs("easy", 10, Fold(index=1, parts=3)):
        table = program.source.partition("ITEMS = ")[2].partition("\n\n\ndef")[0]
        items = literal_eval(table)
        process = sandbox.open(program.source)
        process.reset([(number, number) for number in range(len(items))])
        right = [(number, f" {answer.upper()}. ") for number, (_, answer) in enumerate(items)]
        assert all(step.reward == 1.0 and step.terminated for step in process.step(right))
        process.reset([(number, number) for number in range(len(items))])
        wrong = [(number, f"not {answer}") for number, (_, answer) in enumerate(items)]
        assert not any(step.reward for step in process.step(wrong))
        process.close()


def test_a_suite_is_one_item_a_question() -> None:
    items = suite("easy", 5, Fold(index=2, parts=3))
    assert len({item.id for item in items}) == len(items) == 5 * len(MIXTURES["easy"])
    assert {item.category for item in items} == set(MIXTURES["easy"])


def test_a_mixture_or_fold_that_is_none_is_refused() -> None:
    with pytest.raises(InputError, match="easy"):
        programs("eazy", 5, Fold(index=0, parts=3))
    with pytest.raises(InputError, match="fold 3 of 3"):
        Fold(index=3, parts=3)
