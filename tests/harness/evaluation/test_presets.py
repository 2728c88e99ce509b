"""Protocols are data: strict, complete, and the same for every benchmark of the house."""

from importlib.resources import files
from pathlib import Path

import pytest

from spadework.harness.errors import InputError
from spadework.harness.evaluation.presets import Protocols, read_protocols
from spadework.harness.evaluation.registry import listed, resolve
from spadework.harness.evaluation.suites import SUITES, suite
from spadework.harness.types import Sampling

FOLDER = Path(str(files("spadework.tasks"))) / "presets"
GOOD = """\
benchmark = "sums"
default = "official"
[presets.official]
source = "made up"
sampling = { temperature = 0.7, top_p = 0.8, max_new_tokens = 64 }
expect = { turns = 1, prompt_tokens = 10, completion_tokens = 5 }
[presets.greedy]
like = "official"
sampling = { temperature = 0.0 }
"""


def protocols(tmp_path: Path, text: str) -> Protocols:
    path = tmp_path / "sums.toml"
    path.write_text(text)
    return read_protocols(path)


def test_a_preset_that_is_like_another_differs_in_what_it_says_and_nothing_else(tmp_path: Path) -> None:
    found = protocols(tmp_path, GOOD)
    assert found.preset(None).sampling == Sampling(temperature=0.7, top_p=0.8, max_new_tokens=64)
    assert found.preset("greedy").sampling == Sampling(temperature=0.0, top_p=0.8, max_new_tokens=64)
    assert found.preset("greedy").source == "made up"


@pytest.mark.parametrize(
    "old, new, sentence",
    [
        ("top_p", "topp", "did you mean 'top_p'"),
        ("sampling = { temperature = 0.7, top_p = 0.8, max_new_tokens = 64 }", "", "sampling"),
        ("temperature = 0.7, ", "", "temperature"),
        ("top_p = 0.8", "top_p = 8.0", "0 < top_p <= 1"),
        ("temperature = 0.7", "temperature = nan", "finite"),
        ('like = "official"', 'like = "offical"', "did you mean 'official'"),
        ('like = "official"', 'like = "greedy"', "like itself"),
        ('default = "official"', 'default = "officail"', "did you mean 'official'"),
        ('benchmark = "sums"', 'benchmark = "products"', "the file's own name"),
        ("[presets.official]", "[preset.official]", "official"),
        ('source = "made up"', 'source = "made up"\nrepeats = 0', "at least 1"),
        ('source = "made up"', 'source = "made up"\nmean = "item"', "did you mean 'items'"),
    ],
)
def test_whatever_is_wrong_in_a_file_is_one_sentence(tmp_path: Path, old: str, new: str, sentence: str) -> None:
    assert old in GOOD
    with pytest.raises(InputError, match=sentence):
        protocols(tmp_path, GOOD.replace(old, new))


@pytest.mark.parametrize("name", listed())
def test_every_benchmark_of_the_house_has_presets_with_their_source(name: str) -> None:
    found = read_protocols(FOLDER / f"{name}.toml")
    assert found.default in found.presets and all(len(preset.source) > 20 for preset in found.presets.values())
    assert "validation" in found.presets
    assert all(preset.slice for preset in found.presets.values()), "which items, with their number"


def test_no_preset_file_lies_there_without_a_benchmark() -> None:
    assert {path.stem for path in FOLDER.glob("*.toml")} == set(listed())


def test_suites_name_tasks_that_exist_and_a_misspelt_one_offers_the_nearest() -> None:
    assert {task for one in SUITES.values() for task in one.tasks} <= set(listed())
    with pytest.raises(InputError, match="did you mean 'games'"):
        suite("game")


def test_a_misspelt_task_offers_the_nearest_and_a_missing_package_is_named() -> None:
    with pytest.raises(InputError, match="did you mean 'aime_2025'"):
        resolve("aime2025")
    with pytest.raises(InputError, match="needs 'no_such_package_here'"):
        resolve("no_such_package_here.module:BENCHMARK")


def test_the_papers_numbers_stand_in_the_presets() -> None:
    """Each of these was read in the sources that the files name."""
    aime = read_protocols(FOLDER / "aime_2025.toml")
    assert (aime.preset("paper-inloop").repeats, aime.preset("paper-offline").repeats) == (32, 64)
    assert aime.preset("paper-offline").sampling == Sampling(
        temperature=1.0, top_p=0.95, top_k=20, max_new_tokens=32768
    )
    lcb = read_protocols(FOLDER / "livecodebench.toml")
    assert [lcb.preset(name).slice["items"] for name in ("paper-inloop", "paper-offline", "qwen")] == [175, 1055, 131]
    gym = read_protocols(FOLDER / "reasoning_gym.toml")
    assert [gym.preset(name).slice["items"] for name in ("paper-inloop", "paper-offline")] == [400, 800]
    assert gym.preset("corrected").exclude and gym.preset("paper-offline").exclude == ()
    tau2 = read_protocols(FOLDER / "tau2.toml")
    assert {preset.slice["version"] for preset in tau2.presets.values()} == {"1.0.1", "0.2"}
    assert read_protocols(FOLDER / "acebench_agent.toml").preset("official").scorer == "upstream-faithful"


def test_a_task_whose_player_is_not_built_says_so() -> None:
    with pytest.raises(InputError, match="is not built yet in this version"):
        resolve("spadework.tasks.no_such_benchmark:NOTHING")


def test_every_listed_task_is_found_without_its_optional_packages() -> None:
    assert resolve("tau2").protocols.default == "official"
