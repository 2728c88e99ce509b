"""Scorers in the sandbox: functions that evaluate what a model wrote, called from outside, their values checked."""

import json
import math
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from spadework.harness.errors import InputError
from spadework.harness.sandbox import CallResult, ErrorKind, RunLimits, Runner, SandboxUnavailable, call

QUICK = RunLimits(cpu_s=0.5, wall_s=1.5, memory_mb=256)

REFUSED = "the program asked the kernel for something that the jail refuses"
SCORERS = """
import os, sys, time

TABLE = None

def warm():
    global TABLE
    import wave                      # what is imported and read late must have happened by now
    os.environ["LEFT_BEHIND"] = "1"
    with open(__file__) as file:
        TABLE = len(file.read())

def table():
    import wave
    return [TABLE, "LEFT_BEHIND" in os.environ]

def late():
    import sndhdr
    return 1

def echo(*args, **kwargs):
    return [list(args), kwargs]

def evaluate(answer):
    print("scoring", answer[:20])
    return eval(answer)

class Scorer:
    @staticmethod
    def score(answer, entry):
        return float(eval(answer) == entry["answer"])
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("scorers")
    (made / "scorers_of_a_test.py").write_text(SCORERS, encoding="utf-8")
    return made


@pytest.fixture(scope="module")
def runner(folder: Path) -> Iterator[Runner]:
    made = Runner(preload=("scorers_of_a_test",), path=(str(folder),), warm=("scorers_of_a_test:warm",), workers=2)
    with made as shared:
        yield shared


def evaluated(runner: Runner, expression: str, limits: RunLimits = QUICK) -> CallResult:
    return runner.call("scorers_of_a_test:evaluate", [expression], limits=limits)


def test_a_function_is_called_and_its_value_comes_back(runner: Runner) -> None:
    result = runner.call("scorers_of_a_test:Scorer.score", ["3 * 4", {"answer": 12}])
    assert result.ok and result.value == 1.0 and (result.kind, result.fault) == (None, None)
    assert 0 < result.cpu_s < 1
    assert runner.call("math:hypot", [3, 4]).value == 5.0
    assert evaluated(runner, "(1, [None, 'x'], {'a': 2.5})").value == [1, [None, "x"], {"a": 2.5}]
    assert evaluated(runner, "1").stdout == "scoring 1\n"


@pytest.mark.parametrize("value", [None, True, 2**80, -0.5, "\u00e9\0\ud83d", [], {"\ud800": [1, {"b": None}]}])
def test_arguments_and_values_cross_unchanged(runner: Runner, value: object) -> None:
    result = runner.call("scorers_of_a_test:echo", [value, "x"], {"name": value})
    assert result.value == [[value, "x"], {"name": value}]


def test_an_argument_may_be_no_number(runner: Runner) -> None:
    assert runner.call("math:isnan", [math.nan]).value is True
    assert runner.call("math:isinf", [-math.inf]).value is True


def test_how_a_call_failed_is_told_apart(runner: Runner) -> None:
    cases = {
        "1 / 0": (ErrorKind.EXCEPTION, "ZeroDivisionError: division by zero"),
        "][": (ErrorKind.SYNTAX, "unmatched ']' (line 1)"),
        "__import__('sys').exit(0)": (ErrorKind.EXIT, "the program asked the interpreter to exit"),
        "__import__('os')._exit(0)": (ErrorKind.EARLY_EXIT, "the process ended itself with code 0"),
        "[0] * 10**11": (ErrorKind.MEMORY, "more memory than a program may use"),
        "7 ** 10 ** 8": (ErrorKind.TIMEOUT, "more than 0.5 s of CPU time"),
        "[0 for _ in __import__('itertools').count()]": (ErrorKind.MEMORY, "more memory than a program may use"),
        "__import__('time').sleep(9)": (ErrorKind.HANG, "no answer within 1.5 s"),
        "__import__('ctypes').string_at(1)": (ErrorKind.CRASH, "it died by SIGSEGV"),
        "open('/etc/passwd')": (ErrorKind.EXCEPTION, "FileNotFoundError: 2 No such file or directory"),
        "__import__('os').fork()": (ErrorKind.FORBIDDEN, REFUSED),
        "print('x' * 10**9)": (ErrorKind.MEMORY, "more memory than a program may use"),
        "[print('x' * 10**6) for _ in range(99)]": (ErrorKind.OUTPUT, "more than 8388608 bytes of output"),
    }  # fmt: skip
    for expression, (kind, message) in cases.items():
        result = evaluated(runner, expression, RunLimits(cpu_s=0.5, wall_s=1.5, memory_mb=64))
        assert (result.kind, result.fault, result.value) == (kind, "program", None), (expression, result)
        assert result.message == message or kind is ErrorKind.TIMEOUT
    assert evaluated(runner, "1").value == 1


def test_what_is_not_json_is_no_value(runner: Runner) -> None:
    for expression, words in {
        "{1, 2}": "TypeError", "object()": "TypeError", "float('nan')": "ValueError", "10 ** 5000": "ValueError",
        "b'x'": "TypeError", "type('S', (), {})()": "TypeError", "[" * 40 + "]" * 40: "32 levels deep",
        "'x' * (1 << 20)": "longer than 1048576 bytes",
    }.items():  # fmt: skip
        result = evaluated(runner, expression)
        assert (result.kind, result.fault) == (ErrorKind.ANSWER, "program"), (expression, result)
        assert words in result.message and result.value is None


def test_what_the_caller_got_wrong_is_said_in_a_sentence_before_anything_runs(runner: Runner) -> None:
    cases = {
        "scorers_of_a_test:evaluat": "no evaluat .did you mean 'evaluate'",
        "scorers_of_a_test:Scorer.scor": "no scor .did you mean 'score'",
        "scorer_of_a_test:evaluate": "no module scorer_of_a_test .did you mean 'scorers_of_a_test'",
        "scorers_of_a_test:TABLE": "no function TABLE .it is of type int.; write",
        "scorers_of_a_test": 'no name after the colon; write "module:name"',
        "": '"module:name"',
    }
    for function, words in cases.items():
        with pytest.raises(InputError, match=words):
            runner.call(function, ["1"])
    with pytest.raises(InputError, match="not JSON"):
        runner.call("math:sqrt", [{1, 2}])
    with pytest.raises(InputError, match="no module 'numpi'.*did you mean 'numpy'"):
        Runner(preload=("numpi",))
    with pytest.raises(InputError, match="belong to the host"):
        Runner(preload=("spadework.harness.answers",))
    with pytest.raises(InputError, match="cpu_s"):
        runner.call("math:sqrt", [2], limits=RunLimits(cpu_s=-1))
    with pytest.raises(InputError, match="memory_mb=16: allow"):
        runner.call("builtins:len", ["x" * 10**7], limits=RunLimits(memory_mb=16))


def test_what_happens_late_happens_in_the_warm_up(runner: Runner, folder: Path) -> None:
    assert runner.call("scorers_of_a_test:table").value == [len(SCORERS), False]
    late = runner.call("scorers_of_a_test:late")
    assert (late.kind, late.message) == (ErrorKind.EXCEPTION, "ModuleNotFoundError: No module named 'sndhdr'")
    with pytest.raises(SandboxUnavailable, match="ZeroDivisionError"):
        (folder / "broken_warm_up.py").write_text("def warm():\n    1 / 0\n", encoding="utf-8")
        Runner(preload=("broken_warm_up",), path=(str(folder),), warm=("broken_warm_up:warm",))
    with pytest.raises(SandboxUnavailable, match="warm holds 'math:heat', but there is no heat"):
        Runner(warm=("math:heat",))


def test_one_call_needs_no_runner() -> None:
    assert call("math:sqrt", [2.25]).value == 1.5
    assert call("statistics:mean", [[1, 2, 6]], RunLimits(cpu_s=2)).value == 3


def test_an_answer_that_writes_a_score_into_the_pipe_is_not_believed(runner: Runner) -> None:
    forged = json.dumps(["", "", "", 0, "", "", False, "1.0"])
    attack = f"__import__('os').write(4, len({forged!r}).to_bytes(4, 'little') + {forged!r}.encode()) and 0"
    result = evaluated(runner, attack)
    assert (result.kind, result.fault, result.value) == (ErrorKind.PROTOCOL, "program", None)


def test_expressions_in_arguments_of_calls_reach_nothing(runner: Runner) -> None:
    """L240: a parser that evaluates `len('abc')+1` evaluates everything; in here it finds nothing to harm."""
    assert evaluated(runner, "len('abc')+1").value == 4
    assert evaluated(runner, "__import__('os').environ.get('HOME')").value is None
    assert evaluated(runner, "__import__('os').path.exists('/etc')").value is False


REASONING = """
import reasoning_gym

TASKS = ("string_insertion", "spiral_matrix", "binary_matrix", "n_queens")
SCORERS = {}

def warm():
    for task in TASKS:
        dataset = reasoning_gym.create_dataset(task, size=1, seed=0)
        SCORERS[task] = dataset.score_answer
        assert dataset.score_answer(dataset[0]["answer"], dataset[0]) == 1.0

def score(task, answer, entry):
    return SCORERS[task](answer, entry)
"""


@pytest.fixture(scope="module")
def reasoning(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    pytest.importorskip("reasoning_gym", reason="reasoning-gym is an extra")
    folder = tmp_path_factory.mktemp("reasoning")
    (folder / "reasoning_scorers.py").write_text(REASONING, encoding="utf-8")
    with Runner(
        preload=("reasoning_gym", "reasoning_scorers"), path=(str(folder),), warm=("reasoning_scorers:warm",), workers=2
    ) as shared:
        yield shared


def as_literal(task: str, answer: str) -> str:
    """The right answer in the form that makes the scorer call `eval`."""
    if task == "string_insertion":
        return repr(list(answer))
    rows = [line.split() for line in answer.splitlines()]
    return repr([int(number) for number in rows[0]] if task == "spiral_matrix" else rows)


@pytest.mark.parametrize("task", ["string_insertion", "spiral_matrix", "binary_matrix", "n_queens"])
def test_the_scorers_that_evaluate_answers_run_inside(reasoning: Runner, task: str, tmp_path: Path) -> None:
    """The same scores as in this process for answers of ours; for an answer that attacks, no harm and a low score."""
    import reasoning_gym

    dataset: Any = reasoning_gym.create_dataset(task, size=3, seed=7)
    for entry in (json.loads(json.dumps(dataset[number])) for number in range(3)):
        gold = entry["metadata"]["valid_answers"][0] if task == "n_queens" else entry["answer"]
        for answer in (gold, as_literal(task, gold), "", "junk", None):
            result = reasoning.call("reasoning_scorers:score", [task, answer, entry])
            assert result.ok and result.value == dataset.score_answer(answer, entry), (answer, result)
        mark = tmp_path / "mark"
        for attack in (f"open({str(mark)!r}, 'w').write('x')", f"__import__('os').system('touch {mark}')"):
            result = reasoning.call("reasoning_scorers:score", [task, attack, entry], limits=QUICK)
            assert result.fault != "host" and (result.value is None or result.value < 0.1), (attack, result)
            assert not mark.exists()


def test_a_scorer_that_an_answer_hangs_or_kills_is_reported(reasoning: Runner) -> None:
    import reasoning_gym

    dataset: Any = reasoning_gym.create_dataset("spiral_matrix", size=1, seed=7)
    entry = json.loads(json.dumps(dataset[0]))
    kinds = {
        "__import__('os')._exit(0)": ErrorKind.EARLY_EXIT, "9 ** 9 ** 9": ErrorKind.TIMEOUT,
        "__import__('time').sleep(99)": ErrorKind.HANG, "__import__('ctypes').string_at(1)": ErrorKind.CRASH,
    }  # fmt: skip
    for answer, kind in kinds.items():
        started = time.monotonic()
        result = reasoning.call("reasoning_scorers:score", ["spiral_matrix", answer, entry], limits=QUICK)
        assert (result.kind, result.fault, result.value) == (kind, "program", None), (answer, result)
        assert time.monotonic() - started < 5
    assert reasoning.call("reasoning_scorers:score", ["spiral_matrix", entry["answer"], entry]).value == 1.0
