"""The objective against numbers worked out by hand."""

import json
import math
from pathlib import Path

import pytest
import torch
from torch import Tensor, tensor

from spadework.training.loss import Coefficients, clipped_surrogate, importance_weights, k3, objective, score

PAPER = Coefficients(clip_low=0.2, clip_high=0.28, tis_max=2.0, kl=0.0)
VECTORS = Path(__file__).parents[1] / "data" / "spade_vectors.json"


def test_the_surrogate_takes_the_smaller_branch_on_both_sides() -> None:
    ratio = tensor([1.5, 1.5, 0.5, 0.5, 1.1])
    advantage = tensor([2.0, -2.0, 2.0, -2.0, 1.0])
    loss, clipped = clipped_surrogate(ratio, advantage, 0.2, 0.28)
    assert loss.tolist() == pytest.approx([-2.56, 3.0, -1.0, 1.6, -1.1])
    assert clipped.tolist() == [1, 0, 0, 1, 0]


def test_with_one_step_the_loss_is_minus_weight_times_advantage_and_the_gradient_is_the_policy_gradient() -> None:
    current = tensor([-1.0, -2.0, -0.5], requires_grad=True)
    rollout = tensor([-1.5, -1.0, -3.0])
    advantage = tensor([1.0, -2.0, 0.5])
    weights = [math.exp(0.5), math.exp(-1.0), 2.0]
    terms = objective(current, current.detach(), rollout, advantage, None, PAPER)
    assert terms.loss_M.tolist() == pytest.approx([-w * a for w, a in zip(weights, advantage.tolist())])
    terms.loss_M.sum().backward()
    assert current.grad is not None
    assert current.grad.tolist() == pytest.approx([-w * a for w, a in zip(weights, advantage.tolist())])
    assert terms.clipped_M.sum() == 0


def test_a_token_beyond_the_clip_has_no_gradient() -> None:
    old = tensor([-2.0, -2.0])
    current = tensor([-1.0, -1.0], requires_grad=True)
    terms = objective(current, old, old, tensor([1.0, -1.0]), None, PAPER)
    terms.loss_M.sum().backward()
    assert terms.loss_M.tolist() == pytest.approx([-1.28, math.e])
    assert current.grad is not None and current.grad.tolist() == pytest.approx([0.0, math.e])


def test_importance_weights_equal_the_official_ones() -> None:
    vector = next(v for v in json.loads(VECTORS.read_text())["vectors"] if v["id"] == "tis_weights")
    given = vector["inputs"]
    weights = importance_weights(
        tensor(given["train_log_probs"]), tensor(given["rollout_log_probs"]), given["tis_clip"]
    )
    weighted = weights * tensor(given["pg_loss"])
    assert weighted.tolist() == pytest.approx(vector["expected"]["weighted_loss"], abs=1e-6)
    assert (weights >= given["tis_clip"]).float().tolist() == vector["expected"]["clipfrac"]


def test_importance_weights_carry_no_gradient_and_do_not_overflow() -> None:
    old = tensor([-1.0, -1.0], requires_grad=True)
    weights = importance_weights(old, tensor([-200.0, 0.0]), 2.0)
    assert not weights.requires_grad
    assert weights.tolist() == pytest.approx([2.0, math.exp(-1)])


def test_k3_is_exp_x_minus_one_minus_x_and_stays_finite() -> None:
    current = torch.zeros(5, requires_grad=True)
    kl = k3(current, tensor([-40.0, 0.0, 40.0, 90.0, 0.5]))
    kl.sum().backward()
    assert kl.tolist() == pytest.approx([10.0, 0.0, 10.0, 10.0, math.exp(0.5) - 1.5], abs=1e-6)
    assert current.grad is not None and torch.isfinite(current.grad).all()
    assert current.grad[4].item() == pytest.approx(1 - math.exp(0.5), abs=1e-6)


@pytest.mark.parametrize("jump", [-90.0, 90.0])
@pytest.mark.parametrize("advantage", [-1.0, 1.0])
def test_a_huge_log_ratio_gives_a_finite_loss_and_gradient(jump: float, advantage: float) -> None:
    current = tensor([jump - 100.0], requires_grad=True)
    terms = objective(
        current, tensor([-100.0]), tensor([-100.0]), tensor([advantage]), tensor([-100.0]), PAPER._replace(kl=0.1)
    )
    terms.loss_M.sum().backward()
    assert torch.isfinite(terms.loss_M).all()
    assert current.grad is not None and torch.isfinite(current.grad).all()


def identity(hidden: Tensor) -> Tensor:
    return hidden


def test_logprobs_and_entropy_are_those_at_each_tokens_own_temperature() -> None:
    logits = tensor([[1.0, 2.0, 4.0], [1.0, 2.0, 4.0]])
    scores = score(logits, identity, tensor([1, 1]), tensor([1.0, 0.5]))
    cold = torch.distributions.Categorical(logits=logits[1] / 0.5)
    assert scores.logprob_M.tolist() == pytest.approx(
        [2 - math.log(math.e + math.e**2 + math.e**4), cold.logits[1].item()]
    )
    assert scores.entropy_M[1].item() == pytest.approx(cold.entropy().item(), rel=1e-5)


def test_scoring_in_slices_gives_the_same_values_and_gradients() -> None:
    torch.manual_seed(0)
    hidden, head = torch.randn(10, 4), torch.nn.Linear(4, 7)
    target, temperature = torch.randint(0, 7, (10,)), torch.rand(10) + 0.5
    results = []
    for slice_size in (100, 3):
        head.zero_grad()
        leaf = hidden.clone().requires_grad_()
        scores = score(leaf, head, target, temperature, slice_size)
        scores.logprob_M.sum().backward()
        assert leaf.grad is not None and head.weight.grad is not None
        results.append((scores.logprob_M.detach(), scores.entropy_M, leaf.grad, head.weight.grad.clone()))
    for whole, sliced in zip(*results):
        torch.testing.assert_close(whole, sliced)
