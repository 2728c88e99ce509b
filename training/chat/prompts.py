"""What a chat model is told in each role. Words only; the template around them is the model's own.

The same designer prompt is used with and without a passage and with and without memory: where one is switched off its
block is missing and not a word changes elsewhere, so that an ablation removes one thing.
"""

from collections.abc import Sequence

from ...harness.dialect import MemoryExample

DESIGNER_SYSTEM = "You design short text games that train reasoning. You write each game as one Python class."

CONTRACT = '''Write one Python class whose name ends in Env.

* `def __init__(self)`: no required arguments.
* `def reset(self, seed=None)`: begins a new instance and returns `(observation, {{}})`. Draw everything that differs
  between instances from `random.Random(seed)`: the same seed gives the same instance, other seeds give other ones.
* `def step(self, action)`: takes the player's words, a string, and returns
  `(observation, reward, terminated, truncated, {{}})`. `reward` is a number from 0 to 1 that counts when the game ends:
  1 when the task is solved, less for a part of it, 0 for none. `terminated` becomes True when the task is solved or can
  no longer be solved.
* Any string may come as an action, the empty one too: answer it with an observation that says what is expected. Never
  raise.
* Only the standard library's calculating modules (random, math, itertools, collections, string, re, ...); no files, no
  network, no clock, no input or print.
* The game ends by itself within {turns} actions.

The observation is all that the player sees. It says what the player can do and how an action is written. Something that
matters is hidden at first and is found out by acting; a guess, an empty action or always the same action must not win.
Solving it takes several actions and some {skill}, and a good player solves it.'''

DESIGNER_END = """Answer with the whole class in one ```python block and nothing after it."""

HINT_SYSTEM = "You help players of text games. You see a game's source and write a hint for every instance of it."

HINT = """Here is the source of a game.

```python
{source}
```

Write a hint for its player: one to three sentences, fewer than 100 words. Say which strategy works and how an action is
written. Use only what the player can see in the observations, and give no instance's answer: the hint must help with
every seed. Answer with the hint alone."""

AGENT_FIRST = """You play a text game. Each of your replies is one action: think it over, then write the action inside
\\boxed{{}}.

{observation}"""

AGENT_HINT = "\n\nHint: {hint}"

KINDS = {
    "positive": "A game that worked well: {rate} of its plays were won, and a hint changed that by {regret}.",
    "too_easy": "A game that was too easy: {rate} of its plays were won. Write none like it.",
    "too_hard": "A game that was too hard: {rate} of its plays were won. Write none like it.",
}
SHOWN = 2000
"""Characters of a remembered game that are shown, as in the release."""


def designer_prompt(skill: str, passage: str | None, memory: Sequence[MemoryExample], max_turns: int) -> str:
    """The user's message to the designer."""
    parts = [CONTRACT.format(skill=skill.lower(), turns=max_turns)]
    if passage is not None:
        parts.append(
            "Take an idea from this text: a mechanism, a rule or a relation in it becomes the rule of the game. The "
            f"player has not read the text, and the game does not mention it.\n\n<text>\n{passage}\n</text>"
        )
    if memory:
        shown = "\n\n".join(map(_remembered, memory))
        parts.append(f"Earlier games of this kind. Write one that is different.\n\n{shown}")
    return "\n\n".join([*parts, f"The skill that the game trains: {skill}.", DESIGNER_END])


def hint_prompt(source: str) -> str:
    """The user's message to the hint writer, who sees the source and nothing else."""
    return HINT.format(source=source)


def agent_prompt(observation: str, hint: str | None) -> str:
    """The user's first message to the player; later ones are the bare observations."""
    said = AGENT_FIRST.format(observation=observation)
    return said + (AGENT_HINT.format(hint=hint) if hint else "")


def _remembered(example: MemoryExample) -> str:
    rate, regret = f"{100 * example.win_rate:.0f} %", f"{100 * example.regret:+.0f} points"
    told = KINDS[example.kind].format(rate=rate, regret=regret)
    return f"{told}\n\n```python\n{example.source[:SHOWN]}\n```"
