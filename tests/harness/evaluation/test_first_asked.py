"""What benchmarks ask first, heard by a model that answers nothing."""

from pathlib import Path

import pytest

from spadework.harness.errors import IncompleteError, InputError
from spadework.harness.evaluation.first_asked import asked_first
from spadework.harness.evaluation.plan import Wish


def test_the_first_request_of_every_item_comes_with_its_task() -> None:
    asked = asked_first(Wish(tasks=["arithmetic:SUMS", "arithmetic:SECRET"], limit=["6", "arithmetic:SECRET=4"]))
    assert [one.task for one in asked] == ["arithmetic"] * 6 + ["secret"] * 4
    assert len({(one.task, one.item) for one in asked}) == 10 == len({one.request.seed for one in asked})
    assert all(one.request.messages[-1].role == "user" for one in asked)


def test_a_conversation_is_asked_for_its_first_turn_only() -> None:
    asked = asked_first(Wish(tasks=["nano"], presets=["validation"], limit=["12"]))
    assert len(asked) == 12
    assert all(message.role != "assistant" for one in asked for message in one.request.messages)


def test_a_task_that_cannot_be_loaded_or_asks_nothing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="sums.txt"):
        asked_first(Wish(tasks=["arithmetic:SUMS"], data=[str(tmp_path)]))
    with pytest.raises(IncompleteError, match="asked nothing for 1 of 3 items"):
        asked_first(Wish(tasks=["faulty:SWALLOWS"], limit=["3"]))
