"""What each role is shown: the parts of a prompt, and that leaving one out changes nothing else."""

from pathlib import Path

import pytest

from spadework.harness.dialect import MemoryExample
from spadework.harness.errors import InputError
from spadework.harness.seeds import generator
from spadework.tasks.nano_world import FAMILIES, FRAME_WORDS, draw, source
from spadework.training.nano.dialect import PASSAGE_WORDS, TAGS, NanoDialect, knobs, load
from spadework.training.nano.tokenizer import SKILL_WORDS
from spadework.training.organism import resolve
from spadework.training.skills import SKILLS

SKILL = "Logical Deduction"


@pytest.fixture(scope="module")
def dialect() -> NanoDialect:
    _, found = resolve("nano").load("base")
    assert isinstance(found, NanoDialect)
    return found


def example(kind: str, text: str) -> MemoryExample:
    return MemoryExample(kind=kind, source=text, win_rate=0.5, regret=0.1)  # type: ignore[arg-type]


def test_the_skills_of_the_method_are_the_skills_of_the_organism() -> None:
    assert set(SKILLS) == set(SKILL_WORDS) == {family.skill for family in FAMILIES.values()}


def test_without_a_passage_only_the_passage_is_missing(dialect: NanoDialect) -> None:
    words = list(dialect.nouns[:5])
    memory = [example("positive", draw(FAMILIES["order"], 2, dialect.nouns, generator(1)))]
    shown = dialect.designer(SKILL, f"The {words[0]}, {words[1]} 17 Xyzzyq {words[2]}!", memory)
    bare = dialect.designer(SKILL, None, memory)
    passage = [*dialect.say(words[0]), *dialect.say(words[1]), *dialect.say("17"), *dialect.say(words[2])]
    assert shown == [*bare[:2], *passage, *bare[2:]]
    assert bare[:2] == [dialect.special["<D>"], *dialect.say("logical")]


def test_a_passage_is_its_known_words_in_order_and_at_most_so_many(dialect: NanoDialect) -> None:
    nouns = dialect.nouns
    text = f"{nouns[3].upper()} of the {nouns[1]} 250 7. {FRAME_WORDS[0]} {nouns[3]}"
    assert dialect.passage_words(text) == [nouns[3], nouns[1], "7", nouns[3]]
    assert dialect.usable_words(text) == (2, 1)
    assert dialect.passage_words(" ".join(nouns[:60])) == list(nouns[:PASSAGE_WORDS])


def test_memory_is_a_tag_and_a_line_of_knobs_for_each_example(dialect: NanoDialect) -> None:
    texts = [source(FAMILIES["order"], level, -1, dialect.nouns, ()) for level in (1, 2, 3)]
    memory = [example(kind, text) for kind, text in zip(TAGS, texts, strict=True)]
    ids = dialect.designer(SKILL, None, memory)
    lines = [[dialect.special[TAGS[one.kind]], *dialect.encode(knobs(one.source))] for one in memory]
    assert ids == [*ids[:2], dialect.special["<mem>"], *sum(lines, []), dialect.special["<prog>"]]
    assert [knobs(text) for text in texts] == [f'n, k, t = {n}, -1, " back"' for n in (2, 3, 4)]
    assert dialect.designer(SKILL, None, ()) == [*ids[:3], dialect.special["<prog>"]]


@pytest.mark.parametrize("text", ["", "x = 1", "class lampEnv:", "class lampEnv:\n"])
def test_a_program_without_a_class_body_has_no_knobs(text: str) -> None:
    assert knobs(text) == ""


def test_an_unknown_skill_is_refused_with_the_known_ones(dialect: NanoDialect) -> None:
    with pytest.raises(InputError, match="no skill 'Cooking'; it knows Mathematical Reasoning, Logical"):
        dialect.designer("Cooking", None, ())


def test_the_hint_writer_is_shown_the_program_alone(dialect: NanoDialect) -> None:
    text = draw(FAMILIES["walk"], 3, dialect.nouns, generator(4))
    ids = dialect.hint_writer(text)
    assert (ids[0], ids[-1]) == (dialect.special["<W>"], dialect.special["<hint>"])
    assert dialect.decode(ids[1:-1]) == text


@pytest.mark.parametrize("hint", ["first over", "Do xyzzy-1, then  (wait)"])
def test_the_two_arms_differ_in_the_hint_alone(dialect: NanoDialect, hint: str) -> None:
    observation = "at 12 9 go 14 11"
    plain, hinted = dialect.agent_first(observation, None), dialect.agent_first(observation, hint)
    assert hinted == [*plain[:-1], dialect.special["<hint>"], *dialect.say(hint), plain[-1]]
    assert dialect.agent_first(observation, "") == plain
    assert plain == [dialect.special["<A>"], *dialect.agent_next(observation, plain[-1])]


def test_a_reply_ends_with_its_first_word_and_is_the_action(dialect: NanoDialect) -> None:
    stops = set(dialect.stops("agent"))
    for word in (dialect.nouns[0], "right", "137"):
        (token,) = dialect.say(word)
        assert token in stops and dialect.action(dialect.decode([token])) == word
    assert dialect.stops("designer") == dialect.stops("hint") == (dialect.eos_id,)
    assert dialect.eos_id in stops and dialect.decode([dialect.eos_id, dialect.pad_id]) == ""
    assert dialect.action(r"I say \boxed{ left }") == "left"


def test_a_folder_without_a_tokenizer_is_named_with_the_command_that_makes_one(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"holds no tokenizer.json; make the warm start with `nox -s nano_base`"):
        load(tmp_path)
