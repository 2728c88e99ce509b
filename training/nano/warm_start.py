"""Makes the nano checkpoints: the warm start `base` and the second model `external`, which only designs. Command: `nox
-s nano_base`.

Supervised next-token training on the teacher's texts (`teacher`), Muon on the matrices and AdamW on the rest.
`external` has the same architecture and tokenizer, another seed, and at least twice the designer tokens of `base`.
The gates that every training run relies on are measured by `gates` on passages kept out of training, printed, and
written next to the weights.
"""

import argparse
import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Literal, Sequence

import torch
from torch import Tensor
from transformers import LlamaForCausalLM

from ...harness.engines.organisms import MARK
from ...harness.errors import ExitCode
from ...harness.seeds import derive, generator
from ...tasks.nano_world import FAMILIES, HELD_OUT
from ...tasks.nano_world import draw as draw_program
from ..corpus import Corpus, Need, builtin
from . import teacher
from .dialect import NanoDialect
from .gates import measure
from .model import create
from .tokenizer import build as build_tokenizer
from .tokenizer import content_words

HERE = Path(__file__).parent
NOUNS = 1000
PASSAGE_WORDS = (24, 32)
NEED_WORDS = 6
BATCH_TOKENS, BUFFER = 3000, 512
MUON_LR, ADAM_LR, WARM_UP = 0.01, 3e-3, 100


@dataclass(frozen=True, kw_only=True)
class Mixture:
    """Shares of texts, by kind; what is left is play without a hint."""

    seed: int
    tokens: int
    designer: float
    hint_writer: float
    hinted: float
    precision: Literal["fp32", "bf16"] = "bf16"
    """bf16: autocast with eager attention, 1.4 times the tokens a CPU second where the processor has bf16."""


MIXTURES = {
    "base": Mixture(seed=1, tokens=7_000_000, designer=0.17, hint_writer=0.11, hinted=0.50),
    "external": Mixture(seed=2, tokens=7_200_000, designer=0.84, hint_writer=0.15, hinted=0.01),
}


def vocabulary_texts() -> tuple[list[str], list[str]]:
    """(nouns, programs) from which the tokenizer is built; the same at every call."""
    passages = [passage.text for passage in builtin(words=PASSAGE_WORDS).passages]
    blanks = [f"zz{letter * 4}" for letter in "abcdefghij"]
    rng = generator(0, "tokenizer")
    families = [*FAMILIES.values(), *HELD_OUT.values()]
    code = "\n".join(
        draw_program(family, level, blanks, rng) for family in families for level in range(1, 6) for _ in range(12)
    )
    nouns = content_words(passages, code, NOUNS)
    programs = [
        draw_program(family, level, nouns, rng)
        for family in FAMILIES.values()
        for level in range(1, 6)
        for _ in range(60)
    ]
    return nouns, programs


def dialect_and_corpus() -> tuple[NanoDialect, Corpus]:
    """The tokenizer made anew, and the corpus as the nano recipes use it."""
    nouns, programs = vocabulary_texts()
    dialect = NanoDialect(build_tokenizer(nouns, programs))
    return dialect, builtin(words=PASSAGE_WORDS, need=Need(count=dialect.usable_words, words=NEED_WORDS), at_least=2000)


def text(mixture: Mixture, dialect: NanoDialect, passages: Sequence[str], index: int) -> tuple[str, teacher.Text]:
    """Training text number `index` of a mixture, and its kind."""
    rng = generator(mixture.seed, "text", index)
    family = rng.choice(list(FAMILIES))
    kind = rng.random()
    if kind < mixture.designer:
        passage = None if rng.random() < teacher.NO_PASSAGE else rng.choice(passages)
        return "designer", teacher.designer(dialect, family, passage, dialect.nouns, rng)[0]
    level = rng.choices(teacher.LEVELS, teacher.LEVEL_PRIOR)[0]
    drawn = teacher.draw(family, level, rng.sample(dialect.nouns, 9), [], rng)
    if kind < mixture.designer + mixture.hint_writer:
        return "hint_writer", teacher.hint_text(drawn, dialect)
    if kind < mixture.designer + mixture.hint_writer + mixture.hinted:
        return "hinted", teacher.episode(drawn, dialect, "right", True, rng)
    players, weights = list(teacher.PLAYERS), list(teacher.PLAYERS.values())
    return "plain", teacher.episode(drawn, dialect, rng.choices(players, weights)[0], False, rng)


def batches(texts: Sequence[teacher.Text], rng: Random) -> list[list[teacher.Text]]:
    """Texts of similar length together, at most BATCH_TOKENS a batch, in random order."""
    made: list[list[teacher.Text]] = [[]]
    for one in sorted(texts, key=lambda t: len(t.ids)):
        if made[-1] and (len(made[-1]) + 1) * len(one.ids) > BATCH_TOKENS:
            made.append([])
        made[-1].append(one)
    rng.shuffle(made)
    return made


def tensors(batch: Sequence[teacher.Text]) -> tuple[Tensor, Tensor]:
    """(ids (B, T), trained (B, T)), right-padded with 0."""
    width = max(len(one.ids) for one in batch)
    ids = torch.zeros(len(batch), width, dtype=torch.long)
    trained = torch.zeros(len(batch), width, dtype=torch.bool)
    for row, one in enumerate(batch):
        ids[row, : len(one.ids)] = torch.tensor(one.ids)
        trained[row, : len(one.ids)] = torch.tensor(one.trained)
    return ids, trained


def loss_of(model: LlamaForCausalLM, batch: Sequence[teacher.Text]) -> Tensor:
    """Mean cross-entropy over the trained tokens."""
    ids, trained = tensors(batch)
    hidden = model.model(input_ids=ids).last_hidden_state[:, :-1].flatten(0, 1)
    where = trained[:, 1:].flatten().nonzero()[:, 0]
    logits = model.lm_head(hidden.index_select(0, where)).float()
    return torch.nn.functional.cross_entropy(logits, ids[:, 1:].flatten()[where])


class Optimiser:
    """Muon on the matrices, AdamW on embeddings, norms and biases; warm-up, then a straight line to 5 %."""

    def __init__(self, model: LlamaForCausalLM) -> None:
        matrices = [p for name, p in model.named_parameters() if p.ndim == 2 and "embed" not in name]
        rest = [p for name, p in model.named_parameters() if p.ndim != 2 or "embed" in name]
        self.parts = [
            (torch.optim.Muon(matrices, lr=MUON_LR, weight_decay=0.0), MUON_LR),
            (torch.optim.AdamW(rest, lr=ADAM_LR, betas=(0.9, 0.98), weight_decay=0.0, fused=True), ADAM_LR),
        ]

    def step(self, done: float, steps: int) -> None:
        factor = max(0.05, 1 - done) * min(1.0, (steps + 1) / WARM_UP)
        for optimiser, rate in self.parts:
            for group in optimiser.param_groups:
                group["lr"] = rate * factor
            optimiser.step()
            optimiser.zero_grad()


def train(
    mixture: Mixture, dialect: NanoDialect, corpus: Corpus, report: int = 250_000
) -> tuple[LlamaForCausalLM, dict[str, int]]:
    """The trained model and its tokens by kind."""
    model = create(len(dialect.tokenizer), mixture.seed)
    if mixture.precision == "bf16":
        model.set_attn_implementation("eager")
    optimiser, rng = Optimiser(model), generator(mixture.seed, "batches")
    passages = [passage.text for passage in corpus.passages]
    tokens: dict[str, int] = {}
    index = steps = total = 0
    began, shown = time.process_time(), 0
    probes = probe_texts(mixture, dialect, corpus)
    while total < mixture.tokens:
        pairs = [text(mixture, dialect, passages, index + i) for i in range(BUFFER)]
        index += BUFFER
        for kind, one in pairs:
            tokens[kind] = tokens.get(kind, 0) + len(one.ids)
        for batch in batches([one for _, one in pairs], rng):
            with torch.autocast("cpu", torch.bfloat16, enabled=mixture.precision == "bf16"):
                loss = loss_of(model, batch)
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step(total / mixture.tokens, steps)
            steps += 1
            total += sum(len(one.ids) for one in batch)
        if total - shown >= report:
            shown = total
            losses = "  ".join(f"{kind} {probe_loss(model, texts):.3f}" for kind, texts in probes.items())
            print(f"{total:>10,} tokens  {losses}  {time.process_time() - began:.0f} CPU s", flush=True)
    model.set_attn_implementation("sdpa")
    return model, tokens


def probe_texts(mixture: Mixture, dialect: NanoDialect, corpus: Corpus) -> dict[str, list[teacher.Text]]:
    """A few texts of each kind, written after held-out passages, for the progress line."""
    passages = [passage.text for passage in corpus.heldout]
    found: dict[str, list[teacher.Text]] = {}
    for index in range(600):
        kind, one = text(mixture, dialect, passages, -1 - index)
        found.setdefault(kind, []).append(one)
    return {kind: texts[:60] for kind, texts in sorted(found.items())}


def probe_loss(model: LlamaForCausalLM, texts: Sequence[teacher.Text]) -> float:
    """Mean cross-entropy over the trained tokens, without gradients."""
    with torch.no_grad():
        return float(loss_of(model, texts))


def make(name: str, out: Path, tokens: int | None = None) -> dict[str, object]:
    """Train one checkpoint, measure its gates, write everything to `out/name`."""
    torch.set_num_threads(1)
    mixture = MIXTURES[name]
    if tokens is not None:
        mixture = Mixture(**{**{f: getattr(mixture, f) for f in mixture.__dataclass_fields__}, "tokens": tokens})
    dialect, corpus = dialect_and_corpus()
    began = time.process_time()
    model, by_kind = train(mixture, dialect, corpus)
    cost = time.process_time() - began
    folder = out / name
    for settings in (model.config, model.generation_config):
        settings.pad_token_id, settings.eos_token_id = dialect.pad_id, dialect.eos_id
    model.save_pretrained(folder)
    dialect.tokenizer.save_pretrained(folder)
    facts: dict[str, object] = {
        "seed": mixture.seed,
        "tokens": by_kind,
        "cpu_seconds": round(cost),
        "parameters": sum(p.numel() for p in model.parameters()),
        "corpus": corpus.digest,
        "gates": measure(model, dialect, corpus, derive(mixture.seed, "gates")),
    }
    (folder / MARK).write_text(json.dumps({"organism": "nano"}) + "\n")
    (folder / "warm_start.json").write_text(json.dumps(facts, indent=2) + "\n")
    print(name, json.dumps(facts["gates"], indent=2), flush=True)
    return facts


def main(argv: Sequence[str] | None = None) -> int:
    """`python -m spadework.training.nano.warm_start [--only base|external] [--tokens N] [--out DIR]`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=tuple(MIXTURES), action="append")
    parser.add_argument("--tokens", type=int, help="train on fewer tokens than the checkpoint that ships")
    parser.add_argument("--out", type=Path, default=HERE)
    args = parser.parse_args(argv)
    for name in args.only or MIXTURES:
        make(name, args.out, args.tokens)
    return ExitCode.OK


if __name__ == "__main__":
    sys.exit(main())
