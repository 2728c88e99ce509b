"""The canary of the weights: a fixed prompt, answered by the sampler right after an update and scored by the trainer.

Both should see the same policy; a sampler that missed the update, or reads its cache at wrong places, does not.
"""

from ..harness.types import Model, Request, Sample, Sampling, Trajectory
from .policy import Policy

ROLE = "canary"


def canary(model: Model, policy: Policy, prompt: tuple[int, ...], tokens: int) -> tuple[float, ...]:
    """Mean |log-prob of the trainer - log-prob of the sampler| over the answer, then the sampler's log-probs.

    Empty where the engine gives none.
    """
    sampling = Sampling(temperature=0.0, max_new_tokens=tokens)
    (answer,) = model.generate([Request(ids=prompt, sampling=sampling, seed=0)])
    if not answer.ids or not answer.logprobs:
        return ()
    # Greedy log-probs are those of temperature 1.
    trajectory = Trajectory(
        ids=(*prompt, *answer.ids), generated=(False,) * len(prompt) + (True,) * len(answer.ids),
        logprobs=(0.0,) * len(prompt) + answer.logprobs, temperature=1.0,
    )  # fmt: skip
    sample = Sample(trajectory=trajectory, advantage=0.0, role=ROLE, group=ROLE)
    return policy.sampler_gap([sample])[ROLE], *answer.logprobs
