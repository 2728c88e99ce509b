"""The update on a real, tiny model: what it changes, what it refuses, and that it can be resumed exactly."""

import copy
import random
from typing import Any

import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from spadework.harness.errors import InputError, TrainingStopped
from spadework.harness.types import Sample, Trajectory
from spadework.training.batch import Skip, pack
from spadework.training.policy import Policy
from spadework.training.update_settings import UpdateSettings

VOCABULARY = 32


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


def model(seed: int = 0) -> LlamaForCausalLM:
    torch.manual_seed(seed)
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=VOCABULARY,
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=2,
            num_attention_heads=2,
            max_position_embeddings=64,
            tie_word_embeddings=True,
        )
    )


def logprobs(net: LlamaForCausalLM, ids: list[int], temperature: float) -> torch.Tensor:
    """Log-prob of each token but the first, from the whole logits: the slow and obvious way."""
    with torch.no_grad():
        logits = net(torch.tensor([ids])).logits[0, :-1] / temperature
    scored: torch.Tensor = logits.log_softmax(-1)
    return scored.gather(1, torch.tensor(ids[1:])[:, None])[:, 0]


def drawn(net: LlamaForCausalLM, count: int, *, seed: int = 0, temperature: float = 1.0) -> list[Sample]:
    """On-policy samples of mixed lengths, some from each role."""
    draw = random.Random(seed)
    samples = []
    for i in range(count):
        ids = [draw.randrange(VOCABULARY) for _ in range(draw.randint(8, 40))]
        generated = [j > 3 and draw.random() < 0.7 for j in range(len(ids))]
        generated[5] = True
        scored = [0.0, *logprobs(net, ids, temperature).tolist()]
        kept = tuple(value if own else 0.0 for value, own in zip(scored, generated))
        trajectory = Trajectory(ids=tuple(ids), generated=tuple(generated), logprobs=kept, temperature=temperature)
        role = "designer" if i % 4 == 0 else "agent"
        samples.append(Sample(trajectory=trajectory, advantage=draw.gauss(0, 1), role=role, group=str(i)))
    return samples


def weights(net: LlamaForCausalLM) -> dict[str, torch.Tensor]:
    return {name: p.detach().clone() for name, p in net.named_parameters()}


def gradient(samples: list[Sample], **settings: Any) -> dict[str, torch.Tensor]:
    """Gradient of one update, read back from AdamW's first moment."""
    net = model()
    policy = Policy(net, UpdateSettings(betas=(0.5, 0.9), max_grad_norm=1e9, **settings))
    policy.update(samples)
    state = policy.state().optimizer["state"]
    return {str(index): moments["exp_avg"] * 2 for index, moments in state.items()}


def test_the_gradient_does_not_depend_on_the_cut_into_micro_batches() -> None:
    samples = drawn(model(), 24)
    whole, cut = gradient(samples, micro_batch_tokens=100_000), gradient(samples, micro_batch_tokens=60)
    torch.testing.assert_close(whole, cut, rtol=1e-4, atol=1e-6)


def test_the_gradient_equals_the_one_of_the_formula_written_out() -> None:
    net = model()
    samples = drawn(net, 6, temperature=0.7)
    total = sum(sum(s.trajectory.generated) for s in samples)
    loss = torch.zeros(())
    for s in samples:
        logits = net(torch.tensor([s.trajectory.ids])).logits[0, :-1] / 0.7
        scored = logits.log_softmax(-1).gather(1, torch.tensor(s.trajectory.ids[1:])[:, None])[:, 0]
        loss = loss - s.advantage * scored[torch.tensor(s.trajectory.generated[1:])].sum() / total
    loss.backward()
    matrices = [p for p in net.parameters() if p.ndim >= 2]
    vectors = [p for p in net.parameters() if p.ndim < 2]
    expected = {str(i): p.grad for i, p in enumerate(matrices + vectors)}
    torch.testing.assert_close(gradient(samples), expected, rtol=1e-3, atol=1e-6)


def test_prompt_tokens_give_no_gradient() -> None:
    ids = (1, 2, 3, 4, 5)
    masks = [(False, False, False, True, False), (False, False, False, True, True)]
    samples = [
        Sample(
            trajectory=Trajectory(ids=ids, generated=mask, logprobs=(0.0,) * 3 + (-3.4, -3.4), temperature=1.0),
            advantage=1.0,
            role="agent",
            group="g",
        )
        for mask in masks
    ]
    short, longer = gradient(samples[:1]), gradient(samples[1:])
    changed = copy.copy(samples[0].trajectory)
    prompt_only = Trajectory(ids=(*ids[:4], 9), generated=masks[0], logprobs=changed.logprobs, temperature=1.0)
    again = gradient([Sample(trajectory=prompt_only, advantage=1.0, role="agent", group="g")])
    assert all(torch.equal(short[k], again[k]) for k in short)
    assert any(not torch.equal(short[k], longer[k]) for k in short)


@pytest.mark.parametrize("temperature", [1.0, 0.6])
def test_the_trainer_agrees_with_the_sampler_at_the_samples_temperature(temperature: float) -> None:
    net = model()
    samples = drawn(net, 12, temperature=temperature)
    policy = Policy(net, UpdateSettings(micro_batch_tokens=200))
    assert max(policy.sampler_gap(samples).values()) < 1e-5
    stats = policy.update(samples)
    assert set(stats.sampler_gap) == {"agent", "designer"}
    assert stats.sampler_gap["agent"] == pytest.approx(0, abs=1e-5)
    assert stats.tis_mean == pytest.approx(1, abs=1e-4)


def test_the_stats_count_trained_tokens_by_role() -> None:
    net = model()
    samples = drawn(net, 12)
    stats = Policy(net, UpdateSettings(micro_batch_tokens=200)).update(samples)
    for role in ("agent", "designer"):
        mine = [sum(s.trajectory.generated) for s in samples if s.role == role]
        assert (stats.tokens[role], stats.samples[role]) == (sum(mine), len(mine))
    assert stats.padding_share <= 0.1
    assert (stats.skipped, stats.steps, stats.clip_share, stats.kl) == (None, 1, 0, None)
    assert 0 < (stats.entropy or 0) < 3.5
    expected = -sum(s.advantage * sum(s.trajectory.generated) for s in samples) / sum(stats.tokens.values())
    assert stats.loss == pytest.approx(expected, rel=1e-3)


def test_the_clip_binds_from_the_second_epoch_on() -> None:
    net = model()
    samples = drawn(net, 12)
    stats = Policy(net, UpdateSettings(lr=0.01, epochs=2)).update(samples)
    assert stats.steps == 2
    assert (stats.clip_share or 0) > 0.1


def test_two_epochs_without_a_clip_are_two_updates() -> None:
    samples, nets = drawn(model(), 12), [model(), model()]
    loose: dict[str, Any] = {"lr": 0.003, "clip_low": 0.999, "clip_high": 1e6, "tis_max": 1e6}
    Policy(nets[0], UpdateSettings(epochs=2, **loose)).update(samples)
    twice = Policy(nets[1], UpdateSettings(**loose))
    twice.update(samples), twice.update(samples)
    torch.testing.assert_close(weights(nets[0]), weights(nets[1]), rtol=1e-3, atol=1e-5)


def test_a_kl_term_holds_the_policy_near_its_start() -> None:
    gaps = {}
    for kl in (0.0, 10.0):
        net = model()
        samples = drawn(net, 12)
        policy = Policy(net, UpdateSettings(lr=0.003, kl=kl, weight_decay=0.0))
        for _ in range(8):
            stats = policy.update(samples)
        gaps[kl] = policy.sampler_gap(samples)["agent"]
        assert (stats.kl is None) == (kl == 0)
    assert gaps[10.0] < 0.5 * gaps[0.0]


def test_tokens_that_only_the_kl_moves_are_counted() -> None:
    net = model()
    silent = [Sample(trajectory=s.trajectory, advantage=0.0, role=s.role, group=s.group) for s in drawn(net, 4)]
    stats = Policy(net, UpdateSettings(kl=0.05)).update(silent)
    assert stats.skipped is None
    assert stats.kl_only_tokens == sum(stats.tokens.values())


def test_batches_without_anything_to_learn_are_skipped_and_leave_the_weights_alone() -> None:
    net = model()
    samples = drawn(net, 4)
    policy = Policy(net, UpdateSettings(lr=0.1))
    policy.update(samples)
    before = weights(net)
    t = samples[0].trajectory
    masked = Trajectory(ids=t.ids, generated=(False,) * len(t.ids), logprobs=t.logprobs, temperature=1.0)
    zero = Sample(trajectory=t, advantage=0.0, role="agent", group="g")
    cases = {Skip.NO_SAMPLES: [], Skip.NO_SIGNAL: [zero]}
    cases[Skip.ALL_MASKED] = [Sample(trajectory=masked, advantage=1.0, role="agent", group="g")]
    for reason, batch in cases.items():
        stats = policy.update(batch)
        assert (stats.skipped, stats.steps, stats.loss, stats.grad_norm) == (reason, 0, None, None)
    assert all(torch.equal(before[name], p) for name, p in net.named_parameters())
    assert policy.updates == 1


def test_a_gradient_that_is_not_finite_is_skipped_and_counted_and_the_third_in_a_row_stops() -> None:
    net = model()
    good, bad = drawn(net, 4), []
    for s in good:
        bad.append(Sample(trajectory=s.trajectory, advantage=3e38, role=s.role, group=s.group))
    policy = Policy(net, UpdateSettings())
    before = weights(net)
    for count in (1, 2):
        stats = policy.update(bad)
        assert (stats.skipped, stats.steps, stats.bad_gradients, stats.grad_norm) == (Skip.BAD_GRADIENT, 0, count, None)
    assert all(torch.equal(before[name], p) for name, p in net.named_parameters())
    assert policy.update(good).skipped is None
    policy.update(bad), policy.update(bad)
    with pytest.raises(TrainingStopped, match="3 updates in a row"):
        policy.update(bad)


@pytest.mark.parametrize("settings", [{}, {"kl": 0.1, "epochs": 2}, {"role_grad_clip": 0.1}, {"precision": "bf16"}])
def test_a_restored_policy_goes_on_bitwise_equal(settings: dict[str, Any]) -> None:
    use = UpdateSettings(lr=0.003, micro_batch_tokens=200, **settings)
    straight = Policy(model(), use)
    batches = [drawn(model(), 8, seed=seed) for seed in range(4)]
    for batch in batches[:2]:
        straight.update(batch)
    state = straight.state()
    expected = [straight.update(batch) for batch in batches[2:]]
    resumed = Policy(model(), use)
    resumed.restore(state)
    assert [resumed.update(batch) for batch in batches[2:]] == expected
    for a, b in zip(straight.model.parameters(), resumed.model.parameters(), strict=True):
        assert torch.equal(a, b)


def test_restoring_into_another_architecture_or_reference_is_refused() -> None:
    state = Policy(model(), UpdateSettings(kl=0.1)).state()
    with pytest.raises(InputError, match="initial policy"):
        Policy(model(seed=1), UpdateSettings(kl=0.1)).restore(state)
    config = model().config
    config.num_hidden_layers = 1
    plain = Policy(model(), UpdateSettings()).state()
    with pytest.raises(InputError, match="architecture"):
        Policy(LlamaForCausalLM(config), UpdateSettings()).restore(plain)


def test_role_clipping_bounds_each_roles_share_of_the_gradient() -> None:
    samples = [
        Sample(
            trajectory=s.trajectory, advantage=s.advantage * (50 if s.role == "designer" else 1), role=s.role, group="g"
        )
        for s in drawn(model(), 16)
    ]
    net = model()
    stats = Policy(net, UpdateSettings(role_grad_clip=0.05)).update(samples)
    designer, agent = stats.role_grad_norms["designer"], stats.role_grad_norms["agent"]
    assert designer is not None and agent is not None and designer > 10 * agent
    assert stats.grad_norm is not None and stats.grad_norm <= 0.1 + 1e-6
    torch.testing.assert_close(gradient(samples, role_grad_clip=1e9), gradient(samples), rtol=1e-4, atol=1e-5)


def test_bf16_log_probs_stay_close_to_fp32() -> None:
    net = model()
    gap = Policy(net, UpdateSettings(precision="bf16")).sampler_gap(drawn(net, 12))
    assert 0 < gap["agent"] < 0.02


def test_per_sample_normalisation_weighs_short_and_long_samples_alike() -> None:
    net = model()
    samples = drawn(net, 10)
    stats = Policy(net, UpdateSettings(normalise="sample")).update(samples)
    assert stats.loss == pytest.approx(-sum(s.advantage for s in samples) / 10, rel=1e-3)


def test_a_model_learns_to_prefer_a_rewarded_token_in_a_few_updates() -> None:
    net, prompt, wanted = model(), [1, 2, 3], 7
    policy = Policy(net, UpdateSettings(lr=0.01))
    generator = torch.Generator().manual_seed(0)

    def probability() -> float:
        return float(logprobs(net, [*prompt, wanted], 1.0)[-1].exp())

    before = probability()
    for _ in range(12):
        with torch.no_grad():
            scored = net(torch.tensor([prompt])).logits[0, -1].log_softmax(-1)
        choices = torch.multinomial(scored.exp(), 64, replacement=True, generator=generator).tolist()
        share = choices.count(wanted) / len(choices)
        samples = []
        for token in choices:
            trajectory = Trajectory(
                ids=(*prompt, token),
                generated=(False, False, False, True),
                logprobs=(0.0, 0.0, 0.0, float(scored[token])),
                temperature=1.0,
            )
            samples.append(Sample(trajectory=trajectory, advantage=(token == wanted) - share, role="agent", group="g"))
        policy.update(samples)
    assert before < 0.1
    assert probability() > 0.8


def test_settings_without_meaning_are_refused_with_the_key() -> None:
    for wrong in ({"lr": 0.0}, {"epochs": 0}, {"clip_low": -0.1}, {"role_grad_clip": 0.0}):
        with pytest.raises(InputError, match=f"update.{next(iter(wrong))}"):
            UpdateSettings(**wrong)


def test_packing_for_the_update_is_the_packing_of_the_batch() -> None:
    samples = drawn(model(), 20)
    stats = Policy(model(), UpdateSettings(micro_batch_tokens=100)).update(samples)
    assert stats.micro_batches == len(pack(samples, budget=100).micro)
