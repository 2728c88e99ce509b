"""One episode of ACEBench-Agent as a state machine: who is asked next and with what, and what follows from the reply.

It asks no model itself, so that any driver can play it. Messages count as upstream counts them: the agent's, the
user's after the first, and each answer of the execution.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from ..harness.types import Message
from .acebench_calls import Call, Malformed, attempted, parse_calls
from .acebench_prompts import FINISH, GREETING, NO_QUESTIONS, agent_system, agent_user, user_system
from .acebench_world import World
from .thinking import spoken


@dataclass(frozen=True, kw_only=True, slots=True)
class Problem:
    """One item in memory, with the possible answer of one commit."""

    name: str
    """agent_multi_step_0"""
    several_turns: bool
    question: str
    """The task; in several turns it is told to the simulated user alone."""
    involved: tuple[str, ...]
    config: Mapping[str, Any] = field(repr=False)
    functions: Sequence[Any] = field(repr=False)
    expected: Sequence[Mapping[str, Any]] = field(repr=False)
    milestones: Sequence[Any] = field(repr=False)
    commit: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Prompting:
    """How the two are asked."""

    chinese_steps: bool
    own_steps_shown: bool
    """The multi_step agent sees its own calls in the history, not their results alone."""
    user_speaks_as: Literal["system", "assistant"]
    """The role of the simulated user's own lines in its history."""
    functions_as: Literal["python", "json"]
    finish_after: int
    """Messages that must have been before the word that ends an episode is heard."""
    finish_in_calls: bool
    """That word ends the episode even where it is part of a call."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Extraction:
    """How a call is found in a message."""

    thinking: bool
    """Thinking is taken away first."""
    bare_steps: bool
    """In multi_step the brackets may be missing."""
    trailing: bool
    """Words may follow the list."""

    def said(self, text: str) -> str | None:
        """The message without its thinking; None when that never ends."""
        heard = spoken(text) if self.thinking else text
        return heard.strip() if heard is not None and self.thinking else heard


PROMPTINGS = {
    "upstream": Prompting(
        chinese_steps=True, own_steps_shown=False, user_speaks_as="system", functions_as="python", finish_after=2,
        finish_in_calls=True,
    ),
    "english": Prompting(
        chinese_steps=False, own_steps_shown=True, user_speaks_as="assistant", functions_as="json", finish_after=0,
        finish_in_calls=False,
    ),
}  # fmt: skip
EXTRACTIONS = {
    "call-list": Extraction(thinking=False, bare_steps=True, trailing=False),
    "call-list-after-think": Extraction(thinking=True, bare_steps=True, trailing=False),
    "leading-call-list": Extraction(thinking=True, bare_steps=False, trailing=True),
}


class Episode:
    """One item as far as it has been played."""

    def __init__(self, problem: Problem, prompting: Prompting, extraction: Extraction, limit: int) -> None:
        self.problem, self.prompting, self.extraction, self.limit = problem, prompting, extraction, limit
        self.turn: Literal["agent", "user", "over"] = "user" if problem.several_turns else "agent"
        """Whose word is awaited."""
        self.attempts: list[str] = []
        """The agent's messages that were meant as calls."""
        self.messages = 0
        self._world = World(problem.involved, problem.config)
        self._functions = _listed(problem.functions, prompting.functions_as)
        self._history = "" if problem.several_turns else f"user:{problem.question}\n"
        self._user = [Message(role="user", content=GREETING)]
        self._greeted = not problem.several_turns

    def asked(self) -> tuple[Message, ...]:
        """What the one whose turn it is gets to read."""
        if self.turn == "user":
            told = user_system(self.problem.question, self.problem.involved)
            return (Message(role="system", content=told), *self._user)
        several = self.problem.several_turns
        chinese = self.prompting.chinese_steps and not several
        return (
            Message(role="system", content=agent_system(several, self.problem.involved, chinese)),
            Message(role="user", content=agent_user(self._functions, self._history, chinese)),
        )

    def hear(self, text: str) -> None:
        """The reply of the one whose turn it is; the agent's without its thinking."""
        if self.turn == "user":
            self._hear_user(text)
        else:
            self._hear_agent(text)

    def _hear_user(self, text: str) -> None:
        self._user.append(Message(role=self.prompting.user_speaks_as, content=text))
        self._history += f"user:{text}\n"
        if not self._greeted:
            self._greeted, self.turn = True, "agent"
        else:
            self._counted("agent", finished=FINISH in text)

    def _hear_agent(self, text: str) -> None:
        several = self.problem.several_turns
        call = attempted(text, bare=self.extraction.bare_steps and not several)
        if several or self.prompting.own_steps_shown:
            self._history += f"agent:{text}\n"
        self._counted("agent", finished=FINISH in text and (self.prompting.finish_in_calls or not call))
        if self.turn == "over":
            return
        if several and not call:
            self._user.append(Message(role="user", content=text.removeprefix("user:").removeprefix("agent:")))
            self.turn = "user"
            return
        answer: object = NO_QUESTIONS
        if call:
            self.attempts.append(text)
            answer = self._executed(text)
        self._history += f"{'execution' if several else 'execution result'}:{answer}\n"
        self._counted("agent", finished=False)

    def _executed(self, attempt: str) -> list[Any] | str:
        """What the execution says to a message that is meant as a call."""
        try:
            calls = read_calls(attempt, self.problem, self.extraction)
        except Malformed as fault:
            return f"The call cannot be read ({fault})."
        return [_shown(answer) for answer in self._world.execute(calls)]

    def _counted(self, following: Literal["agent", "user"], finished: bool) -> None:
        self.messages += 1
        over = self.messages >= self.limit or (finished and self.messages > self.prompting.finish_after)
        self.turn = "over" if over else following


def read_calls(attempt: str, problem: Problem, extraction: Extraction) -> list[Call]:
    """The calls of a message that is meant as one. Raises Malformed."""
    bare = extraction.bare_steps and not problem.several_turns
    return parse_calls(attempt, bare=bare, trailing=extraction.trailing)


def _shown(answer: Any) -> Any:
    """Upstream shows lists as one text."""
    return str(answer) if isinstance(answer, list) else answer


def _listed(functions: Sequence[Any], form: str) -> str:
    return json.dumps(functions, ensure_ascii=False) if form == "json" else str(list(functions))
