"""Rich's console with two differences: a reader that goes away is an exception, and a file is wider than 80 characters.

Rich would exit with code 1, which is a verdict here; `cli.main` decides what a broken pipe means.
"""

import os
import unicodedata
from typing import Any

from rich.console import Console

PIPED_WIDTH = 160
"""Columns where the output is no terminal and nothing says its width."""


class Terminal(Console):
    """The console of every verb; COLUMNS sets the width where there is no terminal."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        if not self.is_terminal and "width" not in options and "COLUMNS" not in os.environ:
            self.width = PIPED_WIDTH

    def on_broken_pipe(self) -> None:
        """Print no more, and let the caller know."""
        self.quiet = True
        raise BrokenPipeError


def printable(text: str) -> str:
    """Text that a model or its program wrote, without the control characters that could drive the terminal."""
    return "".join(c if c in "\n\t" or unicodedata.category(c)[0] != "C" else "\ufffd" for c in text)
