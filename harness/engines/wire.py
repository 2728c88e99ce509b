"""The protocol of OpenAI-compatible servers: bodies of requests, and what an answer means. Values only.

An answer becomes a completion only when it is one: a body without choices, with an error in it, or with an unknown
reason of its end is `Unusable`, whatever its status. What a server does not understand is named, never dropped
silently.
"""

import json
import re
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import Collection, Mapping, Sequence

from ..types import Completion, Finish, Request, Sampling, ToolCall, Usage
from .messages import function_tools, wire_messages

UNDERSTOOD = {
    "openai": frozenset({"temperature", "top_p", "seed", "stop", "logprobs"}),
    "other": frozenset({"temperature", "top_p", "top_k", "seed", "stop", "logprobs"}),
    "vllm": frozenset({"temperature", "top_p", "top_k", "seed", "stop", "stop_token_ids", "logprobs"}),
}
"""Parameters by kind of server."""
NEUTRAL = {"min_p": 0.0, "repetition_penalty": 1.0, "presence_penalty": 0.0, "frequency_penalty": 0.0}
"""vLLM would take these from the model's generation_config.json otherwise."""
FINISHES = {
    "stop": Finish.STOP,
    "length": Finish.LENGTH,
    "tool_calls": Finish.CALLS,
    "function_call": Finish.CALLS,
    "content_filter": Finish.REFUSED,
}
_TOO_LONG = re.compile(
    r"context.{0,3}length|context window|maximum context|max_model_len|prompt is too long|too many (input )?tokens"
    r"|input is too long|reduce the length",
    re.IGNORECASE,
)
_REFUSED = re.compile(r"content_filter|content_policy|content management policy|ResponsibleAI", re.IGNORECASE)
_SEED = 2**31
"""Seeds are taken modulo this: not every server keeps 63 bits."""


class Unusable(Exception):
    """The answer is no completion; the message says why."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Manner:
    """How a server is spoken to."""

    model: str
    kind: str = "other"
    not_sent: frozenset[str] = frozenset()
    length_key: str = "max_tokens"
    logprobs: bool = False
    extra: Mapping[str, object] = field(default_factory=dict)

    @property
    def sent(self) -> frozenset[str]:
        """The parameters this server is given."""
        return UNDERSTOOD[self.kind] - self.not_sent


def unsent(sampling: Sampling, manner: Manner) -> tuple[str, ...]:
    """What of a request's sampling the server does not get, by name; seed always counts as wanted."""
    wanted = {
        "temperature": True,
        "top_p": sampling.top_p < 1,
        "top_k": sampling.top_k > 0,
        "seed": sampling.temperature > 0,
        "stop": bool(sampling.stop_texts),
        "stop_token_ids": bool(sampling.stop),
    }
    return tuple(name for name, asked in wanted.items() if asked and name not in manner.sent)


def chat_body(request: Request, manner: Manner) -> dict[str, object]:
    """The body of POST /chat/completions."""
    body: dict[str, object] = {"model": manner.model, "messages": wire_messages(request.messages)}
    if request.tools:
        body["tools"] = function_tools(request.tools)
    return {**body, **_settings(request, manner, {"logprobs": True}), **manner.extra}


def ids_body(request: Request, manner: Manner) -> dict[str, object]:
    """The body of POST /completions for token ids in and out; vLLM only."""
    exact = {"prompt": list(request.ids), "ignore_eos": True, "add_special_tokens": False}
    return {"model": manner.model, **exact, **_settings(request, manner, {"logprobs": 0}), **manner.extra}


def _settings(request: Request, manner: Manner, logprobs: Mapping[str, object]) -> dict[str, object]:
    s = request.sampling
    values: dict[str, object] = {
        "temperature": s.temperature,
        "top_p": s.top_p,
        "seed": request.seed % _SEED,
    }
    if s.top_k > 0 or manner.kind == "vllm":
        values["top_k"] = s.top_k
    if s.stop_texts:
        values["stop"] = list(s.stop_texts)
    if s.stop:
        values["stop_token_ids"] = list(s.stop)
    if manner.logprobs:
        values |= logprobs
    chosen = {name: value for name, value in values.items() if name in manner.sent}
    if manner.kind == "vllm":
        chosen |= {**NEUTRAL, "return_token_ids": True, "skip_special_tokens": False}
    return {**chosen, manner.length_key: s.max_new_tokens}


def read_chat(document: Mapping[str, object], sampling: Sampling) -> Completion:
    """The completion in the answer to `chat_body`."""
    choice = _choice(document)
    message = choice.get("message")
    if not isinstance(message, dict):
        raise Unusable("the choice holds no message")
    calls = _calls(message.get("tool_calls"))
    refusal = message.get("refusal")
    finish = _finish(choice)
    if refusal:
        finish = Finish.REFUSED
    elif calls and finish is Finish.STOP:
        finish = Finish.CALLS
    elif not calls and finish is Finish.CALLS:
        raise Unusable("it ends in tool calls and holds none")
    logprobs = choice.get("logprobs")
    rows = logprobs.get("content") if isinstance(logprobs, dict) else None
    values = [row.get("logprob") for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    text = str(refusal) if refusal else _text(message.get("content"))
    drawn = _drawn(document, choice, values, sampling)
    return replace(drawn, text=text, finish=finish, calls=calls)


def read_ids(document: Mapping[str, object], sampling: Sampling) -> Completion:
    """The completion in the answer to `ids_body`."""
    choice = _choice(document)
    logprobs = choice.get("logprobs")
    values = logprobs.get("token_logprobs") if isinstance(logprobs, dict) else None
    if not isinstance(choice.get("token_ids"), list):
        raise Unusable("the answer holds no token ids, which this server was taken to give")
    drawn = _drawn(document, choice, values or [], sampling)
    return replace(drawn, text=_text(choice.get("text")), finish=_finish(choice))


def _drawn(
    document: Mapping[str, object], choice: Mapping[str, object], values: Sequence[object], sampling: Sampling
) -> Completion:
    """Ids, log-probs and usage; text and finish are still to be filled in."""
    given = choice.get("token_ids")
    ids = tuple(one for one in given if isinstance(one, int)) if isinstance(given, list) else ()
    logprobs = _logprobs(values, ids, sampling)
    return Completion(
        ids=ids, logprobs=logprobs, text="", finish=Finish.STOP, usage=_usage(document.get("usage"))
    )  # fmt: skip


def _logprobs(values: Sequence[object], ids: Collection[int], sampling: Sampling) -> tuple[float, ...]:
    """Those of the house: at the sampling temperature. Servers give them at 1, so at another temperature there are
    none, and none where they do not fit the ids.
    """
    numbers = tuple(float(one) for one in values if isinstance(one, int | float) and isfinite(one))
    whole = len(numbers) == len(values) and (not ids or len(ids) == len(numbers))
    return numbers if whole and sampling.temperature in (0, 1) else ()


def read_body(body: bytes) -> dict[str, object]:
    """The JSON object of an answer that is not an error."""
    if not body.strip():
        raise Unusable("the body is empty")
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        raise Unusable(f"the body is no JSON: {body[:200].decode(errors='replace')}") from None
    if not isinstance(document, dict):
        raise Unusable("the body is no JSON object")
    if document.get("error"):
        raise Unusable(f"the body is an error: {error_text(document)}")
    return document


def speaker(document: Mapping[str, object]) -> str:
    """Who the server says answered: the model's exact name and its build, where it tells."""
    return " ".join(str(document[key]) for key in ("model", "system_fingerprint") if document.get(key))


def _choice(document: Mapping[str, object]) -> dict[str, object]:
    choices = document.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise Unusable("the body holds no choices")
    if choices[0].get("error"):
        raise Unusable(f"the choice is an error: {error_text(choices[0])}")
    return choices[0]


def _finish(choice: Mapping[str, object]) -> Finish:
    reason = choice.get("finish_reason")
    if not isinstance(reason, str) or reason not in FINISHES:
        raise Unusable(f"it ended for the unknown reason {reason!r}")
    return FINISHES[reason]


def _text(content: object) -> str:
    """The text of a content, which some servers give in parts."""
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    if content is None or isinstance(content, str):
        return content or ""
    raise Unusable("the content is no text")


def _calls(calls: object) -> tuple[ToolCall, ...]:
    if not calls:
        return ()
    if not isinstance(calls, list):
        raise Unusable("the tool calls are no list")
    made = []
    for at, call in enumerate(calls):
        function = call.get("function") if isinstance(call, dict) else None
        if not isinstance(function, dict) or not isinstance(function.get("name"), str):
            raise Unusable("a tool call names no function")
        arguments = function.get("arguments")
        text = arguments if isinstance(arguments, str) else json.dumps(arguments or {}, ensure_ascii=False)
        made.append(ToolCall(id=str(call.get("id") or f"call{at}"), name=function["name"], arguments=text))
    return tuple(made)


def _usage(usage: object) -> Usage | None:
    if not isinstance(usage, dict):
        return None
    prompt, completion = usage.get("prompt_tokens"), usage.get("completion_tokens")
    if not isinstance(prompt, int) or not isinstance(completion, int):
        return None
    return Usage(prompt_tokens=prompt, completion_tokens=completion)


def error_text(document: Mapping[str, object]) -> str:
    """What an error body says: code and message, or its JSON."""
    error = document.get("error")
    if isinstance(error, dict):
        named = [str(error[key]) for key in ("code", "type", "message") if error.get(key)]
        return ": ".join(dict.fromkeys(named)) or json.dumps(error)
    return str(error or document.get("message") or document.get("detail") or json.dumps(document))


def refused(status: int, text: str) -> Finish | None:
    """What a refused request (4xx) means for the model: too long a prompt, a filter; None is a failure of ours."""
    if status in (400, 413, 422) and _TOO_LONG.search(text):
        return Finish.CONTEXT
    return Finish.REFUSED if status in (400, 403) and _REFUSED.search(text) else None
