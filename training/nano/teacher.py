"""Demonstrations the warm start learns from, written from the world's own templates. Nothing here runs during
self-play.

Four kinds of text, each a (ids, trained) pair with `trained` true on the tokens of the demonstrated role only:
designer (passage and memory -> program), hint writer (program -> hint), agent with a hint (played right) and agent
without one. What the player is shown without a hint is stated plainly: of those episodes 20 % are played right, 40 %
by a naive habit (repeat the list as it stands, add one, keep walking one way), 40 % at random among the words in
sight. Levels are 1 to 5.
"""

from dataclasses import dataclass
from random import Random
from typing import Sequence

from ...harness.dialect import MemoryExample
from ...tasks.nano_games import Game, instantiate
from ...tasks.nano_world import FAMILIES, MOVES, source
from .dialect import NanoDialect

LEVELS = (1, 2, 3, 4, 5)
LEVEL_PRIOR = (0.25, 0.3, 0.2, 0.15, 0.1)
PLAYERS = {"right": 0.2, "naive": 0.4, "random": 0.4}
NO_PASSAGE = 0.15
MEMORY = 0.6
ORDER_HINTS = {1: "first over", -1: "last before", 2: "first skip", -2: "last jump"}
ECHO_HINTS = {0: "over last before", 1: "first again", 2: "over first over"}


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """A program with the parts it was written from."""

    family: str
    level: int
    variant: int
    nouns: tuple[str, ...]
    numbers: tuple[int, ...]
    source: str


@dataclass(frozen=True, kw_only=True)
class Text:
    """One training text."""

    ids: list[int]
    trained: list[bool]


def draw(family: str, level: int, nouns: Sequence[str], numbers: Sequence[int], rng: Random) -> Drawn:
    """A program of at most that level from the given words (fewer words, lower level); missing numbers are drawn.

    The class is named after one of the words, and the program's words are that one and those that follow it, round
    and round: whoever writes it after a passage reads on from where it began.
    """
    shape = FAMILIES[family]
    while level > 1 and shape.words(shape.size(level)) > len(nouns):
        level -= 1
    n = shape.size(level)
    variant = rng.choice(shape.variants)
    start = rng.randrange(len(nouns))
    following = [*nouns[start:], *nouns[:start]]
    given = [x for x in dict.fromkeys(numbers) if 2 <= x < 100]
    rest = rng.sample([x for x in range(2, 100) if x not in given], shape.numbers(n))
    values = (given + rest)[: shape.numbers(n)]
    rng.shuffle(values)
    names = (following[0], *following[: shape.words(n)])
    return Drawn(
        family=family,
        level=level,
        variant=variant,
        nouns=names,
        numbers=tuple(values),
        source=source(shape, level, variant, names, values),
    )


def hint(drawn: Drawn) -> str:
    """The key idea in words a tiny player can follow; it names constants of the program, never an instance."""
    k = drawn.variant
    if drawn.family == "order":
        return ORDER_HINTS[k]
    if drawn.family == "echo":
        return ECHO_HINTS[k]
    if drawn.family == "count":
        return f"add {k}"
    if drawn.family == "walk":
        return ("right up", "right down", "left up", "left down")[k]
    if drawn.family == "sort":
        return " ".join(map(str, sorted(drawn.numbers)[::k]))
    return " ".join(f"want {value} {noun}" for noun, value in zip(drawn.nouns[1:], drawn.numbers, strict=False))


def right_action(game: Game) -> str:
    """What a perfect player does now."""
    state = vars(game)
    if "p" in state:
        return str(state["p"][state["i"]])
    if state["x"] != state["g"]:
        return "right" if state["x"] < state["g"] else "left"
    return "up" if state["y"] < state["h"] else "down"


def habit(family: str, observation: str, turn: int, habitual: str, rng: Random) -> str:
    """The naive player: repeats the listing, adds one, keeps walking one way, presses the first thing it sees."""
    words = observation.split()
    if family == "walk":
        return habitual
    if family == "count":
        return str(int(words[-1]) + 1 + turn)
    if family == "wire":
        return words[0]
    listed = words[1:-1]
    return listed[turn] if turn < len(listed) else rng.choice(listed)


def random_action(family: str, observation: str, rng: Random) -> str:
    """A word in sight that could be meant as an action."""
    words = observation.split()
    if family == "walk":
        return rng.choice(list(MOVES))
    if family == "count":
        return str(int(words[-1]) + rng.randrange(1, 9))
    if family == "wire":
        return rng.choice(words[:-2:2])
    return rng.choice(words[1:-1])


def episode(drawn: Drawn, dialect: NanoDialect, player: str, with_hint: bool, rng: Random) -> Text:
    """One episode as the agent's training text."""
    game = instantiate(drawn.source)
    first, _ = game.reset(rng.randrange(2**31))
    habitual = rng.choice(list(MOVES))
    ids = dialect.agent_first(first, hint(drawn) if with_hint else None)
    trained = [False] * len(ids)
    for turn in range(40):
        if player == "right":
            action = right_action(game)
        elif player == "naive":
            action = habit(drawn.family, first, turn, habitual, rng)
        else:
            action = random_action(drawn.family, first, rng)
        reply, _, done, _, _ = game.step(action)
        said = dialect.say(action)
        ids += said
        trained += [True] * len(said)
        if done:
            break
        more = dialect.agent_next(reply, ids[-1])
        ids += more
        trained += [False] * len(more)
    return Text(ids=ids, trained=trained)


def designer(
    dialect: NanoDialect, skill_family: str, passage: str | None, nouns: Sequence[str], rng: Random
) -> tuple[Text, Drawn]:
    """A program written after a passage and a memory; what memory shows moves the level (an engineered prior)."""
    numbers: list[int] = []
    nouns = rng.sample(list(nouns), 9)
    if passage is not None:
        words = dialect.passage_words(passage)
        nouns = list(dict.fromkeys(w for w in words if not w.isdigit()))
        numbers = [int(w) for w in words if w.isdigit()]
    level = rng.choices(LEVELS, LEVEL_PRIOR)[0]
    memory = _memory(skill_family, level, dialect, rng) if rng.random() < MEMORY else []
    drawn = draw(skill_family, level, nouns, numbers, rng)
    prompt = dialect.designer(FAMILIES[skill_family].skill, passage, memory)
    answer = [*dialect.encode(drawn.source), dialect.eos_id]
    return Text(ids=prompt + answer, trained=[False] * len(prompt) + [True] * len(answer)), drawn


def _memory(family: str, level: int, dialect: NanoDialect, rng: Random) -> list[MemoryExample]:
    def example(kind: str, at: int) -> MemoryExample:
        names = rng.sample(dialect.nouns, 8)
        text = draw(family, min(max(at, 1), 5), names, [], rng).source
        return MemoryExample(kind=kind, source=text, win_rate=0.5, regret=0.0)  # type: ignore[arg-type]

    shown = [example("positive", level + rng.choice((-1, 0, 0, 1))) for _ in range(rng.randrange(3))]
    if level > 1 and rng.random() < 0.4:
        shown.append(example("too_easy", level - rng.choice((1, 2))))
    elif level < 5 and rng.random() < 0.4:
        shown.append(example("too_hard", level + rng.choice((1, 2))))
    return shown


def hint_text(drawn: Drawn, dialect: NanoDialect) -> Text:
    """The hint writer's text: source, then hint."""
    prompt = dialect.hint_writer(drawn.source)
    answer = [*dialect.say(hint(drawn)), dialect.eos_id]
    return Text(ids=prompt + answer, trained=[False] * len(prompt) + [True] * len(answer))
