"""The comparison of two engines, on scripted ones and on two tiny models."""

from dataclasses import replace
from pathlib import Path
from typing import Sequence

import pytest
import torch

from spadework.harness.engines.agreement import CLOSE, Named, Reference, compare, greedy, parting, shipped, table
from spadework.harness.engines.opening import open_model
from spadework.harness.errors import SpadeworkError
from spadework.harness.scripted import ScriptedChat, ScriptedModel
from spadework.harness.types import Completion, Finish, Message, Request, Sampling

from . import tiny_folder

torch.set_num_threads(1)
REQUESTS = [Request(ids=[at], sampling=Sampling(temperature=0.0), seed=0) for at in range(20)]
NAMED = [Named("odd" if at % 2 else "even", f"item {at}", request) for at, request in enumerate(REQUESTS)]
NO_ROOM = Completion(ids=(), logprobs=(), text="", finish=Finish.CONTEXT, error="no room")


def drawing(*, other_at: int | None = None) -> ScriptedModel:
    """Draws 5, 6, 7; for one prompt the middle token is another."""
    return ScriptedModel(lambda asked: [5, 9 if asked.ids[0] == other_at else 6, 7], lambda ids: "")


def undecided(request: Request, drawn: Sequence[int]) -> float:
    assert list(drawn) == [5]
    return CLOSE / 2


def test_engines_that_draw_the_same_agree() -> None:
    found = compare(drawing(), drawing(), REQUESTS, undecided)
    assert (found.equal, found.compared, found.tokens, found.holds) == (20, 20, 60, True)


def test_a_difference_is_listed_and_holds_only_where_the_model_was_undecided() -> None:
    found = compare(drawing(), drawing(other_at=3), REQUESTS, undecided)
    (one,) = found.differences
    assert (one.prompt, one.at, one.first, one.second) == (3, 1, 6, 9)
    told = table(found, NAMED)
    assert found.holds and "odd 'item 3', token 1: 6 against 9, best two log-probs 5.00e-04 apart: undecided" in told
    assert "  odd: 9 of 10\n" in told and "  even: 10 of 10\n" in told
    decided = compare(drawing(), drawing(other_at=3), REQUESTS, lambda request, drawn: 0.5)
    assert not decided.holds and "5.00e-01 apart: NOT EXPLAINED" in table(decided, NAMED)


def test_too_many_differences_do_not_hold_however_close() -> None:
    assert not compare(drawing(), drawing(other_at=3), REQUESTS[:8], undecided).holds


def test_a_prompt_longer_than_the_context_is_told_and_counts_for_nothing() -> None:
    def full(asked: Request) -> Completion:
        return NO_ROOM if asked.ids[0] % 2 else Completion(ids=(5,), logprobs=(0.0,), text="", finish=Finish.STOP)

    found = compare(ScriptedChat(full), ScriptedChat(full), REQUESTS, undecided)
    assert (found.equal, found.compared, found.tokens, len(found.no_room), found.holds) == (10, 10, 10, 10, True)
    assert "10 prompts are longer than the context" in table(found, NAMED) and "odd" not in table(found, NAMED)
    nothing = ScriptedChat(lambda asked: NO_ROOM)
    assert not compare(nothing, nothing, REQUESTS, undecided).holds


def test_what_is_compared_is_drawn_without_chance_and_ends_as_the_task_wants() -> None:
    (one,) = shipped(["hello"])
    wanted = Sampling(temperature=0.7, top_p=0.5, top_k=3, max_new_tokens=9000, stop_texts=("END",))
    asked = greedy(one._replace(request=replace(one.request, sampling=wanted)), 64).request
    assert asked.sampling == Sampling(temperature=0.0, max_new_tokens=64, stop_texts=("END",))
    assert asked.messages == one.request.messages


def test_a_completion_that_goes_on_where_the_other_ends_parts_there() -> None:
    assert parting([1, 2], [1, 2]) is None
    assert parting([1, 2], [1, 2, 3]) == 2
    assert parting([1, 4], [1, 2, 3]) == 1


def test_a_request_that_was_not_answered_is_no_agreement() -> None:
    failed = Completion(ids=(), logprobs=(), text="", finish=Finish.FAILED, error="the server is gone")
    with pytest.raises(SpadeworkError, match="20 of 20 requests were not answered, .* the server is gone"):
        compare(drawing(), ScriptedChat(lambda asked: failed), REQUESTS, undecided)


def test_the_reference_is_the_models_own_forward(tmp_path: Path) -> None:
    folder = str(tiny_folder.write(tmp_path))
    greedy = Sampling(temperature=0.0, max_new_tokens=6)
    request = Request(messages=(Message(role="user", content="Hi"),), sampling=greedy, seed=0)
    with open_model(folder) as model:
        (drawn,) = model.model.generate([request])
    gap = Reference(folder)
    assert gap(request, ()) > 0 and gap(request, drawn.ids[:3]) > 0
    network = Reference(folder)
    network(request, ())
    prompt = tiny_folder.tokenizer().encode("<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n")
    with torch.inference_mode():
        logits = network._network(torch.tensor([prompt])).logits[0, -1]
    best = logits.log_softmax(-1).sort(descending=True)
    assert int(best.indices[0]) == drawn.ids[0]
    assert gap(request, ()) == pytest.approx(float(best.values[0] - best.values[1]), abs=1e-6)
