"""`bench evaluation`: what the whole path costs beside the model: 10,000 scripted samples from plan to scores.

    python -m spadework.harness.bench evaluation [--samples 10000] [--through sums|inspect|nano]

`sums` is a benchmark of one message an item that is made here; `inspect` asks the same through inspect-ai, with its
log; `nano` plays the nano suite's games in the sandbox. Each is run through the same functions as `spadework eval`, in
a process of its own, so that the memory is its own peak. The command fails below 300 samples a second or above 500 MB;
only `sums` has these targets, since what inspect-ai costs by itself is more (`bench inspect` compares with it alone).
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from .benchmark import Benchmark, Due, Expect, Players, Preset, Scored, Sink, TaskItem
from .boxed import last_box
from .console import Terminal
from .errors import ExitCode
from .evaluation.due import items_digest
from .evaluation.evaluate import write_scores
from .evaluation.meter import Caps, Meter, Metered
from .evaluation.registry import resolve
from .evaluation.run import Cell, Run, Terms
from .evaluation.settings import EvaluationSettings, TaskSettings
from .progress import ProgressDisplay
from .scripted import ScriptedChat
from .seeds import derive, text_id
from .store import LOGS, RunFolder
from .types import Completion, Message, Outcome, Request, Sampling

SAMPLES = 10_000
LEAST_RATE, MOST_MB = 300.0, 500.0
PRESET = Preset(
    benchmark="sums", name="bench", source="made here", sampling=Sampling(max_new_tokens=64), expect=Expect()
)


class Sums(Benchmark):
    """Items `a + b` in ten categories; `slice.items` of them."""

    name = "sums"
    scorer_version = "1"

    def load(self, preset: Preset, data: Path | None) -> list[TaskItem]:
        """As many as the slice says."""
        pairs = [(number, derive(1, number) % 1000) for number in range(int(preset.slice["items"]))]
        return [
            TaskItem(id=text_id(f"{a} + {b}"), category=str(a % 10), gold=text_id(str(a + b)), payload=(a, b))
            for a, b in pairs
        ]

    def run(self, due: Sequence[Due], preset: Preset, players: Players, sink: Sink) -> None:
        """One request a sample."""
        requests = [
            Request(messages=(_asked(one.item),), sampling=preset.sampling, seed=one.seed) for one in due
        ]  # fmt: skip
        for one, completion in zip(due, players.model.generate(requests), strict=True):
            sink.put(self.scored(one, completion, preset), [completion])

    def scored(self, one: Due, completion: Completion, preset: Preset) -> Scored:
        """One sample's result."""
        answer = last_box(completion.text)
        outcome, score = self.rescore(one.item, answer, preset)
        return Scored(
            item=one.item.id, category=one.item.category, repeat=one.repeat, outcome=outcome, score=score,
            answer=answer, gold=one.item.gold, facts={"tokens": len(completion.text.split())},
        )  # fmt: skip

    def rescore(self, item: TaskItem, answer: str | None, preset: Preset) -> tuple[Outcome, float | None]:
        """Equal as texts."""
        right = answer is not None and text_id(answer) == item.gold
        return (Outcome.RIGHT, 1.0) if right else (Outcome.WRONG, 0.0)

    def gold_replies(self, item: TaskItem) -> list[Message]:
        """None is needed here."""
        return []


class InspectedSums(Sums):
    """The same through inspect-ai."""

    def run(self, due: Sequence[Due], preset: Preset, players: Players, sink: Sink) -> None:
        """One request a sample."""
        from inspect_ai.dataset import Sample
        from inspect_ai.solver import TaskState, generate

        from .adapters.inspect_ai import Staging, play
        from .adapters.inspect_model import Playing

        async def judge(playing: Playing, _state: TaskState) -> Scored:
            return self.scored(playing.due, playing.completions[-1], preset)

        def sample(one: Due) -> Sample:
            return Sample(input=_asked(one.item).content, target=one.item.gold)

        play(Staging(name=self.name, sample=sample, solver=generate(), judge=judge), due, preset, players, sink)


def main() -> int:
    """Measure; the exit code says whether the targets are met."""
    parser = argparse.ArgumentParser(prog="bench evaluation")
    parser.add_argument("--samples", type=int, default=SAMPLES)
    parser.add_argument("--through", choices=("sums", "inspect", "nano"), default="sums")
    parser.add_argument("--inner", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.inner is not None:
        print(json.dumps(measured(arguments.through, arguments.samples, arguments.inner)))
        return int(ExitCode.OK)
    words = ["evaluation", "--samples", str(arguments.samples), "--through", arguments.through]
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "spadework.harness.bench", *words, "--inner", str(Path(folder) / "run")]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found = json.loads(done.stdout.splitlines()[-1])
    print(f"{found['samples']:,.0f} samples through {arguments.through}: {found['seconds']:.2f} s")
    if arguments.through != "sums":
        print(f"samples a second {found['rate']:6.0f}, peak memory {found['peak_mb']:.0f} MB (no target)")
        return int(ExitCode.OK)
    low, high = found["rate"] < LEAST_RATE, found["peak_mb"] > MOST_MB
    print(f"samples a second {found['rate']:6.0f}   at least {LEAST_RATE:g}: {'UNDER' if low else 'ok'}")
    print(f"peak memory, MB  {found['peak_mb']:6.0f}   at most {MOST_MB:g}: {'OVER' if high else 'ok'}")
    return int(ExitCode.VERDICT_FAIL if low or high else ExitCode.OK)


def measured(through: str, samples: int, out: Path) -> dict[str, float]:
    """Seconds from the plan to the written scores, and the peak memory of this process."""
    began = time.perf_counter()
    cell = nano_cell(samples) if through == "nano" else sums_cell(samples, inspected=through == "inspect")
    settings = EvaluationSettings(model="scripted", engine="scripted", tasks={cell.name: cell.settings})
    meter = Meter(caps=Caps(requests=10**9))
    model = Metered(ScriptedChat(_answer), meter, "model")
    with RunFolder(out, settings) as folder, ProgressDisplay(Terminal(stderr=True)) as display:
        work = Run(folder=folder, terms=Terms(seed=0, meter=meter, display=display), cells=[cell])
        work.play(lambda cell: Players(model=model, logs=out / LOGS / cell.name))
        scores = write_scores(folder, settings, work.scores())
    seconds = time.perf_counter() - began
    assert scores.complete, "every sample was scored"
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"samples": work.n_samples, "seconds": seconds, "rate": work.n_samples / seconds, "peak_mb": peak}


def sums_cell(samples: int, inspected: bool = False) -> Cell:
    """As many items, one sample each."""
    benchmark = InspectedSums() if inspected else Sums()
    preset = replace(PRESET, slice={"items": samples})
    return _cell(benchmark, preset, f"spadework.harness.bench_evaluation:{type(benchmark).__name__}")


def nano_cell(samples: int) -> Cell:
    """The nano suite as often as it takes; the number of samples is rounded to whole suites."""
    task = resolve("nano")
    preset = task.protocols.preset(None)
    items = len(task.benchmark.load(preset, None))
    return _cell(task.benchmark, replace(preset, repeats=max(1, samples // items)), task.reference)


def _cell(benchmark: Benchmark, preset: Preset, reference: str) -> Cell:
    items = benchmark.load(preset, None)
    settings = TaskSettings(
        reference=reference, preset=preset, scorer_version=benchmark.scorer_version, closed=benchmark.closed,
        limit=None, n_items=len(items), items=items_digest(items),
    )  # fmt: skip
    return Cell(name=benchmark.name, benchmark=benchmark, settings=settings, items=items)


def _asked(item: TaskItem) -> Message:
    assert isinstance(item.payload, tuple)
    return Message(role="user", content="{} + {}".format(*item.payload))


def _answer(request: Request) -> str:
    words = request.messages[-1].content.split()
    if len(words) == 3 and words[1] == "+":
        return f"\\boxed{{{int(words[0]) + int(words[2])}}}"
    return "\\boxed{then}"
