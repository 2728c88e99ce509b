"""Separates what a model says from what it thinks: `<think>` blocks are removed, an unclosed one leaves no answer.

It knows tags, not templates: whether a chat template has already opened a block is the caller's to say.
"""

import re

_TAG = re.compile(r"<(/?)think(?:ing)?>|\[(/?)THINK\]", re.IGNORECASE)


def spoken(text: str, opened: bool = False) -> str | None:
    """The text outside of thinking blocks; None when a block is never closed.

    Blocks do not nest: models write the opening tag inside a block, never two blocks in one. A closing tag without an
    opening one means that the template opened the block in the prompt, so that everything before it was thought.
    `opened` says that the template did so; then a text without a closing tag is all thought.
    """
    kept: list[str] = []
    thinking, position = opened, 0
    for tag in _TAG.finditer(text):
        closing = bool(tag.group(1) or tag.group(2))
        if not thinking:
            kept.append(text[position : tag.start()])
            if closing:
                kept.clear()
        thinking, position = not closing, tag.end()
    if thinking:
        return None
    kept.append(text[position:])
    return "".join(kept)
