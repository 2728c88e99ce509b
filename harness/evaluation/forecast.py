"""What an evaluation will cost, before it runs: requests, tokens, time and price from the presets' own guesses. Pure.

`likely` takes the guesses of the preset, `most` the length limits. Time needs a rate (`--rate`, tokens a second of all
requests together) and price needs prices; without them they are not guessed. It is no promise.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from ..benchmark import Preset


@dataclass(frozen=True, kw_only=True, slots=True)
class Forecast:
    """The cost of some samples."""

    task: str
    samples: int
    requests: int
    other_requests: int
    """To users and judges."""
    prompt_tokens: int
    likely_tokens: int
    """Drawn, by the preset's guess."""
    most_tokens: int
    """Drawn, if every completion has its full length."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Rates:
    """What turns tokens into time and money."""

    tokens_per_second: float | None = None
    price: tuple[float, float] | None = None
    other_price: tuple[float, float] | None = None


def forecast(task: str, preset: Preset, samples: int) -> Forecast:
    """Of so many samples under a preset."""
    expect = preset.expect
    requests = samples * expect.turns
    length = preset.sampling.max_new_tokens
    return Forecast(
        task=task, samples=samples, requests=requests, other_requests=samples * expect.user_turns,
        prompt_tokens=requests * expect.prompt_tokens, likely_tokens=requests * min(expect.completion_tokens, length),
        most_tokens=requests * length,
    )  # fmt: skip


def seconds(one: Forecast, rates: Rates) -> float | None:
    """Likely time of the drawing; None without a rate."""
    return one.likely_tokens / rates.tokens_per_second if rates.tokens_per_second else None


def cost(one: Forecast, rates: Rates) -> float | None:
    """Likely price, users and judges included as if they read and wrote as much a request; None without prices."""
    if rates.price is None and rates.other_price is None:
        return None
    own = price_of(one.prompt_tokens, one.likely_tokens, rates.price or (0.0, 0.0))
    share = one.other_requests / one.requests if one.requests else 0.0
    others = price_of(
        round(share * one.prompt_tokens), round(share * one.likely_tokens), rates.other_price or (0.0, 0.0)
    )
    return own + others


def total(parts: Sequence[Forecast]) -> Forecast:
    """Of all tasks together."""
    return Forecast(
        task="all", samples=sum(one.samples for one in parts), requests=sum(one.requests for one in parts),
        other_requests=sum(one.other_requests for one in parts),
        prompt_tokens=sum(one.prompt_tokens for one in parts), likely_tokens=sum(one.likely_tokens for one in parts),
        most_tokens=sum(one.most_tokens for one in parts),
    )  # fmt: skip


def price_of(prompt_tokens: int, completion_tokens: int, price: tuple[float, float]) -> float:
    """Prices are per million tokens."""
    return (prompt_tokens * price[0] + completion_tokens * price[1]) / 1e6
