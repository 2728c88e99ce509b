"""Recipes as data: what ships loads, each row is the difference its comment names, and mistakes are one sentence."""

from pathlib import Path

import pytest

from spadework.harness.config import difference
from spadework.harness.errors import InputError
from spadework.training.designer import DesignerSettings
from spadework.training.recipe import RECIPES, SOURCES, Recipe, load_recipe
from spadework.training.reproduce import ROWS, SCALES, UNTRAINED
from spadework.training.rewards import RewardSettings
from spadework.training.update_settings import UpdateSettings

DIFFERENCES: dict[str, set[str]] = {
    "base": {"row", "source.kind"},
    "spade": set(),
    "no_corpus": {"row", "designer.corpus"},
    "no_memory": {"row", "designer.memory"},
    "frozen_no_memory": {"row", "source.kind", "designer.memory"},
    "frozen_external": {"row", "source.kind", "source.writer"},
    "learning_potential": {"row", "source.reward"},
    "solve_rate": {"row", "source.reward"},
    "two_skills": {"row", "designer.skills", "designer.skills_per_window"},
    "fixed_env": {"row", "source.kind"},
    "rlve": {"row", "source.kind", "source.attempts_per_check", "source.top_level"},
}
"""Row -> the keys in which it differs from the base recipe: those its comment speaks of."""
OTHER_SCALES = {"smol": "spade", "smol_fixed": "fixed_env"}
"""Recipes of other scales than the table's -> their row."""
SHIPPED = sorted(path.stem for path in RECIPES.glob("*.toml"))


def write(folder: Path, name: str, text: str) -> str:
    (folder / name).write_text(text)
    return str(folder / name)


@pytest.mark.parametrize("name", SHIPPED)
def test_every_shipped_recipe_loads_and_says_in_its_first_line_what_it_is(name: str) -> None:
    recipe = load_recipe(name, seed=3)
    assert recipe.seed == 3 and recipe.row == {"nano": "spade", **OTHER_SCALES}.get(name, name)
    assert (RECIPES / f"{name}.toml").read_text().startswith("# ")


def test_there_is_a_recipe_for_every_row_of_the_table_and_none_besides() -> None:
    assert set(ROWS) == DIFFERENCES.keys() == set(SHIPPED) - {"nano"} - OTHER_SCALES.keys()
    assert [row for row in ROWS if load_recipe(row).source.kind == "none"] == list(UNTRAINED)


@pytest.mark.parametrize("row", ROWS)
def test_a_row_differs_from_the_base_recipe_in_nothing_but_what_it_names(row: str) -> None:
    assert set(difference(load_recipe("nano"), load_recipe(row))) == DIFFERENCES[row]


def test_a_scale_is_laid_over_every_row_and_leaves_the_differences_alone() -> None:
    smoke = SCALES["smoke"]
    nano = load_recipe("nano", smoke)
    assert nano.scale == "smoke" and nano.steps < load_recipe("nano").steps
    for row in ROWS:
        assert set(difference(nano, load_recipe(row, smoke))) == DIFFERENCES[row]


def test_the_defaults_are_the_papers_setting() -> None:
    assert (Recipe(row="x").window, DesignerSettings().attempts, DesignerSettings().memory_capacity) == (4, 5, 200)
    assert DesignerSettings().skills_per_window == 3 and len(DesignerSettings().skills) == 6
    update = UpdateSettings()
    assert (update.clip_low, update.clip_high, update.kl) == (0.2, 0.28, 0.0)
    assert RewardSettings().invalid_reward is None


def test_every_kind_of_source_has_a_maker_that_can_be_imported() -> None:
    from importlib import import_module

    for kind, where in SOURCES.items():
        module, _, function = where.partition(":")
        assert kind == "none" or callable(getattr(import_module(module), function))


def test_an_unknown_key_is_refused_with_the_nearest_and_the_file(tmp_path: Path) -> None:
    path = write(tmp_path, "own.toml", 'row = "own"\n[designer]\nenvironment = 3\n')
    with pytest.raises(InputError, match=r"own.toml: unknown key 'designer.environment' \(did you mean 'environments'"):
        load_recipe(path)
    with pytest.raises(InputError, match=r"unknown key 'stepz' \(did you mean 'steps'\?\)"):
        load_recipe("nano", ["stepz=3"])


def test_an_unknown_recipe_or_base_is_refused_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no recipe 'spad' \(did you mean 'spade'\?\); give one of base, fixed_env"):
        load_recipe("spad")
    with pytest.raises(InputError, match=r"no recipe 'nanoo' \(did you mean 'nano'\?\)"):
        load_recipe(write(tmp_path, "own.toml", 'base = "nanoo"\n'))
    with pytest.raises(InputError, match="missing.toml"):
        load_recipe(str(tmp_path / "missing.toml"))


def test_a_recipe_of_ones_own_is_a_difference_from_a_shipped_one_or_from_a_neighbour(tmp_path: Path) -> None:
    write(tmp_path, "mine.toml", 'base = "no_memory"\nrow = "mine"\nsteps = 7\n')
    second = write(tmp_path, "second.toml", 'base = "mine"\n[play]\ninstances = 9\n')
    found = load_recipe(second, ["update.kl=0.5"])
    assert (found.row, found.steps, found.play.instances, found.update.kl) == ("mine", 7, 9, 0.5)
    assert set(difference(load_recipe("no_memory"), found)) == {"row", "steps", "play.instances", "update.kl"}


def test_bases_in_a_circle_are_refused(tmp_path: Path) -> None:
    write(tmp_path, "a.toml", 'base = "b"\n')
    with pytest.raises(InputError, match="without a circle"):
        load_recipe(write(tmp_path, "b.toml", 'base = "a"\n'))


@pytest.mark.parametrize(
    ("assignment", "said"),
    [
        ("source.reward=hint_regrets", "did you mean 'hint_regret'"),
        ("source.reward=no_such_module:pay", "cannot be imported"),
        ("source.kind=selfplay", "source.kind"),
        ("steps=0", "steps and window to 1 or more"),
        ("steps=many", "steps"),
        ("designer.environments=3", "2"),
        ("play.plays_per_instance=1", "plays_per_instance to 2 or more"),
        ('designer.skills=["Cooking"]', "Cooking"),
        ("update.lr=0", "update.lr"),
        ("update.betas=[2.0, 0.5]", "update.betas"),
        ("stop_after_empty=0", "stop_after_empty"),
        ("evaluation.validate_every=0", "validate_every"),
        ("evaluation.share=0", "share"),
        ("evaluation.share=7", "share"),
        ("evaluation.validation_share=-0.1", "share"),
        ("evaluation.max_new_tokens=0", "max_new_tokens"),
        ("evaluation.diversity_programs=-3", "diversity_programs"),
        ("play.max_tokens=0", "max_tokens"),
        ("play.instances=-4", "instances"),
        ("play.temperature=-1", "play: set temperature"),
        ("play.top_p=2", "top_p"),
        ("play.temperature=0", "play.temperature above 0"),
        ("designer.temperature=0", "designer.temperature above 0"),
        ("designer.temperature=-0.5", "designer: set temperature"),
        ("designer.max_new_tokens=0", "max_new_tokens"),
        ("designer.max_turns=0", "max_turns"),
        ("designer.memory_capacity=0", "memory_capacity"),
        ("designer.memory_positives=-1", "memory_positives"),
    ],
)
def test_what_could_only_fail_later_is_refused_at_once(assignment: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        load_recipe("nano", [assignment])
    assert said in str(caught.value) and str(caught.value).count("\n") == 0


def test_a_base_that_trains_nothing_needs_no_groups() -> None:
    assert load_recipe("base", ["play.plays_per_instance=1"]).source.kind == "none"


def test_a_misspelt_choice_offers_the_nearest_and_names_them_all() -> None:
    told = "'source.kind': 'fixed_pol' is no choice (did you mean 'fixed_pool'?); use one of fixed_pool, frozen, none,"
    with pytest.raises(InputError) as caught:
        load_recipe("spade", ["source.kind=fixed_pol"])
    assert told in str(caught.value)
