import pytest

from spadework.tasks.acebench_calls import Call, Malformed, attempted, parse_calls


def read(text: str, **ways: bool) -> list[tuple[str, dict[str, object]]]:
    return [(call.name, call.arguments) for call in parse_calls(text, **ways)]


def test_calls_are_read_with_their_literals() -> None:
    assert read("[a(k='v', n=-2, f=1.5, t=True, z=None), b()]") == [
        ("a", {"k": "v", "n": -2, "f": 1.5, "t": True, "z": None}), ("b", {}),
    ]  # fmt: skip
    assert read("""[order(items=[{'product': "Domino's", 'quantity': 1}])]""") == [
        ("order", {"items": [{"product": "Domino's", "quantity": 1}]})
    ]


def test_spaces_and_braces_in_a_text_are_kept() -> None:
    """P082, P079."""
    assert read('[make_survey(title="Garden Tool Poll")]') == [("make_survey", {"title": "Garden Tool Poll"})]
    assert read("[run(command='cp notes/{old,new ')]") == [("run", {"command": "cp notes/{old,new "})]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("[area(base=len('abc')+1)]", "non_literal_argument"),
        ("[area(base=2**999999)]", "non_literal_argument"),
        ("[area(base=__import__('os').system('true'))]", "non_literal_argument"),
        ("[f(ok=true, n=null)]", "non_literal_argument"),
        ("[f(x=f'{1}')]", "non_literal_argument"),
        ("[f(x=b'1')]", "non_literal_argument"),
        ("[f(x=1e999)]", "non_literal_argument"),
        ("[f(x=99999999999999999999999999)]", "non_literal_argument"),
        ("[f(x='\\ud800')]", "non_literal_argument"),
        ("[f(x={**{}})]", "non_literal_argument"),
        ("[f(n=6, n=7)]", "repeated_argument"),
        ("[f(**{'n': 6})]", "unpacked_argument"),
        ("[area({'base': 6, 'height': 9})]", "positional_argument"),
        ("[area(6, 9)]", "positional_argument"),
        ("[f(x='Domino's')]", "syntax"),
        ("[f(x=1)", "syntax"),
        ("[f(x=1)] done", "syntax"),
        ("[" * 5000, "syntax"),
        ("[f(x='" + "a" * 30_000 + "')]", "too_long"),
        ("[]", "no_call"),
        ("['f']", "no_call"),
        ("[f]", "no_call"),
        ("[a.b(x=1)]", "no_name"),
        ("[(lambda: 1)()]", "no_name"),
        ("f(x=1)", "no_list"),
        ("[f(x='\0')]", "syntax"),
    ],
)  # fmt: skip
def test_what_is_no_literal_call_is_malformed_and_says_why(text: str, fault: str) -> None:
    """L240, L242, P065."""
    with pytest.raises(Malformed, match=f"^{fault}$"):
        parse_calls(text)


def test_brackets_and_words_behind_are_a_matter_of_the_protocol() -> None:
    assert read("f(x=1)", bare=True) == [("f", {"x": 1})]
    assert read("[f(x='a ] b')] I did it.", trailing=True) == [("f", {"x": "a ] b"})]
    assert read("[f(x='it\\'s ]')]\n[g()]", trailing=True) == [("f", {"x": "it's ]"})]
    assert read("[f(x='a)]')]", trailing=True) == [("f", {"x": "a)]"})]


@pytest.mark.parametrize(
    ("text", "strict", "bare"),
    [
        ("[f()]", True, True), (" \n[f(x=1)", True, True), ("[sic] I think", True, True), ("f(x=1)", False, True),
        ("finish conversation", False, False), ("", False, False), ("Which one (1 or 2)?", False, False),
        ("I will call [f()]", False, False),
    ],
)  # fmt: skip
def test_a_message_that_begins_with_a_list_is_meant_as_a_call(text: str, strict: bool, bare: bool) -> None:
    assert attempted(text, bare=False) is strict
    assert attempted(text, bare=True) is bare


def test_a_call_is_written_so_that_it_is_read_again() -> None:
    call = Call("f", {"x": 'it\'s "so"\n', "y": [1, {"z": None}]})
    assert parse_calls(f"[{call}]") == [call]
