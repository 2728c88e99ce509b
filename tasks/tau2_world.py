"""One tau2 environment: the databases and the functions of inspect-evals, played call by call.

Every world has a store of its own, so that worlds live beside each other and a recorded episode can be played again.
The functions never wait, so a call is a plain function here. Whatever a call's arguments provoke is answered as an
error, as upstream does.
"""

import json
from collections.abc import Callable, Mapping
from contextvars import Context
from functools import cache
from typing import Any

from inspect_ai.model._call_tools import tool_params
from inspect_ai.tool import Tool, ToolDef, ToolError
from inspect_ai.tool._tool import ToolParsingError
from inspect_ai.util import store_as
from inspect_ai.util._store import Store, init_subtask_store

from .tau2_data import Problem
from .tau2_database import database, digest
from .tau2_package import (
    AirlineAgentTools,
    RetailAgentTools,
    Task,
    all_airline_tools,
    all_retail_tools,
    all_telecom_agent_tools,
    all_telecom_user_tools,
    get_environment,
    perform_action,
)

PROVOKED = (
    ToolError, ToolParsingError, ValueError, TypeError, LookupError, AttributeError, ArithmeticError, AssertionError,
    RecursionError,
)  # fmt: skip
"""What arguments that a model wrote may raise in a function."""
FAILED = "Error: "
LONGEST = 500
"""Characters of an expression to be reckoned: the function gives it to Python's own parser, which nests as it does."""
AGENT: Mapping[str, list[Callable[[], Tool]]] = {
    "airline": all_airline_tools, "retail": all_retail_tools, "telecom": all_telecom_agent_tools,
}  # fmt: skip
USER: Mapping[str, list[Callable[[], Tool]]] = {"telecom": all_telecom_user_tools}
SHOPS: Mapping[str, tuple[type[Any], str]] = {
    "airline": (AirlineAgentTools, "AirlineTools"), "retail": (RetailAgentTools, "RetailTools"),
}  # fmt: skip
"""Domains with one database: where inspect-evals keeps it."""


@cache
def functions(domain: str, by: str) -> Mapping[str, Tool]:
    """What the agent (`assistant`) or the user may call, by name."""
    made = [make() for make in (AGENT if by == "assistant" else USER).get(domain, ())]
    return {ToolDef(tool).name: tool for tool in made}


class World:
    """An environment as far as it has been played."""

    def __init__(self, problem: Problem) -> None:
        self.domain = problem.domain
        self._context = Context()
        self._context.run(_open, problem)

    def call(self, by: str, name: str, arguments: str) -> str:
        """The answer to a call; one that fails begins with `FAILED`."""
        tool = functions(self.domain, by).get(name)
        if tool is None:
            return f"{FAILED}there is no function {name}"
        try:
            read = json.loads(arguments or "{}")
            if not isinstance(read, dict):
                return f"{FAILED}the arguments of {name} are no JSON object"
            if name == "calculate" and len(str(read.get("expression", ""))) > LONGEST:
                return f"{FAILED}the expression is longer than {LONGEST} characters"
            return self._context.run(_answer, tool, read)
        except PROVOKED as error:
            return f"{FAILED}{error}"

    @property
    def database(self) -> Any:
        """Of a domain with one."""
        kind, instance = SHOPS[self.domain]
        return self._context.run(store_as, kind, instance).db

    def digest(self) -> str:
        """Of that database."""
        return digest(self.database)

    def holds(self, assertion: Mapping[str, Any]) -> bool:
        """Whether a function of the end state gives the value that is wanted; telecom only."""
        environment = self._context.run(get_environment)
        side = environment.tools if assertion["env_type"] == "assistant" else environment.user_tools
        found = self._context.run(getattr(side, assertion["func_name"]), **assertion["arguments"])
        return bool(found == assertion.get("assert_value", True))


def _open(problem: Problem) -> None:
    init_subtask_store(Store())
    if problem.domain in SHOPS:
        shop = store_as(*SHOPS[problem.domain])
        shop.initialized, shop.db = True, database(problem.domain)
        return
    environment = get_environment()
    state = Task.model_validate(problem.task).initial_state
    for action in (state.initialization_actions or []) if state is not None else []:
        perform_action(environment, action)


def _answer(tool: Tool, arguments: dict[str, Any]) -> str:
    """Run a function that never waits."""
    running: Any = tool(**tool_params(arguments, tool))
    try:
        running.send(None)
    except StopIteration as end:
        return str(end.value)
    finally:
        running.close()
    raise AssertionError("a function of tau2 waits for something")
