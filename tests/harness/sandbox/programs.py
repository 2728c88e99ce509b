"""Environment programs the sandbox tests run."""

COUNT = """
import random

class CountEnv:
    def __init__(self, max_turns=12):
        self.max_turns = max_turns

    def reset(self, seed=None):
        self.number, self.turn = random.randint(1, 9), 0
        return f"count {self.number}", {}

    def step(self, action):
        self.turn += 1
        right = action.strip() == str(self.number)
        ended = self.turn >= self.max_turns
        return ("right" if right else "wrong"), 1.0 if right else 0.0, right, ended, {"turn": self.turn}
"""


def answering(answer: str, before: str = "pass") -> str:
    """A program whose `step` runs `before` and returns the expression `answer`."""
    return f"""
class OneEnv:
    def reset(self, seed=None):
        return "go", {{}}

    def step(self, action):
        {before}
        return {answer}
"""


GLOBALS = (
    "{c for c in ().__class__.__base__.__subclasses__() if c.__name__ == '_wrap_close'}.pop().__init__.__globals__"
)
"""An expression by which a hostile program reaches the `os` module through the object graph."""


def reaching_os(statement: str) -> str:
    """A program that runs `statement` with `os` in reach and reports what happened to it."""
    return f"""
class HostileEnv:
    def reset(self, seed=None):
        return "go", {{}}

    def step(self, action):
        os = {GLOBALS}["sys"].modules["os"]
        try:
            {statement}
        except Exception as error:
            return "refused " + type(error).__name__, 0.0, False, False, {{}}
        return "done", 0.0, False, False, {{}}
"""
