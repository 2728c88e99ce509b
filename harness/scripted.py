"""Models that follow a script: the doubles of an engine, shipped so that users can test their own parts with them.

`ScriptedModel` answers token ids, `ScriptedChat` answers conversations: a model under test or a simulated user.
"""

import re
from typing import Callable, Sequence

from .stopping import first_stop
from .types import Completion, Finish, Message, Request, Usage

Script = Callable[[Request], Sequence[int]]
"""From a request to the token ids a model would draw; what follows a stop token or the length limit is cut."""
ChatScript = Callable[[Request], str | Message | Completion]
"""From a request to what the model says: a text, an assistant's message with calls, or a whole completion as it is."""
_WORD = re.compile(r"\S+")


class _Scripted:
    """What the doubles share: they count, and answer one request at a time."""

    def __init__(self) -> None:
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
        raise NotImplementedError


class ScriptedModel(_Scripted):
    """Implements `Model`. Log-probs are those of a model that was certain: 0.0."""

    def __init__(self, script: Script, decode: Callable[[Sequence[int]], str]) -> None:
        super().__init__()
        self.script, self.decode = script, decode

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


class ScriptedChat(_Scripted):
    """Implements `Model` for conversations. Its tokens are words: they are what is counted and what the limit cuts.

    A completion from the script is given back as it is, so that failures can be played too; texts and messages are cut
    at a stop text or at the length limit. It has no token ids and no log-probs, as most endpoints.
    """

    def __init__(self, script: ChatScript) -> None:
        super().__init__()
        self.script = script

    def _complete(self, request: Request) -> Completion:
        said = self.script(request)
        if isinstance(said, Completion):
            return said
        text, calls = (said, ()) if isinstance(said, str) else (said.content, said.calls)
        finish = Finish.CALLS if calls else Finish.STOP
        text = text[: first_stop(text, request.sampling.stop_texts)]
        words = list(_WORD.finditer(text))
        if len(words) > request.sampling.max_new_tokens:
            words = words[: request.sampling.max_new_tokens]
            text, calls, finish = text[: words[-1].end()] if words else "", (), Finish.LENGTH
        asked = sum(len(message.content.split()) for message in request.messages)
        usage = Usage(prompt_tokens=asked, completion_tokens=len(words))
        return Completion(ids=(), logprobs=(), text=text, finish=finish, calls=calls, usage=usage)
