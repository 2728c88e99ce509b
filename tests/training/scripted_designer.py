"""A scripted designer and player in the toy dialect: known programs, known hints, an agent that follows a hint."""

from collections.abc import Callable, Sequence

from spadework.harness.scripted import ScriptedModel
from spadework.harness.types import Request
from spadework.training.corpus import Corpus, Cutting, Document, build
from spadework.training.designer import Designer, DesignerSettings

from ..harness.toy_dialect import STOP, CharDialect, decode, encode

SKILLS = ("Mathematical Reasoning", "Logical Deduction")
BROKEN = "x = ("
HINT = "add one"

Writer = Callable[[Request, str], str]
"""From a designer's request and the text of its prompt to the program it writes."""


def guess(name: str, offset: int = 1) -> str:
    """A program whose answer is the number shown plus `offset`: with `HINT` it is won where offset is 1."""
    return f"""\
import random
class {name}Env:
    def reset(self, seed):
        self.n = random.Random(seed).randint(100, 999)
        return f"after {{self.n}}", {{}}
    def step(self, action):
        won = action.strip() == str(self.n + {offset})
        return "over", 1.0 if won else 0.0, True, False, {{}}
"""


class Script:
    """Writes what `write` says, hints `hints` one after the other (then `HINT`), and plays 7 or, hinted, plus one."""

    def __init__(self, write: Writer, hints: Sequence[str] = ()) -> None:
        self.write, self.hints = write, iter(hints)
        self.model = ScriptedModel(self.reply, decode)

    def reply(self, request: Request) -> list[int]:
        prompt = decode(request.ids)
        if prompt.startswith("D"):
            said = self.write(request, prompt)
        elif prompt.startswith("W"):
            said = next(self.hints, HINT)
        elif " hint " in prompt:
            said = str(int(prompt.split()[1]) + 1)
        else:
            said = "7"
        return [*encode(said), STOP]

    def prompts(self, role: str) -> list[str]:
        """Every prompt so far that opens with that letter: D or W."""
        return [text for text in (decode(one.ids) for one in self.model.requests) if text.startswith(role)]


def corpus() -> Corpus:
    """Some forty passages of eight words."""
    words = "lamp river stone cloud apple horse table chair grass field house mouse bread salt".split()
    text = ". ".join(" ".join(words[(i * k) % len(words)] for k in range(1, 9)) for i in range(2, 60)) + "."
    return build([Document(text=text, source="toy", licence="none")], Cutting(words=(6, 10), at_least=1))


def designer(script: Script, passages: Corpus | None = None, window: int = 2, **settings: object) -> Designer:
    """Two skills, four environments a window, unless told otherwise."""
    chosen: dict[str, object] = {"environments": 4, "skills": SKILLS, "skills_per_window": 0, "max_new_tokens": 900}
    return Designer(
        model=script.model,
        dialect=CharDialect(),
        corpus=passages,
        settings=DesignerSettings(**{**chosen, **settings}),  # type: ignore[arg-type]
        window=window,
        seed=3,
    )
