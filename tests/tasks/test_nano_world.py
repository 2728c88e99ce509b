"""The nano world in real sandbox processes: its programs are valid, can be won, and the teacher's hints give nothing
away.
"""

from collections import Counter
from collections.abc import Iterator
from random import Random

import pytest

from spadework.harness.sandbox import Sandbox, ValidationSettings, ValidEnvironment, reset_all, step_all
from spadework.harness.seeds import derive, generator, text_id
from spadework.harness.types import Program
from spadework.tasks.nano import HARD_LEVELS, MAX_TURNS
from spadework.tasks.nano_world import FAMILIES, FRAME_WORDS, HELD_OUT, Family, draw, source
from spadework.training.hints import check_hints
from spadework.training.nano import teacher
from spadework.training.recipe import load_recipe
from spadework.training.validation import validate

NOUNS = tuple("fox hen oak elm bee cow rye ash ant bat cat dog eel fly gnu hog jay kit owl pig".split())
LEVELS = range(1, 8)
EVERY: dict[str, Family] = {**FAMILIES, **HELD_OUT}


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as shared:
        yield shared


def programs(draws: int) -> dict[str, str]:
    """Source by a name that says where it comes from."""
    return {
        f"{name}/{level}/{number}": draw(family, level, NOUNS, generator(7, name, level, number))
        for name, family in EVERY.items()
        for level in LEVELS
        for number in range(draws)
    }


def test_every_family_is_valid_at_every_level(sandbox: Sandbox) -> None:
    drawn = programs(1)
    verdicts = validate(list(drawn.values()), sandbox, ValidationSettings(max_turns=MAX_TURNS))
    assert {name: one for name, one in zip(drawn, verdicts, strict=True) if not isinstance(one, ValidEnvironment)} == {}


def test_a_perfect_player_wins_every_family_at_every_level(sandbox: Sandbox) -> None:
    """The plan is read from a twin of the template; the program that is played runs in the sandbox."""
    drawn = programs(2)
    twins = {name: teacher.instantiate(text) for name, text in drawn.items()}
    processes = {name: sandbox.open(text) for name, text in drawn.items()}
    seeds = {name: derive(3, name) % 2**31 for name in drawn}
    answers = reset_all({processes[name]: [(0, seeds[name])] for name in drawn})
    for name, twin in twins.items():
        assert answers[processes[name]][0].observation == twin.reset(seeds[name])[0]
    rewards: dict[str, float] = {}
    for _ in range(MAX_TURNS):
        actions = {name: teacher.right_action(twins[name]) for name in drawn if name not in rewards}
        if not actions:
            break
        answers = step_all({processes[name]: [(0, action)] for name, action in actions.items()})
        for name, action in actions.items():
            (step,) = answers[processes[name]]
            expected, _, ended, _, _ = twins[name].step(action)
            assert (step.observation, step.terminated, step.error) == (expected, ended, None)
            if step.terminated:
                rewards[name] = step.reward
    assert rewards == dict.fromkeys(drawn, 1.0)


def test_the_reward_is_the_share_of_right_actions_before_the_first_wrong_one() -> None:
    for name, family in EVERY.items():
        if "walk" in name:
            continue
        game = teacher.instantiate(draw(family, 4, NOUNS, Random(1)))
        game.reset(5)
        wanted = len(vars(game)["p"])
        for _ in range(2):
            assert game.step(teacher.right_action(game))[1:3] == (0, False)
        assert game.step("nothing")[1:3] == (2 / wanted, True)


def test_a_walker_is_paid_for_the_share_of_the_way() -> None:
    game = teacher.instantiate(source(FAMILIES["walk"], 4, 0, NOUNS, ()))
    game.reset(1)
    paid = [game.step(action)[1:3] for action in (teacher.right_action(game), "stay", "stay", "stay")]
    assert paid == [(0, False), (0, False), (0, False), (0.25, True)]


def test_no_hint_of_the_teacher_leaks_from_level_three_on(sandbox: Sandbox) -> None:
    checked: list[Program] = []
    names: list[str] = []
    for name, family in FAMILIES.items():
        for level in LEVELS[2:]:
            for number in range(4):
                rng = generator(9, name, level, number)
                drawn = teacher.draw(name, level, rng.sample(NOUNS, 12), [], rng)
                assert drawn.level == level
                checked.append(Program(id=text_id(drawn.source), source=drawn.source, skill=family.skill,
                                       hint=teacher.hint(drawn), max_turns=MAX_TURNS))  # fmt: skip
                names.append(name)
    verdicts = check_hints(checked, sandbox, seed=2)
    leaking = Counter(name for name, verdict in zip(names, verdicts, strict=True) if verdict.reason is not None)
    shares = {name: leaking[name] / names.count(name) for name in FAMILIES}
    assert shares == dict.fromkeys(FAMILIES, 0.0), f"share of rejected hints by family: {shares}"


def test_families_that_are_held_out_are_no_families_of_the_warm_start() -> None:
    assert not FAMILIES.keys() & HELD_OUT.keys()
    assert not {family.write for family in FAMILIES.values()} & {family.write for family in HELD_OUT.values()}
    assert {family.skill for family in HELD_OUT.values()} <= {family.skill for family in FAMILIES.values()}


def test_sizes_that_are_held_out_are_met_neither_by_the_warm_start_nor_by_rlve() -> None:
    assert max(teacher.LEVELS) < min(HARD_LEVELS)
    assert load_recipe("rlve").source.top_level + 1 < min(HARD_LEVELS), "its level 0 is the world's level 1"


def test_too_few_words_are_refused() -> None:
    with pytest.raises(ValueError, match="level 3 needs 6 nouns and 0 numbers, got 2 and 0"):
        source(FAMILIES["order"], 3, 1, NOUNS[:2], ())


def test_words_of_observations_and_hints_are_frame_words_or_the_programs_own() -> None:
    frame = frozenset(FRAME_WORDS)
    for name in FAMILIES:
        drawn = teacher.draw(name, 4, NOUNS[:12], [], Random(3))
        game = teacher.instantiate(drawn.source)
        said = f"{game.reset(4)[0]} {teacher.hint(drawn)}".split()
        assert {word for word in said if not word.isdigit()} <= frame | set(drawn.nouns)
