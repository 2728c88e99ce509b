"""Benchmark: the in-process engine against transformers' `generate`, on the same batch and the same work.

    python -m spadework.harness.bench_sampler [--rows 256] [--repeats N] [--scale 1.0]

*Episodes*: four turns; in each every row gets 16 new tokens and draws 16 to 256 of its own. `generate` is called once a
turn on the whole left-padded history and stops as soon as every row has drawn its tokens. *Single*: one turn, prompts
of 32 tokens, 64 drawn by every row. Both draw at temperature 1 from the same random Llama (the nano size); no id ends
a completion, so the work is equal by construction. The two take turns; a ratio is the median over repetitions, and the
command fails when one is under its target. At full size it takes some three minutes of one core, nearly all of them in
`generate`. It measures time and nothing of quality.
"""

import argparse
import random
import statistics
import time
from typing import Any, Callable, NamedTuple, Sequence

import torch
from transformers import LlamaConfig, LlamaForCausalLM, StoppingCriteria, StoppingCriteriaList

from .engine import LocalEngine
from .errors import ExitCode
from .seeds import generator
from .types import Request, Sampling

VOCABULARY = 1700
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}


class Workload(NamedTuple):
    """`fresh[turn][row]` are the tokens a row gets before it draws `wanted[turn][row]` of its own."""

    name: str
    fresh: list[list[list[int]]]
    wanted: list[list[int]]
    target: float
    repeats: int


Sampler = Callable[[Sequence[list[int]], Sequence[int], int], list[list[int]]]
"""(histories, tokens wanted, turn) to the drawn tokens of every row."""


def episodes(rows: int, scale: float) -> Workload:
    """Four turns of 16 to 256 drawn tokens (times `scale`), 16 new ones before each."""
    rng = generator(0, "bench", "episodes")
    low, high = max(1, round(16 * scale)), max(2, round(256 * scale))
    wanted = [[rng.randint(low, high) for _ in range(rows)] for _ in range(4)]
    return Workload("episodes", [_ids(rng, rows, low) for _ in range(4)], wanted, 2.0, 1)


def single(rows: int, scale: float) -> Workload:
    """One turn of equal lengths."""
    prompt, drawn = max(1, round(32 * scale)), max(2, round(64 * scale))
    return Workload("single", [_ids(generator(0, "bench", "single"), rows, prompt)], [[drawn] * rows], 1.1, 7)


def _ids(rng: random.Random, rows: int, length: int) -> list[list[int]]:
    return [[rng.randrange(1, VOCABULARY) for _ in range(length)] for _ in range(rows)]


def nano_llama(dtype: torch.dtype) -> LlamaForCausalLM:
    """A random Llama of the nano size: 128 channels, 4 layers, 4 query heads on 1 key-value head."""
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=VOCABULARY,
        hidden_size=128,
        intermediate_size=352,
        num_hidden_layers=4,
        num_attention_heads=4,
        num_key_value_heads=1,
        max_position_embeddings=2048,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=None,
        pad_token_id=0,
    )
    model: Any = LlamaForCausalLM(config)  # type: ignore[no-untyped-call]
    made: LlamaForCausalLM = model.to(dtype).eval()
    return made


class _Enough(StoppingCriteria):
    """Ends each row of `generate` when it has drawn its tokens."""

    def __init__(self, prompt: int, wanted: Sequence[int]) -> None:
        self._end = prompt + torch.tensor(wanted)

    def __call__(self, input_ids: torch.Tensor, scores: object, **kwargs: object) -> torch.BoolTensor:
        """Which rows are done."""
        done: torch.BoolTensor = self._end <= input_ids.shape[1]  # type: ignore[assignment]
        return done


def hub_sampler(model: Any) -> Sampler:
    """`generate` on the whole left-padded histories."""

    def sample(histories: Sequence[list[int]], wanted: Sequence[int], turn: int) -> list[list[int]]:
        width = max(map(len, histories))
        ids = torch.tensor([[0] * (width - len(h)) + h for h in histories])
        mask = torch.tensor([[0] * (width - len(h)) + [1] * len(h) for h in histories])
        out = model.generate(
            input_ids=ids,
            attention_mask=mask,
            do_sample=True,
            temperature=1.0,
            top_k=0,
            top_p=1.0,
            max_new_tokens=max(wanted),
            stopping_criteria=StoppingCriteriaList([_Enough(width, wanted)]),
        )
        return [row[width : width + count] for row, count in zip(out.tolist(), wanted)]

    return sample


def engine_sampler(engine: LocalEngine) -> Sampler:
    """The engine, one session a row."""

    def sample(histories: Sequence[list[int]], wanted: Sequence[int], turn: int) -> list[list[int]]:
        requests = [
            Request(ids=history, sampling=Sampling(max_new_tokens=count), seed=1000 * turn + row, session=row)
            for row, (history, count) in enumerate(zip(histories, wanted))
        ]
        return [list(completion.ids) for completion in engine.generate(requests)]

    return sample


def seconds(samplers: Sequence[Sampler], workload: Workload, swap: bool) -> list[float]:
    """Each sampler's time for one pass, in alternation turn by turn, the order reversed from turn to turn.

    CPU seconds with one thread (the same as wall time on a quiet machine), else wall time.
    """
    clock = time.process_time if torch.get_num_threads() == 1 else time.perf_counter
    histories: list[list[list[int]]] = [[[] for _ in workload.wanted[0]] for _ in samplers]
    spent = [0.0] * len(samplers)
    for turn, (fresh, wanted) in enumerate(zip(workload.fresh, workload.wanted)):
        order = range(len(samplers)) if (turn % 2 == 0) != swap else reversed(range(len(samplers)))
        for which in order:
            prompts = [history + new for history, new in zip(histories[which], fresh)]
            began = clock()
            drawn = samplers[which](prompts, wanted, turn)
            spent[which] += clock() - began
            assert [len(ids) for ids in drawn] == list(wanted)
            histories[which] = [prompt + ids for prompt, ids in zip(prompts, drawn)]
    return spent


def compare(workload: Workload, model: LlamaForCausalLM, repeats: int) -> float:
    """Print times and ratio of a workload, and return the ratio `generate` / engine (median of paired repetitions)."""
    engine = LocalEngine(model, pad_id=0, decode=lambda ids: "")
    pairs = []
    for repeat in range(repeats):
        engine.forget()
        pairs.append(seconds((hub_sampler(model), engine_sampler(engine)), workload, repeat % 2 == 1))
    ratios = [hub / own for hub, own in pairs]
    hub, own = (statistics.median(column) for column in zip(*pairs))
    tokens = sum(map(sum, workload.wanted))
    print(
        f"{workload.name:9} {len(workload.wanted[0])} rows, {tokens} tokens drawn: generate {hub:.2f} s, "
        f"engine {own:.2f} s; ratio {statistics.median(ratios):.2f} "
        f"(min {min(ratios):.2f}, max {max(ratios):.2f}, n {repeats}), target {workload.target}",
        flush=True,
    )
    return statistics.median(ratios)


def main(argv: Sequence[str] | None = None) -> int:
    """Run both comparisons; exit code 1 when a ratio is under its target."""
    parser = argparse.ArgumentParser(prog="bench sampler", description="The engine against transformers' generate.")
    parser.add_argument("--rows", type=int, default=256)
    parser.add_argument("--repeats", type=int, help="instead of 7 for single and 1 for episodes")
    parser.add_argument("--scale", type=float, default=1.0, help="factor on all lengths, to try it quickly")
    parser.add_argument("--dtype", choices=sorted(DTYPES), default="float32")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args(argv)
    torch.set_num_threads(options.threads)
    model = nano_llama(DTYPES[options.dtype])
    seconds([hub_sampler(model)], single(2, 0.1), False)
    print(f"{options.dtype}, {options.threads} thread(s), torch {torch.__version__}")
    reached = [
        compare(workload, model, options.repeats or workload.repeats) >= workload.target
        for workload in (single(options.rows, options.scale), episodes(options.rows, options.scale))
    ]
    return ExitCode.OK if all(reached) else ExitCode.VERDICT_FAIL


if __name__ == "__main__":
    raise SystemExit(main())
