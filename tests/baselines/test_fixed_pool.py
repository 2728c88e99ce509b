import subprocess
from hashlib import sha256
from pathlib import Path
from typing import Any, Callable

import pytest

from spadework.baselines.fixed_pool import FixedPool, drawn, read_pool, write_pool
from spadework.harness.errors import InputError
from spadework.harness.types import Arm, Program, Sampling
from spadework.training.source import PlaySettings

PLAYS = PlaySettings(instances=2, plays_per_instance=2, sampling=Sampling())


def program(number: int) -> Program:
    source = f"# number {number} äöü\r\nclass Env:\n    pass\n"
    return Program(
        id=sha256(source.encode()).hexdigest()[:16], source=source, skill="S", hint=None if number % 2 else "h",
        meta={"level": number, "family": "f"},
    )  # fmt: skip


PROGRAMS = [program(number) for number in range(7)]


def test_the_pool_is_drawn_in_the_official_order(vector: Callable[[str], Any]) -> None:
    case = vector("static_pool_without_replacement")
    names = case["inputs"]["files"]
    ours = [[names[index] for index in drawn(len(names), 3, 42, call)] for call in range(case["inputs"]["calls"])]
    assert ours == case["expected"]


def test_no_environment_returns_before_the_pool_is_spent() -> None:
    seen = [index for call in range(40) for index in drawn(200, 5, 7, call)]
    assert sorted(seen) == list(range(200))


def test_a_pool_that_is_written_is_read_back_the_same(tmp_path: Path) -> None:
    write_pool(tmp_path / "pool", PROGRAMS)
    assert read_pool(tmp_path / "pool") == tuple(PROGRAMS)
    subprocess.run(["sha256sum", "--check", "--strict", "checksums.sha256"], cwd=tmp_path / "pool", check=True)


def changed(folder: Path) -> None:
    (folder / "game_00003.py").write_text("class Other: pass\n")


def missing(folder: Path) -> None:
    (folder / "game_00003.py").unlink()


def extra(folder: Path) -> None:
    (folder / "game_00099.py").write_text("")


def unlisted(folder: Path) -> None:
    lines = (folder / "manifest.jsonl").read_bytes().splitlines(keepends=True)
    data = b"".join(lines[:3] + lines[4:])
    (folder / "manifest.jsonl").write_bytes(data)
    sums = (folder / "checksums.sha256").read_text().splitlines()
    kept = [line for line in sums if not line.endswith("manifest.jsonl")]
    (folder / "checksums.sha256").write_text("\n".join([*kept, f"{sha256(data).hexdigest()}  manifest.jsonl"]) + "\n")


@pytest.mark.parametrize(
    ("damage", "named"),
    [
        (changed, "game_00003.py.*checksum"),
        (missing, "game_00003.py"),
        (extra, "game_00099.py"),
        (unlisted, "game_00003.py"),
    ],
)
def test_a_damaged_pool_is_refused_and_the_file_named(
    tmp_path: Path, damage: Callable[[Path], None], named: str
) -> None:
    write_pool(tmp_path / "pool", PROGRAMS)
    damage(tmp_path / "pool")
    with pytest.raises(InputError, match=named):
        read_pool(tmp_path / "pool")


def test_a_pool_without_checksums_and_a_folder_in_use_are_refused(tmp_path: Path) -> None:
    write_pool(tmp_path / "pool", PROGRAMS)
    with pytest.raises(InputError, match="not empty"):
        write_pool(tmp_path / "pool", PROGRAMS)
    (tmp_path / "pool" / "checksums.sha256").write_text("nonsense\n")
    with pytest.raises(InputError, match="line 1"):
        read_pool(tmp_path / "pool")
    (tmp_path / "pool" / "checksums.sha256").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="checksums.sha256.*UTF-8"):
        read_pool(tmp_path / "pool")
    (tmp_path / "pool" / "checksums.sha256").unlink()
    with pytest.raises(InputError, match="missing"):
        read_pool(tmp_path / "pool")
    with pytest.raises(InputError, match="at least one"):
        write_pool(tmp_path / "none", [])


def test_a_step_of_the_source_is_the_same_after_a_resume_and_trains_no_designer() -> None:
    first = FixedPool(PROGRAMS, 3, PLAYS, seed=42)
    later = FixedPool(PROGRAMS, 3, PLAYS, seed=42)
    later.restore(first.state())
    assert later.supply(4) == first.supply(4)
    supply = first.supply(1)
    assert len(supply.plays) == 12 and {play.arm for play in supply.plays} == {Arm.PLAIN}
    assert (supply.counts["pool_passes"], first.learn(1, [])) == (0, [])


def test_a_pool_smaller_than_a_step_is_refused() -> None:
    with pytest.raises(InputError, match="ask for 1 to 7"):
        FixedPool(PROGRAMS, 8, PLAYS, seed=42)
