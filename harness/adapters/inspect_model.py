"""Our port as a `ModelAPI` of inspect-ai: messages, tools, sampling, seed, usage and endings, both ways.

    port = Port(model, sampling, gate)
    inspect_ai.model.Model(PortAPI("name", port), GenerateConfig(...))     # what a task of inspect generates with
    completion = await ask((Message(role="user", content="..."),))         # past inspect: its log hears nothing

Requests leave in threads, one each, because the port's engines gather what comes at the same time into batches; the
`Gate` holds the first ones back until the others have come too. It knows no task.
"""

import asyncio
import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from multiprocessing.pool import ThreadPool
from typing import Any, Literal, TypeVar

from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageTool,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    ModelUsage,
    modelapi,
)
from inspect_ai.tool import ToolCall as InspectCall
from inspect_ai.tool import ToolChoice, ToolInfo

from ..benchmark import Due
from ..errors import InputError
from ..types import Completion, Finish, Message, Model, Request, Sampling, Tool, ToolCall

LULL_S = 0.05
"""Requests wait until none has come for so long, or everybody waits."""
BYTES_A_TOKEN = 4
ENDINGS: dict[Finish, Literal["stop", "max_tokens", "tool_calls", "content_filter", "model_length"]] = {
    Finish.STOP: "stop",
    Finish.LENGTH: "max_tokens",
    Finish.CALLS: "tool_calls",
    Finish.REFUSED: "content_filter",
    Finish.CONTEXT: "model_length",
}
UNSENT = ("frequency_penalty", "presence_penalty", "logit_bias", "num_choices", "best_of", "response_schema")
"""What a task may ask of inspect and the port cannot pass on."""


Result = TypeVar("Result")


class NoCompletion(Exception):
    """The model gave none: network, server or time limit. It says no more than may stand in a log."""


class Withheld(Exception):
    """Something was raised whose words may not stand in a log."""


@dataclass(kw_only=True, eq=False)
class Playing:
    """One sample under way."""

    due: Due
    port: "Port"
    completions: list[Completion] = field(default_factory=list)
    """Of the model under test, in order."""
    failure: str = ""
    judging: bool = False
    told: bool = False
    """Whether its result has reached the sink."""
    written: dict[str, str] = field(default_factory=dict)
    """Arguments of tool calls as the model wrote them, by the call's id."""


PLAYING: ContextVar[Playing] = ContextVar("playing")
"""The sample to which the running coroutine belongs."""


class Gate:
    """Holds requests back for a moment, so that they leave together. `company` tells how many may still come."""

    def __init__(self, company: Callable[[], int]) -> None:
        self._company = company
        self._waiting = 0
        self._open: asyncio.Event | None = None

    async def passed(self) -> None:
        """Returns when everybody waits here, or when nobody has come for a while."""
        self._waiting += 1
        if self._open is not None:
            if self._waiting >= self._company():
                self._open.set()
            await self._open.wait()
            return
        self._open = opening = asyncio.Event()
        try:
            while self._waiting < self._company():
                before = self._waiting
                with suppress(TimeoutError):
                    await asyncio.wait_for(opening.wait(), LULL_S)
                if opening.is_set() or self._waiting == before:
                    break
        finally:
            opening.set()
            self._open, self._waiting = None, 0


class Port:
    """A model of ours, asked by coroutines of one event loop. `closed`: what is raised may quote the problem."""

    def __init__(self, model: Model, sampling: Sampling, gate: Gate, pool: ThreadPool, closed: bool = False) -> None:
        self.model, self.sampling, self.closed = model, sampling, closed
        self._gate, self._pool = gate, pool

    async def complete(self, request: Request) -> Completion:
        """One completion, of whatever ending. Raises what the model raises."""
        await self._gate.passed()
        (completion,) = await self.run(self.model.generate, [request])
        return completion

    async def run(self, work: Callable[..., Result], *arguments: object) -> Result:
        """Do something in a thread that nobody waits for after an interrupt. Raises what it raises, or Withheld."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Result] = loop.create_future()

        def done(result: Result) -> None:
            if not future.done():
                future.set_result(result)

        def failed(error: BaseException) -> None:
            if not future.done():
                future.set_exception(Withheld(f"{type(error).__name__} was raised") if self.closed else error)

        self._pool.apply_async(
            work, arguments, callback=lambda result: loop.call_soon_threadsafe(done, result),
            error_callback=lambda error: loop.call_soon_threadsafe(failed, error),
        )  # fmt: skip
        return await future


async def ask(messages: Sequence[Message], tools: Sequence[Tool] = ()) -> Completion:
    """A completion of the model under test for the sample that is being played; inspect's log does not see it.

    Raises NoCompletion where there is none.
    """
    playing = PLAYING.get()
    request = Request(
        messages=tuple(messages), tools=tuple(tools), sampling=playing.port.sampling, seed=playing.due.seed
    )  # fmt: skip
    return _noted(playing, await playing.port.complete(request), own=True)


@modelapi(name="spadework")
class PortAPI(ModelAPI):  # type: ignore[misc]
    """A port of ours as inspect sees it. `own` is False for simulated users and judges."""

    def __init__(self, model_name: str, port: Port, own: bool = True) -> None:
        super().__init__(model_name)
        self.port, self.own = port, own

    async def generate(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput:
        """See `ModelAPI`."""
        playing = PLAYING.get()
        asked = Request(
            messages=tuple(message_of(message, playing.written) for message in input),
            tools=() if tool_choice == "none" else tuple(tool_of(tool) for tool in tools),
            sampling=sampling_of(config, self.port.sampling),
            seed=playing.due.seed if config.seed is None else config.seed,
        )
        return output_of(_noted(playing, await self.port.complete(asked), self.own), self.model_name, playing.written)

    async def count_text_tokens(self, text: str) -> int:
        """A guess: inspect's own way would fetch a tokenizer."""
        return len(text.encode("utf-8", "surrogatepass")) // BYTES_A_TOKEN + 1

    def max_connections(self) -> int:
        """No limit here: the engines have one."""
        return 1 << 20

    def connection_key(self) -> str:
        """Models of one evaluation do not wait for each other."""
        return f"{self.model_name}-{id(self)}"


def message_of(message: ChatMessage, written: dict[str, str]) -> Message:
    """A turn in our words. Arguments of calls are those that the model wrote, where it was ours."""
    if isinstance(message, ChatMessageTool):
        text = message.text if message.error is None else f"Error: {message.error.message}"
        return Message(role="tool", content=text, call_id=message.tool_call_id or "")
    calls: tuple[ToolCall, ...] = ()
    if isinstance(message, ChatMessageAssistant):
        calls = tuple(
            ToolCall(
                id=call.id, name=call.function, arguments=written.get(call.id, json.dumps(call.arguments)),
            )
            for call in message.tool_calls or ()
        )  # fmt: skip
    return Message(role=message.role, content=message.text, calls=calls)


def tool_of(tool: ToolInfo) -> Tool:
    """A function that may be called."""
    parameters = tool.parameters.model_dump(exclude_none=True)
    return Tool(name=tool.name, description=tool.description, parameters=parameters)


def sampling_of(config: GenerateConfig, base: Sampling) -> Sampling:
    """The preset's sampling with what the task itself asks for. Raises InputError for what no port can do."""
    unsent = [name for name in UNSENT if getattr(config, name) not in (None, 1)]
    if unsent:
        raise InputError(f"the task asks for {', '.join(unsent)}, which engines here do not take; take it out.")
    return replace(
        base,
        temperature=base.temperature if config.temperature is None else config.temperature,
        top_p=base.top_p if config.top_p is None else config.top_p,
        top_k=base.top_k if config.top_k is None else config.top_k,
        max_new_tokens=base.max_new_tokens if config.max_tokens is None else config.max_tokens,
        stop_texts=base.stop_texts if config.stop_seqs is None else tuple(config.stop_seqs),
    )


def config_of(sampling: Sampling) -> GenerateConfig:
    """The same, as inspect's log shows it. No retries: the port has its own."""
    return GenerateConfig(
        temperature=sampling.temperature, top_p=sampling.top_p, top_k=sampling.top_k,
        max_tokens=sampling.max_new_tokens, stop_seqs=list(sampling.stop_texts) or None, max_retries=0,
    )  # fmt: skip


def output_of(completion: Completion, name: str, written: dict[str, str]) -> ModelOutput:
    """A completion in inspect's words; what the model wrote as arguments goes into `written`."""
    calls = [_inspect_call(call, written) for call in completion.calls]
    message = ChatMessageAssistant(
        content=completion.text, tool_calls=calls or None, source="generate", model=name,
    )  # fmt: skip
    usage = completion.usage
    return ModelOutput(
        model=name,
        choices=[ChatCompletionChoice(message=message, stop_reason=ENDINGS[completion.finish])],
        usage=None if usage is None else ModelUsage(
            input_tokens=usage.prompt_tokens, output_tokens=usage.completion_tokens,
            total_tokens=usage.prompt_tokens + usage.completion_tokens,
        ),
        error=completion.error or None,
    )  # fmt: skip


def _inspect_call(call: ToolCall, written: dict[str, str]) -> InspectCall:
    written[call.id] = call.arguments
    fault, arguments = None, {}
    try:
        read: Any = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError) as error:
        fault = f"the arguments of {call.name} are no JSON: {error}"
    else:
        if isinstance(read, dict):
            arguments = read
        else:
            fault = f"the arguments of {call.name} are no JSON object"
    return InspectCall(id=call.id, function=call.name, arguments=arguments, parse_error=fault)


def _noted(playing: Playing, completion: Completion, own: bool) -> Completion:
    """Keep a completion with its sample. Raises NoCompletion where there is none."""
    if own:
        playing.completions.append(completion)
    if completion.finish is Finish.FAILED:
        playing.failure = completion.error
        raise NoCompletion("the model gave no completion" if playing.port.closed else completion.error)
    return completion
