r"""Finds the answer in a \boxed{...}: one pass over the text, braces balanced, and nothing else of LaTeX."""

import re

_OPEN = re.compile(r"\\boxed\s*\{")
_FRAMED = re.compile(r"\\(?:boxed|fbox)\s*\{")


def last_box(text: str, framed: bool = False) -> str | None:
    r"""Content of the last balanced, non-blank \boxed{...}, stripped; None when there is none.

    The last one, because models reason in boxes before they answer. `\{` and `\}` are characters, not braces;
    a box that is never closed is no box; `\boxed{{x}}` is x. Linear in the length of the text.
    `framed` counts \fbox{...} as a box too.
    """
    for start, end in reversed(box_spans(text, framed)):
        content = text[start:end].strip()
        if content:
            return _unwrapped(content) or None
    return None


def box_spans(text: str, framed: bool = False) -> list[tuple[int, int]]:
    """Where the contents of the balanced boxes start and end, in the order of their starts."""
    pattern = _FRAMED if framed else _OPEN
    spans: list[tuple[int, int]] = []
    stack: list[int | None] = []
    position = 0
    while position < len(text):
        opening = pattern.match(text, position)
        if opening:
            position = opening.end()
            stack.append(position)
            continue
        character = text[position]
        if character == "{":
            stack.append(None)
        elif character == "}" and stack:
            start = stack.pop()
            if start is not None:
                spans.append((start, position))
        position += 2 if character == "\\" else 1
    return sorted(spans)


def _unwrapped(content: str) -> str:
    """`{x}` -> `x` where the first brace closes at the very end; at most three layers, so the work stays linear."""
    for _ in range(3):
        if not content.startswith("{") or _closing(content) != len(content) - 1:
            break
        content = content[1:-1].strip()
    return content


def _closing(content: str) -> int | None:
    """Index of the brace that closes the one at index 0."""
    depth, position = 0, 0
    while position < len(content):
        character = content[position]
        depth += (character == "{") - (character == "}")
        if depth == 0:
            return position
        position += 2 if character == "\\" else 1
    return None
