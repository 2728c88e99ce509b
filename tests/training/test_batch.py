"""Samples become micro-batches without losing, doubling or mixing up a token."""

import random

import pytest
import torch

from spadework.harness.errors import InputError, TrainingStopped
from spadework.harness.types import Sample, Trajectory
from spadework.training.batch import MAX_WASTE, Batch, Skip, pack


def sample(
    ids: list[int], generated: list[bool], *, advantage: float = 1.0, role: str = "agent", temperature: float = 1.0
) -> Sample:
    logprobs = tuple(-float(token) if drawn else 0.0 for token, drawn in zip(ids, generated))
    trajectory = Trajectory(ids=tuple(ids), generated=tuple(generated), logprobs=logprobs, temperature=temperature)
    return Sample(trajectory=trajectory, advantage=advantage, role=role, group="g")


def realistic(count: int, seed: int) -> list[Sample]:
    draw = random.Random(seed)
    samples = []
    for i in range(count):
        designer = i % 5 == 0
        length = draw.randint(90, 250) if designer else draw.randint(20, 90)
        ids = [draw.randrange(1, 1700) for _ in range(length)]
        generated = [j > 10 and draw.random() < 0.6 for j in range(length)]
        generated[length // 2] = True
        samples.append(sample(ids, generated, role="designer" if designer else "agent", advantage=draw.gauss(0, 1)))
    return samples


def trained(batch: Batch) -> list[tuple[int, int, float, float]]:
    """(input token, target, advantage, rollout log-prob) of every trained token."""
    found = []
    for micro in batch.micro:
        inputs = micro.ids_BT.flatten()[micro.where_M]
        columns = (inputs, micro.target_M, micro.advantage_M, micro.rollout_M)
        found += list(zip(*(column.tolist() for column in columns)))
    return found


def test_every_trained_token_stands_once_behind_the_token_that_precedes_it() -> None:
    samples = realistic(60, 0)
    wanted = []
    for s in samples:
        t = s.trajectory
        advantage = torch.tensor(s.advantage).item()
        wanted += [(t.ids[i - 1], t.ids[i], advantage, t.logprobs[i]) for i, drawn in enumerate(t.generated) if drawn]
    assert sorted(trained(pack(samples, budget=1024))) == sorted(wanted)


@pytest.mark.parametrize("count", [40, 150, 400])
@pytest.mark.parametrize("budget", [512, 2048, 8192])
def test_padding_stays_within_ten_percent_and_micro_batches_within_the_budget(count: int, budget: int) -> None:
    batch = pack(realistic(count, count), budget=budget)
    assert 0 <= batch.padding_share <= MAX_WASTE == 0.1
    assert all(micro.ids_BT.numel() <= budget for micro in batch.micro)
    assert batch.normaliser == sum(batch.tokens.values()) == len(trained(batch))


def test_the_order_depends_on_the_samples_alone() -> None:
    first, second = (pack(realistic(50, 3), budget=1024) for _ in range(2))
    assert all(torch.equal(a.ids_BT, b.ids_BT) for a, b in zip(first.micro, second.micro, strict=True))


def test_nothing_behind_the_last_trained_token_is_computed() -> None:
    batch = pack([sample([5, 6, 7, 8, 9, 9, 9], [False, False, True, True, False, False, False])], budget=64)
    assert batch.micro[0].ids_BT.tolist() == [[5, 6, 7]]
    assert trained(batch) == [(6, 7, 1.0, -7.0), (7, 8, 1.0, -8.0)]


def test_masked_samples_are_counted_and_stay_out_of_the_denominator() -> None:
    kept = sample([1] * 11, [False] + [True] * 10)
    truncated = sample([1] * 91, [False] * 91, role="designer")
    batch = pack([kept, truncated], budget=1024)
    assert (batch.masked_samples, batch.normaliser) == (1, 10.0)
    assert (batch.tokens, batch.samples) == ({"agent": 10, "designer": 0}, {"agent": 1, "designer": 0})


def test_empty_and_all_masked_batches_say_which_they_are() -> None:
    assert pack([], budget=64).skip is Skip.NO_SAMPLES
    masked = pack([sample([1, 2, 3], [False] * 3)], budget=64)
    assert (masked.skip, masked.micro, masked.masked_samples) == (Skip.ALL_MASKED, (), 1)
    assert pack([sample([1, 2], [False, True])], budget=64).skip is None


def test_a_sequence_longer_than_the_budget_gets_its_own_micro_batch() -> None:
    batch = pack([sample([1] * 101, [False] + [True] * 100), sample([2] * 5, [False] + [True] * 4)], budget=50)
    assert [tuple(micro.ids_BT.shape) for micro in batch.micro] == [(1, 100), (1, 4)]


def test_split_roles_never_share_a_micro_batch() -> None:
    batch = pack(realistic(100, 1), budget=2048, split_roles=True)
    assert all(len(micro.role_M.unique()) == 1 for micro in batch.micro)
    assert batch.padding_share <= 0.1


def test_per_sample_weights_sum_to_one_for_each_sample() -> None:
    batch = pack(realistic(30, 2), budget=1024, per_sample=True)
    assert batch.normaliser == 30
    assert sum(float(micro.weight_M.double().sum()) for micro in batch.micro) == pytest.approx(30)


def test_a_greedy_sample_is_refused_with_the_remedy() -> None:
    with pytest.raises(InputError, match="temperature above 0"):
        pack([sample([1, 2], [False, True], temperature=0.0)], budget=64)


def test_an_advantage_that_is_not_a_number_stops_the_run_and_names_its_group() -> None:
    with pytest.raises(TrainingStopped, match="group 'g'"):
        pack([sample([1, 2], [False, True], advantage=float("nan"))], budget=64)
