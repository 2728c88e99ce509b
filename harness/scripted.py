"""A model that follows a script: the double of an engine, shipped so that users can test their own parts with it."""

from typing import Callable, Sequence

from .types import Completion, Finish, Request

Script = Callable[[Request], Sequence[int]]
"""From a request to the token ids a model would draw; what follows a stop token or the length limit is cut."""


class ScriptedModel:
    """Implements `Model`. Log-probs are those of a model that was certain: 0.0."""

    def __init__(self, script: Script, decode: Callable[[Sequence[int]], str]) -> None:
        self.script, self.decode = script, decode
        self.requests: list[Request] = []
        """Every request so far, for tests."""
        self.forgotten = 0
        """How often the sessions were dropped."""

    def generate(self, requests: Sequence[Request]) -> list[Completion]:
        """One scripted completion a request."""
        self.requests.extend(requests)
        return [self._complete(request) for request in requests]

    def forget(self) -> None:
        """Nothing is cached; counted."""
        self.forgotten += 1

    def _complete(self, request: Request) -> Completion:
        drawn: list[int] = []
        finish = Finish.LENGTH
        for token in self.script(request):
            if len(drawn) == request.sampling.max_new_tokens:
                break
            drawn.append(token)
            if token in request.sampling.stop:
                finish = Finish.STOP
                break
        ids = tuple(drawn)
        return Completion(ids=ids, logprobs=(0.0,) * len(ids), text=self.decode(ids), finish=finish)
