"""`bench lm_eval [MODEL] [--items N] [--tokens N]`: what our harness adds to lm-eval, in wall time of the same work.

The same invented problems in AIME's form, greedy, on the same engine in this process, in turns:

    native    lm-eval's own task and `simple_evaluate`, on our engine by the adapter
    ours      the benchmark as `spadework eval` runs it: extraction, scorer, records on the disk
    hf        lm-eval with its own transformers engine, for comparison; not in the ratio

MODEL is a folder; without one a small random Llama is made. The ratio is ours to native, of the fastest turns.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..harness.benchmark import Players
from ..harness.engines.opening import open_model
from ..harness.evaluation.meter import Meter, Metered
from ..harness.evaluation.plan import Plan, Wish, make_plan
from ..harness.evaluation.run import Cell, Run, Terms
from ..harness.evaluation.settings import EvaluationSettings
from ..harness.progress import ProgressDisplay
from ..harness.store import RunFolder
from ..harness.types import Model
from .aime import PROMPTS

TASK, PRESET, ROWS = "aime_2026", "validation", "rows.jsonl"
TURNS = 4
MOST = 1.1
Way = Callable[[], object]


def main() -> int:
    """Measure and print; 1 when ours takes more than 1.1 times as long."""
    parser = argparse.ArgumentParser(prog="bench lm_eval")
    parser.add_argument("model", nargs="?", help="a model folder (default: a small random Llama)")
    parser.add_argument("--items", type=int, default=30, help="problems, at most 30 (default 30)")
    parser.add_argument("--turns", type=int, default=TURNS, help=f"times each way is measured (default {TURNS})")
    parser.add_argument("--no-hf", action="store_true", help="leave lm-eval's own engine out")
    arguments = parser.parse_args(sys.argv[1:])
    os.environ |= dict.fromkeys(("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE"), "1")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        os.environ["HF_DATASETS_CACHE"] = str(folder / "datasets")
        model = arguments.model or str(random_llama(folder / "model"))
        write_problems(folder)
        times = measured(model, folder, arguments)
    for name, taken in times.items():
        print(f"{name:8} {' '.join(f'{one.wall:7.2f}' for one in taken)} s wall, {least(taken).cpu:.2f} s CPU at least")
    ours, native = least(times["ours"]), least(times["native"])
    ratio = ours.wall / native.wall
    print(f"ours / native: {ratio:.3f} (at most {MOST}); by CPU {ours.cpu / native.cpu:.3f}")
    return int(ratio > MOST)


class Taken(NamedTuple):
    """Seconds of one turn; CPU is this process's, whatever else the machine did."""

    wall: float
    cpu: float


def least(taken: Sequence[Taken]) -> Taken:
    """The least of either clock."""
    return Taken(min(one.wall for one in taken), min(one.cpu for one in taken))


def measured(model: str, folder: Path, arguments: argparse.Namespace) -> dict[str, list[Taken]]:
    """Seconds of every turn of every way, the ways in turns."""
    plan = make_plan(Wish(tasks=[TASK], presets=[PRESET], data=[str(folder)], limit=[str(arguments.items)], repeats=1))
    write_prompts(folder, plan)
    with open_model(model, "transformers", {"dtype": "float32"}) as opened:
        from ..harness.adapters.lm_eval import PortLM

        ways: dict[str, Way] = {
            "native": lambda: native(PortLM(opened.model), folder, plan),
            "ours": lambda: ours(opened.model, plan),
        }
        if not arguments.no_hf:
            own = hf_model(model, arguments.items)
            ways["hf"] = lambda: native(own, folder, plan)
        times: dict[str, list[Taken]] = {name: [] for name in ways}
        for turn in range(arguments.turns + 1):
            for name, way in ways.items():
                wall, cpu = time.perf_counter(), time.process_time()
                way()
                if turn:  # the first one warms up
                    times[name].append(Taken(time.perf_counter() - wall, time.process_time() - cpu))
    return times


def native(model: Any, folder: Path, plan: Plan) -> None:
    """lm-eval as its users drive it, its own match and sample logs included."""
    from lm_eval import simple_evaluate
    from lm_eval.tasks import TaskManager

    (cell,) = plan.cells
    sampling = {"do_sample": False, "temperature": 0.0, "max_gen_toks": cell.settings.preset.sampling.max_new_tokens}
    task = {
        "task": "invented", "dataset_path": "json", "dataset_kwargs": {"data_files": {"test": str(folder / ROWS)}},
        "test_split": "test", "output_type": "generate_until", "doc_to_text": "{{prompt}}",
        "doc_to_target": "{{answer}}", "generation_kwargs": {**sampling, "until": []}, "num_fewshot": 0,
        "metric_list": [{"metric": "exact_match", "aggregation": "mean", "higher_is_better": True}],
    }  # fmt: skip
    manager = TaskManager(include_defaults=False)  # else it reads the names of some thousand tasks first
    simple_evaluate(model, tasks=[task], task_manager=manager, apply_chat_template=True, bootstrap_iters=0)


def ours(model: Model, plan: Plan) -> None:
    """The evaluation as the command runs it, from the plan to the scores."""
    settings = EvaluationSettings(model="-", engine="-", tasks={cell.name: cell.settings for cell in plan.cells})
    meter = Meter()

    def players(_: Cell) -> Players:
        return Players(model=Metered(model, meter, "model"))

    with (
        tempfile.TemporaryDirectory() as place,
        ProgressDisplay() as display,
        RunFolder(Path(place) / "run", settings) as folder,
    ):
        run = Run(folder=folder, terms=Terms(seed=0, meter=meter, display=display), cells=plan.cells)
        run.play(players)
        run.scores()


def hf_model(model: str, rows: int) -> Any:
    """lm-eval's own engine on the same weights, all problems in one batch as ours."""
    import torch
    from lm_eval.models.huggingface import HFLM

    device = "cuda" if torch.cuda.is_available() else "cpu"
    return HFLM(pretrained=model, dtype="float32", batch_size=rows, device=device)


def write_problems(folder: Path) -> None:
    """Invented problems, as our benchmark reads them."""
    rows = [
        {"problem": f"{n} friends share {n * 37} apples, each gets as many. How many does each get?", "answer": "37"}
        for n in range(3, 33)
    ]  # fmt: skip
    (folder / f"{TASK}.jsonl").write_text("\n".join(map(json.dumps, rows)))


def write_prompts(folder: Path, plan: Plan) -> None:
    """The same ones with their prompts made, as lm-eval reads them."""
    (cell,) = plan.cells
    texts = [cell.benchmark.problem(item) for item in cell.items]
    rows = [{"prompt": PROMPTS["boxed"](text), "answer": "37"} for text in texts]
    (folder / ROWS).write_text("\n".join(map(json.dumps, rows)))


def random_llama(folder: Path) -> Path:
    """A model folder with a byte-level tokenizer and a chat template."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    bytewise = Tokenizer(models.BPE(vocab={letter: number for number, letter in enumerate(alphabet)}, merges=[]))
    bytewise.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    bytewise.decoder = decoders.ByteLevel()
    bytewise.add_special_tokens(["<|end|>", "<|pad|>"])
    words: Any = PreTrainedTokenizerFast(tokenizer_object=bytewise, eos_token="<|end|>", pad_token="<|pad|>")  # type: ignore[no-untyped-call]
    words.chat_template = "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}assistant: "
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(words), hidden_size=192, intermediate_size=512, num_hidden_layers=4, num_attention_heads=6,
        num_key_value_heads=2, max_position_embeddings=2048, eos_token_id=words.eos_token_id,
        pad_token_id=words.pad_token_id, bos_token_id=None,
    )  # fmt: skip
    network: Any = LlamaForCausalLM(config)  # type: ignore[no-untyped-call]
    network.save_pretrained(folder)
    words.save_pretrained(folder)
    return folder
