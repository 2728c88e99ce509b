"""Conversations over an engine of token ids: the same prompts, stop rules and readers whichever engine draws.

Both our engines, transformers in this process and a vLLM server, are asked for token ids, so that a difference between
their scores is never one of templates. Requests by ids pass through. Thinking stays in the text: it is the scorer's.
"""

from dataclasses import replace
from typing import NamedTuple, Sequence

from ..stopping import Decode, cut
from ..types import Completion, Finish, Model, Request, Usage
from .hiding import told
from .template import CannotRender, ChatTemplate, Prompt


class _Ready(NamedTuple):
    """A request that can be drawn."""

    request: Request
    prompt: Prompt | None
    """None of a request by ids."""


class ChatModel:
    """Implements `Model`. `context` is the most tokens of prompt and completion together; `decode` makes the text of
    requests by ids, where a model has a way of its own.
    """

    def __init__(self, engine: Model, template: ChatTemplate, context: int, decode: Decode | None = None) -> None:
        self.engine, self.template, self.context = engine, template, context
        self._decode = decode or template.text

    def generate(self, requests: Sequence[Request]) -> list[Completion]:
        """Completions in the order of the requests. A conversation that cannot be answered is a completion that says
        why; its siblings are answered.
        """
        prepared = [self._prepare(request) for request in requests]
        drawn = iter(self.engine.generate([one.request for one in prepared if isinstance(one, _Ready)]))
        return [
            self._finished(asked, one, next(drawn)) if isinstance(one, _Ready) else one
            for asked, one in zip(requests, prepared)
        ]

    def forget(self) -> None:
        """See `Model`."""
        self.engine.forget()

    def count_tokens(self, request: Request) -> int:
        """Tokens of the prompt. InputError when it cannot be expressed."""
        return len(request.ids or self.template.render(request.messages, request.tools).ids)

    def _prepare(self, request: Request) -> "_Ready | Completion":
        if not request.messages:
            return _Ready(request, None)
        try:
            prompt = self.template.render(request.messages, request.tools)
        except CannotRender as error:
            return Completion(ids=(), logprobs=(), text="", finish=Finish.FAILED, error=str(error))
        room = self.context - len(prompt.ids)
        if room <= 0:
            why = f"the prompt has {len(prompt.ids)} tokens and the model's context {self.context}"
            usage = Usage(prompt_tokens=len(prompt.ids), completion_tokens=0)
            return Completion(ids=(), logprobs=(), text="", finish=Finish.CONTEXT, usage=usage, error=why)
        sampling = replace(
            request.sampling,
            stop=(*request.sampling.stop, *self.template.stops),
            max_new_tokens=min(request.sampling.max_new_tokens, room),
        )
        ids = replace(request, ids=prompt.ids, messages=(), tools=(), sampling=sampling)
        return _Ready(ids, prompt)

    def _finished(self, asked: Request, ready: _Ready, drawn: Completion) -> Completion:
        """The completion with usage, and of a conversation with text and calls."""
        if drawn.finish in (Finish.FAILED, Finish.CONTEXT, Finish.REFUSED):
            return replace(drawn, error=told(drawn.error, prompt=(one.content for one in asked.messages)))
        usage = Usage(prompt_tokens=len(ready.request.ids), completion_tokens=len(drawn.ids))
        decode = self._decode if ready.prompt is None else self.template.text
        ended = cut(drawn.ids, asked.sampling.stop_texts, decode)
        written = decode(drawn.ids) if ended is None else ended.text
        if ready.prompt is None:
            return replace(drawn, text=written, usage=usage)
        text, calls = self.template.calls(ready.prompt.opened + written, drawn.ids, asked, ready.prompt)
        finish = Finish.CALLS if calls and drawn.finish is not Finish.LENGTH else drawn.finish
        return replace(drawn, text=text, calls=calls, finish=finish, usage=usage)
