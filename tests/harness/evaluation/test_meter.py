"""A cap is never passed, whatever is under way, and what is refused is no answer."""

import threading
import time
from collections.abc import Sequence

import pytest

from spadework.harness.evaluation.forecast import Rates, cost, forecast, seconds, total
from spadework.harness.evaluation.meter import Caps, Meter, Metered
from spadework.harness.evaluation.presets import read_protocols
from spadework.harness.scripted import ScriptedChat
from spadework.harness.types import Completion, Finish, Message, Request, Sampling, Usage


def requests(count: int, tokens: int = 10) -> list[Request]:
    message = Message(role="user", content="x" * 4)
    return [Request(messages=(message,), sampling=Sampling(max_new_tokens=tokens), seed=n) for n in range(count)]


class Slow:
    """Ten tokens for five, after a moment; several threads may ask at once."""

    def __init__(self) -> None:
        self.at_once, self.most = 0, 0
        self.lock = threading.Lock()

    def generate(self, asked: Sequence[Request]) -> list[Completion]:
        with self.lock:
            self.at_once += len(asked)
            self.most = max(self.most, self.at_once)
        time.sleep(0.02)
        with self.lock:
            self.at_once -= len(asked)
        usage = Usage(prompt_tokens=5, completion_tokens=5)
        return [Completion(ids=(), logprobs=(), text="y", finish=Finish.STOP, usage=usage) for _ in asked]

    def forget(self) -> None:
        pass


def test_a_cap_of_requests_lets_exactly_so_many_through() -> None:
    meter = Meter(caps=Caps(requests=7))
    drawn = Metered(ScriptedChat(lambda request: "y"), meter, "model").generate(requests(20))
    assert [one.finish for one in drawn] == [Finish.STOP] * 7 + [Finish.FAILED] * 13
    assert "cap of 7 requests" in drawn[-1].error and meter.exhausted


def test_a_cap_of_tokens_is_not_passed_and_is_used_up_as_the_real_counts_come_in() -> None:
    meter = Meter(caps=Caps(tokens=200))
    model = Metered(Slow(), meter, "model")
    drawn = model.generate(requests(50))
    good = sum(one.finish is Finish.STOP for one in drawn)
    assert meter.tokens() == 10 * good <= 200 and good > 15, "worst cases alone would stop at ten"


def test_what_each_task_cost_is_kept_apart_by_model() -> None:
    now = [0.0]
    meter = Meter(clock=lambda: now[0])
    model = Metered(Slow(), meter, "model")
    with meter.part("first"):
        model.generate(requests(3))
        now[0] = 4.0
    with meter.part("second"):
        Metered(Slow(), meter, "user").generate(requests(1))
        model.generate(requests(2))
    assert meter.parts["first"].seconds == 4.0 and meter.parts["second"].seconds == 0.0
    counted = {name: {role: t.requests for role, t in part.tallies.items()} for name, part in meter.parts.items()}
    assert counted == {"first": {"model": 3}, "second": {"user": 1, "model": 2}}
    assert meter.parts["second"].tallies["model"].completion_tokens == 10


def test_threads_wait_for_room_that_others_hold_and_the_cap_still_holds() -> None:
    meter = Meter(caps=Caps(tokens=300))
    model, drawn = Metered(slow := Slow(), meter, "model"), []

    def ask() -> None:
        for one in requests(10):
            drawn.extend(model.generate([one]))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert len(drawn) == 80 and meter.tokens() <= 300 and slow.most > 1
    assert sum(one.finish is Finish.STOP for one in drawn) > 20


def test_a_cap_of_hours_lets_what_is_under_way_end() -> None:
    now = [0.0]
    meter = Meter(caps=Caps(hours=1), clock=lambda: now[0])

    def answer(request: Request) -> str:
        now[0] += 1000
        return "y"

    model = Metered(ScriptedChat(answer), meter, "model")
    drawn = [model.generate([one])[0].finish for one in requests(6)]
    assert drawn == [Finish.STOP] * 4 + [Finish.FAILED] * 2


def test_a_cap_of_cost_counts_users_and_judges_too() -> None:
    meter = Meter(caps=Caps(cost=0.0005))
    model = Metered(Slow(), meter, "model", (1.0, 10.0))
    user = Metered(Slow(), meter, "user", (2.0, 20.0))
    for _ in range(20):
        model.generate(requests(1))
        user.generate(requests(1))
    assert 0.0003 < meter.cost() <= 0.0005 and meter.exhausted == "the cap of 0.0005 in cost"


def test_an_engine_that_raises_leaves_no_room_taken() -> None:
    meter = Meter(caps=Caps(requests=5))

    def broken(request: Request) -> str:
        raise RuntimeError("no")

    model = Metered(ScriptedChat(broken), meter, "model")
    for _ in range(9):
        with pytest.raises(RuntimeError):
            model.generate(requests(1))
    assert meter.requests() == 0 and not meter.exhausted


def test_a_forecast_needs_a_rate_for_time_and_prices_for_cost() -> None:
    """Wish 15 of the users: what it will cost, before it runs."""
    from importlib.resources import files
    from pathlib import Path

    folder = Path(str(files("spadework.tasks"))) / "presets"
    tau2 = forecast("tau2", read_protocols(folder / "tau2.toml").preset("official"), 1112)
    assert 20_000 < tau2.other_requests < 25_000, "about 22k user calls a checkpoint"
    assert seconds(tau2, Rates()) is None and cost(tau2, Rates()) is None
    free_model = Rates(tokens_per_second=1000, price=(0, 0), other_price=(2, 8))
    assert seconds(tau2, free_model) == tau2.likely_tokens / 1000 and (cost(tau2, free_model) or 0) > 100
    both = total([tau2, tau2])
    assert both.requests == 2 * tau2.requests and both.most_tokens > both.likely_tokens
