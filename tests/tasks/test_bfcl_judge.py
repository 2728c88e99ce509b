"""bfcl-eval's executor and checker in the jail: its own verdicts, nothing evaluated, no state from one to the next."""

from collections.abc import Iterator

import pytest
from bfcl_package import home_or_skip

from spadework.harness.sandbox.runs import RunLimits
from spadework.harness.types import Outcome
from spadework.tasks.bfcl_data import CATEGORIES, Entry, load_entries, package
from spadework.tasks.bfcl_judge import BfclJudge, Failure, Verdict
from spadework.tasks.bfcl_modes import gold_turns
from spadework.tasks.bfcl_parity import dropped, turns_without


@pytest.fixture(scope="module")
def entries() -> list[Entry]:
    return load_entries(home_or_skip())


@pytest.fixture(scope="module")
def judge() -> Iterator[BfclJudge]:
    with BfclJudge(home_or_skip(), limits=RunLimits(cpu_s=0.5)) as made:
        yield made


def named(entries: list[Entry], name: str) -> Entry:
    return next(entry for entry in entries if entry.id == name)


def test_the_entries_are_four_times_two_hundred_with_gold_for_every_turn(entries: list[Entry]) -> None:
    assert [entry.category for entry in entries] == [name for name in CATEGORIES for _ in range(200)]
    assert len({entry.id for entry in entries}) == 800
    assert all(len(entry.gold) == len(entry.turns) for entry in entries)
    for entry in entries:
        assert bool(entry.withheld) == (entry.category == "miss_func")
        at_first = {function.tool.name for function in entry.functions}
        for turn, more in entry.withheld.items():
            assert not entry.turns[turn] and not at_first & {function.tool.name for function in more}


def test_tools_are_json_schemas_and_docs_are_the_package_s(entries: list[Entry]) -> None:
    function = next(f for f in named(entries, "multi_turn_base_0").functions if f.tool.name == "sort")
    assert function.tool.parameters["type"] == "object" and function.doc["parameters"]["type"] == "dict"
    assert function.tool.description.endswith("Note that the provided function is in Python 3 syntax.")
    assert function.parameters == ("file_name",)


def test_gold_is_right_and_without_one_call_wrong_as_the_package_says(entries: list[Entry], judge: BfclJudge) -> None:
    """A sample; `python -m spadework.tasks.bfcl_parity` does it for all 800."""
    with package(home_or_skip()) as official:
        for entry in entries[::67]:
            verdict = judge.check(entry, gold_turns(entry))
            assert isinstance(verdict, Verdict) and verdict.right, (entry.id, verdict)
            for case in dropped(entry, every=False):
                turns = turns_without(case)
                told = official.ask({"entry": entry.told, "turns": turns, "gold": entry.gold})
                less = judge.check(entry, turns)
                assert isinstance(less, Verdict) and told == {"valid": less.right, "kind": less.kind}
                assert less.right or less.turn >= case.turn


def test_an_entry_played_twice_begins_from_the_same_state(entries: list[Entry], judge: BfclJudge) -> None:
    """Report P076: the package keeps its instances in module globals."""
    entry = named(entries, "multi_turn_base_0")
    for _ in range(2):
        assert judge.execute(entry, [["mkdir(dir_name='new')"]]) == ["None"]
        assert judge.execute(entry, [["cd(folder='new')"]]) != ['{"current_working_directory": "new"}']
    assert judge.execute(entry, [["mkdir(dir_name='new')"], ["cd(folder='new')"]]) == [
        '{"current_working_directory": "new"}'
    ]


@pytest.mark.parametrize(
    ("call", "word"),
    [
        ("__import__(name='os')", "name '__import__' is not defined"), ("nosuch(a=1)", "name 'nosuch' is not defined"),
        ("ls(a=__import__('os').getpid())", "name '__import__' is not defined"),
        ("ls(a=ls())", "is not defined"), ("globals()", "name 'globals' is not defined"),
        ("[ls(), ls()]", "not a function call"), ("ls() or exit()", "not a function call"),
        ("ls.__func__.__globals__.clear()", "not defined"), ("_load_scenario(scenario={})", "not defined"),
        ("(lambda: ls())()", "not"), ("ls(**{'a': True})", "written out"), ("ls(*[True])", ""),
        ("ls(a=1, a=2)", "keyword argument repeated"), ("ls(a=", "was never closed"), ("ls(a=[1 for _ in 'ab'])", ""),
        ("1 + 1", "not a function call"), ("ls(class=1)", "invalid syntax"), ("()", "not a function call"),
        ("eval('1')", "name 'eval' is not defined"), ("rm.__call__(file_name='x')", ""),
    ],
)  # fmt: skip
def test_nothing_is_evaluated_even_when_the_parser_before_it_is_passed_by(
    entries: list[Entry], judge: BfclJudge, call: str, word: str
) -> None:
    """Report L240. Each of these strings never leaves our own parser; the second wall is tried here."""
    answer = judge.execute(named(entries, "multi_turn_base_0"), [[call]])
    assert isinstance(answer, list) and answer[0].startswith("Error during execution: ") and word in answer[0], answer


def test_a_call_that_computes_for_ever_is_the_model_s_timeout(entries: list[Entry], judge: BfclJudge) -> None:
    entry = next(entry for entry in entries if "MathAPI" in entry.involved_classes)
    answer = judge.execute(entry, [["power(base=7, exponent=10000000000)"]])
    assert isinstance(answer, Failure) and answer.outcome is Outcome.TIMEOUT
    turns = gold_turns(entry)
    turns[0] = [*turns[0], ("power(base=7, exponent=10000000000)",)]
    verdict = judge.check(entry, turns)
    assert isinstance(verdict, Failure) and verdict.outcome is Outcome.TIMEOUT
