"""What benchmarks ask of a model first, item by item: so that engines can be compared on what an evaluation draws.

Each benchmark plays its items with a model that answers nothing. It writes nothing; of a closed benchmark the requests
lie in memory and may go no further than the engines.
"""

import threading
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from ..benchmark import Due
from ..errors import IncompleteError, InputError
from ..seeds import derive
from ..types import Completion, Request
from .boundary import attempt
from .meter import failed
from .plan import Wish, make_plan, refusal
from .players import cast
from .preflight import Kept
from .run import Cell


class Asked(NamedTuple):
    """The first request of one item."""

    task: str
    item: str
    """The item's hash; its text is in the request alone."""
    request: Request


class Listening:
    """Implements `Model`: keeps the first request of each seed and answers none. Threads may share it."""

    def __init__(self) -> None:
        self.first: dict[int, Request] = {}
        self._lock = threading.Lock()

    def generate(self, requests: Sequence[Request]) -> list[Completion]:
        """A failure for each."""
        with self._lock:
            for request in requests:
                self.first.setdefault(request.seed, request)
        return [failed("only what is asked was wanted")] * len(requests)

    def forget(self) -> None:
        """Nothing is cached."""


def asked_first(wish: Wish) -> list[Asked]:
    """The first request of every item of these tasks. Raises InputError for a task that cannot be loaded."""
    plan = make_plan(wish)
    if plan.missing:
        raise InputError(refusal(plan))
    return [one for cell in plan.cells for one in _of(cell)]


def _of(cell: Cell) -> list[Asked]:
    due = [Due(item=item, repeat=0, seed=derive(0, "asked", cell.name, item.id)) for item in cell.items]
    model = Listening()
    players = replace(cast(cell.benchmark, due, {}), model=model)
    run = partial(cell.benchmark.run, due, cell.settings.preset, players, Kept())
    reason = attempt(run, closed=cell.settings.closed)
    silent = sum(one.seed not in model.first for one in due)
    if silent:
        raise IncompleteError(f"{cell.name} asked nothing for {silent} of {len(due)} items. {reason}".rstrip())
    return [Asked(cell.name, one.item.id, model.first[one.seed]) for one in due]
