"""The in-process engine against transformers' own full forward, on tiny random models."""

import random
from typing import Any, Sequence

import pytest
import torch
from torch import Tensor
from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM, Qwen3Config, Qwen3ForCausalLM

from spadework.harness import decode_llama
from spadework.harness.decode_hub import HubDecoder
from spadework.harness.decode_llama import LlamaDecoder, serves
from spadework.harness.engine import LocalEngine, batches
from spadework.harness.errors import InputError, TrainingStopped
from spadework.harness.types import Completion, Finish, Request, Sampling

torch.set_num_threads(1)
VOCABULARY = 97


def llama(**changes: Any) -> Any:
    torch.manual_seed(3)
    settings: dict[str, Any] = {
        "vocab_size": VOCABULARY,
        "hidden_size": 48,
        "intermediate_size": 96,
        "num_hidden_layers": 3,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 256,
        "tie_word_embeddings": True,
        "initializer_range": 0.15,
    }
    return with_random_norms(LlamaForCausalLM(LlamaConfig(**settings | changes)))


def with_random_norms(model: Any) -> Any:
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if "norm" in name:
                weight.uniform_(0.5, 1.5)
    return model.eval()


def qwen() -> Any:
    torch.manual_seed(4)
    return with_random_norms(
        Qwen3ForCausalLM(
            Qwen3Config(
                vocab_size=VOCABULARY,
                hidden_size=48,
                intermediate_size=96,
                num_hidden_layers=2,
                num_attention_heads=4,
                num_key_value_heads=2,
                head_dim=16,
                max_position_embeddings=256,
                initializer_range=0.15,
            )
        )
    )


def gpt2() -> Any:
    torch.manual_seed(5)
    config = GPT2Config(
        vocab_size=VOCABULARY, n_embd=48, n_layer=2, n_head=4, n_positions=256, bos_token_id=0, eos_token_id=0
    )
    return GPT2LMHeadModel(config).eval()


def engine(model: Any, **options: Any) -> LocalEngine:
    return LocalEngine(model, pad_id=0, decode=lambda ids: " ".join(map(str, ids)), **options)


def prompts(count: int, low: int = 1, high: int = 40, seed: int = 0) -> list[list[int]]:
    rng = random.Random(seed)
    return [[rng.randrange(VOCABULARY) for _ in range(rng.randint(low, high))] for _ in range(count)]


def full_logits(model: Any, request: Request, completion: Completion) -> Tensor:
    """transformers' logits before each token of the completion, from one uncached forward of one row."""
    ids = torch.tensor([[*request.ids, *completion.ids]])
    with torch.no_grad():
        logits: Tensor = model(ids).logits[0, len(request.ids) - 1 : -1].float()
    return logits


def assert_exact(model: Any, requests: Sequence[Request], answers: Sequence[Completion], tolerance: float) -> None:
    for request, answer in zip(requests, answers):
        logits = full_logits(model, request, answer)
        chosen = torch.tensor(answer.ids)[:, None]
        expected = (logits / (request.sampling.temperature or 1.0)).log_softmax(-1).gather(1, chosen)[:, 0]
        torch.testing.assert_close(torch.tensor(answer.logprobs), expected, atol=tolerance, rtol=0)
        if request.sampling.temperature == 0:
            assert list(answer.ids) == logits.argmax(-1).tolist()


def play_turns(model: Any, sampler: LocalEngine, *, turns: int, tolerance: float) -> None:
    """Ragged episodes with ragged replies: each turn must equal the uncached forward over the whole history."""
    rng = random.Random(1)
    histories = prompts(40)
    for _turn in range(turns):
        requests = [
            Request(
                ids=history,
                sampling=Sampling(
                    temperature=(0.0, 1.0, 0.7)[row % 3], max_new_tokens=1 + (7 * row) % 23, stop=(row % 5, 11)
                ),
                seed=row,
                session=row,
            )
            for row, history in enumerate(histories)
        ]
        rng.shuffle(requests)
        answers = sampler.generate(requests)
        assert_exact(model, requests, answers, tolerance)
        for request, answer in zip(requests, answers):
            assert request.session is not None
            reply = [rng.randrange(VOCABULARY) for _ in range(rng.choice((0, 1, 2, 17)))]
            histories[request.session] = [*request.ids, *answer.ids, *reply]


@pytest.mark.parametrize("heads", [1, 2, 4])
def test_ragged_sessions_of_many_turns_equal_the_full_forward(heads: int) -> None:
    model = llama(num_key_value_heads=heads)
    play_turns(model, engine(model), turns=4, tolerance=1e-5)


def test_llama3_angles_untied_head_and_other_head_width_are_exact() -> None:
    rope = {
        "rope_type": "llama3",
        "rope_theta": 10000.0,
        "factor": 4.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 64,
    }
    model = llama(rope_parameters=rope, tie_word_embeddings=False, head_dim=20)
    assert serves(model)
    play_turns(model, engine(model), turns=2, tolerance=1e-5)


def test_bfloat16_stays_near_its_own_full_forward() -> None:
    model = llama().to(torch.bfloat16)
    requests = [Request(ids=ids, sampling=Sampling(max_new_tokens=8), seed=7) for ids in prompts(8)]
    assert_exact(model, requests, engine(model).generate(requests), tolerance=0.15)


def test_attention_biases_are_exact_on_the_fast_path() -> None:
    model = llama(attention_bias=True)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "bias" in name:
                parameter.normal_(0.0, 0.5)
    assert serves(model)
    play_turns(model, engine(model), turns=3, tolerance=1e-5)


@pytest.mark.parametrize("make", [qwen, gpt2, lambda: llama(mlp_bias=True)])
def test_other_architectures_go_through_their_own_forward_exactly(make: Any) -> None:
    model = make()
    assert not serves(model)
    play_turns(model, engine(model), turns=2, tolerance=1e-5)


def test_both_decoders_give_the_same_logits() -> None:
    model = llama()
    histories = sorted(prompts(6), key=len, reverse=True)
    own, hub = LlamaDecoder(model, 0), HubDecoder(model, 0)
    with torch.inference_mode():
        torch.testing.assert_close(own.open(histories, [None] * 6), hub.open(histories, [None] * 6), atol=2e-5, rtol=0)
        for step in range(5):
            if step == 3:
                own.keep(torch.tensor([1, 4]))
                hub.keep(torch.tensor([1, 4]))
            tokens = torch.arange(6 if step < 3 else 2) + step
            torch.testing.assert_close(own.step(tokens), hub.step(tokens), atol=2e-5, rtol=0)


def test_a_completion_is_the_same_alone_and_in_a_batch() -> None:
    model = llama()
    requests = [
        Request(
            ids=ids,
            sampling=Sampling(
                temperature=(1.0, 0.8, 0.0, 1.3)[row % 4],
                top_p=(1.0, 0.9)[row % 2],
                top_k=(0, 0, 20)[row % 3],
                max_new_tokens=5 + row % 30,
                stop=(3,),
            ),
            seed=1000 + row,
        )
        for row, ids in enumerate(prompts(64))
    ]
    together = engine(model).generate(requests)
    assert [engine(model).generate([request])[0].ids for request in requests] == [answer.ids for answer in together]
    assert [a.ids for a in engine(model, max_rows=7).generate(requests)] == [answer.ids for answer in together]
    assert engine(model).generate(requests) == together


def test_equal_prompts_share_their_forward_and_differ_by_seed_alone() -> None:
    model = llama()
    requests = [Request(ids=[5, 6, 7], sampling=Sampling(max_new_tokens=12), seed=row % 8) for row in range(16)]
    answers = engine(model).generate(requests)
    assert answers[:8] == answers[8:]
    assert len({answer.ids for answer in answers}) == 8
    assert_exact(model, requests, answers, tolerance=1e-5)


def test_a_known_prefix_is_not_forwarded_again() -> None:
    model = llama()
    decoder, history = LlamaDecoder(model, 0), prompts(1, 30, 30)[0]
    with torch.inference_mode():
        decoder.open([history], [None])
        decoder.step(torch.tensor([5]))
        cache = decoder.cache(0, 31)
        continued = decoder.open([[*history, 5, 6, 7]], [cache])
        assert decoder.prefilled == 30 + 2
        fresh = LlamaDecoder(model, 0).open([[*history, 5, 6, 7]], [None])
    torch.testing.assert_close(continued, fresh, atol=1e-5, rtol=0)


def test_a_session_whose_history_changed_or_was_dropped_is_computed_anew() -> None:
    model, history = llama(), prompts(1, 30, 30)[0]
    for sampler in (engine(model), engine(model, session_mb=0)):
        for ids in (history, history, [1, *history[1:]], history[:12], history[:1]):
            request = Request(ids=ids, sampling=Sampling(max_new_tokens=4), seed=1, session=9)
            assert_exact(model, [request], sampler.generate([request]), tolerance=1e-5)


def test_dropout_is_off_while_drawing_and_the_mode_is_given_back() -> None:
    model = gpt2()
    request = Request(ids=[1, 2, 3], sampling=Sampling(max_new_tokens=8), seed=1)
    expected = engine(model).generate([request])
    model.train()
    assert engine(model).generate([request]) == expected
    assert model.training


def test_weights_that_are_not_numbers_stop_the_run() -> None:
    model = llama()
    with torch.no_grad():
        model.model.norm.weight.fill_(float("nan"))
    for temperature in (0.0, 1.0):
        sampling = Sampling(temperature=temperature, max_new_tokens=2)
        with pytest.raises(TrainingStopped, match="not numbers"):
            engine(model).generate([Request(ids=[1], sampling=sampling, seed=1)])


def test_long_completions_outgrow_the_first_reservation_exactly() -> None:
    model = llama()
    requests = [
        Request(ids=ids, sampling=Sampling(max_new_tokens=decode_llama._GROW * 2 + 10 * row), seed=row, session=row)
        for row, ids in enumerate(prompts(4))
    ]
    assert_exact(model, requests, engine(model).generate(requests), tolerance=2e-5)


def test_the_stop_token_ends_a_completion_and_belongs_to_it() -> None:
    model, ids = llama(), [4, 8]
    sampling = Sampling(max_new_tokens=40)
    free = engine(model).generate([Request(ids=ids, sampling=sampling, seed=2)])[0]
    stop = free.ids[9]
    stopped = engine(model).generate([Request(ids=ids, sampling=Sampling(max_new_tokens=40, stop=(96, stop)), seed=2)])[
        0
    ]
    end = free.ids.index(stop) + 1
    assert (free.finish, stopped.finish) == (Finish.LENGTH, Finish.STOP)
    assert stopped.ids == free.ids[:end]
    assert stopped.logprobs == pytest.approx(free.logprobs[:end], abs=1e-6)
    assert stopped.text == " ".join(map(str, stopped.ids))
    assert len(free.ids) == 40


def test_truncated_sampling_never_leaves_its_set_and_reports_untruncated_logprobs() -> None:
    model, prompt = llama(), [3, 1, 4]
    with torch.no_grad():
        probabilities = (model(torch.tensor([prompt])).logits[0, -1].float() / 0.9).softmax(-1)
    ordered = probabilities.argsort(descending=True)
    nucleus = int((probabilities[ordered].cumsum(0) < 0.6).sum()) + 1
    for sampling, allowed in (
        (Sampling(temperature=0.9, top_k=5, max_new_tokens=1), ordered[:5]),
        (Sampling(temperature=0.9, top_p=0.6, max_new_tokens=1), ordered[:nucleus]),
        (Sampling(temperature=0.9, top_p=1e-6, max_new_tokens=1), ordered[:1]),
    ):
        answers = engine(model).generate([Request(ids=prompt, sampling=sampling, seed=seed) for seed in range(400)])
        drawn = {answer.ids[0] for answer in answers}
        assert drawn <= set(allowed.tolist())
        assert len(drawn) > len(allowed) // 2
        for answer in answers:
            assert answer.logprobs[0] == pytest.approx(float(probabilities[answer.ids[0]].log()), abs=1e-5)


def test_draws_follow_the_distribution() -> None:
    model, prompt, count = llama(), [3, 1, 4], 4000
    with torch.no_grad():
        expected = model(torch.tensor([prompt])).logits[0, -1].float().softmax(-1) * count
    requests = [Request(ids=prompt, sampling=Sampling(max_new_tokens=1), seed=seed) for seed in range(count)]
    drawn = torch.tensor([answer.ids[0] for answer in engine(model, max_rows=4000).generate(requests)])
    observed = torch.bincount(drawn, minlength=VOCABULARY).float()
    likely = expected > 5
    chi_square = float(((observed - expected) ** 2 / expected)[likely].sum())
    assert chi_square < int(likely.sum()) + 4 * (2 * int(likely.sum())) ** 0.5


@pytest.mark.parametrize("make", [llama, qwen])
def test_new_weights_are_seen_after_forget(make: Any) -> None:
    model = make()
    sampler = engine(model)
    request = Request(ids=[9, 8, 7, 6], sampling=Sampling(max_new_tokens=6), seed=5, session=1)
    before = sampler.generate([request])[0]
    for parameter in model.parameters():
        parameter.data.mul_(1.2)
    sampler.forget()
    after = sampler.generate([request])[0]
    assert after.logprobs != before.logprobs
    assert_exact(model, [request], [after], tolerance=2e-5)
    assert after == engine(model).generate([request])[0]


def test_an_optimiser_step_is_noticed_even_without_forget() -> None:
    model = llama()
    sampler = engine(model)
    request = Request(ids=[9, 8, 7, 6], sampling=Sampling(max_new_tokens=6), seed=5, session=1)
    sampler.generate([request])
    optimiser = torch.optim.AdamW(model.parameters(), lr=0.01)
    model(torch.tensor([[1, 2, 3]])).logits.sum().backward()
    optimiser.step()
    assert_exact(model, [request], sampler.generate([request]), tolerance=1e-5)


@pytest.mark.parametrize("make", [llama, gpt2])
def test_a_full_context_ends_with_length_and_does_not_stop_its_siblings(make: Any) -> None:
    lengths = (250, 256, 300, 5, 6, 7, 8, 9)
    requests = [
        Request(ids=[1 + n % 50 for n in range(length)], sampling=Sampling(max_new_tokens=12), seed=1)
        for length in lengths
    ]
    model = make()
    answers = engine(model).generate(requests)
    assert [len(answer.ids) for answer in answers] == [6, 0, 0, 12, 12, 12, 12, 12]
    assert {answer.finish for answer in answers} == {Finish.LENGTH}
    assert_exact(model, [requests[0], *requests[3:]], [answers[0], *answers[3:]], tolerance=2e-5)


@pytest.mark.parametrize(
    ("ids", "changes"),
    [
        ([], {}),
        ([VOCABULARY], {}),
        ([-1], {}),
        ([1], {"temperature": -1.0}),
        ([1], {"temperature": float("nan")}),
        ([1], {"top_p": 0.0}),
        ([1], {"top_k": -2}),
    ],
)
def test_a_request_no_model_could_serve_is_an_input_error(ids: list[int], changes: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        engine(llama()).generate([Request(ids=ids, sampling=Sampling(**changes), seed=0)])


def test_rows_are_decoded_together_as_far_as_their_caches_have_room() -> None:
    assert batches([], 8, 100) == []
    assert batches([10, 10, 10, 10, 10], 2, 1000) == [(0, 2), (2, 4), (4, 5)]
    assert batches([90, 20, 20, 20], 8, 100) == [(0, 1), (1, 4)], "beside the longest every row would take its room"
    assert batches([500, 500], 8, 100) == [(0, 1), (1, 2)], "one that is too long is alone"
    assert batches([10, 60, 10], 8, 100) == [(0, 1), (1, 2), (2, 3)], "whatever the order"


def test_completions_do_not_depend_on_the_room_for_caches() -> None:
    model = llama(max_position_embeddings=4096)
    asked = [
        Request(ids=ids, sampling=Sampling(max_new_tokens=300 if n < 2 else 12), seed=n)
        for n, ids in enumerate(prompts(12))
    ]
    narrow, wide = (engine(model, cache_mb=mb).generate(asked) for mb in (1, 4096))
    assert [one.ids for one in narrow] == [one.ids for one in wide]
