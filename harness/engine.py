"""The in-process engine: the `Model` port over a transformers model, for training at small scale.

It batches requests, keeps the caches of multi-turn sessions, and draws until every row has ended. A completion depends
on (weights, ids, sampling, seed) alone: neither on the batch it stood in nor on what was cached. It is no server: big
models come behind the same port through vLLM or an endpoint.
"""

from dataclasses import dataclass
from typing import Callable, Sequence

import torch
from torch import Tensor
from transformers import PreTrainedModel

from .decode import Decoder, Place
from .decode_hub import HubDecoder
from .decode_llama import LlamaDecoder, serves
from .errors import InputError
from .sampling import Rules, draw, uniforms
from .types import Completion, Finish, Request

_ALIVE = 0.75
"""When fewer of the rows than this share are alive, the ended ones are dropped from the batch."""


@dataclass(frozen=True, slots=True)
class _Session:
    """What is cached of one session: the ids, and where their keys and values lie."""

    ids: list[int]
    place: Place


class LocalEngine:
    """Completions from a causal language model of transformers in this process.

    Weights are read from the module; they are packed once and again after `forget()`, or when an in-place update of a
    parameter is noticed. A history that leaves no room below the model's `max_position_embeddings` ends with
    `Finish.LENGTH`, if need be with no token at all: a long episode is data and must not stop its siblings.
    `pad_id` fills rows and is never attended to. At most `max_rows` requests are decoded at a time.
    """

    def __init__(
        self, model: PreTrainedModel, *, pad_id: int, decode: Callable[[Sequence[int]], str], max_rows: int = 256
    ) -> None:
        self._model = model
        self._pad_id = pad_id
        self._text = decode
        self._max_rows = max_rows
        self._sessions: dict[int, _Session] = {}
        self._decoder: Decoder | None = None
        self._versions: tuple[int, ...] = ()
        self._context = int(model.config.max_position_embeddings)
        self._vocabulary = int(model.config.vocab_size)

    def forget(self) -> None:
        """Drop every session and the packed weights."""
        self._sessions.clear()
        self._decoder = None

    def generate(self, requests: Sequence[Request]) -> list[Completion]:
        """Completions in the order of the requests. InputError for ids or settings no model could serve."""
        for request in requests:
            self._check(request)
        versions = tuple(parameter._version for parameter in self._model.parameters())
        if versions != self._versions:
            self.forget()
            self._versions = versions
        answers = [Completion(ids=(), logprobs=(), text="", finish=Finish.LENGTH)] * len(requests)
        order = sorted(range(len(requests)), key=lambda r: (-len(requests[r].ids), r))
        order = [r for r in order if self._room(requests[r]) > 0]
        with torch.inference_mode():
            for low in range(0, len(order), self._max_rows):
                part = order[low : low + self._max_rows]
                for r, completion in zip(part, self._batch([requests[r] for r in part])):
                    answers[r] = completion
        return answers

    def _check(self, request: Request) -> None:
        s = request.sampling
        if not request.ids:
            raise InputError("A request has no ids; start every prompt with at least one token.")
        if min(request.ids) < 0 or max(request.ids) >= self._vocabulary:
            raise InputError(f"A request has an id outside 0..{self._vocabulary - 1}; use the model's own tokenizer.")
        if not (s.temperature >= 0 and 0 < s.top_p <= 1 and s.top_k >= 0 and s.max_new_tokens >= 0):
            raise InputError(f"Cannot draw with {s}; set temperature, top_k, max_new_tokens >= 0 and 0 < top_p <= 1.")

    def _room(self, request: Request) -> int:
        return min(request.sampling.max_new_tokens, self._context - len(request.ids))

    def _batch(self, requests: Sequence[Request]) -> list[Completion]:
        """One batch, longest history first."""
        if self._decoder is None:
            kind = LlamaDecoder if serves(self._model) else HubDecoder
            self._decoder = kind(self._model, self._pad_id)
        cached = [self._known(request) for request in requests]
        logits_BV = self._decoder.open([request.ids for request in requests], cached)
        drawn = _Run(self._decoder, requests, [self._room(request) for request in requests], logits_BV.device)
        drawn.finish(logits_BV)
        answers = []
        for request, ids, logprobs, place in zip(requests, drawn.ids, drawn.logprobs, drawn.places):
            if request.session is not None and place is not None:
                self._sessions[request.session] = _Session([*request.ids, *ids[:-1]], place)
            stopped = ids[-1] in request.sampling.stop
            finish = Finish.STOP if stopped else Finish.LENGTH
            answers.append(Completion(ids=tuple(ids), logprobs=tuple(logprobs), text=self._text(ids), finish=finish))
        return answers

    def _known(self, request: Request) -> Place | None:
        """The cached part of a history, never its last token (its logits are wanted)."""
        session = self._sessions.get(request.session) if request.session is not None else None
        if session is None or list(request.ids[: len(session.ids)]) != session.ids:
            return None
        length = min(session.place.length, len(request.ids) - 1)
        return session.place._replace(length=length) if length else None


class _Run:
    """One batch from its first logits to its last token."""

    def __init__(
        self, decoder: Decoder, requests: Sequence[Request], room: Sequence[int], device: torch.device
    ) -> None:
        count, steps = len(requests), max(room)
        self._decoder = decoder
        self._prompts = [len(request.ids) for request in requests]
        self._room_B = torch.tensor(room, device=device)
        self._rules = Rules.of([request.sampling for request in requests], device)
        self._noise_BN = uniforms([request.seed for request in requests], self._prompts, steps).to(device)
        self._rows = list(range(count))
        self.ids: list[list[int]] = [[] for _ in range(count)]
        self.logprobs: list[list[float]] = [[] for _ in range(count)]
        self.places: list[Place | None] = [None] * count
        self._tokens_NB: list[Tensor] = []
        self._logprobs_NB: list[Tensor] = []

    def finish(self, logits_BV: Tensor) -> None:
        """Draw until every row has met a stop id or its room is used up."""
        alive_B = torch.ones_like(self._room_B, dtype=torch.bool)
        length_B = torch.zeros_like(self._room_B)
        done_steps = 0
        while True:
            token_B, logprob_B = draw(logits_BV, self._rules, self._noise_BN[:, done_steps])
            self._tokens_NB.append(token_B)
            self._logprobs_NB.append(logprob_B)
            done_steps += 1
            length_B += alive_B
            alive_B = alive_B & ~self._rules.stops(token_B) & (self._room_B > done_steps)
            alive = int(alive_B.sum())
            if alive < _ALIVE * len(self._rows):
                self._collect(alive_B, length_B)
                if not alive:
                    return
                keep = alive_B.nonzero().squeeze(1)
                self._decoder.keep(keep)
                self._rules, self._noise_BN = self._rules.select(keep), self._noise_BN[keep]
                self._room_B, length_B = self._room_B[keep], length_B[keep]
                alive_B, token_B = alive_B[keep], token_B[keep]
                self._rows = [self._rows[r] for r in keep.tolist()]
            logits_BV = self._decoder.step(token_B)

    def _collect(self, alive_B: Tensor, length_B: Tensor) -> None:
        """Move what was drawn since the last call to the rows it belongs to, and note where ended rows are cached."""
        tokens = torch.stack(self._tokens_NB, 1).tolist()
        logprobs = torch.stack(self._logprobs_NB, 1).tolist()
        self._tokens_NB, self._logprobs_NB = [], []
        for at, (row, alive, length) in enumerate(zip(self._rows, alive_B.tolist(), length_B.tolist())):
            wanted = length - len(self.ids[row])
            self.ids[row] += tokens[at][:wanted]
            self.logprobs[row] += logprobs[at][:wanted]
            if not alive:
                self.places[row] = self._decoder.place(at, self._prompts[row] + length - 1)
