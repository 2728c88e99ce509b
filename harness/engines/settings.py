"""What can be said about each engine, flat and strict: one section an engine, defaults that need no thought.

An option that an engine does not know is refused with the nearest name. Nothing here changes what is asked of a model
(that is the preset's `Sampling`); it says on what, how many at a time, and how long.
"""

import json
import shlex
from typing import Literal, Mapping

from ..config import Section, build
from ..errors import InputError, nearest

Options = Mapping[str, str | int | float | bool]
DType = Literal["auto", "float32", "bfloat16", "float16"]


class TransformersSettings(Section, frozen=True, kw_only=True):
    """The engine in this process."""

    dtype: DType = "auto"
    """auto takes what the checkpoint declares."""
    device: str = "auto"
    """cpu, cuda, cuda:1, ...; auto takes a GPU where there is one."""
    max_rows: int = 64
    """Requests decoded at a time."""
    cache_mb: int = 4096
    """Memory for the caches of the requests that are decoded at a time; fewer than max_rows are where they are long."""
    session_mb: int = 1024
    """Memory for the caches of multi-turn episodes."""
    batch_invariant: bool = False
    """Completions that do not depend on the batch in half precision either: one request at a time, nothing cached. In
    float32 they do not as it is."""
    revision: str = ""
    """Of a Hub model: branch, tag or commit."""
    chat_template: str = ""
    """A .jinja file in place of the model's own template."""
    template_options: str = ""
    """JSON object handed to the template, for example {"enable_thinking": false}."""

    def __post_init__(self) -> None:
        at_least(self, 1, max_rows=self.max_rows, cache_mb=self.cache_mb)
        at_least(self, 0, session_mb=self.session_mb)
        json_object("template_options", self.template_options)


class EndpointSettings(Section, frozen=True, kw_only=True):
    """An OpenAI-compatible server that somebody else runs."""

    key_variable: str = ""
    """Environment variable that holds the key; empty takes the one known for the host, or none."""
    concurrency: int = 16
    """Requests under way at a time."""
    time_limit_s: float = 600.0
    """Seconds of one try; a request's own limit bounds all its tries together."""
    retries: int = 5
    """Tries after the first, for failures of the network and overload only."""
    longest_wait_s: float = 60.0
    """Most seconds between two tries; a server that asks for more ends the request."""
    kind: Literal["auto", "openai", "vllm", "other"] = "auto"
    """What the server understands beyond the common parameters: openai nothing, other top_k, vllm all of ours."""
    not_sent: str = ""
    """Parameters the server refuses, by comma: temperature, top_p, top_k, seed, stop, stop_token_ids, logprobs."""
    length_key: Literal["auto", "max_tokens", "max_completion_tokens"] = "auto"
    logprobs: bool = False
    """Ask for log-probs; not every server gives them."""
    extra: str = ""
    """JSON object laid over every request's body, for example {"reasoning_effort": "low"}."""
    listed: bool = True
    """Ask the server for its models first, so that a wrong name, key or address is told before any work."""

    def __post_init__(self) -> None:
        at_least(self, 1, concurrency=self.concurrency)
        at_least(self, 0, retries=self.retries, longest_wait_s=self.longest_wait_s)
        if not self.time_limit_s > 0:
            raise InputError("time_limit_s: set it above 0.")
        json_object("extra", self.extra)
        for name in words(self.not_sent):
            if name not in PARAMETERS:
                raise InputError(f"not_sent: no parameter {name!r}{nearest(name, PARAMETERS)}; {_KNOWN}.")


class VllmSettings(Section, frozen=True, kw_only=True):
    """A vLLM server that we start and stop; the same for the CPU build and for GPUs."""

    python: str = ""
    """Python of the environment that holds vLLM; empty takes SPADEWORK_VLLM_PYTHON, then this one."""
    dtype: DType = "auto"
    tensor_parallel: int = 1
    max_model_len: int = 0
    """Longest prompt and completion together; 0 takes the model's own."""
    memory: float = 0.0
    """Of a GPU the share vLLM may take, 0 leaves it to vLLM; of a CPU the GiB of its cache, 0 is what one longest
    sequence needs and at least 4 (vLLM itself would take nearly all of the machine).
    """
    max_rows: int = 0
    """Most sequences at a time; 0 leaves it to vLLM."""
    eager: bool = False
    """No compilation and no CUDA graphs: starts sooner, draws slower."""
    batch_invariant: bool = False
    """Completions that do not depend on the batch in their last bits: vLLM's own mode on GPUs that have it, one
    sequence at a time on a CPU."""
    arguments: str = ""
    """More of vLLM's own options, as on its command line."""
    start_limit_s: float = 900.0
    time_limit_s: float = 3600.0
    """Seconds of one request."""
    revision: str = ""
    """Of a Hub model: branch, tag or commit."""
    chat_template: str = ""
    template_options: str = ""

    def __post_init__(self) -> None:
        at_least(self, 1, tensor_parallel=self.tensor_parallel)
        at_least(self, 0, max_model_len=self.max_model_len, memory=self.memory, max_rows=self.max_rows)
        if not (self.start_limit_s > 0 and self.time_limit_s > 0):
            raise InputError("start_limit_s, time_limit_s: set them above 0.")
        json_object("template_options", self.template_options)
        try:
            shlex.split(self.arguments)
        except ValueError as error:
            raise InputError(f"arguments: {error}; write them as on a command line.") from None


ENGINES: dict[str, type[Section]] = {
    "transformers": TransformersSettings,
    "vllm": VllmSettings,
    "openai": EndpointSettings,
}
PARAMETERS = ("temperature", "top_p", "top_k", "seed", "stop", "stop_token_ids", "logprobs")
_KNOWN = f"the parameters are {', '.join(PARAMETERS)}"


def engine_settings(engine: str, options: Options) -> Section:
    """The checked settings of an engine. InputError with the nearest name for an engine or option that is none."""
    if engine not in ENGINES:
        raise InputError(f"no engine {engine!r}{nearest(engine, ENGINES)}; the engines are {', '.join(ENGINES)}.")
    return build(ENGINES[engine], options, where=f"engine {engine}")


def json_object(name: str, text: str) -> dict[str, object]:
    """The object an option spells; empty for no text."""
    try:
        value = json.loads(text or "{}")
    except ValueError as error:
        raise InputError(f"{name} is no JSON ({error}); write it as an object, for example {{}}.") from None
    if not isinstance(value, dict):
        raise InputError(f"{name} is no JSON object; write it in braces.")
    return value


def words(text: str) -> tuple[str, ...]:
    """A list written with commas."""
    return tuple(word.strip() for word in text.split(",") if word.strip())


def at_least(settings: Section, least: int, **values: float) -> None:
    """Refuse values below `least`."""
    for name, value in values.items():
        if value < least:
            raise InputError(f"{name} is {value}; set it to {least} or more.")
