"""Counting what an evaluation costs, and stopping it before it costs more than was allowed.

A cap holds for the whole run and for every model in it. A request is sent only while its worst case fits; when nothing
fits any more the remaining requests fail with `Finish.FAILED`, the run ends by itself and keeps what is finished.
Tokens of a prompt are estimated until the engine has told them.
"""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import msgspec

from ..types import Completion, Finish, Model, Request
from .forecast import price_of

BYTES_A_TOKEN = 2
"""Fewer bytes a token than any tokenizer needs for English: the worst case of a prompt, not its likely size."""
NO_PRICE = (0.0, 0.0)


@dataclass(frozen=True, kw_only=True, slots=True)
class Caps:
    """The most a run may cost; None for no limit."""

    requests: int | None = None
    tokens: int | None = None
    hours: float | None = None
    cost: float | None = None


@dataclass(kw_only=True, slots=True)
class Tally:
    """What one model was asked for so far."""

    price: tuple[float, float] = NO_PRICE
    """Of a million prompt tokens and of a million drawn ones."""
    requests: int = 0
    failed: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    def cost(self) -> float:
        """In the unit of the price."""
        return price_of(self.prompt_tokens, self.completion_tokens, self.price)

    def since(self, before: "Tally") -> "Tally":
        """What was added."""
        return Tally(
            price=self.price, requests=self.requests - before.requests, failed=self.failed - before.failed,
            prompt_tokens=self.prompt_tokens - before.prompt_tokens,
            completion_tokens=self.completion_tokens - before.completion_tokens,
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """What a task has cost: seconds of wall time, and what each model was asked for."""

    seconds: float
    tallies: dict[str, Tally]


@dataclass(kw_only=True)
class Meter:
    """The counts of all models of a run against its caps. Threads may share it."""

    caps: Caps = Caps()
    clock: Callable[[], float] = time.monotonic
    tallies: dict[str, Tally] = field(default_factory=dict)
    exhausted: str = ""
    """Which cap ended the run."""
    parts: dict[str, "Part"] = field(default_factory=dict)
    """What was asked for while each task was played."""
    _flight: Tally = field(default_factory=Tally)
    _flight_cost: float = 0.0
    _gate: threading.Condition = field(default_factory=threading.Condition)
    _began: float = 0.0

    def __post_init__(self) -> None:
        self._began = self.clock()

    def admit(self, role: str, wanted: Sequence[Request]) -> int:
        """How many of these requests may be sent now, from the first one on; 0 only when the run has reached a cap.

        Waits while requests that are under way hold the room that one more would need.
        """
        with self._gate:
            while not self.exhausted:
                fitting = self._fitting(role, wanted)
                if fitting:
                    return fitting
                if self._flight.requests == 0 or self._past_time():
                    self.exhausted = self._reached(role, wanted[0])
                    break
                self._gate.wait()
            self._gate.notify_all()
            return 0

    def settle(self, role: str, sent: Sequence[Request], drawn: Sequence[Completion]) -> None:
        """Count what came of requests that were admitted."""
        with self._gate:
            tally = self.tallies[role]
            for request in sent:
                self._fly(role, request, -1)
            for request, completion in zip(sent, drawn):
                prompt, new = used(request, completion)
                tally.requests += 1
                tally.failed += completion.finish is Finish.FAILED
                tally.prompt_tokens += prompt
                tally.completion_tokens += new
            self._gate.notify_all()

    @contextmanager
    def part(self, task: str) -> Iterator[None]:
        """Keeps what is asked for inside as the part of a task."""
        began = self.seconds()
        before = {role: replace(tally) for role, tally in self.tallies.items()}
        try:
            yield
        finally:
            added = {role: tally.since(before.get(role, Tally())) for role, tally in self.tallies.items()}
            used = {role: tally for role, tally in added.items() if tally.requests}
            self.parts[task] = Part(seconds=self.seconds() - began, tallies=used)

    def cost(self) -> float:
        """Of everything so far."""
        return sum(tally.cost() for tally in self.tallies.values())

    def seconds(self) -> float:
        """Since the meter was made."""
        return self.clock() - self._began

    def tokens(self) -> int:
        """Of everything so far."""
        return sum(tally.prompt_tokens + tally.completion_tokens for tally in self.tallies.values())

    def requests(self) -> int:
        """Of everything so far."""
        return sum(tally.requests for tally in self.tallies.values())

    def _fitting(self, role: str, wanted: Sequence[Request]) -> int:
        """Takes the first requests that fit into the flight."""
        for number, request in enumerate(wanted):
            if self._reached(role, request):
                return number
            self._fly(role, request, 1)
        return len(wanted)

    def _fly(self, role: str, request: Request, sign: int) -> None:
        prompt, new = worst(request)
        self._flight.requests += sign
        self._flight.prompt_tokens += sign * prompt
        self._flight.completion_tokens += sign * new
        self._flight_cost += sign * price_of(prompt, new, self.tallies[role].price)

    def _past_time(self) -> bool:
        return self.caps.hours is not None and self.seconds() >= 3600 * self.caps.hours

    def _reached(self, role: str, request: Request) -> str:
        """The cap that one more request would break, for people; empty when it fits."""
        prompt, new = worst(request)
        caps, flight = self.caps, self._flight
        tokens = self.tokens() + flight.prompt_tokens + flight.completion_tokens + prompt + new
        cost = self.cost() + self._flight_cost + price_of(prompt, new, self.tallies[role].price)
        if self._past_time():
            return f"the cap of {caps.hours:g} hours"
        if caps.requests is not None and self.requests() + flight.requests + 1 > caps.requests:
            return f"the cap of {caps.requests:,} requests"
        if caps.tokens is not None and tokens > caps.tokens:
            return f"the cap of {caps.tokens:,} tokens"
        if caps.cost is not None and cost > caps.cost:
            return f"the cap of {caps.cost:g} in cost"
        return ""


class Metered:
    """A model whose requests are counted, and refused once a cap is reached."""

    def __init__(self, model: Model, meter: Meter, role: str, price: tuple[float, float] = NO_PRICE) -> None:
        self.model, self.meter, self.role = model, meter, role
        meter.tallies[role] = Tally(price=price)

    def generate(self, requests: Sequence[Request]) -> list[Completion]:
        """Completions in order; those beyond a cap are `Finish.FAILED`."""
        drawn: list[Completion] = []
        while len(drawn) < len(requests):
            rest = requests[len(drawn) :]
            admitted = self.meter.admit(self.role, rest)
            if not admitted:
                return drawn + [failed(self.meter.exhausted)] * len(rest)
            sent = rest[:admitted]
            got: list[Completion] = []
            try:
                got = self.model.generate(sent)
            finally:
                self.meter.settle(self.role, sent, got)
            drawn += got
        return drawn

    def forget(self) -> None:
        """As the model does."""
        self.model.forget()


def worst(request: Request) -> tuple[int, int]:
    """The most prompt tokens and new tokens that a request may cost."""
    if request.ids:
        return len(request.ids), request.sampling.max_new_tokens
    written = sum(len(message.content.encode()) + 16 for message in request.messages)
    written += sum(len(call.arguments) + len(call.name) for message in request.messages for call in message.calls)
    written += sum(len(msgspec.json.encode(tool)) for tool in request.tools)
    return written // BYTES_A_TOKEN, request.sampling.max_new_tokens


def used(request: Request, completion: Completion) -> tuple[int, int]:
    """Prompt tokens and new tokens as the engine told them, or as they can be counted."""
    if completion.usage is not None:
        return completion.usage.prompt_tokens, completion.usage.completion_tokens
    if completion.finish is Finish.FAILED:
        return 0, 0
    return len(request.ids), len(completion.ids)


def failed(why: str) -> Completion:
    """A completion that never was."""
    return Completion(ids=(), logprobs=(), text="", finish=Finish.FAILED, error=why)
