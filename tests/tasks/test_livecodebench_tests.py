"""Programs on tests, in the jail: the official verdicts, the corrected ones, limits, and programs that mean harm."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from contest_files import Tests, row, written

from spadework.harness.errors import InputError
from spadework.harness.types import Outcome
from spadework.tasks.livecodebench_data import Problem, read_problems
from spadework.tasks.livecodebench_tests import Grader, Terms
from spadework.tasks.livecodebench_text import EXTRACTIONS
from spadework.tasks.single_turn import Judged


@pytest.fixture(scope="module")
def grader() -> Iterator[Grader]:
    with Grader() as one:
        yield one


def problem(folder: Path, tests: Tests, function: str = "") -> Problem:
    (one,) = read_problems(written(folder / "problem.jsonl", [row("p", tests, function)]), {})
    return one


def graded(
    grader: Grader, folder: Path, code: str, tests: Tests, function: str = "", **terms: float | str
) -> Judged:  # fmt: skip
    return grader.grade(problem(folder, tests, function), code, Terms(**{"test_seconds": 2.0, **terms}))  # type: ignore[arg-type]


def test_the_synthetic_completions_get_the_official_verdicts(grader: Grader, data: Path) -> None:
    problems = {one.number: one for one in read_problems(data / "livecodebench" / "synthetic_problems.jsonl", {})}
    lines = (data / "livecodebench" / "synthetic_completions.jsonl").read_text().splitlines()
    assert len(lines) == 27
    for line in map(json.loads, lines):
        code = EXTRACTIONS["last-fence"](line["completion"])
        judged = grader.grade(problems[line["question_id"]], code, Terms(test_seconds=2.0))
        name = f"{line['question_id']} {line['completion_id']}"
        assert (judged.outcome is Outcome.RIGHT) == line["official_pass"], name
        if line["official_error_code"] == -3:
            assert judged.outcome is Outcome.TIMEOUT, name
        if line["official_error_code"] == -2:
            assert judged.detail.endswith(f"test {len(line['official_results'])} of {many(problems, line)}"), name


def many(problems: dict[str, Problem], line: dict[str, str]) -> int:
    from spadework.tasks.livecodebench_data import read_tests

    return len(read_tests(problems[line["question_id"]]))


SUM, LINES, SEVEN = [("3 4\n", "7\n"), ("1 2\n", "3\n")], [("2\n1 2\n3 4\n", "3\n7\n")], [("", "7\n")]
PROGRAMS = {
    # name: (program, tests, official, corrected); the official verdicts were taken from lcb_runner's own code
    "buffer of stdin": ("import sys\nprint(sum(map(int, sys.stdin.buffer.read().split())))", SUM, True, True),
    "buffer of stdout": ("import sys\nsys.stdout.buffer.write(b'7\\n')", SEVEN, False, True),
    "a large number": ("print(10**5000)", [("", "1" + "0" * 5000)], True, True),
    "global": ("a = 0\ndef f():\n    global a\n    a += 7\nf()\nprint(a)", SEVEN, False, True),
    "reading on after input": (
        "import sys\nn = int(input())\nd = list(map(int, sys.stdin.read().split()))\n"
        "for i in range(n): print(d[2 * i] + d[2 * i + 1])", LINES, False, True,
    ),
    "lines of stdin": ("import sys\nfor l in sys.stdin: print(sum(map(int, l.split())))", SUM, False, True),
    "the usual guard": ("def f(): print(7)\nif __name__ == '__main__':\n    f()", SEVEN, True, True),
    "another guard": ("def f(): print(7)\nif '__main__' == __name__:\n    f()", SEVEN, False, True),
    "names of the prelude": ("print(int(sqrt(49)))", SEVEN, True, True),
    "an exit": ("import sys\nprint(7)\nsys.exit(3)", SEVEN, True, True),
    "a return at the top": ("print(7)\nreturn", SEVEN, True, False),
    "a deep recursion": ("def f(n): return 7 if n == 0 else f(n - 1)\nprint(f(20000))", SEVEN, True, True),
    "nothing": ("", [("", "")], False, True),
    "an exception": ("print(7)\n1 // 0", SEVEN, False, False),
    "no end of input": ("input(); input(); print(7)", SUM, False, False),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program(name: str, grader: Grader, tmp_path: Path) -> None:
    """P099, P100: a right program is right in the corrected scorer; the official one repeats its model's faults."""
    code, tests, official, corrected = PROGRAMS[name]
    for scorer, right in (("official", official), ("corrected", corrected)):
        judged = graded(grader, tmp_path, code, tests, scorer=scorer)
        assert judged.outcome is (Outcome.RIGHT if right else Outcome.WRONG), (scorer, judged)


def method(body: str) -> str:
    return f"class Solution:\n    n = 0\n    def f(self, x):\n        {body}"


FUNCTIONS = {
    "a tuple": (method("return (1, 2)"), [("0", "[1, 2]")], True, True),
    "a tuple within": (method("return [(1, 2)]"), [("0", "[[1, 2]]")], False, False),
    "numbers with a point": (method("return [0.1 + 0.2]"), [("0", "[0.3]")], False, True),
    "state that it keeps": (method("self.n += x; return self.n"), [("1", "1"), ("1", "1")], False, True),
    "state that it needs": (method("self.n += x; return self.n"), [("1", "1"), ("1", "2")], True, False),
    "numpy": ("import numpy\n" + method("return numpy.int64(3)"), [("0", "3")], True, True),
    "a set": (method("return {1, 2}"), [("0", "[1, 2]")], False, False),
    "equal to anything": (
        "class E:\n    def __eq__(self, other): return True\n" + method("return E()"), [("0", "3")], False, False,
    ),
    "an array": ("import numpy\n" + method("return numpy.array([1])"), [("0", "[1]")], False, False),
    "a function alone": ("def f(x): return x", [("[1]", "[1]")], True, True),
    "no such method": ("class Solution: pass", [("0", "0")], False, False),
    "noise": (method("print('x' * 10**6); return x"), [("1", "1")], True, True),
    "not finite": (method("return float('nan')"), [("0", "0")], False, False),
    "a hint of type": ("def f(x: List[int]) -> int: return x[0]", [("[4]", "4")], True, True),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function(name: str, grader: Grader, tmp_path: Path) -> None:
    """Official verdicts but for two: lcb_runner believes a value that says it equals anything, and an array of one."""
    code, tests, official, corrected = FUNCTIONS[name]
    for scorer, right in (("official", official), ("corrected", corrected)):
        judged = graded(grader, tmp_path, code, tests, "f", scorer=scorer)
        assert judged.outcome is (Outcome.RIGHT if right else Outcome.WRONG), (scorer, judged)


SPIN = "import time\ne = time.process_time() + 0.4\nwhile time.process_time() < e: pass\n"


def test_the_time_limit_is_of_a_test_and_not_of_all(grader: Grader, tmp_path: Path) -> None:
    """P104: upstream has no limit for all tests together."""
    tests = [(f"{n}\n", f"{n}\n") for n in range(6)]
    assert graded(grader, tmp_path, f"{SPIN}print(input())", tests, test_seconds=1.0).outcome is Outcome.RIGHT
    code = SPIN.replace("e =", "def f(x):\n    e =").replace("while", "    while") + "    return x"
    values = [(str(n), str(n)) for n in range(6)]
    assert graded(grader, tmp_path, code, values, "f", test_seconds=1.0).outcome is Outcome.RIGHT


@pytest.mark.parametrize("code", ["while True: pass", "import time\ntime.sleep(30)", "input()\nwhile True: print(1)"])
def test_a_program_that_takes_too_long_is_a_timeout_or_wrong(code: str, grader: Grader, tmp_path: Path) -> None:
    """P117: the limit that is configured is the one that is kept."""
    judged = graded(grader, tmp_path, code, SUM, test_seconds=1.0)
    assert judged.outcome is Outcome.TIMEOUT or "output" in judged.detail, judged


@pytest.mark.parametrize(
    "code",
    [
        "s = 'a'\nwhile 1: s += s", "x = [0] * 10**11", "import os\nwhile True: os.fork()", "import os\nos._exit(0)",
        "import os\nos.kill(os.getppid(), 9)", "import ctypes\nctypes.string_at(0)", "import socket\nsocket.socket()",
        "open('/etc/passwd').read()", "def f(:",
    ],
)  # fmt: skip
def test_a_program_that_means_harm_is_wrong_and_the_next_one_is_not_touched(
    code: str, grader: Grader, tmp_path: Path
) -> None:  # fmt: skip
    """P106, P107: a fork bomb, memory without end."""
    judged = graded(grader, tmp_path, code, SUM, memory_mb=256)
    assert judged.outcome in (Outcome.WRONG, Outcome.TIMEOUT), judged
    assert graded(grader, tmp_path, "print(sum(map(int, input().split())))", SUM).outcome is Outcome.RIGHT


def test_an_output_without_end_is_cut_off_while_it_is_written(grader: Grader, tmp_path: Path) -> None:
    """P114."""
    judged = graded(grader, tmp_path, "while 1: print('y' * 10**6)", SUM, test_seconds=5.0, scorer="corrected")
    assert judged.outcome is Outcome.WRONG and judged.detail.startswith("output")


def test_a_dead_sandbox_is_no_verdict(tmp_path: Path) -> None:
    """P105, P115: nothing that the grader cannot run is counted as wrong."""
    grader = Grader()
    grader.close()
    for function in ("", "f"):
        judged = graded(grader, tmp_path, "def f(x): return x", [("1", "1")], function)
        assert judged.outcome is Outcome.SCORER_ERROR and judged.score is None and judged.detail


def test_no_program_is_no_answer(grader: Grader, tmp_path: Path) -> None:
    assert grader.grade(problem(tmp_path, SUM), None, Terms()).outcome is Outcome.NO_ANSWER


def test_tests_that_were_taken_away_meanwhile_are_one_error(grader: Grader, tmp_path: Path) -> None:
    one = problem(tmp_path, SUM)
    one.place.path.unlink()
    with pytest.raises(InputError, match="cannot read"):
        grader.grade(one, "print(1)", Terms())
