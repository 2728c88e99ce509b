"""The vocabulary of the house: frozen values that cross module borders.

Token ids and log-probs are plain Python sequences here; tensors live in the engine and in the update only.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal, Mapping, Protocol, Sequence


class Outcome(StrEnum):
    """How one sample ended. The first seven are the model's own doing and stay in every denominator."""

    RIGHT = "right"
    WRONG = "wrong"
    NO_ANSWER = "no_answer"
    TRUNCATED = "truncated"
    MALFORMED_CALL = "malformed_call"
    REFUSED = "refused"
    TIMEOUT = "timeout"
    CONTEXT_OVERFLOW = "context_overflow"
    SCORER_ERROR = "scorer_error"
    INFRA_ERROR = "infra_error"

    @property
    def scored(self) -> bool:
        """False when scorer or infrastructure failed: such a sample is outside the denominator."""
        return self not in (Outcome.SCORER_ERROR, Outcome.INFRA_ERROR)


class Arm(StrEnum):
    """An agent plays with the privileged hint or without it."""

    PLAIN = "plain"
    HINT = "hint"


class Finish(StrEnum):
    """Why a completion ended."""

    STOP = "stop"
    LENGTH = "length"
    CALLS = "calls"
    """It ends in tool calls."""
    REFUSED = "refused"
    """The provider's filter, or the model by its own mark, refused."""
    CONTEXT = "context"
    """The prompt leaves no room in the model's context."""
    FAILED = "failed"
    """No completion: network, server or time limit. `Completion.error` says which."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolCall:
    """A call that a model wrote. `arguments` is its JSON text as written, which may be no JSON at all."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Tool:
    """A function that a model may call; `parameters` is a JSON schema."""

    name: str
    description: str
    parameters: Mapping[str, object]


@dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    """One turn of a conversation."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    calls: tuple[ToolCall, ...] = ()
    """Of an assistant."""
    call_id: str = ""
    """Of a tool: the call it answers."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Usage:
    """Tokens that one request cost."""

    prompt_tokens: int
    completion_tokens: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Sampling:
    """How tokens are drawn. Temperature 0 is greedy; top_p 1 and top_k 0 switch truncation off."""

    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0
    max_new_tokens: int = 64
    stop: tuple[int, ...] = ()
    """Token ids that end a completion; the stop token is part of the completion."""
    stop_texts: tuple[str, ...] = ()
    """Texts that end a completion and are not part of it; engines of conversations only."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """One completion wanted: the *whole* history, as token ids or as messages (exactly one of the two)."""

    ids: Sequence[int] = ()
    messages: tuple[Message, ...] = ()
    tools: tuple[Tool, ...] = ()
    """With messages only."""
    sampling: Sampling
    seed: int
    """Completions depend on (weights, ids, sampling, seed) alone, never on the rest of the batch."""
    session: int | None = None
    """Requests of one multi-turn episode share a number; the engine may keep their KV cache."""
    time_limit_s: float | None = None
    """Wall seconds for this request; None leaves it to the engine's own limit."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Completion:
    """What the engine drew. `logprobs` are under the distribution at the sampling temperature, before truncation; an
    endpoint that gives no token ids or log-probs leaves both empty."""

    ids: tuple[int, ...]
    logprobs: tuple[float, ...]
    text: str
    finish: Finish
    calls: tuple[ToolCall, ...] = ()
    usage: Usage | None = None
    error: str = ""
    """Why there is no completion, with `Finish.FAILED`; for people and for the decision to try again."""


class Model(Protocol):
    """The port every engine implements."""

    def generate(self, requests: Sequence[Request]) -> list[Completion]:
        """Completions in the order of the requests."""
        ...

    def forget(self) -> None:
        """Drop every cached session (weights changed, or the episodes ended)."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Trajectory:
    """A token sequence as the engine saw it: what is trained is exactly what was sampled."""

    ids: tuple[int, ...]
    generated: tuple[bool, ...]
    """True where the policy drew the token (its stop token included)."""
    logprobs: tuple[float, ...]
    """Sampler's log-prob per token, 0.0 where not generated."""
    temperature: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Program:
    """An environment as source text, accepted by the validator. `id` is the first 16 hex digits of its sha256."""

    id: str
    source: str
    skill: str
    hint: str | None = None
    max_turns: int = 12
    meta: dict[str, float | int | str] = field(default_factory=dict)
    """Facts for reports only (family, level, author); no part of the method reads it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Play:
    """One episode to be played."""

    program: Program
    seed: int
    """Instance seed given to `reset`."""
    arm: Arm
    sample_seed: int
    """Seed of the agent's sampling."""
    sampling: Sampling


@dataclass(frozen=True, kw_only=True, slots=True)
class Episode:
    """One episode as it was played. `reward` is None when the episode is unscored (the host failed)."""

    play: Play
    trajectory: Trajectory
    reward: float | None
    outcome: Outcome
    terminated: bool
    truncated: bool
    turns: int
    actions: tuple[str, ...]
    error: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Sample:
    """A trajectory with the advantage it is trained with."""

    trajectory: Trajectory
    advantage: float
    role: str
    """"agent" or "designer"."""
    group: str
    """The comparison group whose mean was subtracted."""
