"""Many programs at once: `load_all`, `reset_all`, `step_all`; every question is written before an answer is read."""

from typing import Callable, Mapping, Sequence

from .limits import Step
from .process import EnvProcess, Items, converse
from .recovery import fallen, recover


def load_all(processes: Sequence[EnvProcess]) -> None:
    """Wait until every program is loaded, or failed to (see `EnvProcess.error`)."""
    loading = [process for process in processes if not process.loaded and process.error is None]
    converse(loading)
    for process in loading:
        process.take()


def reset_all(batch: Mapping[EnvProcess, Sequence[tuple[int, int]]]) -> dict[EnvProcess, list[Step]]:
    """`EnvProcess.reset` of many programs at once."""
    return _ask_all(batch, lambda process: process.ask_reset)


def step_all(batch: Mapping[EnvProcess, Sequence[tuple[int, str]]]) -> dict[EnvProcess, list[Step]]:
    """`EnvProcess.step` of many programs at once."""
    return _ask_all(batch, lambda process: process.ask_step)


def _ask_all(
    batch: Mapping[EnvProcess, Items], question: Callable[[EnvProcess], Callable[[Items], None]]
) -> dict[EnvProcess, list[Step]]:
    load_all(list(batch))
    for process, items in batch.items():
        question(process)(items)
    converse(list(batch))
    answers: dict[EnvProcess, list[Step]] = {}
    for process, items in batch.items():
        steps = process.take()
        if fallen(process):
            steps = recover(process, question(process), items)
        answers[process] = [steps.get(number) or process.unanswered(number, told) for number, told in items]
    return answers
