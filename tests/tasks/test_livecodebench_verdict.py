"""Outputs and values against what is wanted: the official comparison, and the one with a tolerance."""

import json

import pytest

from spadework.tasks.livecodebench_verdict import same_output, same_value

OUTPUTS = [
    # written, wanted, official, corrected
    ("3\n", "3", True, True),
    ("  3  \n\n", "3\n", True, True),
    ("a \nb ", "a\nb", True, True),
    ("1\r\n2", "1\n2", True, True),
    ("3.000000", "3.0", True, True),
    ("1e3", "1000", True, True),
    ("2.8", "2.78125", False, False),
    ("0.30000000000000004", "0.3", False, True),
    ("0.3", "0.30000000000000004", False, True),
    ("1 0.50000001", "1 0.5", False, True),
    ("49999999.99999999", "50000000.0", False, True),
    ("50000000000000000", "50000000000000001", False, False),
    ("3.0000001", "3", False, False),
    ("1\n\n2", "1\n2", False, False),
    ("1 2", "1\n2", False, False),
    ("YES", "Yes", False, False),
    ("", "", True, True),
    ("nan", "1.0", False, False),
    ("sNaN", "1", False, False),
    ("inf", "1.5", False, False),
    ("1e999999999", "1.0", False, False),
    ("1" * 5001, "1" * 5001, True, True),
]


@pytest.mark.parametrize(("written", "wanted", "official", "corrected"), OUTPUTS)
def test_an_output(written: str, wanted: str, official: bool, corrected: bool) -> None:
    assert same_output(written, wanted, tolerant=False) is official
    assert same_output(written, wanted, tolerant=True) is corrected


VALUES = [
    ([1, 2], [1, 2], True, True),
    (1, True, True, True),
    (2.0, 2, True, True),
    ([0.1 + 0.2], [0.3], False, True),
    ([[1.0000001]], [[1.0]], False, True),
    ({"a": 1}, {"a": 1}, True, True),
    ({"\0other": "set"}, [1], False, False),
    (None, None, True, True),
    (None, [], False, False),
    ("1", 1, False, False),
    ([1, 2, 3], [1, 2], False, False),
    (True, 1.0, True, True),
    (10**400, 1.0, False, False),
]


@pytest.mark.parametrize(("value", "wanted", "official", "corrected"), VALUES)
def test_a_value(value: object, wanted: object, official: bool, corrected: bool) -> None:
    assert same_value(value, json.dumps(wanted), tolerant=False) is official
    assert same_value(value, json.dumps(wanted), tolerant=True) is corrected
