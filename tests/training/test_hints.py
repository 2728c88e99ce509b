"""The leak check with real sandbox processes."""

from collections.abc import Iterator

import pytest

from spadework.harness.sandbox import Sandbox
from spadework.harness.seeds import text_id
from spadework.harness.types import Program
from spadework.training.hints import LeakReason, LeakVerdict, check_hints, instance_values, spoken

ORDER = """
import random
class OrderEnv:
    words = "fox hen oak elm".split()
    def reset(self, seed):
        q = random.Random(seed).sample(self.words, 3)
        self.plan, self.i = PLAN, 0
        return f"use {' '.join(q)} room {seed % 89 + 100}", {}
    def step(self, action):
        ok = action == self.plan[self.i]
        self.i += ok
        end = not ok or self.i == len(self.plan)
        return "then", self.i / len(self.plan) if end else 0, end, False, {}
"""
VARYING = ORDER.replace("PLAN", "q[::-1]")
FIXED = ORDER.replace("PLAN", "['elm', 'fox', 'oak']")
SHORT = ORDER.replace("PLAN", "['elm', 'fox']")


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as shared:
        yield shared


def program(source: str, hint: str | None) -> Program:
    return Program(id=text_id(source), source=source, skill="logic", hint=hint, max_turns=6)


def check(sandbox: Sandbox, source: str, hint: str | None) -> LeakVerdict:
    (verdict,) = check_hints([program(source, hint)], sandbox, seed=1)
    return verdict


def test_a_hint_that_says_how_is_accepted(sandbox: Sandbox) -> None:
    verdict = check(sandbox, VARYING, "Take the last one first, then backwards.")
    assert verdict == LeakVerdict(reason=None, win_share=0.0, short_wins=0) and not verdict.leaks


def test_a_hint_whose_words_win_is_a_leak(sandbox: Sandbox) -> None:
    verdict = check(sandbox, FIXED, "elm, fox, oak.")
    assert verdict.reason is LeakReason.WORDS_WIN and verdict.leaks
    assert verdict.win_share == 1.0 and verdict.short_wins == 0


def test_words_that_win_now_and_then_are_no_leak(sandbox: Sandbox) -> None:
    verdict = check(sandbox, VARYING, "elm oak hen")
    assert verdict.win_share <= 0.2 and verdict.reason is None


def test_wins_in_fewer_than_three_actions_are_set_aside_and_counted(sandbox: Sandbox) -> None:
    verdict = check(sandbox, SHORT, "elm fox")
    assert verdict.reason is None and verdict.win_share == 0.0 and verdict.short_wins == 16


def test_a_value_of_one_instance_is_a_leak(sandbox: Sandbox) -> None:
    verdict = check(sandbox, VARYING, "in room 101, 102, 103, 120, 133, 140, 150, 160, 170, 177 to 188 go backwards")
    if not verdict.values:
        pytest.fail("none of the room numbers was met; choose others")
    assert verdict.reason is LeakReason.INSTANCE_VALUE and verdict.leaks


def test_the_programs_own_words_are_no_instance_values(sandbox: Sandbox) -> None:
    assert check(sandbox, VARYING, "fox and hen and oak are said backwards").values == ()


def test_a_value_shown_by_every_instance_is_none() -> None:
    assert instance_values("go 7 or 8", "x = 1", ["at 7 go 8", "at 7 go 9"]) == ("8",)
    assert instance_values("go 7 or 8", "x = 8", ["at 7 go 8", "at 7 go 9"]) == ()
    assert instance_values("go 2.5", "x = 2", ["at 2.5", "at 3.5"]) == ("2.5",)


def test_words_are_played_without_the_punctuation_around_them() -> None:
    assert spoken('First "left", then (up) - done.') == ["First", "left", "then", "up", "done"]


@pytest.mark.parametrize("hint", [None, "", " ... "])
def test_no_words_are_no_hint(sandbox: Sandbox, hint: str | None) -> None:
    verdict = check(sandbox, FIXED, hint)
    assert verdict.reason is LeakReason.NO_HINT and not verdict.leaks


def test_a_program_that_fails_gives_no_verdict_on_its_hint(sandbox: Sandbox) -> None:
    verdict = check(sandbox, FIXED.replace("ok = action", '1 / (action != "elm"); ok = action'), "elm fox oak")
    assert verdict.reason is LeakReason.PROGRAM_FAILED and not verdict.leaks and verdict.detail


def test_many_hints_are_checked_at_once_and_alike(sandbox: Sandbox) -> None:
    programs = [program(FIXED, "elm fox oak"), program(VARYING, "backwards"), program(FIXED, "in order")]
    together = check_hints(programs, sandbox, seed=1)
    assert [verdict.reason for verdict in together] == [LeakReason.WORDS_WIN, None, None]
    assert together == [check(sandbox, one.source, one.hint) for one in programs]
    assert check_hints([], sandbox, seed=1) == []
