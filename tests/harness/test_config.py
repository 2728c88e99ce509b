"""Settings: what a user gets wrong is one sentence, what he gets right is frozen and has a digest."""

from pathlib import Path
from typing import Literal

import msgspec
import pytest

from spadework.harness.config import (
    Section,
    build,
    difference,
    digest,
    dump_json,
    dump_toml,
    merge,
    override,
    read_table,
)
from spadework.harness.errors import InputError


class Optimiser(Section, frozen=True, kw_only=True):
    lr: float = 1e-3
    betas: tuple[float, ...] = (0.9, 0.95)


class Pool(Section, frozen=True, kw_only=True, tag_field="kind", tag="pool"):
    path: str = "pool"


class Play(Section, frozen=True, kw_only=True, tag_field="kind", tag="play"):
    skills: tuple[str, ...] = ("a", "b")


class Recipe(Section, frozen=True, kw_only=True):
    steps: int = 10
    reward: Literal["blend", "plateau"] = "blend"
    corpus: bool = True
    note: str | None = None
    optimiser: Optimiser = Optimiser()
    source: Pool | Play = Play()


def error(table: dict[str, object]) -> str:
    with pytest.raises(InputError) as caught:
        build(Recipe, table, where="r.toml")
    return str(caught.value)


def test_defaults_stand_where_the_file_is_silent() -> None:
    assert build(Recipe, {}, where="r.toml") == Recipe()


def test_a_config_cannot_be_changed_after_it_is_built() -> None:
    with pytest.raises(AttributeError):
        build(Recipe, {}, where="r.toml").steps = 3  # type: ignore[misc]


def test_an_unknown_key_is_named_with_its_section_and_the_nearest_key_is_offered() -> None:
    assert error({"optimiser": {"lrr": 1.0}}) == (
        "r.toml: unknown key 'optimiser.lrr' (did you mean 'lr'?); take it out or correct it."
    )
    assert "'stepz' (did you mean 'steps'?)" in error({"stepz": 1})


def test_an_unknown_key_inside_a_chosen_kind_of_source_is_found() -> None:
    assert "'source.pathh' (did you mean 'path'?)" in error({"source": {"kind": "pool", "pathh": "x"}})
    assert build(Recipe, {"source": {"kind": "pool", "path": "x"}}, where="r").source == Pool(path="x")


def test_a_wrong_kind_of_source_is_one_sentence() -> None:
    assert error({"source": {"kind": "pond"}}).startswith("r.toml: key 'source.kind': ")


@pytest.mark.parametrize(
    ("table", "key"),
    [
        ({"steps": "ten"}, "steps"),
        ({"steps": 1.5}, "steps"),
        ({"steps": True}, "steps"),
        ({"corpus": 1}, "corpus"),
        ({"optimiser": {"lr": "small"}}, "optimiser.lr"),
        ({"optimiser": {"betas": [0.9, "x"]}}, "optimiser.betas[1]"),
        ({"optimiser": 3}, "optimiser"),
        ({"reward": "blend2"}, "reward"),
    ],
)
def test_a_value_of_the_wrong_type_names_its_key(table: dict[str, object], key: str) -> None:
    message = error(table)
    assert message.startswith(f"r.toml: key '{key}': ") and "\n" not in message


def test_a_number_that_is_not_finite_is_refused() -> None:
    assert "'optimiser.lr' is nan; give a finite number." in error({"optimiser": {"lr": float("nan")}})
    assert "'optimiser.betas' is inf" in error({"optimiser": {"betas": [float("inf")]}})


def test_an_int_for_a_float_is_the_same_config() -> None:
    assert digest(build(Recipe, {"optimiser": {"lr": 1}}, where="r")) == digest(Recipe(optimiser=Optimiser(lr=1.0)))


def test_a_missing_file_offers_its_neighbour(tmp_path: Path) -> None:
    (tmp_path / "nano.toml").write_text("")
    with pytest.raises(InputError, match=r"no file .*nanno.toml \(did you mean 'nano.toml'\?\)"):
        read_table(tmp_path / "nanno.toml")
    with pytest.raises(InputError, match="no file"):
        read_table(tmp_path / "nowhere" / "nano.toml")
    with pytest.raises(InputError, match="cannot read"):
        read_table(tmp_path)


def test_broken_toml_names_its_line(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text("steps = 1\nsteps = \n")
    with pytest.raises(InputError, match="not valid TOML: .*line 2"):
        read_table(tmp_path / "a.toml")
    (tmp_path / "a.toml").write_text("steps = 1\nsteps = 2\n")
    with pytest.raises(InputError, match="not valid TOML"):
        read_table(tmp_path / "a.toml")


def test_set_takes_toml_values_and_bare_words() -> None:
    texts = ["steps=3", "optimiser.lr=1e-2", "reward=plateau", 'note="two words"', "optimiser.betas=[0.8, 0.9]"]
    built = build(Recipe, override({}, [*texts, "corpus=false"]), where="--set")
    assert built == Recipe(
        steps=3,
        optimiser=Optimiser(lr=0.01, betas=(0.8, 0.9)),
        reward="plateau",
        note="two words",
        corpus=False,
    )


def test_a_later_set_wins_and_the_table_given_stays_as_it_was() -> None:
    table: dict[str, object] = {"optimiser": {"lr": 1.0}}
    assert override(table, ["optimiser.lr=2.0", "optimiser.lr=3.0"]) == {"optimiser": {"lr": 3.0}}
    assert table == {"optimiser": {"lr": 1.0}}


@pytest.mark.parametrize(
    "text", ["steps", "=3", "a..b=1", "a b=1", "steps=", "betas=[1,", "note=two words", "a=1\nb=2"]
)
def test_a_set_that_says_nothing_clear_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="--set"):
        override({}, [text])


def test_a_set_below_a_value_is_refused() -> None:
    with pytest.raises(InputError, match="'steps' is a value, not a section"):
        override({"steps": 3}, ["steps.x=1"])


def test_merge_is_a_difference_laid_over_a_base() -> None:
    base: dict[str, object] = {"steps": 1, "optimiser": {"lr": 1.0, "betas": [1.0]}}
    assert merge(base, {"optimiser": {"betas": [2.0]}, "corpus": False}) == {
        "steps": 1,
        "optimiser": {"lr": 1.0, "betas": [2.0]},
        "corpus": False,
    }
    assert base["optimiser"] == {"lr": 1.0, "betas": [1.0]}


def test_the_digest_is_of_values_and_not_of_how_they_were_written() -> None:
    explicit = build(Recipe, {"corpus": True, "steps": 10, "source": {"kind": "play"}}, where="r")
    assert digest(explicit) == digest(Recipe())
    assert digest(Recipe(steps=11)) != digest(Recipe())
    assert len(digest(Recipe())) == 16 and int(digest(Recipe()), 16) >= 0


def test_difference_names_the_dotted_keys() -> None:
    other = Recipe(optimiser=Optimiser(lr=0.5), source=Pool())
    assert difference(Recipe(), other) == ["optimiser.lr", "source.kind", "source.path", "source.skills"]
    assert difference(Recipe(), Recipe()) == []
    assert difference(Recipe(), Recipe(note="x")) == ["note"]


def test_a_resolved_config_comes_back_from_its_toml(tmp_path: Path) -> None:
    config = Recipe(note='tab\t"quote" \\ and é\x7f', optimiser=Optimiser(lr=1e-05, betas=()), source=Pool())
    (tmp_path / "c.toml").write_text(dump_toml(config))
    assert build(Recipe, read_table(tmp_path / "c.toml"), where="c") == config
    assert msgspec.json.decode(dump_json(config), type=Recipe) == config
