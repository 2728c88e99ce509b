"""Writes the static pool of the nano scale with the external checkpoint: `python -m spadework.baselines.nano_pool`
(part of `nox -s nano_base`).

The pool plays the part of the paper's pool that a stronger model wrote once: programs of all six skills after
passages of the corpus, without memory, hints or training. It is committed, so that every run trains on the same one.
"""

import argparse
import sys
from pathlib import Path
from typing import Sequence

import torch
from msgspec import structs

from ..harness.engine import LocalEngine
from ..harness.errors import ExitCode
from ..harness.sandbox import Sandbox
from ..harness.types import Program
from ..training.corpora import open_corpus
from ..training.designer import Designer
from ..training.memory import EnvironmentMemory
from ..training.organism import resolve
from ..training.recipe import Recipe, load_recipe
from .fixed_pool import write_pool
from .sources import POOLS

PROGRAMS = 240
SEED = 42


def write(recipe: Recipe, checkpoint: str, count: int) -> list[Program]:
    """`count` different valid programs, in the order they were written."""
    model, dialect = resolve(recipe.organism).load(checkpoint)
    settings = structs.replace(recipe.designer, environments=24, skills_per_window=0, hints=False, memory=False)
    engine = LocalEngine(model, pad_id=dialect.pad_id, decode=dialect.decode)
    corpus = open_corpus(recipe.corpus, dialect)
    designer = Designer(
        model=engine, dialect=dialect, corpus=corpus, settings=settings, window=1, seed=SEED, author="other"
    )
    found: dict[str, Program] = {}
    with Sandbox() as sandbox:
        step = 0
        while len(found) < count:
            drafts = designer.propose(step, EnvironmentMemory(), sandbox).drafts
            found |= {draft.program.id: draft.program for draft in drafts if draft.program is not None}
            step += 1
    return list(found.values())[:count]


def main(argv: Sequence[str] | None = None) -> int:
    """`--count N --checkpoint NAME --out DIR`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=PROGRAMS)
    parser.add_argument("--checkpoint", default="external")
    parser.add_argument("--out", type=Path, default=POOLS / "nano")
    parser.add_argument("--replace", action="store_true", help="remove the pool that is there")
    args = parser.parse_args(argv)
    torch.set_num_threads(1)
    programs = write(load_recipe("nano"), args.checkpoint, args.count)
    write_pool(args.out, programs, replace=args.replace)
    print(f"{len(programs)} programs in {args.out}")
    return ExitCode.OK


if __name__ == "__main__":
    sys.exit(main())
