"""The engine of an OpenAI-compatible server: requests out, completions or the reason why there is none back.

At most `concurrency` requests are under way. A failure of the network or overload is tried again after a growing wait;
a refusal (4xx) never, and a 200 without a completion in it is a failure, never a text. Every try has a time limit that
also ends an answer that drips. HTTP is httpx2's part, which the core brings along with huggingface_hub. The key is in
no message, record or repr.
"""

import asyncio
import json
import logging
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from math import inf
from typing import Callable, Sequence

import httpx2

from ..errors import InputError
from ..seeds import generator
from ..types import Completion, Finish, Request
from .address import Address
from .background import Background
from .hiding import told
from .retrying import retry_after, wait_s, worth_another_try
from .settings import EndpointSettings
from .wire import Manner, Unusable, chat_body, ids_body, read_body, read_chat, read_ids, refused, speaker, unsent

CONNECT_S = 20.0
LARGEST_BODY = 64 * 2**20
log = logging.getLogger(__name__)
logging.getLogger("httpx2").setLevel(logging.WARNING)
"""It would tell a line a request."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Failed:
    """A try that may be repeated."""

    reason: str
    asked_s: float | None = None
    """Seconds the server asked to be left alone."""


class Endpoint:
    """Implements `Model`. Safe to use from many threads; all of them together share the bound on concurrency."""

    def __init__(
        self,
        address: Address,
        settings: EndpointSettings,
        manner: Manner,
        *,
        key: str | None = None,
        dead: Callable[[], str] = lambda: "",
    ) -> None:
        """`dead` says why the server will never answer again, empty while it may."""
        self.address, self.settings, self.manner = address, settings, manner
        self._key, self._dead = key, dead
        self._background = Background()
        self._client: httpx2.AsyncClient | None = None
        self._gate: asyncio.Semaphore | None = None
        self._warned: set[str] = set()
        self._count = 0
        self.answered_as: set[str] = set()
        """What the server called the models that answered."""

    def generate(self, requests: Sequence[Request]) -> list[Completion]:
        """Completions in the order of the requests; one that failed says why and leaves its siblings alone."""
        for request in requests:
            self._report(request)
        return self._background.run(self._all(requests)) if requests else []

    def forget(self) -> None:
        """See `Model`; nothing is kept here."""

    def close(self) -> None:
        """Drop the connections. The server goes on."""
        client, self._client = self._client, None
        self._background.close(client.aclose() if client is not None else None)

    def _report(self, request: Request) -> None:
        """Refuse what cannot be sent, and say once what is not sent."""
        if not request.messages and self.manner.kind != "vllm":
            raise InputError(
                f"{self.address.base} takes conversations, not token ids; take engine transformers or vllm for this."
            )
        for name in unsent(request.sampling, self.manner):
            if name not in self._warned:
                self._warned.add(name)
                log.warning("%s does not get %s: the server does not take it.", self.address.base, name)

    async def _all(self, requests: Sequence[Request]) -> list[Completion]:
        if self._client is None:
            limits = httpx2.Limits(max_connections=self.settings.concurrency)
            headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
            self._client = httpx2.AsyncClient(
                headers=headers, limits=limits, timeout=httpx2.Timeout(None, connect=CONNECT_S),
                trust_env=not self.address.loopback, follow_redirects=False,
            )  # fmt: skip
            self._gate = asyncio.Semaphore(self.settings.concurrency)
        return list(await asyncio.gather(*(self._bounded(self._client, request) for request in requests)))

    async def _bounded(self, client: httpx2.AsyncClient, request: Request) -> Completion:
        assert self._gate is not None
        async with self._gate:
            return await self._answered(client, request)

    async def _answered(self, client: httpx2.AsyncClient, request: Request) -> Completion:
        """Try until there is an answer, a refusal, or nothing left to try with."""
        self._count += 1
        jitter = generator(request.seed, "jitter", self._count)
        end = time.monotonic() + (inf if request.time_limit_s is None else request.time_limit_s)
        last = "no time was left"
        for tried in range(1, self.settings.retries + 2):
            if gone := self._dead():
                return _failed(self._told(gone, request))
            left = min(self.settings.time_limit_s, end - time.monotonic())
            if left <= 0:
                break
            outcome = await self._try(client, request, left)
            if isinstance(outcome, Completion):
                return outcome
            last = f"{outcome.reason} (tried {tried} times)" if tried > 1 else outcome.reason
            wait = wait_s(tried, outcome.asked_s, self.settings.longest_wait_s, jitter)
            if wait is None or tried > self.settings.retries or time.monotonic() + wait >= end:
                break
            await asyncio.sleep(wait)
        return _failed(last)

    async def _try(self, client: httpx2.AsyncClient, request: Request, limit_s: float) -> Completion | _Failed:
        """One request over the network."""
        asked = (chat_body if request.messages else ids_body)(request, self.manner)
        url = f"{self.address.base}/{'chat/completions' if request.messages else 'completions'}"
        body, headers = json.dumps(asked).encode(), {"Content-Type": "application/json"}
        try:
            async with (
                asyncio.timeout(limit_s),
                client.stream("POST", url, content=body, headers=headers) as response,
            ):
                content = await _content(response)
        except TimeoutError:
            return _Failed(reason=f"no answer within {limit_s:.3g} s")
        except httpx2.TransportError as error:
            return _Failed(reason=self._told(f"{type(error).__name__}: {error}", request))
        except (httpx2.HTTPError, Unusable) as error:
            return _failed(self._told(f"unreadable answer: {error}", request))
        return self._judged(request, response, content)

    def _judged(self, request: Request, response: httpx2.Response, content: bytes) -> Completion | _Failed:
        """What an answer means."""
        status = response.status_code
        try:
            if status == 200:
                document = read_body(content)
                completion = (read_chat if request.messages else read_ids)(document, request.sampling)
                self.answered_as.add(speaker(document))
                return completion
        except Unusable as error:
            return _failed(self._told(f"status 200, but {error}", request))
        text = content[:4000].decode(errors="replace")
        reason = self._told(f"status {status}: {text or response.reason_phrase}", request)
        if worth_another_try(status):
            return _Failed(reason=reason, asked_s=retry_after(response.headers.get("retry-after"), datetime.now(UTC)))
        finish = refused(status, text) or Finish.FAILED
        if status in (401, 403) and finish is Finish.FAILED:
            reason = f"{reason} (the key comes from {self.address.key_variable or 'no variable: none was sent'})"
        return Completion(ids=(), logprobs=(), text="", finish=finish, error=reason)

    def _told(self, message: str, request: Request) -> str:
        """Fit to be recorded: without the key and without the conversation."""
        return told(message, prompt=(one.content for one in request.messages), secrets=[self._key or ""])


def _failed(reason: str) -> Completion:
    return Completion(ids=(), logprobs=(), text="", finish=Finish.FAILED, error=reason)


async def _content(response: httpx2.Response) -> bytes:
    pieces, size = [], 0
    async for piece in response.aiter_bytes():
        pieces.append(piece)
        size += len(piece)
        if size > LARGEST_BODY:
            raise Unusable(f"the body is larger than {LARGEST_BODY // 2**20} MiB")
    return b"".join(pieces)
