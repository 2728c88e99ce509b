"""Many programs at once: `load_all`, `reset_all`, `step_all`; every question is written before an answer is read."""

from typing import Callable, Iterable, Mapping, Sequence, TypeVar

from .conversation import Conversation, Items, converse
from .limits import Step
from .recovery import fallen, recover, revive

Process = TypeVar("Process", bound=Conversation)
NUMBERS = range(-(2**63), 2**63)
"""What an instance may be called."""


def load_all(processes: Sequence[Conversation]) -> None:
    """Wait until every program is loaded, or failed to (see `EnvProcess.error`)."""
    loading = [process for process in processes if not process.loaded and process.error is None]
    converse(loading)
    for process in loading:
        process.take()
        if fallen(process):
            revive(process)


def reset_all(batch: Mapping[Process, Sequence[tuple[int, int]]]) -> dict[Process, list[Step]]:
    """`EnvProcess.reset` of many programs at once."""
    return _ask_all(batch, lambda process: process.ask_reset)


def step_all(batch: Mapping[Process, Sequence[tuple[int, str]]]) -> dict[Process, list[Step]]:
    """`EnvProcess.step` of many programs at once."""
    return _ask_all(batch, lambda process: process.ask_step)


def _ask_all(
    batch: Mapping[Process, Items], question: Callable[[Conversation], Callable[[Items], None]]
) -> dict[Process, list[Step]]:
    for items in batch.values():
        _require_names(number for number, _ in items)
    load_all(list(batch))
    for process, items in batch.items():
        question(process)(items)
    converse(list(batch))
    answers: dict[Process, list[Step]] = {}
    for process, items in batch.items():
        steps = process.take()
        if fallen(process):
            steps = recover(process, question(process), items)
        answers[process] = [steps.get(number) or process.unanswered(number, told) for number, told in items]
    return answers


def _require_names(numbers: Iterable[int]) -> None:
    """Raises ValueError, before anybody is asked, where one call names an instance twice or by no int."""
    named = set()
    for number in numbers:
        if type(number) is not int or number not in NUMBERS:
            raise ValueError(f"an instance is named by an int of 64 bits, not by {number!r}")
        if number in named:
            raise ValueError(f"instance {number} may stand only once in a call")
        named.add(number)
