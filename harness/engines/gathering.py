"""One engine for many threads: what is asked for while it works is answered together in its next batch.

Benchmarks ask from as many threads as they like, each for one completion; an in-process engine is fast only in
batches, and is no place for two threads at once. It changes no completion: those do not depend on the batch.
"""

import time
from dataclasses import dataclass
from threading import Lock
from typing import Sequence

from ..errors import SpadeworkError
from ..types import Completion, Model, Request

PAUSE_S = 0.005
"""While more callers keep coming within it, a batch waits for them: many threads start at once, but one of them first,
and a batch of one takes an engine almost as long as a batch of all."""


@dataclass(slots=True, eq=False)
class _Ticket:
    """What one caller asked for, and the answers once they are there."""

    requests: Sequence[Request]
    answers: list[Completion] | None = None


class Gathered:
    """Implements `Model` over an engine that serves one thread at a time.

    A batch that fails is asked for again caller by caller, so that a fault stays with the one who made it.
    """

    def __init__(self, engine: Model) -> None:
        self._engine = engine
        self._waiting: list[_Ticket] = []
        self._list, self._turn = Lock(), Lock()

    def generate(self, requests: Sequence[Request]) -> list[Completion]:
        """Completions in the order of the requests; waits for the batch before."""
        ticket = _Ticket(requests)
        with self._list:
            self._waiting.append(ticket)
        with self._turn:
            if ticket.answers is None:
                self._serve(ticket)
        assert ticket.answers is not None
        return ticket.answers

    def forget(self) -> None:
        """See `Model`; waits for the batch that is being drawn."""
        with self._turn:
            self._engine.forget()

    def _serve(self, own: _Ticket) -> None:
        """Answer everything that waits; a caller who waits no more and has no answer was in a batch that failed."""
        batch, seen = [own], 0
        while len(self._waiting) > seen:
            seen = len(self._waiting)
            time.sleep(PAUSE_S)
        with self._list:
            if own in self._waiting:
                batch, self._waiting = self._waiting, []
        try:
            self._answer(batch)
        except SpadeworkError:
            if len(batch) == 1:
                raise
            self._answer([own])

    def _answer(self, batch: Sequence[_Ticket]) -> None:
        answers = iter(self._engine.generate([request for ticket in batch for request in ticket.requests]))
        for ticket in batch:
            ticket.answers = [next(answers) for _ in ticket.requests]
