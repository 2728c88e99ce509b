"""Makers of the baselines' sources, found by the strings in `training.recipe.SOURCES`."""

from pathlib import Path

from ..harness.engine import LocalEngine
from ..harness.errors import InputError, nearest
from ..training.selfplay import SelfPlay
from ..training.sources import Parts, designed, play_settings
from .fixed_pool import FixedPool, read_pool
from .rlve import RLVE, SlidingWindow

POOLS = Path(__file__).parent / "pools"


def frozen(parts: Parts) -> SelfPlay:
    """A designer that is never trained: another checkpoint writes programs and hints, corpus and memory as the recipe
    says.
    """
    model, dialect = parts.organism.load(parts.recipe.source.writer)
    writer = LocalEngine(model, pad_id=dialect.pad_id, decode=dialect.decode)
    return designed(parts, writer, dialect, author="other")


def fixed_pool(parts: Parts) -> FixedPool:
    """GRPO on a static pool, drawn without replacement."""
    programs = read_pool(_pool(parts.recipe.source.pool))
    return FixedPool(programs, parts.recipe.designer.environments, play_settings(parts), parts.recipe.seed)


def rlve(parts: Parts) -> RLVE:
    """GRPO on the organism's parametric families with RLVE's sliding windows."""
    source = parts.recipe.source
    start = SlidingWindow(tau_num=source.attempts_per_check, top=source.top_level)
    families = parts.organism.families(parts.dialect)
    return RLVE(families, parts.recipe.designer.environments, play_settings(parts), parts.recipe.seed, start)


def _pool(name: str) -> Path:
    for folder in (POOLS / name, Path(name)):
        if folder.is_dir():
            return folder
    known = [path.name for path in POOLS.iterdir()] if POOLS.is_dir() else []
    raise InputError(f"no pool {name!r}{nearest(name, known)}; give a shipped pool's name or a folder that holds one.")
