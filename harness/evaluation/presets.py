"""Protocols as data: a strict TOML file a benchmark, in, `Preset` values out.

    benchmark = "aime_2025"            # the file's own name
    default = "paper-inloop"           # taken where nobody names one
    [presets.paper-inloop]             # keys are those of `Preset`
    [presets.validation]
    like = "paper-inloop"              # a difference from another preset of the file
    [[known]]                          # what the preflight may find, with the reason
    [[unsolved]]                       # items without a known solution, with the reason

An unknown key, a missing number, a value out of its range is one `InputError`. It knows no benchmark.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal

from .. import config
from ..benchmark import Expect, Preset, TaskItem
from ..config import Section, Table
from ..errors import InputError, nearest
from ..types import Sampling

PlayerName = Literal["gold", "noop", "empty", "constant", "nan"]
"""The players of the preflight."""
LIKE = "like"


class SamplingTable(Section, frozen=True, kw_only=True):
    """How tokens are drawn; temperature and length have no default here."""

    temperature: float
    max_new_tokens: int
    top_p: float = 1.0
    top_k: int = 0
    stop_texts: tuple[str, ...] = ()


class ExpectTable(Section, frozen=True, kw_only=True):
    """What one sample costs."""

    turns: int
    prompt_tokens: int
    completion_tokens: int
    user_turns: int = 0


class PresetTable(Section, frozen=True, kw_only=True):
    """One protocol, key by key as in `Preset`."""

    source: str
    sampling: SamplingTable
    expect: ExpectTable
    repeats: int = 1
    prompt: str = "default"
    extraction: str = "default"
    scorer: str = "default"
    slice: dict[str, str | int] = {}
    max_turns: int = 1
    user: str = ""
    user_sampling: SamplingTable | None = None
    judge: str = ""
    exclude: tuple[str, ...] = ()
    options: dict[str, str | int | float | bool] = {}
    mean: Literal["items", "categories"] = "items"


class Unsolved(Section, frozen=True, kw_only=True):
    """Items of which no solution is known, with why: no perfect player can show that the grader takes a right one."""

    match: str
    """An item's id or category, with * for any text."""
    why: str
    presets: tuple[str, ...] = ()
    """Only in these; in all when empty."""

    def fits(self, item: TaskItem, preset: str) -> bool:
        """Whether this is about that item."""
        named = fnmatchcase(item.id, self.match) or fnmatchcase(item.category, self.match)
        return named and (not self.presets or preset in self.presets)


class Known(Unsolved, frozen=True, kw_only=True):
    """Items on which a player of the preflight may end otherwise than it should: a fault of the data, with why."""

    player: PlayerName

    def covers(self, player: PlayerName, item: TaskItem, preset: str) -> bool:
        """Whether this is about that player on that item."""
        return player == self.player and self.fits(item, preset)


class PresetFile(Section, frozen=True, kw_only=True):
    """A whole file."""

    benchmark: str
    default: str
    presets: dict[str, PresetTable]
    known: tuple[Known, ...] = ()
    unsolved: tuple[Unsolved, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Protocols:
    """The presets of one benchmark."""

    benchmark: str
    default: str
    presets: Mapping[str, Preset]
    known: tuple[Known, ...] = ()
    unsolved: tuple[Unsolved, ...] = ()

    def preset(self, name: str | None) -> Preset:
        """The preset of that name, or the default. Raises InputError with the nearest name."""
        wanted = self.default if name is None else name
        if wanted not in self.presets:
            raise InputError(
                f"{self.benchmark} has no preset {wanted!r}{nearest(wanted, self.presets)}; "
                f"it has {', '.join(self.presets)}."
            )
        return self.presets[wanted]


def read_protocols(path: Path) -> Protocols:
    """The presets of a file that bears its benchmark's name."""
    table = config.read_table(path)
    presets = table.get("presets")
    if not isinstance(presets, dict) or not presets:
        raise InputError(f"{path} holds no [presets.NAME]; write one for each protocol.")
    whole = {name: _unfolded(name, presets, path, ()) for name in presets}
    file = config.build(PresetFile, {**table, "presets": whole}, where=path)
    if file.benchmark != path.stem:
        raise InputError(f"{path}: benchmark is {file.benchmark!r}; write the file's own name, {path.stem!r}.")
    made = {name: _preset(file.benchmark, name, one, path) for name, one in file.presets.items()}
    protocols = Protocols(
        benchmark=file.benchmark, default=file.default, presets=made, known=file.known, unsolved=file.unsolved
    )
    for name in (file.default, *(name for one in (*file.known, *file.unsolved) for name in one.presets)):
        protocols.preset(name)
    return protocols


def _unfolded(name: str, presets: Mapping[str, object], path: Path, seen: tuple[str, ...]) -> Table:
    """A preset's table with those it is `like` laid under it."""
    own = presets.get(name)
    if not isinstance(own, dict):
        raise InputError(f"{path}: no [presets.{name}]{nearest(name, presets)}; correct the name.")
    if name in seen:
        raise InputError(f"{path}: preset {name!r} is like itself; take one `like` out.")
    base = own.get(LIKE)
    if base is None:
        return dict(own)
    rest = {key: value for key, value in own.items() if key != LIKE}
    return config.merge(_unfolded(str(base), presets, path, (*seen, name)), rest)


def _preset(benchmark: str, name: str, table: PresetTable, path: Path) -> Preset:
    where = f"{path}: preset {name!r}"
    if table.repeats < 1 or table.max_turns < 1:
        raise InputError(f"{where}: repeats and max_turns are at least 1; correct them.")
    return Preset(
        benchmark=benchmark, name=name, source=table.source, sampling=_sampling(table.sampling, where),
        repeats=table.repeats, prompt=table.prompt, extraction=table.extraction, scorer=table.scorer,
        slice=table.slice, max_turns=table.max_turns, user=table.user,
        user_sampling=None if table.user_sampling is None else _sampling(table.user_sampling, where),
        judge=table.judge, exclude=table.exclude, options=table.options, mean=table.mean,
        expect=Expect(
            turns=table.expect.turns, prompt_tokens=table.expect.prompt_tokens,
            completion_tokens=table.expect.completion_tokens, user_turns=table.expect.user_turns,
        ),
    )  # fmt: skip


def _sampling(table: SamplingTable, where: str) -> Sampling:
    sound = table.temperature >= 0 and 0 < table.top_p <= 1 and table.top_k >= 0 and table.max_new_tokens >= 1
    if not sound:
        raise InputError(
            f"{where}: sampling needs temperature >= 0, 0 < top_p <= 1, top_k >= 0 and max_new_tokens >= 1; correct it."
        )
    return Sampling(
        temperature=table.temperature, top_p=table.top_p, top_k=table.top_k, max_new_tokens=table.max_new_tokens,
        stop_texts=table.stop_texts,
    )  # fmt: skip
