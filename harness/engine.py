"""The in-process engine: the `Model` port over a transformers model, for training at small scale.

It batches requests, keeps the caches of multi-turn sessions, and draws until every row has ended. A completion depends
on (weights, ids, sampling, seed) alone: neither on the batch it stood in nor on what was cached. It is no server: big
models come behind the same port through vLLM or an endpoint.
"""

import time
from dataclasses import dataclass
from itertools import chain
from math import inf, isnan
from typing import Any, Sequence

import torch
from torch import Tensor
from transformers import PreTrainedModel

from .decode import Decoder, token_bytes
from .decode_hub import HubDecoder
from .decode_llama import LlamaDecoder, serves
from .errors import InputError, TrainingStopped
from .sampling import Rules, draw, uniforms
from .stopping import Decode, cut, first_stop
from .types import Completion, Finish, Request

_ALIVE = 0.75
"""When fewer of the rows than this share are alive, the ended ones are dropped from the batch."""
_LOOK = 16
"""Steps between two looks at stop texts and time limits; what is drawn beyond a stop text is cut off again."""


@dataclass(frozen=True, slots=True)
class _Session:
    """What is cached of one session."""

    ids: list[int]
    cache: Tensor


class LocalEngine:
    """Completions from a causal language model of transformers in this process.

    Weights are read from the module; they are packed once and again after `forget()`, or when an in-place update of a
    parameter is noticed. A history that leaves no room below the model's `max_position_embeddings` ends with
    `Finish.LENGTH`, if need be with no token at all: a long episode is data and must not stop its siblings.
    `pad_id` fills rows and is never attended to. At most `max_rows` requests are decoded at a time, and no more than
    `cache_mb` MiB of caches hold (one always is). At most `session_mb` MiB of sessions are kept; the longest unused are
    dropped first. Dropout is off while drawing. A time limit counts from the moment the request's batch begins, and is
    looked at every few steps.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        *,
        pad_id: int,
        decode: Decode,
        max_rows: int = 256,
        cache_mb: int = 4096,
        session_mb: int = 1024,
    ) -> None:
        self._model = model
        self._pad_id = pad_id
        self._text = decode
        self._max_rows, self._cache_bytes = max_rows, cache_mb * 2**20
        self._session_bytes = session_mb * 2**20
        self._sessions: dict[int, _Session] = {}
        self._decoder: Decoder | None = None
        self._versions: tuple[int, ...] = ()
        config: Any = model.config.get_text_config()
        self._context = int(config.max_position_embeddings)
        self._vocabulary = int(config.vocab_size)
        self._token_bytes = token_bytes(lambda name: getattr(config, name, None), model.dtype.itemsize)

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
        lengths = [len(requests[r].ids) + self._room(requests[r]) for r in order]
        cuts = batches(lengths, self._max_rows, self._cache_bytes // max(1, self._token_bytes))
        parts = [order[low:high] for low, high in cuts]
        training = self._model.training
        self._model.eval()  # type: ignore[no-untyped-call]
        try:
            with torch.inference_mode():
                for part in parts:
                    for r, completion in zip(part, self._batch([requests[r] for r in part])):
                        answers[r] = completion
        finally:
            self._model.train(training)
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
        watch = _Watch(requests, self._text)
        logits_BV = self._decoder.open([request.ids for request in requests], cached)
        drawn = _Run(self._decoder, requests, [self._room(request) for request in requests], watch, logits_BV.device)
        drawn.finish(logits_BV)
        answers = []
        for row, (request, cache) in enumerate(zip(requests, drawn.caches)):
            completion = self._completion(request, drawn.ids[row], drawn.logprobs[row], row in watch.expired)
            if request.session is not None and cache is not None and completion.ids:
                known = [*request.ids, *completion.ids[:-1]]
                self._sessions.pop(request.session, None)
                self._sessions[request.session] = _Session(known, cache[..., : len(known), :])
            answers.append(completion)
        self._drop_oldest()
        return answers

    def _completion(self, request: Request, ids: list[int], logprobs: list[float], expired: bool) -> Completion:
        if expired:
            error = f"no answer within {request.time_limit_s:g} s ({len(ids)} tokens were drawn)"
            return Completion(ids=(), logprobs=(), text="", finish=Finish.FAILED, error=error)
        if ended := cut(ids, request.sampling.stop_texts, self._text):
            kept = ended.length
            return Completion(
                ids=tuple(ids[:kept]), logprobs=tuple(logprobs[:kept]), text=ended.text, finish=Finish.STOP
            )
        finish = Finish.STOP if ids[-1] in request.sampling.stop else Finish.LENGTH
        return Completion(ids=tuple(ids), logprobs=tuple(logprobs), text=self._text(ids), finish=finish)

    def _drop_oldest(self) -> None:
        kept = sum(session.cache.nbytes for session in self._sessions.values())
        for number in list(self._sessions):
            if kept <= self._session_bytes:
                return
            kept -= self._sessions.pop(number).cache.nbytes

    def _known(self, request: Request) -> Tensor | None:
        """The cache of what the history has in common with the session's, without the history's last token, whose
        logits are wanted. A chat template writes what was drawn anew, so a session may differ in its last words."""
        session = self._sessions.get(request.session) if request.session is not None else None
        if session is None:
            return None
        shared = min(len(session.ids), len(request.ids) - 1)
        shared = next((n for n in range(shared) if request.ids[n] != session.ids[n]), shared)
        return session.cache[..., :shared, :] if shared else None


def batches(lengths: Sequence[int], max_rows: int, max_tokens: int) -> list[tuple[int, int]]:
    """Cuts (from, to) of rows in their order: at most `max_rows`, and `max_tokens` where each row takes the room of the
    longest beside it. A row that is too long by itself is alone."""
    cuts: list[tuple[int, int]] = []
    low, widest = 0, 0
    for at, length in enumerate(lengths):
        widest = max(widest, length)
        rows = at + 1 - low
        if rows > 1 and (rows > max_rows or rows * widest > max_tokens):
            cuts.append((low, at))
            low, widest = at, length
    return [*cuts, (low, len(lengths))] if lengths else []


class _Watch:
    """What ends a row beside its stop ids and its room: a text it has written, or its time."""

    def __init__(self, requests: Sequence[Request], decode: Decode) -> None:
        now = time.monotonic()
        self._decode = decode
        self._texts = [request.sampling.stop_texts for request in requests]
        self._until = [now + (inf if request.time_limit_s is None else request.time_limit_s) for request in requests]
        self.needed = any(self._texts) or min(self._until) < inf
        self.expired: set[int] = set()
        """Rows whose time was over."""

    def ends(self, row: int, drawn: Sequence[int]) -> bool:
        """Whether the row is to draw no further."""
        if time.monotonic() > self._until[row]:
            self.expired.add(row)
            return True
        return bool(self._texts[row]) and first_stop(self._decode(drawn), self._texts[row]) is not None


class _Run:
    """One batch from its first logits to its last token."""

    def __init__(
        self,
        decoder: Decoder,
        requests: Sequence[Request],
        room: Sequence[int],
        watch: _Watch,
        device: torch.device,
    ) -> None:
        count, steps = len(requests), max(room)
        self._decoder, self._watch = decoder, watch
        self._prompts = [len(request.ids) for request in requests]
        self._kept = [request.session is not None for request in requests]
        self._room_B = torch.tensor(room, device=device)
        self._rules = Rules.of([request.sampling for request in requests], device)
        self._noise_BN = uniforms([request.seed for request in requests], self._prompts, steps).to(device)
        self._rows = list(range(count))
        self.ids: list[list[int]] = [[] for _ in range(count)]
        self.logprobs: list[list[float]] = [[] for _ in range(count)]
        self.caches: list[Tensor | None] = [None] * count
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
            if self._watch.needed and done_steps % _LOOK == 0:
                alive_B = self._looked(alive_B)
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

    def _looked(self, alive_B: Tensor) -> Tensor:
        """The rows that go on drawing."""
        since = torch.stack(self._tokens_NB, 1).tolist()
        alive = alive_B.tolist()
        for at, row in enumerate(self._rows):
            alive[at] = alive[at] and not self._watch.ends(row, self.ids[row] + since[at])
        return torch.tensor(alive, device=alive_B.device)

    def _collect(self, alive_B: Tensor, length_B: Tensor) -> None:
        """Move what was drawn since the last call to the rows it belongs to, and keep the caches of ended sessions."""
        tokens = torch.stack(self._tokens_NB, 1).tolist()
        logprobs = torch.stack(self._logprobs_NB, 1).tolist()
        self._tokens_NB, self._logprobs_NB = [], []
        if any(map(isnan, chain(*logprobs))):
            raise TrainingStopped(
                "The logits are not numbers; resume from an earlier checkpoint with a lower learning rate."
            )
        for at, (row, alive, length) in enumerate(zip(self._rows, alive_B.tolist(), length_B.tolist())):
            wanted = length - len(self.ids[row])
            self.ids[row] += tokens[at][:wanted]
            self.logprobs[row] += logprobs[at][:wanted]
            if not alive:
                self.caches[row] = self._decoder.cache(at, self._prompts[row] + length - 1) if self._kept[row] else None
