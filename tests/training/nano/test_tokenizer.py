"""The nano tokenizer gives back what it was given, and spends one token on a word or a small number."""

import random
import string

import pytest

from spadework.harness.seeds import generator
from spadework.tasks.nano_world import FAMILIES, FRAME_WORDS, HELD_OUT, draw
from spadework.training.nano.dialect import NanoDialect
from spadework.training.nano.tokenizer import NUMBERS, SKILL_WORDS, SPECIALS, build, content_words
from spadework.training.organism import resolve

LEVELS = range(1, 8)


@pytest.fixture(scope="module")
def dialect() -> NanoDialect:
    _, found = resolve("nano").load("base")
    assert isinstance(found, NanoDialect)
    return found


def test_programs_of_every_family_and_level_survive_the_round_trip(dialect: NanoDialect) -> None:
    for name, family in {**FAMILIES, **HELD_OUT}.items():
        for level in LEVELS:
            text = draw(family, level, dialect.nouns, generator(0, name, level))
            assert dialect.decode(dialect.encode(text)) == text


def test_any_printable_text_survives_the_round_trip(dialect: NanoDialect) -> None:
    rng = random.Random(0)
    letters = [*string.ascii_letters, *string.digits, *string.punctuation, " ", " ", "\n", "\n "]
    for _ in range(200):
        text = "".join(rng.choice([*letters, " lamp", " 17", rng.choice(dialect.nouns)]) for _ in range(60))
        assert dialect.decode(dialect.encode(text)) == text


def test_words_and_small_numbers_are_one_token_with_their_space(dialect: NanoDialect) -> None:
    for word in (*dialect.nouns, *FRAME_WORDS, *SKILL_WORDS.values(), *NUMBERS):
        assert dialect.encode(f" {word}") == dialect.say(word) == [dialect.words[word]]
    assert set(NUMBERS) == set(map(str, range(200)))


def test_a_program_of_the_warm_starts_levels_is_short(dialect: NanoDialect) -> None:
    lengths = [
        len(dialect.encode(draw(family, level, dialect.nouns, generator(1, name, level))))
        for name, family in FAMILIES.items()
        for level in range(1, 6)
    ]
    assert min(lengths) >= 30 and max(lengths) <= 150


def test_a_text_cannot_forge_the_marks_of_the_prompt(dialect: NanoDialect) -> None:
    marks = set(dialect.special.values())
    for mark in SPECIALS:
        for text in (mark, f"go {mark} left", f"x = '{mark}'"):
            assert not marks & {*dialect.encode(text), *dialect.say(text)}
            assert dialect.decode(dialect.encode(text)) == text


def test_nouns_are_common_words_that_start_no_word_of_the_code() -> None:
    texts = ["the lamp and the lamp on a table", "a table returns lamp Lamp xy of the"] * 2
    assert content_words(texts, " return x", 2) == ["lamp", "table"]
    assert content_words(["lamp lamps"], "x lamps", 5) == []


def test_building_it_twice_gives_the_same_tokenizer() -> None:
    nouns = ("fox", "hen", "oak", "elm", "bee", "cow")
    programs = [draw(family, 3, nouns, generator(2)) for family in FAMILIES.values()]
    first, second = (build(nouns, programs) for _ in range(2))
    assert first.get_vocab() == second.get_vocab()
    assert [first.encode(text) for text in programs] == [second.encode(text) for text in programs]
