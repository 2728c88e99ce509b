"""Calls in what a model wrote: read without being evaluated, each fault with a name."""

import ast
import json

import pytest

from spadework.harness.types import ToolCall
from spadework.tasks import bfcl_calls
from spadework.tasks.bfcl_calls import Decoded, from_text, from_tool_calls, gold_call


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("[ls(a=True), cd(folder='x')]", ("ls(a=True)", "cd(folder='x')")),
        ("ls()", ("ls()",)), ("```\n[ls()]\n```", ("ls()",)), ("f(a=1), g(b=-2.5)", ("f(a=1)", "g(b=-2.5)")),
        ("[f(x=[1, (2, 'a')], y={'k': {'l': None}})]", ("f(x=[1, (2, 'a')], y={'k': {'l': None}})",)),
        ('[post(text="it\'s \\"so\\" (really)")]', ("post(text='it\\'s \"so\" (really)')",)),
        ("[f(a='\\d')]", ("f(a='\\\\d')",)), ("[f(a=1)", ("f(a=1)",)), ("[a.b.c(d=1)]", ("a.b.c(d=1)",)), ("[]", ()),
    ],
)  # fmt: skip
def test_literal_calls_are_written_anew(text: str, calls: tuple[str, ...]) -> None:
    for strict in (False, True):
        assert from_text(text, strict=strict) == Decoded(calls)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("[area(base=len('abc')+1)]", "non_literal_argument"), ("[f(a=1+1)]", "non_literal_argument"),
        ("[f(a=g(b=2))]", "non_literal_argument"), ("[f(a=lambda: 1)]", "non_literal_argument"),
        ("[f(a=[x for x in (1, 2)])]", "non_literal_argument"), ("[f(a=f'{1}')]", "non_literal_argument"),
        ("[f(a=x[0])]", "non_literal_argument"), ("[f(a=not True)]", "non_literal_argument"),
        ("[f(a={[1]: 2})]", "non_literal_argument"), ("[f(**{'n': 6})]", "unpacked_argument"),
        ("[f(a={**b})]", "non_literal_argument"), ("I cannot do that.", "no_calls"), ("[f(a=1", "no_calls"),
        ("[1, f()]", "no_calls"), ("[f()], [g()]", "no_calls"), ("f(" * 5000, "no_calls"), ("f(a='\x00')", "no_calls"),
        ("f(a=" + "-" * 100_000 + "1)", "non_literal_argument"), ("f(a=1" + "0" * 10_000 + ")", "no_calls"),
    ],
)  # fmt: skip
def test_what_would_have_to_be_evaluated_is_undecodable(text: str, fault: str) -> None:
    """Report L240: `[area(base=len('abc')+1)]` was read as 4, and any call ran."""
    decoded = from_text(text)
    assert decoded.calls == () and decoded.faults[-1] == fault


@pytest.mark.parametrize(
    ("text", "fault", "official"),
    [
        ("[f(ok=true, n=null)]", "bare_name", "f(ok='true', n='null')"),
        ("[f(n=6, n=7)]", "repeated_argument", "f(n=7)"),
        ("[area({'base': 6, 'height': 9})]", "positional_argument", "area()"),
        ("[area(6, 9)]", "positional_argument", "area()"),
    ],
)
def test_what_is_silently_changed_is_named_and_refused_when_strict(text: str, fault: str, official: str) -> None:
    """Reports L242 and P065: the official reading stands beside the typed error."""
    decoded = from_text(text)
    assert decoded.calls == (official,) and fault in decoded.faults
    strict = from_text(text, strict=True)
    assert strict.calls == () and fault in strict.faults


def call(name: str, arguments: object) -> ToolCall:
    return ToolCall(id="1", name=name, arguments=arguments if isinstance(arguments, str) else json.dumps(arguments))


def test_tool_calls_become_literal_calls_whatever_their_values_say() -> None:
    values = {"a": "__import__('os').getpid()", "b": [1, {"c": None}], "d": "x', f=1) or exit(", "e": "</tool_call>"}
    (text,) = from_tool_calls([call("f", values)]).calls
    node = ast.parse(text, mode="eval").body
    assert isinstance(node, ast.Call)
    assert {str(argument.arg): ast.literal_eval(argument.value) for argument in node.keywords} == values


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("exit() or f", {"a": 1}), ("f", {"a=1, b": 2}), ("f", {"class": 1}), ("", {}), ("f\n", {}), ("f", {"": 1}),
        ("ﬁ", {}), ("1f", {}),
    ],
)  # fmt: skip
def test_a_name_that_is_none_never_reaches_the_executor(name: str, arguments: dict[str, object]) -> None:
    decoded = from_tool_calls([call(name, arguments)])
    assert decoded.calls == (bfcl_calls.NO_NAME,) and decoded.faults == ("odd_name",)


def test_a_call_that_is_no_json_is_left_out_and_the_others_stand() -> None:
    broken, sound = call("f", '{"a": '), call("g", {"b": 1})
    assert from_tool_calls([broken, sound]) == Decoded(("g(b=1)",), ("not_json",), (sound,))
    assert from_tool_calls([call("f", "[1]"), sound]) == Decoded((), ("arguments_no_object",))
    assert from_tool_calls([call("f", '"{\\"a\\": 1}"')]).calls == ("f(a=1)",)
    assert from_tool_calls([call("f", "")]).calls == ("f()",)
    assert from_tool_calls([call("f", "[" * 100_000)]).faults == ("not_json",)


def test_gold_calls_get_the_names_of_their_positional_arguments() -> None:
    assert gold_call("sort('a.pdf', n=-1)", {"sort": ("file_name", "n")}) == ("sort", {"file_name": "a.pdf", "n": -1})
    for text in ("sort(len('a'))", "[1]", "a.b()"):
        with pytest.raises(ValueError):
            gold_call(text, {"sort": ("file_name",)})
