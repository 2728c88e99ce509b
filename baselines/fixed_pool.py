"""A static pool of environments: written and read as a folder, and drawn from without replacement.

    pool/game_00000.py ...   one program a file, exactly the text that is executed
    pool/manifest.jsonl      one line a file: file, id, skill, max_turns, hint, meta
    pool/checksums.sha256    `sha256sum -c` reads it

Nothing here executes a program, and nothing trains a designer. Pools of other makers are not converted here.
"""

import random
import shutil
from hashlib import sha256
from pathlib import Path
from typing import Iterable, Iterator, Sequence

import msgspec

from ..harness import jsonl
from ..harness.atomic import write_atomic
from ..harness.errors import InputError
from ..harness.types import Episode, Program, Sample
from ..training.source import JSON, PlaySettings, Supply, plain_plays

MANIFEST, CHECKSUMS = "manifest.jsonl", "checksums.sha256"


class Line(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One line of the manifest."""

    file: str
    id: str
    skill: str
    max_turns: int
    hint: str | None = None
    meta: dict[str, float | int | str] = {}


def write_pool(folder: Path, programs: Sequence[Program], *, replace: bool = False) -> None:
    """Write the programs as a new pool; the checksums last, so that a torn pool is no pool. Refuses a folder in use;
    `replace` first removes the pool that is there."""
    if replace and (folder / CHECKSUMS).is_file():
        shutil.rmtree(folder)
    if folder.exists() and any(folder.iterdir()):
        raise InputError(f"{folder} is not empty; give the path of a new pool.")
    if not programs:
        raise InputError(f"there is no program to write to {folder}; a pool needs at least one.")
    contents: dict[str, bytes] = {}
    lines: list[Line] = []
    for number, one in enumerate(programs):
        name = f"game_{number:05d}.py"
        contents[name] = one.source.encode()
        lines.append(
            Line(file=name, id=one.id, skill=one.skill, max_turns=one.max_turns, hint=one.hint, meta=dict(one.meta))
        )
    contents[MANIFEST] = b"".join(msgspec.json.encode(line) + b"\n" for line in lines)
    for name, data in contents.items():
        write_atomic(folder / name, data, sync=False)
    sums = "".join(f"{sha256(data).hexdigest()}  {name}\n" for name, data in sorted(contents.items()))
    write_atomic(folder / CHECKSUMS, sums)


def read_pool(folder: Path) -> tuple[Program, ...]:
    """The programs in the order of their file names.

    InputError names the file that is missing, extra, unlisted or of another checksum; no pool is read in part.
    """
    expected = _checksums(folder / CHECKSUMS)
    present = {path.name for path in folder.glob("game_*.py")} | {MANIFEST}
    _same_names(expected.keys(), present, f"{folder} and its {CHECKSUMS}")
    contents: dict[str, bytes] = {}
    for name, digest in sorted(expected.items()):
        if not (folder / name).is_file():
            raise InputError(f"{folder} lacks {name!r}; fetch the pool again.")
        contents[name] = (folder / name).read_bytes()
        if sha256(contents[name]).hexdigest() != digest:
            raise InputError(f"{folder / name} has another checksum than {CHECKSUMS} says; fetch the pool again.")
    lines = list(_lines(folder / MANIFEST))
    _same_names([line.file for line in lines], expected.keys() - {MANIFEST}, f"{folder / MANIFEST} and the files")
    return tuple(_program(line, contents[line.file], folder) for line in sorted(lines, key=lambda line: line.file))


def drawn(size: int, count: int, seed: int, call: int) -> tuple[int, ...]:
    """Indices of the `call`-th draw (from 0) of `count` out of `size`, without replacement.

    `random.Random(seed)` shuffles range(size); draws are consecutive slices. When the rest is short, a fresh shuffle
    tops the draw up, passing over what the draw already holds. A function of its arguments, so a resumed run goes on.
    """
    if not 0 < count <= size:
        raise InputError(f"a pool of {size} environments cannot give {count} at once; ask for 1 to {size}.")
    shuffler = random.Random(seed)
    rest: list[int] = []
    draw: list[int] = []
    for _ in range(call + 1):
        draw, rest = rest[:count], rest[count:]
        if len(draw) < count:
            order = list(range(size))
            shuffler.shuffle(order)
            fresh = [index for index in order if index not in draw]
            missing = count - len(draw)
            draw, rest = draw + fresh[:missing], fresh[missing:]
    return tuple(draw)


class FixedPool:
    """Source of the fixed-environment row: `environments` of the pool a step, no hint, nothing of its own to train."""

    def __init__(self, programs: Sequence[Program], environments: int, plays: PlaySettings, seed: int) -> None:
        self.programs = tuple(programs)
        self.environments = environments
        self.plays = plays
        self.seed = seed
        drawn(len(self.programs), environments, seed, 0)

    def supply(self, step: int) -> Supply:
        """The step's slice of the shuffled pool."""
        indices = drawn(len(self.programs), self.environments, self.seed, step)
        programs = tuple(self.programs[index] for index in indices)
        plays = plain_plays(programs, step, self.seed, self.plays)
        passes = (step + 1) * self.environments // len(self.programs)
        return Supply(plays=plays, programs=programs, counts={"environments": len(programs), "pool_passes": passes})

    def learn(self, step: int, episodes: Sequence[Episode]) -> list[Sample]:
        """Nothing: nobody writes these environments."""
        return []

    def state(self) -> dict[str, JSON]:
        """Nothing: a draw depends on the step alone."""
        return {}

    def restore(self, state: dict[str, JSON]) -> None:
        """Nothing to restore."""


def _checksums(path: Path) -> dict[str, str]:
    if not path.is_file():
        raise InputError(f"{path} is missing; give the folder of a complete pool.")
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise InputError(f"{path} is not UTF-8 text; fetch the pool again.") from None
    sums: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        digest, _, name = line.partition("  ")
        if len(digest) != 64 or not name or "/" in name or name in sums:
            raise InputError(f"{path}, line {number}: not `<sha256>  <file of this folder>`; fetch the pool again.")
        sums[name] = digest
    return sums


def _same_names(listed: Iterable[str], present: Iterable[str], where: str) -> None:
    """InputError that names what only one of the two has, or what the first has twice."""
    names = list(listed)
    twice = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
    different = sorted(set(names) ^ set(present))
    if twice or different:
        shown = ", ".join((twice or different)[:5])
        raise InputError(f"{where} do not agree about {shown}; fetch the pool again.")


def _lines(path: Path) -> Iterator[Line]:
    for number, row in enumerate(jsonl.read(path), start=1):
        try:
            yield msgspec.convert(row, Line)
        except msgspec.ValidationError as error:
            raise InputError(f"{path}, line {number}: {error}; correct that line.") from error


def _program(line: Line, source: bytes, folder: Path) -> Program:
    if line.id != sha256(source).hexdigest()[:16]:
        raise InputError(f"{folder / MANIFEST} gives {line.file} the id {line.id}, which its text has not; correct it.")
    try:
        text = source.decode()
    except UnicodeDecodeError as error:
        raise InputError(f"{folder / line.file} is not UTF-8 ({error.reason}); write it anew as UTF-8.") from error
    return Program(id=line.id, source=text, skill=line.skill, hint=line.hint, max_turns=line.max_turns, meta=line.meta)
