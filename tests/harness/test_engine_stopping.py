"""Stop texts and time limits of the in-process engine, on a tiny random model."""

import time
from typing import Any, Sequence

import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from spadework.harness.engine import LocalEngine
from spadework.harness.stopping import cut, first_stop
from spadework.harness.types import Completion, Finish, Request, Sampling

torch.set_num_threads(1)


@pytest.fixture(scope="module")
def model() -> Any:
    torch.manual_seed(3)
    config = LlamaConfig(
        vocab_size=97, hidden_size=48, intermediate_size=96, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=1024, initializer_range=0.15,
    )  # fmt: skip
    return LlamaForCausalLM(config).eval()


def spelled(ids: Sequence[int]) -> str:
    return " ".join(map(str, ids))


def engine(model: Any) -> LocalEngine:
    return LocalEngine(model, pad_id=0, decode=spelled)


def request(seed: int, *, session: int | None = None, limit: float | None = None, **sampling: Any) -> Request:
    settings = Sampling(**{"max_new_tokens": 120} | sampling)
    return Request(ids=[seed % 97, 5, 9], sampling=settings, seed=seed, session=session, time_limit_s=limit)


def drawn(completion: Completion) -> tuple[object, ...]:
    """Everything but the log-probs, whose last bits depend on the batch."""
    return completion.ids, completion.text, completion.finish, completion.error


def test_the_earliest_stop_text_counts_and_an_empty_one_stops_nothing() -> None:
    assert first_stop("a b c", ("c", "b")) == 2
    assert first_stop("a b c", ("", "d")) is None
    assert cut([1, 2, 3], ("",), spelled) is None
    assert cut([1, 2, 3], (), spelled) is None


def test_a_stop_text_ends_a_completion_at_its_token_and_is_no_part_of_the_text(model: Any) -> None:
    (free,) = engine(model).generate([request(1)])
    stop = f" {free.ids[40]} {free.ids[41]} "
    (stopped,) = engine(model).generate([request(1, stop_texts=("never", stop))])
    assert stopped.finish is Finish.STOP and stop not in stopped.text
    assert stopped.ids == free.ids[: len(stopped.ids)] and len(stopped.ids) == len(stopped.logprobs) <= 43
    assert spelled(stopped.ids).startswith(stopped.text + stop)
    assert stop not in spelled(stopped.ids[:-1])


def test_stopping_by_text_is_the_same_alone_and_in_a_batch(model: Any) -> None:
    free = engine(model).generate([request(seed) for seed in range(12)])
    wanted = [
        request(seed, stop_texts=(f" {one.ids[5 * seed]} ",) if seed % 2 else (), stop=(one.ids[60],))
        for seed, one in enumerate(free)
    ]
    together = engine(model).generate(wanted)
    assert [drawn(one) for one in together] == [drawn(engine(model).generate([alone])[0]) for alone in wanted]
    assert len({len(one.ids) for one in together}) > 4


def test_a_session_that_ended_at_a_text_goes_on_exactly(model: Any) -> None:
    (free,) = engine(model).generate([request(3)])
    sampler = engine(model)
    (first,) = sampler.generate([request(3, session=1, stop_texts=(f" {free.ids[20]} ",))])
    history = [*request(3).ids, *first.ids, 7, 8]
    after = Request(ids=history, sampling=Sampling(temperature=0.0, max_new_tokens=30), seed=4, session=1)
    alone = Request(ids=history, sampling=after.sampling, seed=4)
    assert sampler.generate([after])[0].ids == engine(model).generate([alone])[0].ids


def test_a_request_whose_time_is_over_fails_and_its_siblings_do_not(model: Any) -> None:
    late, whole = request(1, limit=0.0, max_new_tokens=300), request(2, max_new_tokens=40)
    failed, answered = engine(model).generate([late, whole])
    assert failed.finish is Finish.FAILED and "no answer within 0 s" in failed.error
    assert (failed.text, failed.ids, failed.logprobs) == ("", (), ())
    assert drawn(answered) == drawn(engine(model).generate([whole])[0])


def test_a_time_limit_ends_a_long_completion_early(model: Any) -> None:
    started = time.monotonic()
    (failed,) = engine(model).generate([request(1, limit=0.05, max_new_tokens=1000)])
    assert failed.finish is Finish.FAILED
    assert time.monotonic() - started < 5


def test_an_ample_limit_changes_nothing(model: Any) -> None:
    limited: Completion = engine(model).generate([request(1, limit=600.0)])[0]
    assert limited == engine(model).generate([request(1)])[0]
