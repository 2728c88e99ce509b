"""The conversation of one tau2 episode in inspect-ai: who is asked what, with which functions, until it is over.

Each side sees its own calls and their answers and hears what the other says.
"""

from typing import Any

from inspect_ai.model import (
    ChatMessage,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    ModelOutput,
    get_model,
)
from inspect_ai.solver import TaskState
from inspect_ai.tool import ToolCallError

from ..harness.adapters.inspect_model import ENDINGS, PLAYING
from ..harness.types import Completion, Finish, Outcome, ToolCall
from .tau2_data import Problem, policy
from .tau2_package import USER_MESSAGE, USER_SIMULATOR_GUIDELINES, USER_SIMULATOR_GUIDELINES_WITH_TOOLS, Task
from .tau2_play import Played
from .tau2_verdict import judge_asked, judge_said
from .tau2_world import FAILED, USER, functions
from .thinking import spoken

FINISHES = {reason: finish for finish, reason in ENDINGS.items()}
INSTRUCTIONS = """<instructions>
    You are a customer service agent that helps the user according to the <policy> provided below.
    In each turn you can either:
    - Send a message to the user.
    - Make a tool call.
    You cannot do both at the same time.

    Try to be helpful and always follow the policy. Always make sure you generate valid JSON only.
    </instructions>
    {}
    """
"""As inspect-evals words it."""


def opening(problem: Problem) -> list[ChatMessage]:
    """What the simulated user is told."""
    guidelines = USER_SIMULATOR_GUIDELINES_WITH_TOOLS if problem.domain in USER else USER_SIMULATOR_GUIDELINES
    scenario = Task.model_validate(problem.task).user_scenario
    return [ChatMessageSystem(content=f"{guidelines}\n<scenario>\n{scenario}\n</scenario>\n"), USER_MESSAGE]


async def converse(one: Played, state: TaskState) -> None:
    """Play an episode to its end; inspect's state shows the agent's side, its log everything."""
    views: dict[str, list[ChatMessage]] = {
        "user": opening(one.problem),
        "assistant": [ChatMessageSystem(content=INSTRUCTIONS.format(policy(one.problem.domain)))],
    }
    models = {"user": get_model(role="user"), "assistant": get_model()}
    tools = {side: list(functions(one.problem.domain, side).values()) for side in views}
    state.messages = views["assistant"]
    while not one.over:
        side = one.turn
        state.output = await models[side].generate(views[side], tools=tools[side])
        views[side].append(state.output.message)
        views[side] += [_told(*answered) for answered in one.hear(_completion(state.output))]
        if one.turn != side:
            views[one.turn].append(ChatMessageUser(content=one.events[-1].text))
    if one.ended is None and one.problem.judged:
        await _ask_judge(one)


async def _ask_judge(one: Played) -> None:
    """A judge whose word cannot be read leaves the sample without a verdict."""
    kinds: dict[str, Any] = {"system": ChatMessageSystem, "user": ChatMessageUser}
    asked = [kinds[message.role](content=message.content) for message in judge_asked(one.problem, one.events)]
    output = await get_model(role="judge").generate(asked)
    one.met = judge_said(one.problem, spoken(output.completion) or "")
    if one.met is None:
        one.ended, one.detail = Outcome.INFRA_ERROR, "the judge's reply cannot be read"


def _told(call: ToolCall, answer: str) -> ChatMessageTool:
    error = ToolCallError("unknown", answer.removeprefix(FAILED)) if answer.startswith(FAILED) else None
    return ChatMessageTool(content=answer, tool_call_id=call.id, function=call.name, error=error)


def _completion(output: ModelOutput) -> Completion:
    """In our words, with arguments as the model wrote them."""
    written = PLAYING.get().written
    calls = [
        ToolCall(id=call.id, name=call.function, arguments=written[call.id]) for call in output.message.tool_calls or ()
    ]  # fmt: skip
    return Completion(
        ids=(), logprobs=(), text=output.completion, calls=tuple(calls),
        finish=FINISHES.get(output.stop_reason, Finish.STOP), error=output.error or "",
    )  # fmt: skip
