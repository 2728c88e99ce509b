"""Bad input of every sort: each has its own kind of error, a bounded cost, and loses no other instance's episode."""

import resource
import time
from collections.abc import Iterator
from typing import Any

import pytest

from spadework.harness.sandbox import (
    EnvError,
    EnvProcess,
    ErrorKind,
    Layer,
    Limits,
    Policy,
    Sandbox,
    SandboxUnavailable,
    reset_all,
    step_all,
)  # fmt: skip

from .programs import COUNT, answering

LIMITS = Limits(load_cpu_s=3.0, call_cpu_s=2.0, frame_wall_s=10.0, memory_mb=256)
NUMPY = Policy(modules=("numpy", "numpy.random", "decimal", "fractions"))
PATIENCE_S = 10.0
"""Wall seconds that one bad input may cost on a crowded machine."""
BUDDIES = (0, 2)
"""The instances before and after the one that goes wrong."""
GOOD = '("fine", 1.0, False, False, {"n": 1})'


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(LIMITS) as shared:
        yield shared


@pytest.fixture(scope="module")
def numerical() -> Iterator[Sandbox]:
    with Sandbox(LIMITS, NUMPY) as shared:
        yield shared


def refusal(sandbox: Sandbox, source: str | bytes) -> EnvError:
    """Why a source text is no program; what it cost is looked at on the way."""
    started, largest = time.monotonic(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    process = sandbox.open(source)
    error = process.load()
    step = process.reset([(4, 1)])[0]
    process.close()
    assert time.monotonic() - started < PATIENCE_S
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - largest < 100 << 10, "KiB"
    assert error is not None and step.error == error and step.instance == 4
    return error


def spoiled(sandbox: Sandbox, values: str, before: str = "pass") -> EnvError:
    """The error of the one instance of three whose step returns `values`; the other two must play on undisturbed."""
    before = before.replace("\n", "\n            ")
    program = answering(GOOD, f'if action == "bad":\n            {before}\n            return {values}')
    process = sandbox.open(program)
    assert not any(step.error for step in process.reset([(number, number) for number in (0, 1, 2)]))
    started = time.monotonic()
    steps = process.step([(0, "good"), (1, "bad"), (2, "good")])
    assert time.monotonic() - started < PATIENCE_S
    error = steps[1].error
    assert error is not None and steps[1].observation == "" and steps[1].reward != steps[1].reward
    assert [steps[number].observation for number in BUDDIES] == ["fine", "fine"]
    assert [step.observation for step in process.step([(number, "good") for number in BUDDIES])] == ["fine", "fine"]
    assert process.respawns == 0, "nobody died"
    assert process.step([(1, "good")])[0].error is not None
    assert process.reset([(1, 1)])[0].error is None, "the instance may be made anew"
    process.close()
    return error


# Programs.


@pytest.mark.parametrize(("source", "kind"), [
    ("#" * 10_000_000, ErrorKind.SOURCE_TOO_LARGE),
    ("é" * 5_000_000, ErrorKind.SOURCE_TOO_LARGE),
    ("\ud800" * 5_000_000, ErrorKind.SOURCE_TOO_LARGE),
    (b"\xff" * 10_000_000, ErrorKind.SOURCE_TOO_LARGE),
    ("é" * 32_001, ErrorKind.SOURCE_TOO_LARGE),
    ("", ErrorKind.EMPTY), (b"", ErrorKind.EMPTY), (" \n\t\r\f\v ", ErrorKind.EMPTY),
    ("\u2003\u3000\x85", ErrorKind.EMPTY),
    ("\ufeff", ErrorKind.EMPTY), (b"\xef\xbb\xbf\n", ErrorKind.EMPTY),
    ("\0", ErrorKind.ENCODING), (COUNT + "\0", ErrorKind.ENCODING), (b"\0" * 100, ErrorKind.ENCODING),
    ("x = '\ud800'", ErrorKind.ENCODING), ("x = '\udfff\ud800'", ErrorKind.ENCODING),
    ("x = 'é'".encode("latin-1"), ErrorKind.ENCODING), (COUNT.encode("utf-16"), ErrorKind.ENCODING),
    (COUNT.encode("utf-32"), ErrorKind.ENCODING), (b"x = '\xed\xa0\x80'", ErrorKind.ENCODING),
    (b"# coding: latin-1\nx = '\xe9'", ErrorKind.ENCODING), (b"#" + b"\xe9" * 50_000, ErrorKind.ENCODING),
    ("# a comment", ErrorKind.CONTRACT), ("pass", ErrorKind.CONTRACT), ("42", ErrorKind.CONTRACT),
    ("x = 'abc", ErrorKind.SYNTAX), ("\x1b[31m", ErrorKind.SYNTAX), ("def f():\nreturn 1", ErrorKind.SYNTAX),
    ("é = 1; \u202e = 2", ErrorKind.SYNTAX),
])  # fmt: skip
def test_a_text_that_is_no_program_has_its_kind(sandbox: Sandbox, source: str | bytes, kind: ErrorKind) -> None:
    error = refusal(sandbox, source)
    assert (error.kind, error.fault) == (kind, "program"), error
    assert len(error.message) <= LIMITS.message_chars and error.message.encode()


@pytest.mark.parametrize("source", [
    COUNT.encode(), b"\xef\xbb\xbf" + COUNT.encode(), "\ufeff" + COUNT, COUNT.replace("\n", "\r\n"),
    "# coding: latin-1\n" + COUNT.replace('"wrong"', '"wröng"'), "# -*- coding: utf-16 -*-\n" + COUNT,
    COUNT + "\x1a\n" * 0 + "# \u2603 \U0001f600",
])  # fmt: skip
def test_utf_8_is_the_one_encoding_whatever_a_cookie_says(sandbox: Sandbox, source: str | bytes) -> None:
    process = sandbox.open(source)
    assert process.load() is None, process.error
    process.reset([(0, 1)])
    said = process.step([(0, "no")])[0].observation
    assert said == ("wröng" if "latin-1" in str(source) else "wrong")
    process.close()


# Actions.


@pytest.mark.parametrize("action", [None, 7, 1.5, True, b"left", ["left"], {"a": 1}, object(), lambda: "left"])
def test_an_action_that_is_no_str_never_reaches_its_instance_which_goes_on(sandbox: Sandbox, action: Any) -> None:
    process = sandbox.open(COUNT)
    process.reset([(0, 1), (1, 2), (2, 3)])
    steps = process.step([(0, "no"), (1, action), (2, "no")])
    error = steps[1].error
    assert error is not None and (error.kind, error.fault) == (ErrorKind.ACTION, "host")
    assert type(action).__name__ in error.message
    assert [steps[number].info for number in BUDDIES] == [{"turn": 1}, {"turn": 1}]
    after = process.step([(number, "no") for number in range(3)])
    assert [step.info for step in after] == [{"turn": 2}, {"turn": 1}, {"turn": 2}]
    process.close()


def test_a_huge_action_is_cut_and_odd_ones_arrive(sandbox: Sandbox) -> None:
    process = sandbox.open(answering('f"{len(action)} {action[:3]}", 0.0, False, False, {}'))
    process.reset([(n, 1) for n in range(4)])
    limit = LIMITS.action_chars
    actions = ["x" * 200_000, "\U0001f600" * 200_000, "\0" * 200_000, "\ud800" * 200_000]
    said = [step.observation for step in process.step(list(enumerate(actions)))]
    assert said == [f"{limit} xxx", f"{limit} \U0001f600\U0001f600\U0001f600", f"{limit} \0\0\0", f"{limit} ???"]
    process.close()


# Rewards.


@pytest.mark.parametrize("reward", [
    'float("nan")', 'float("inf")', '-float("inf")', "True", "False", "None", '"1.0"', 'b"1"', "1j", "[1.0]", "(1.0,)",
    "10_001", "-10_001.0", "10**400", "-(10**400)", "1e308", "object()", 'type("F", (float,), {})(1.0)',
    'type("I", (int,), {})(1)', "lambda: 1.0",
    'type("E", (), {"__float__": lambda self: 1.0, "__le__": lambda *_: True, "__ge__": lambda *_: True})()',
])  # fmt: skip
def test_a_reward_must_be_a_finite_number_in_range(sandbox: Sandbox, reward: str) -> None:
    error = spoiled(sandbox, f'("x", {reward}, False, False, {{}})')
    assert (error.kind, error.fault) == (ErrorKind.REWARD, "program")


@pytest.mark.parametrize(("module", "reward"), [
    ("numpy", "numpy.float64(0.5)"), ("numpy", "numpy.float32(0.5)"), ("numpy", "numpy.int64(1)"),
    ("numpy", "numpy.bool_(True)"), ("numpy", "numpy.array(0.5)"), ("numpy", "numpy.float64('nan')"),
    ("decimal", "decimal.Decimal('0.5')"), ("fractions", "fractions.Fraction(1, 2)"),
])  # fmt: skip
def test_a_number_of_a_library_is_no_reward_and_the_message_says_what_to_write(
    numerical: Sandbox, module: str, reward: str
) -> None:
    error = spoiled(numerical, f'("x", {reward}, False, False, {{}})', f"import {module}")
    assert (error.kind, error.fault) == (ErrorKind.REWARD, "program")
    assert "float(reward)" in error.message


@pytest.mark.parametrize("reward", ["0", "1", "-1", "10_000", "0.1 + 0.2", "-0.0", "5e-324"])
def test_a_plain_number_arrives_bit_for_bit(sandbox: Sandbox, reward: str) -> None:
    process = sandbox.open(answering(f'"x", {reward}, False, False, {{}}'))
    process.reset([(0, 1)])
    given = process.step([(0, "x")])[0].reward
    assert type(given) is float and given.hex() == float(eval(reward)).hex()
    process.close()


# Observations.


@pytest.mark.parametrize(("observation", "kinds"), [
    ('"x" * 200_000_000', {ErrorKind.OBSERVATION}),
    ('"\\u20ac" * 200_000_000', {ErrorKind.OBSERVATION, ErrorKind.MEMORY}),
    ('"x" * (LIMIT + 1)', {ErrorKind.OBSERVATION}),
    ("None", {ErrorKind.OBSERVATION}), ("7", {ErrorKind.OBSERVATION}), ('b"x"', {ErrorKind.OBSERVATION}),
    ('["x"]', {ErrorKind.OBSERVATION}), ('{"text": "x"}', {ErrorKind.OBSERVATION}),
    ('type("S", (str,), {"__len__": lambda self: 3})("x" * 100_000)', {ErrorKind.OBSERVATION}),
    ('type("S", (str,), {"encode": lambda *_: b"", "__str__": lambda _: "y"})("x")', {ErrorKind.OBSERVATION}),
    ('"\\ud800"', {ErrorKind.OBSERVATION}), ('"a\\udcffb"', {ErrorKind.OBSERVATION}),
])  # fmt: skip
def test_an_observation_must_be_plain_text_of_a_bounded_length(
    sandbox: Sandbox, observation: str, kinds: set[ErrorKind]
) -> None:
    error = spoiled(sandbox, f"({observation.replace('LIMIT', str(LIMITS.obs_chars))}, 0.0, False, False, {{}})")
    assert error.kind in kinds and error.fault == "program", error


@pytest.mark.parametrize("observation", [
    '""', '"x" * LIMIT', '"\\0" * LIMIT', '"\\U0001f600" * LIMIT', '"\\"\\\\\\x1b"',
])  # fmt: skip
def test_any_text_up_to_the_limit_arrives_as_it_was(sandbox: Sandbox, observation: str) -> None:
    text = observation.replace("LIMIT", str(LIMITS.obs_chars))
    process = sandbox.open(answering(f"{text}, 0.0, False, False, {{}}"))
    process.reset([(n, 1) for n in range(8)])
    assert {step.observation for step in process.step([(n, "x") for n in range(8)])} == {eval(text)}
    process.close()


# Info.

DEEP = "info = {}\nfor _ in range(100_000): info = {'a': info}"
DEEP_LIST = "info = []\nfor _ in range(100_000): info = [info]\ninfo = {'a': info}"
CYCLE = "info = {}\ninfo['a'] = [info]"
EVIL = """
class Evil:
    def __eq__(self, other): raise SystemExit
    def __iter__(self): raise KeyboardInterrupt
    def __hash__(self): return 1
    def __getattr__(self, name): raise BaseException(name)
    __repr__ = __str__ = __len__ = __bool__ = keys = items = __iter__
info = {"a": Evil()}
"""


@pytest.mark.parametrize(("info", "before"), [
    ('{"a": "x" * 50_000_000}', "pass"), ('{"a": [0] * 100_000}', "pass"), ('{"a": "x" * 5_000}', "pass"),
    ("dict.fromkeys(map(str, range(100_000)))", "pass"), ("info", DEEP), ("info", DEEP_LIST), ("info", CYCLE),
    ('{"a": object()}', "pass"), ('{"a": lambda: 0}', "pass"), ('{"a": {1j: 2}}', "pass"), ('{"a": 1j}', "pass"),
    ('{"a": float("nan")}', "pass"), ('{"a": [1.0, {"b": -float("inf")}]}', "pass"),
    ('{(1, 2): "x"}', "pass"), ('{None: "x"}', "pass"), ('{"\\ud800": 1}', "pass"), ('{"a": "\\ud800"}', "pass"),
    ("info", EVIL), ("Evil()", EVIL), ("{Evil(): 1}", EVIL), ('{"a": "b" + "\\ud800"}', "pass"),
    ("None", "pass"), ("[]", "pass"), ('"{}"', "pass"), ('type("D", (dict,), {})()', "pass"), ("0", "pass"),
    ('{"a": (n for n in "abc")}', "pass"), ('{"a": type("S", (str,), {})("x")}', "pass"), ('{"a": range(3)}', "pass"),
])  # fmt: skip
def test_info_must_be_a_small_dict_of_plain_values(sandbox: Sandbox, info: str, before: str) -> None:
    error = spoiled(sandbox, f'("x", 0.0, False, False, {info})', before)
    assert (error.kind, error.fault) == (ErrorKind.INFO, "program"), error


def test_info_arrives_as_json_has_it(sandbox: Sandbox) -> None:
    info = '{"none": None, "tuple": (1, [2.5, "é"]), 3: True, "big": 2**80, "nested": {"a": {"b": []}}, "": "null"}'
    process = sandbox.open(answering(f'"x", 0.0, False, False, {info}'))
    process.reset([(0, 1)])
    assert process.step([(0, "x")])[0].info == {
        "none": None, "tuple": [1, [2.5, "é"]], "3": True, "big": 2**80, "nested": {"a": {"b": []}}, "": "null",
    }  # fmt: skip
    process.close()


# Shapes and flags.


@pytest.mark.parametrize("values", [
    '("x", 0.0, 1, False, {})', '("x", 0.0, False, 0, {})', '("x", 0.0, None, False, {})', '("x", 0.0, "", False, {})',
    "()", "None", '"x"', "7", '("x", 0.0, False, {})', '("x", 0.0, False, False, {}, {})',
    '["x", 0.0, False, False, {}]', '{"observation": "x"}', 'type("T", (tuple,), {})(("x", 0.0, False, False, {}))',
    '(v for v in ("x", 0.0, False, False, {}))', "self", "type",
])  # fmt: skip
def test_a_step_must_have_its_five_parts(sandbox: Sandbox, values: str) -> None:
    error = spoiled(sandbox, values)
    assert (error.kind, error.fault) == (ErrorKind.CONTRACT, "program"), error


@pytest.mark.parametrize("answer", ['"x"', "None", '("x",)', '("x", {}, 0)', '["x", {}]', "iter(('x', {}))"])
def test_a_reset_must_have_its_two_parts(sandbox: Sandbox, answer: str) -> None:
    reset = f"def reset(self, seed=None): return ('x', {{}}) if seed % 2 else {answer}"
    process = sandbox.open(f"class AEnv:\n {reset}\n def step(self, action): pass")
    steps = process.reset([(0, 1), (1, 2), (2, 3)])
    assert [step.error is None for step in steps] == [True, False, True]
    assert steps[1].error is not None and steps[1].error.kind is ErrorKind.CONTRACT
    process.close()


def test_steps_that_are_generators_or_coroutines_are_no_answers(sandbox: Sandbox) -> None:
    for step in ("def step(self, action): yield 'x', 0.0, False, False, {}", "async def step(self, action): return 1"):
        process = sandbox.open(f"class AEnv:\n def reset(self, seed=None): return 'x', {{}}\n {step}")
        process.reset([(0, 1)])
        error = process.step([(0, "x")])[0].error
        assert error is not None and error.kind is ErrorKind.CONTRACT, error
        process.close()


# Callers.


def test_an_instance_named_twice_is_refused_before_anybody_is_asked(sandbox: Sandbox) -> None:
    one, other = sandbox.open_all([COUNT, COUNT])
    reset_all({one: [(0, 1)], other: [(0, 1)]})
    with pytest.raises(ValueError, match="instance 0 .*once"):
        step_all({one: [(0, "no")], other: [(0, "no"), (0, "no")]})
    with pytest.raises(ValueError, match="instance 3 .*once"):
        reset_all({one: [(0, 1)], other: [(3, 1), (3, 2)]})
    answers = step_all({one: [(0, "no")], other: [(0, "no")]})
    assert [answers[process][0].info for process in (one, other)] == [{"turn": 1}, {"turn": 1}]
    for process in (one, other):
        process.close()


@pytest.mark.parametrize("number", [None, "0", 1.0, True, (0,), 2**63, -(2**63) - 1])
def test_an_instance_is_named_by_an_int(sandbox: Sandbox, number: Any) -> None:
    process = sandbox.open(COUNT)
    process.reset([(0, 1)])
    for ask, told in ((process.reset, 1), (process.step, "no")):
        with pytest.raises(ValueError, match="int"):
            ask([(number, told)])  # type: ignore[list-item,operator]
    assert process.step([(0, "no")])[0].info == {"turn": 1}
    process.close()


@pytest.mark.parametrize("seed", [None, "1", 1.0, True, [1], 2**64, -(2**63) - 1, 10**400])
def test_a_seed_that_no_frame_can_carry_is_the_callers_mistake(sandbox: Sandbox, seed: Any) -> None:
    process = sandbox.open(COUNT)
    process.reset([(0, 1), (1, 1), (2, 1)])
    steps = process.reset([(0, 5), (1, seed), (2, 5)])
    error = steps[1].error
    assert error is not None and (error.kind, error.fault) == (ErrorKind.MISUSE, "host") and "seed" in error.message
    assert [steps[number].error for number in BUDDIES] == [None, None]
    assert [step.error is None for step in process.step([(n, "no") for n in range(3)])] == [True, False, True]
    process.close()


@pytest.mark.parametrize("seed", [0, -1, 2**31, 2**32, 2**63 - 1, 2**63, 2**64 - 1, -(2**63)])
def test_any_seed_of_64_bits_gives_its_own_episode_again(sandbox: Sandbox, seed: int) -> None:
    source = COUNT.replace("random.randint(1, 9)", "(seed, random.Random(seed).random())")
    process = sandbox.open(source)
    first, second = process.reset([(0, seed), (1, seed)])
    assert first.error is None and first.observation == second.observation and str(seed) in first.observation
    process.close()


def test_what_is_not_in_play_is_misuse_and_costs_nobody_else_anything(sandbox: Sandbox) -> None:
    process = sandbox.open(COUNT)
    process.reset([(0, 1), (1, 1)])
    steps = process.step([(0, "no"), (99, "no"), (-1, "no"), (1, "no")])
    assert [step.instance for step in steps] == [0, 99, -1, 1]
    kinds = [step.error and (step.error.kind, step.error.fault) for step in steps]
    assert kinds == [None, (ErrorKind.MISUSE, "host"), (ErrorKind.MISUSE, "host"), None]
    assert process.step([(99, "no")])[0].error is not None
    assert process.step([]) == process.reset([]) == []
    assert [step.info for step in process.step([(0, "no"), (1, "no")])] == [{"turn": 2}, {"turn": 2}]
    process.close()


def test_a_step_after_the_end_is_the_programs_own_affair_and_a_second_reset_begins_anew(sandbox: Sandbox) -> None:
    process = sandbox.open(COUNT)
    right = process.reset([(0, 1)])[0].observation.split()[1]
    assert process.step([(0, right)])[0].terminated
    assert process.step([(0, right)])[0].info == {"turn": 2}
    again = [process.reset([(0, 1)])[0].observation, process.reset([(0, 1)])[0].observation]
    assert {text.split()[1] for text in again} == {right}
    assert process.step([(0, "no")])[0].info == {"turn": 1}
    process.close()


def test_a_closed_process_answers_that_it_is_closed_and_the_others_play_on(sandbox: Sandbox) -> None:
    closed, other = sandbox.open_all([COUNT, COUNT])
    reset_all({closed: [(0, 1)], other: [(0, 1)]})
    closed.close()
    closed.close()
    answers = step_all({closed: [(0, "no")], other: [(0, "no")]})
    error = answers[closed][0].error
    assert error is not None and (error.kind, error.fault) == (ErrorKind.CLOSED, "host")
    assert answers[other][0].info == {"turn": 1}
    assert closed.load() == error and closed.reset([(0, 1)])[0].error == error
    assert closed.pid is None and other.pid is not None
    other.close()


def test_a_closed_sandbox_opens_nothing() -> None:
    sandbox = Sandbox(LIMITS)
    sandbox.close()
    with pytest.raises(SandboxUnavailable, match="closed"):
        sandbox.open(COUNT)
    assert not sandbox.alive()


# Settings.


@pytest.mark.parametrize(("name", "value"), [
    ("memory_mb", 0), ("memory_mb", -1), ("memory_mb", 10), ("memory_mb", 2**40), ("memory_mb", 64.5),
    ("memory_mb", "512"), ("memory_mb", True), ("memory_mb", None),
    ("source_bytes", 0), ("source_bytes", -5), ("life_cpu_s", 0), ("life_cpu_s", 2**40), ("life_cpu_s", 1.5),
    ("load_cpu_s", 0.0), ("load_cpu_s", -1.0), ("call_cpu_s", float("nan")), ("call_cpu_s", float("inf")),
    ("call_cpu_s", "1"), ("frame_wall_s", 0), ("frame_wall_s", float("nan")), ("frame_wall_s", float("inf")),
    ("frame_wall_s", 1e30), ("timeouts", 0), ("obs_chars", -1), ("action_chars", -1), ("info_bytes", 1),
    ("message_chars", -1), ("abs_reward", -1.0), ("abs_reward", float("nan")), ("abs_reward", float("inf")),
    ("respawns", -1), ("culprits", 0), ("culprits", 1.0),
])  # fmt: skip
def test_a_limit_that_means_nothing_is_refused_in_one_sentence(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=rf"Limits\.{name} is .*; give ") as refused:
        Limits(**{name: value})
    assert "\n" not in str(refused.value)


def test_the_smallest_limits_that_mean_something_start() -> None:
    tight = Limits(
        source_bytes=1_000, memory_mb=64, load_cpu_s=1, call_cpu_s=1, timeouts=1, life_cpu_s=5, frame_wall_s=2,
        obs_chars=20, action_chars=0, info_bytes=20, message_chars=0, abs_reward=1, respawns=0, culprits=1,
    )  # fmt: skip
    with Sandbox(tight) as sandbox:
        process = sandbox.open(COUNT)
        assert process.reset([(0, 1)])[0].error is None
        assert process.step([(0, "no")])[0].observation == "wrong"


def test_a_module_that_is_not_there_is_named() -> None:
    with pytest.raises(SandboxUnavailable, match="no_such_module.*take it out of the modules$"):
        Sandbox(LIMITS, Policy(modules=("math", "no_such_module")))


@pytest.mark.parametrize("policy", [{"off": ("no_such_layer",)}, {"require": ("seccomp", "no_such_layer")}])
def test_a_layer_that_is_none_is_named(policy: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="no_such_layer.*the layers are .*seccomp"):
        Policy(**policy)
    assert Policy(off=("landlock",)).off == (Layer.LANDLOCK,)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["off", "require", "modules"])
def test_a_text_for_a_tuple_is_refused_by_name(name: str) -> None:
    with pytest.raises(ValueError, match=f"Policy.{name} is the text 'math'"):
        Policy(**{name: "math"})


def test_bad_input_leaves_the_sandbox_as_it_was(sandbox: Sandbox) -> None:
    """After everything above: one server, no process left, and an honest program is served."""
    assert not sandbox._processes
    process: EnvProcess = sandbox.open(COUNT)
    process.reset([(0, 1)])
    assert process.step([(0, "no")])[0].info == {"turn": 1}
    process.close()


def test_arguments_in_the_wrong_place_are_refused_before_anything_starts(sandbox: Sandbox) -> None:
    """A policy taken for limits would leave its walls unasked for; a wrong isolation is not the program's fault."""
    with pytest.raises(ValueError, match="in this order"):
        Sandbox(Policy())  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="isolation is one of module, shared"):
        sandbox.open("x = 1", isolation="alone")  # type: ignore[arg-type]


def test_programs_of_different_limits_are_not_asked_together(sandbox: Sandbox) -> None:
    with Sandbox(Limits(frame_wall_s=3.5)) as other, pytest.raises(ValueError, match="the same limits"):
        reset_all({sandbox.open(COUNT): [(0, 1)], other.open(COUNT): [(0, 1)]})
