"""The validator with real sandbox processes."""

from collections.abc import Iterator
from random import Random

import pytest

from spadework.harness.sandbox import ErrorKind, Gate, Limits, Rejected, Sandbox, ValidationSettings, ValidEnvironment
from spadework.harness.sandbox.limits import HOST_KINDS
from spadework.harness.seeds import text_id
from spadework.tasks.nano_world import FAMILIES, HELD_OUT, draw
from spadework.training.proposal import Reason, Rejection
from spadework.training.validation import GATES, REASONS, rejection, validate

NOUNS = tuple("fox hen oak elm bee cow rye ash ant bat cat dog eel fly gnu hog".split())

GOOD = """
import random
class GuessEnv:
    def __init__(self, max_turns=6):
        self.max_turns = max_turns
    def reset(self, seed=None):
        self.number, self.turn = random.Random(seed).randint(100, 999), 0
        return f"guess after {self.number - 1}", {}
    def step(self, action):
        self.turn += 1
        won = action.strip() == str(self.number)
        return ("yes" if won else "no"), 1.0 if won else 0.0, won, not won and self.turn >= self.max_turns, {}
"""


def swapped(old: str, new: str) -> str:
    """GOOD with one piece exchanged."""
    assert old in GOOD
    return GOOD.replace(old, new)


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(Limits(load_cpu_s=0.2, call_cpu_s=0.1, frame_wall_s=1.0, memory_mb=128)) as shared:
        yield shared


def verdict(sandbox: Sandbox, source: str) -> ValidEnvironment | Rejection:
    (found,) = validate([source], sandbox)
    return found


def test_a_good_program_is_valid(sandbox: Sandbox) -> None:
    found = verdict(sandbox, GOOD)
    assert isinstance(found, ValidEnvironment), found
    program = found.program("logic", hint="add one")
    assert program.id == text_id(GOOD) and len(program.id) == 16
    assert (program.source, program.skill, program.hint, program.max_turns) == (GOOD, "logic", "add one", 12)


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("", Reason.EMPTY),
        ("I am sorry, I cannot", Reason.DOES_NOT_LOAD),
        ("import subprocess\n" + GOOD, Reason.DOES_NOT_LOAD),
        ("raise ValueError('x')\n" + GOOD, Reason.DOES_NOT_LOAD),
        ("#" * 70_000, Reason.TOO_LARGE),
        ("while True: pass", Reason.TOO_SLOW),
        (swapped("def reset(self, seed=None)", "def reset(self)"), Reason.CONTRACT),
        (swapped('return f"guess after {self.number - 1}", {}', 'return f"guess {seed}"'), Reason.CONTRACT),
        (swapped("1.0 if won else 0.0", 'float("nan")'), Reason.CONTRACT),
        (swapped("1.0 if won else 0.0", "won"), Reason.CONTRACT),
        (swapped("1.0 if won else 0.0", "-50"), Reason.REWARD_RANGE),
        (swapped("self.max_turns, {}", "self.max_turns"), Reason.CONTRACT),
        (swapped("not won and self.turn >= self.max_turns", "False"), Reason.NO_TERMINATION),
        (swapped("self.turn += 1", "self.turn += 1; int(action)"), Reason.RAISES),
        (swapped("self.turn += 1", "self.turn += 1; [][action == '']"), Reason.RAISES),
        (swapped("self.turn += 1", "self.turn += 1; action.encode('ascii')"), Reason.RAISES),
        (swapped("self.turn += 1", "self.turn += 1; 1 / (len(action) < 5_000)"), Reason.RAISES),
        (swapped("self.turn += 1", "self.turn += 1; 1 / (self.turn < 4)"), Reason.RAISES),
        (swapped("self.turn += 1", "self.turn += 1\n        while self.turn > 3: pass"), Reason.TOO_SLOW),
        (swapped("random.Random(seed)", "random.Random(3)"), Reason.ONE_INSTANCE),
        (swapped('{self.number - 1}"', '{self}"'), Reason.NONDETERMINISTIC),
        (swapped("won = action.strip() == str(self.number)", "won = action == ''"), Reason.FREE_WIN),
        (swapped("won = action.strip() == str(self.number)", "won = True"), Reason.FREE_WIN),
        (swapped("won = action.strip() == str(self.number)", "won = action[:5] == 'guess'"), Reason.FREE_WIN),
        (swapped("won = action.strip() == str(self.number)", "won = 'yes' in action"), Reason.FREE_WIN),
    ],
)  # fmt: skip
def test_a_bad_program_is_rejected_with_its_reason(sandbox: Sandbox, source: str, reason: Reason) -> None:
    found = verdict(sandbox, source)
    assert isinstance(found, Rejection) and found.reason is reason, found
    assert found.detail


def test_state_left_over_from_an_earlier_episode_cannot_reach_the_next(sandbox: Sandbox) -> None:
    source = "import random\nSEEN = []\n" + swapped("self.turn += 1", "self.turn += 1; SEEN.append(1)")
    source = source.replace('("yes" if won else "no")', 'f"{len(SEEN)} {random.random()}"')
    assert isinstance(verdict(sandbox, source), ValidEnvironment)


def test_module_state_of_the_library_that_leaks_between_instances_is_found(sandbox: Sandbox) -> None:
    source = swapped("self.turn += 1", "self.turn += 1; random.Random.count = getattr(random.Random, 'count', 0) + 1")
    source = source.replace('("yes" if won else "no")', "str(random.Random.count)")
    found = verdict(sandbox, source)
    assert isinstance(found, Rejection) and found.reason is Reason.NONDETERMINISTIC


def test_many_candidates_are_examined_at_once_and_in_order(sandbox: Sandbox) -> None:
    rng = Random(5)
    families = [*FAMILIES.values(), *HELD_OUT.values()]
    sources = [draw(family, level, NOUNS, rng) for family in families for level in (1, 3)]
    sources[3:3] = ["x = (", GOOD, GOOD]
    found = validate(sources, sandbox, ValidationSettings(together=10))
    assert [one.source if isinstance(one, ValidEnvironment) else one.reason for one in found] == [
        source if source != "x = (" else Reason.DOES_NOT_LOAD for source in sources
    ]


def test_no_candidates_give_no_verdicts(sandbox: Sandbox) -> None:
    assert validate([], sandbox) == []


def test_no_process_is_left_after_validation(sandbox: Sandbox) -> None:
    validate([GOOD, "x = ("], sandbox)
    assert not sandbox._processes


def test_every_rejection_has_a_reason() -> None:
    assert {kind for kind, reason in REASONS.items() if reason is Reason.HOST} == HOST_KINDS
    always_with_a_kind = {Gate.TEXT, Gate.LOAD, Gate.CONTRACT, Gate.PLAY, Gate.ODD_ACTIONS, Gate.DETERMINISM}
    assert set(GATES) == set(Gate) - always_with_a_kind


def test_a_failure_of_the_host_counts_against_nobody() -> None:
    killed = Rejected(gate=Gate.PLAY, kind=ErrorKind.KILLED, detail="somebody killed it")
    assert rejection(killed).reason is Reason.HOST
