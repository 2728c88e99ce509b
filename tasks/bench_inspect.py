"""`bench inspect [MODEL] [--items N] [--turns N]`: what our harness adds to inspect-ai, in wall time of the same work.

The same items of Reasoning-Gym, greedy, on the same engine in this process, in turns:

    native    inspect's own task and `eval`: its `generate`, a scorer that calls the package in this process, its log
    ours      the benchmark as `spadework eval` runs it: the adapter, scorers in the jail, records on the disk, its log

MODEL is a folder; without one a small random Llama is made. The ratio is ours to native, of the fastest turns; the CPU
seconds are this process's, without those of the jail.
"""

import argparse
import asyncio
import base64
import os
import pickle
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stdout
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

from ..harness.benchmark import Players, Preset, TaskItem
from ..harness.engines.opening import open_model
from ..harness.evaluation.due import items_digest
from ..harness.evaluation.meter import Meter, Metered
from ..harness.evaluation.presets import read_protocols
from ..harness.evaluation.run import Cell, Run, Terms
from ..harness.evaluation.settings import EvaluationSettings, TaskSettings
from ..harness.progress import ProgressDisplay
from ..harness.store import RunFolder
from ..harness.types import Message, Model, Request
from .bench_lm_eval import Taken, least, random_llama
from .reasoning_gym import PROMPTS, REASONING_GYM
from .reasoning_gym_items import Made, suite

TASKS = (
    "aiw", "base_conversion", "basic_arithmetic", "chain_sum", "count_bits", "gcd", "lcm", "leg_counting",
    "letter_counting", "number_filtering", "simple_equations", "spell_backward", "syllogism", "word_sorting",
)  # fmt: skip
"""Whose items are made at once and are not long."""
PRESETS = Path(__file__).parent / "presets" / "reasoning_gym.toml"
TURNS = 3
MOST = 1.1


def main() -> int:
    """Measure and print; 1 when ours takes more than 1.1 times as long."""
    parser = argparse.ArgumentParser(prog="bench inspect")
    parser.add_argument("model", nargs="?", help="a model folder (default: a small random Llama)")
    parser.add_argument("--items", type=int, default=28, help="items, at most 56 (default 28)")
    parser.add_argument("--tokens", type=int, default=256, help="new tokens of an answer (default 256)")
    parser.add_argument("--turns", type=int, default=TURNS, help=f"times each way is measured (default {TURNS})")
    arguments = parser.parse_args(sys.argv[1:])
    os.environ["HF_HUB_OFFLINE"] = "1"
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        model = arguments.model or str(random_llama(folder / "model"))
        times = measured(model, folder, arguments)
    for name, taken in times.items():
        print(f"{name:8} {' '.join(f'{one.wall:7.2f}' for one in taken)} s wall, {least(taken).cpu:.2f} s CPU at least")
    ours, native = least(times["ours"]), least(times["native"])
    ratio = ours.wall / native.wall
    print(f"ours / native: {ratio:.3f} (at most {MOST}); by CPU {ours.cpu / native.cpu:.3f}")
    return int(ratio > MOST)


def measured(model: str, folder: Path, arguments: argparse.Namespace) -> dict[str, list[Taken]]:
    """Seconds of every turn of each way, the ways in turns."""
    preset, items = quick(arguments.items, arguments.tokens, folder)
    with open_model(model, "transformers", {"dtype": "float32"}) as opened:
        ways: dict[str, Callable[[], object]] = {
            "native": lambda: native_run(opened.model, items, preset, folder / "native"),
            "ours": lambda: our_run(opened.model, items, preset),
        }
        times: dict[str, list[Taken]] = {name: [] for name in ways}
        for turn in range(arguments.turns + 1):
            for name, way in ways.items():
                wall, cpu = time.perf_counter(), time.process_time()
                with redirect_stdout(StringIO()):
                    way()
                if turn:  # the first one warms up
                    times[name].append(Taken(time.perf_counter() - wall, time.process_time() - cpu))
    return times


def quick(count: int, tokens: int, folder: Path) -> tuple[Preset, list[TaskItem]]:
    """A part of the validation preset, and its items."""
    preset = read_protocols(PRESETS).preset("validation")
    sampling = replace(preset.sampling, max_new_tokens=tokens)
    wanted = type(REASONING_GYM)(folder / "items").load(replace(preset, sampling=sampling, exclude=_others()), None)
    return replace(preset, sampling=sampling), wanted[:count]


def native_run(model: Model, items: Sequence[TaskItem], preset: Preset, logs: Path) -> None:
    """inspect as its users drive it."""
    import inspect_ai
    import reasoning_gym
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.scorer import Score, Target, mean, scorer
    from inspect_ai.solver import TaskState, generate

    def verdict() -> Any:
        async def score(state: TaskState, target: Target) -> Score:
            score_answer = reasoning_gym.get_score_answer_fn(state.metadata["task"])
            return Score(value=score_answer(state.output.completion, state.metadata["entry"]))

        return score

    samples = [
        Sample(
            id=item.id, input=asked(item, preset), target=payload(item).answer or "",
            metadata={
                "task": item.category.rpartition("/")[2], "entry": pickle.loads(base64.b64decode(payload(item).entry)),
            },
        )
        for item in items
    ]  # fmt: skip
    task = inspect_ai.Task(
        dataset=MemoryDataset(samples), solver=generate(), scorer=scorer(metrics=[mean()], name="verdict")(verdict)()
    )
    inspect_ai.eval(task, model=native_model(model, preset, len(items)), log_dir=str(logs), display="none")


def native_model(model: Model, preset: Preset, count: int) -> Any:
    """The engine as a user would give it to inspect, with room for every sample at a time."""
    from inspect_ai.model import GenerateConfig, ModelAPI, ModelOutput, ModelUsage, modelapi
    from inspect_ai.model import Model as InspectModel

    threads = ThreadPoolExecutor(count)  # asyncio's own has six on two cores, and batches would be as small

    class Engine(ModelAPI):  # type: ignore[misc]
        async def generate(self, input: Any, tools: Any, tool_choice: Any, config: Any) -> Any:
            messages = (Message(role="user", content=input[0].text),)
            request = Request(messages=messages, sampling=preset.sampling, seed=0)
            (drawn,) = await asyncio.get_running_loop().run_in_executor(threads, model.generate, [request])
            output = ModelOutput.from_content(self.model_name, drawn.text)
            output.usage = ModelUsage(output_tokens=len(drawn.ids))
            return output

        def max_connections(self) -> int:
            return count

    return InspectModel(modelapi(name="native")(Engine)("engine"), GenerateConfig())


def our_run(model: Model, items: Sequence[TaskItem], preset: Preset) -> None:
    """The evaluation as the command runs it, from the items to the scores."""
    settings = TaskSettings(
        reference=f"{REASONING_GYM.__module__}:REASONING_GYM", preset=preset, closed=False, limit=None,
        scorer_version=REASONING_GYM.scorer_version, n_items=len(items), items=items_digest(items),
    )  # fmt: skip
    cell = Cell(name=REASONING_GYM.name, benchmark=REASONING_GYM, settings=settings, items=items)
    evaluation = EvaluationSettings(model="-", engine="-", tasks={cell.name: settings})
    meter = Meter()
    with (
        tempfile.TemporaryDirectory() as place,
        ProgressDisplay() as display,
        RunFolder(Path(place) / "run", evaluation) as folder,
    ):
        run = Run(folder=folder, terms=Terms(seed=0, meter=meter, display=display), cells=[cell])
        run.play(lambda _: Players(model=Metered(model, meter, "model"), logs=Path(place) / "logs"))
        run.scores()


def asked(item: TaskItem, preset: Preset) -> str:
    """The prompt of an item."""
    return PROMPTS[preset.prompt](payload(item).question)[-1].content


def payload(item: TaskItem) -> Made:
    """The item as the package made it."""
    assert isinstance(item.payload, Made)
    return item.payload


def _others() -> tuple[str, ...]:
    """Categories that are left out: all but `TASKS`."""
    return tuple(f"*/{task}" for task in suite() if task not in TASKS)
