"""Which samples an evaluation consists of, and which of them are still to be played: pure functions of the items.

An item's place comes from a hash of its id, never from its place in a file, whose first items are often the easy ones.
"""

from collections.abc import Collection, Iterator, Sequence
from hashlib import sha256
from itertools import zip_longest

from ..benchmark import Due, TaskItem
from ..errors import InputError
from ..seeds import derive

Key = tuple[str, int]
"""Item id and repeat: one sample of a benchmark."""


def group_of(category: str) -> str:
    """The part before the slash of `group/part`, or all of it."""
    return category.partition("/")[0]


def picked(items: Sequence[TaskItem], limit: int | None) -> list[TaskItem]:
    """The first `limit` items in the order of their hashes, taken from the groups of categories in turn; all when None.

    The order of the items is kept, and a larger limit only adds items.
    """
    if limit is None or limit >= len(items):
        return list(items)
    groups: dict[str, list[TaskItem]] = {}
    for item in sorted(items, key=lambda item: (derive(0, "pick", item.id), item.id)):
        groups.setdefault(group_of(item.category), []).append(item)
    turns = zip_longest(*(groups[name] for name in sorted(groups)))
    chosen = {item.id for item in [item for turn in turns for item in turn if item is not None][:limit]}
    return [item for item in items if item.id in chosen]


def items_digest(items: Sequence[TaskItem]) -> str:
    """First 16 hex digits of the sha256 over ids, categories and golds in order. Raises InputError on a double id."""
    seen: set[str] = set()
    for item in items:
        if item.id in seen:
            raise InputError(f"two items have the id {item.id!r}; take the second out of the data.")
        seen.add(item.id)
    lines = "\n".join(f"{item.id}\t{item.category}\t{item.gold}" for item in items)
    return sha256(lines.encode()).hexdigest()[:16]


def still_due(benchmark: str, items: Sequence[TaskItem], repeats: int, seed: int, done: Collection[Key]) -> list[Due]:
    """The samples that are not done: every item once, then every item a second time, so that what a cap or a kill
    leaves behind is spread over all items."""
    return [
        Due(item=item, repeat=repeat, seed=derive(seed, "sample", benchmark, item.id, repeat))
        for repeat in range(repeats)
        for item in items
        if (item.id, repeat) not in done
    ]


def chunks(due: Sequence[Due], size: int) -> Iterator[Sequence[Due]]:
    """Pieces of at most `size`."""
    for start in range(0, len(due), size):
        yield due[start : start + size]
