"""How long to wait before another try, and what of an error may be written down."""

from datetime import UTC, datetime
from random import Random

import pytest

from spadework.harness.engines.hiding import LONGEST, told
from spadework.harness.engines.retrying import retry_after, wait_s, worth_another_try

NOW = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)


def test_waits_double_with_jitter_and_never_exceed_the_longest() -> None:
    for tried, base in enumerate((1, 2, 4, 8, 10, 10), start=1):
        waits = [wait_s(tried, None, 10.0, Random(seed)) for seed in range(50)]
        assert all(wait is not None and base / 2 <= wait <= base for wait in waits)
        assert len(set(waits)) == 50


def test_a_servers_wish_is_obeyed_up_to_the_longest_wait() -> None:
    assert wait_s(1, 7.0, 10.0, Random(0)) == 7.0
    assert wait_s(1, 10.5, 10.0, Random(0)) is None
    assert (wait_s(4, 0.0, 10.0, Random(0)) or 0) >= 4


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None), ("", None), ("2", 2.0), ("0.25", 0.25), ("-5", 0.0), ("nan", 0.0), ("soon", None),
        ("Mon, 30 Nov 2026 12:00:30 GMT", 30.0), ("Mon, 30 Nov 2026 11:00:00 GMT", 0.0),
    ],
)  # fmt: skip
def test_retry_after_is_seconds_or_a_date(header: str | None, seconds: float | None) -> None:
    assert retry_after(header, NOW) == seconds


def test_overload_is_worth_another_try_and_refusals_are_not() -> None:
    assert [code for code in (400, 404, 408, 429, 500, 501, 503, 529) if worth_another_try(code)] == [
        429, 500, 503, 529
    ]  # fmt: skip


PROBLEM = "Let n be the least positive integer such that n squared ends in 44"


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("value error: input 'Let n be the least positive integer' is bad", "value error: input '[prompt]' is bad"),
        ("LET N BE THE LEAST, please", "[prompt], please"),
        ("let n be quick", "let n be quick"),
        ("ends in 44", "ends in 44"),
        ("a key=sk-1 b", "a key=*** b"),
        ("two\n  lines", "two lines"),
    ],
)
def test_an_error_is_told_without_key_and_prompt_in_one_line(message: str, shown: str) -> None:
    assert told(message, prompt=[PROBLEM], secrets=["sk-1", ""]) == shown


def test_an_error_is_short_however_long_it_came() -> None:
    assert len(told("x " * 10**6)) <= LONGEST
    assert told("word " * 3000 + PROBLEM, prompt=[PROBLEM]).endswith("...")


def test_a_short_prompt_is_recognised_as_a_whole() -> None:
    assert told("cannot answer Unverwechselbare Frage today", prompt=["Unverwechselbare Frage"]) == (
        "cannot answer [prompt] today"
    )
