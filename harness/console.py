"""Rich's console with one difference: a reader that goes away is an exception, not the end of the process.

Rich would exit with code 1, which is a verdict here; `cli.main` decides what a broken pipe means.
"""

import unicodedata

from rich.console import Console


class Terminal(Console):
    """The console of every verb."""

    def on_broken_pipe(self) -> None:
        """Print no more, and let the caller know."""
        self.quiet = True
        raise BrokenPipeError


def printable(text: str) -> str:
    """Text that a model or its program wrote, without the control characters that could drive the terminal."""
    return "".join(c if c in "\n\t" or unicodedata.category(c)[0] != "C" else "\ufffd" for c in text)
