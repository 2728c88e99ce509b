"""Playing BFCL's conversations: all in lock-step, one `generate` a step for those that are alive.

A user turn goes on while the model calls functions; their results go back to it as tool messages. A reply without a
call that can be decoded ends the turn. One step more than allowed ends the conversation (a force-quit), as in
bfcl-eval. Calls go to the jailed executor (`bfcl_judge`); this module knows neither presets nor verdicts.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace

from ..harness.types import Completion, Finish, Message, Model, Outcome, Request, Sampling
from .bfcl_calls import Decoded
from .bfcl_data import Entry
from .bfcl_judge import BfclJudge, Failure
from .thinking import spoken

ENDS = {Finish.FAILED: Outcome.INFRA_ERROR, Finish.CONTEXT: Outcome.CONTEXT_OVERFLOW}
"""Endings of a completion that end the conversation; those below only its turn, unless it holds calls."""
OPEN, CLOSE = "<think>", "</think>"
MARKS = {Finish.LENGTH: Outcome.TRUNCATED, Finish.REFUSED: Outcome.REFUSED}


@dataclass(frozen=True, kw_only=True, slots=True)
class Mode:
    """How functions are told to the model, and calls read from it."""

    opening: Callable[[Entry], tuple[Message, ...]]
    """Messages before the user's first."""
    more: Callable[[Entry, int], Message]
    """The user's message with which withheld functions come."""
    tools: bool
    """Whether functions travel as tools of the request."""
    decode: Callable[[Completion, str | None, Entry], Decoded]
    """Calls of a completion; the text is what was said, None where thinking has no end."""
    results: Callable[[Decoded, Sequence[str]], list[Message]]
    """From calls and what they returned to the messages that tell it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Table:
    """What all conversations of one evaluation share."""

    model: Model
    judge: BfclJudge
    pool: Executor
    sampling: Sampling
    mode: Mode
    max_steps: int
    """Steps of one user turn; one more is a force-quit."""


@dataclass(kw_only=True)
class Episode:
    """One conversation as far as it has come."""

    entry: Entry
    seed: int
    number: int = 0
    """Among those that are played together; requests of one conversation share it."""
    messages: list[Message] = field(default_factory=list)
    turns: list[list[tuple[str, ...]]] = field(default_factory=list)
    """Turn by turn, the calls of each step."""
    marks: dict[int, Outcome] = field(default_factory=dict)
    """Turns that ended by the model's own failure."""
    faults: Counter[str] = field(default_factory=Counter)
    completions: list[Completion] = field(default_factory=list)
    steps: int = 0
    """Of this turn, the executed ones."""
    turn_begins: int = 0
    """Where in the messages this turn's begin."""
    over: bool = False
    ended: Outcome | None = None
    """Why it broke off; None when it came to its end, which a force-quit is too."""
    detail: str = ""

    @property
    def turn(self) -> int:
        """The user turn that is being played."""
        return len(self.turns) - 1

    def end(self, outcome: Outcome | None, detail: str) -> None:
        """Nothing more is played."""
        self.over, self.ended, self.detail = True, outcome, detail


def play(episodes: Sequence[Episode], table: Table) -> Iterator[Episode]:
    """Play all of them; each comes as soon as it is over."""
    for episode in episodes:
        episode.messages += table.mode.opening(episode.entry)
        _next_turn(episode, table.mode)
    alive = list(episodes)
    while alive:
        completions = table.model.generate([_request(episode, table) for episode in alive])
        waiting = [
            (episode, decoded)
            for episode, completion in zip(alive, completions, strict=True)
            if (decoded := _heard(episode, completion, table.mode)) is not None
        ]
        answers = table.pool.map(lambda one: table.judge.execute(one[0].entry, _steps(one[0])), waiting)
        for (episode, decoded), answer in zip(waiting, answers, strict=True):
            _executed(episode, decoded, answer, table)
        yield from (episode for episode in alive if episode.over)
        alive = [episode for episode in alive if not episode.over]
    table.model.forget()


def _request(episode: Episode, table: Table) -> Request:
    known = list(episode.entry.functions)
    for turn in sorted(episode.entry.withheld):
        known += episode.entry.withheld[turn] if turn <= episode.turn else ()
    tools = tuple(function.tool for function in known) if table.mode.tools else ()
    return Request(
        messages=tuple(episode.messages), tools=tools, sampling=table.sampling, seed=episode.seed,
        session=episode.number,
    )  # fmt: skip


def _steps(episode: Episode) -> list[tuple[str, ...]]:
    return [step for turn in episode.turns for step in turn]


def _heard(episode: Episode, completion: Completion, mode: Mode) -> Decoded | None:
    """Take a reply in. Its calls when something is to be executed; None when turn or conversation are over."""
    episode.completions.append(completion)
    if completion.finish in ENDS:
        episode.end(ENDS[completion.finish], completion.error)
        return None
    said = spoken(completion.text)
    decoded = mode.decode(completion, said, episode.entry)
    episode.faults.update(decoded.faults)
    if completion.finish in MARKS:
        episode.marks[episode.turn] = MARKS[completion.finish]
    elif decoded.faults and not decoded.calls:
        episode.marks[episode.turn] = Outcome.MALFORMED_CALL
    if not decoded.calls:
        episode.messages.append(Message(role="assistant", content=(said or "").strip()))
        _next_turn(episode, mode)
        return None
    content = _thoughts(completion.text) + ("" if mode.tools else (said or "").lstrip("\n"))
    episode.messages.append(Message(role="assistant", content=content, calls=decoded.made))
    episode.turns[-1].append(decoded.calls)
    return decoded


def _executed(episode: Episode, decoded: Decoded, answer: list[str] | Failure, table: Table) -> None:
    """Give the results back to the model."""
    if isinstance(answer, Failure):
        episode.marks[episode.turn] = answer.outcome
        episode.end(answer.outcome, f"turn {episode.turn}: {answer.detail}")
        return
    episode.messages += table.mode.results(decoded, answer)
    episode.steps += 1
    if episode.steps > table.max_steps:
        episode.end(None, f"turn {episode.turn}: forced to quit after {table.max_steps} steps")


def _next_turn(episode: Episode, mode: Mode) -> None:
    """Let the user speak, or end; what was thought in the turn that ends is not told again."""
    entry, begins = episode.entry, episode.turn_begins
    episode.messages[begins:] = [
        replace(message, content=spoken(message.content) or "") if message.role == "assistant" else message
        for message in episode.messages[begins:]
    ]
    number = len(episode.turns)
    if number == len(entry.turns):
        episode.end(None, "")
        return
    episode.turns.append([])
    episode.steps = 0
    episode.messages += (mode.more(entry, number),) if number in entry.withheld else entry.turns[number]
    episode.turn_begins = len(episode.messages)


def _thoughts(text: str) -> str:
    """What was thought before the reply, with its tags; a model reads it again within the same user turn."""
    closed = text.rfind(CLOSE)
    if closed < 0:
        return ""
    thought = text[:closed].removeprefix(OPEN).strip("\n")
    return f"{OPEN}\n{thought}\n{CLOSE}\n\n"
