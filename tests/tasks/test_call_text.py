"""Calls are read as Python reads them, by a reader of our own, whatever a model wrote."""

import ast
import random
import sys
import threading
import warnings
from collections.abc import Callable

import pytest

from spadework.tasks.call_text import CallNode, Constant, Name, Node, Other, Pairs, Several, read_text
from spadework.tasks.call_tokens import NotPython

PIECES = (
    "f", "a", "b.c", "x", "None", "True", "...", "1", "-2.5", "0x1F", "1_0", "1e3", ".5", "2j", "007", "1__0", "'s'",
    '"t"', "'it\\'s'", "'''u\n'''", "r'\\d'", "b'\\x41'", "f'{a}'", "'\\u00e9'", "'\\N{BULLET}'", "'\\777'", "'\\q'",
    "'\\x4'", "'é#'", "ﬁ", "class", "not", "if", "else", "for", "in", "lambda", "and", "=", "==", ":=", "+", "-", "*",
    "**", "@", "~", "(", ")", "[", "]", "{", "}", ",", ":", ".", "#c\n", "\\\n", " ", "\n", "\t", "$", "?", "!", "'",
    '"', "\\", "\r\n", "\x0c", "\xa0",
)  # fmt: skip


def by_python(text: str) -> Node:
    """What Python's own parser makes of a text, in our words. Raises SyntaxError or ValueError."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return in_our_words(ast.parse(text, mode="eval").body)


def in_our_words(node: ast.expr) -> Node:
    match node:
        case ast.Constant(value=value):
            return Constant(value)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() | complex() as number)):
            return Other() if isinstance(number, bool) else Constant(-number)
        case ast.Name(id=name):
            return Name(name)
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return Several(tuple(map(in_our_words, items)), is_list=isinstance(node, ast.List))
        case ast.Dict(keys=keys, values=values) if None not in keys:
            return Pairs(tuple((in_our_words(k), in_our_words(v)) for k, v in zip(keys, values) if k is not None))
        case ast.Call(func=function, args=given, keywords=named):
            dotted = ast.unparse(function) if plain_name(function) else ""
            return CallNode(
                dotted, tuple(map(in_our_words, given)), tuple((one.arg, in_our_words(one.value)) for one in named)
            )
    return Other()


def plain_name(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) or (isinstance(node, ast.Attribute) and plain_name(node.value))


def literal(node: Node) -> bool:
    """Whether nothing in it would have to be evaluated or looked up."""
    match node:
        case Several(items=items):
            return all(map(literal, items))
        case Pairs(pairs=pairs):
            return all(literal(key) and literal(value) for key, value in pairs)
        case CallNode(given=given, named=named):
            return all(map(literal, given)) and all(name is not None and literal(value) for name, value in named)
    return not isinstance(node, Other)


def same(ours: Node, theirs: Node) -> bool:
    """By their texts, since 1 and True and 1.0 are equal."""
    return repr(ours) == repr(theirs)


def read(text: str) -> Node | None:
    try:
        return read_text(text)
    except NotPython:
        return None


def reference(text: str) -> Node | None:
    try:
        return by_python(text)
    except (SyntaxError, ValueError):
        return None


def compared(text: str) -> None:
    """Both ways. Lines mean nothing to our reader even where no bracket is open; the benchmarks read whole lists."""
    ours, theirs = read(text), reference(text.strip(" \t\n\r\x0c"))
    if ours is not None and literal(ours):
        lineless = theirs or reference(f"({text}\n)")
        assert lineless is not None and same(ours, lineless), text
    if theirs is not None and literal(theirs):
        assert ours is not None and same(ours, theirs), text


def test_what_is_literal_is_read_as_python_reads_it_in_any_heap_of_words() -> None:
    chance = random.Random(7)
    for _ in range(10_000):
        compared("".join(chance.choice(PIECES) + chance.choice(("", " ")) for _ in range(chance.randrange(1, 12))))


def test_calls_with_one_piece_changed_are_read_as_python_reads_them() -> None:
    chance = random.Random(11)
    whole = """[f(a=1, b='x', c=[1, -2.5, None], d={'k': (1, 2), "l": True}), g.h(e="it's", f=r'\\d'), k()]"""
    sound = 0
    for _ in range(4_000):
        at = chance.randrange(len(whole))
        text = whole[:at] + chance.choice(PIECES) + whole[at + chance.randrange(3) :]
        sound += read(text) is not None
        compared(text)
    assert sound > 100


def test_any_literal_value_comes_back() -> None:
    chance = random.Random(13)

    def made(depth: int) -> object:
        kind = chance.randrange(9 if depth else 6)
        if kind < 6:
            return (
                None, chance.random() < 0.5, chance.randrange(-9, 10**chance.randrange(1, 30)), chance.gauss(0, 1e9),
                "".join(chance.choice("ab'\"\\\n\r\t\0é€😀{}[]()#, \x7f\u2028") for _ in range(chance.randrange(9))),
                bytes(chance.randrange(256) for _ in range(chance.randrange(5))),
            )[kind]  # fmt: skip
        inside = [made(depth - 1) for _ in range(chance.randrange(4))]
        return inside if kind == 6 else tuple(inside) if kind == 7 else {str(one): one for one in inside}

    for _ in range(1_000):
        value = made(4)
        text = f"f(a={value!r})"
        assert same(read_text(text), by_python(text)), text


@pytest.mark.parametrize(
    "text",
    [
        "[" * 200_000, "f(" * 60_000, "f(a=" * 40_000 + "1", "{" * 100_000, "(" * 61 + ")" * 61, "'" * 199_999,
        "f(a=1" + "0" * 100_000 + ")", "f(a=0x" + "f" * 100_000 + ")", "'\\" * 90_000, "'''" + "\\'" * 90_000,
        "1 " * 90_000, "[1, " * 50_000, "f(a='" + "x" * 150_000, "\\\n" * 90_000 + "$", "#" * 190_000, "a." * 90_000,
    ],
    ids=lambda text: text[:8],
)  # fmt: skip
def test_what_nests_too_deep_or_never_ends_is_refused(text: str) -> None:
    with pytest.raises(NotPython):
        read_text(text)


def long_texts(count: int) -> list[str]:
    return [
        "f(a=" + "-" * count + "1)", "f(a=1" + "+1" * (count // 2) + ")", "f" + "()" * (count // 2),
        "[" + "x," * (count // 2) + "]", "f(a='" + "\\n" * (count // 2) + "')", "[" * 50 + "x" * count + "]" * 50,
    ]  # fmt: skip


def calls_made(work: Callable[[], object]) -> int:
    """Functions that were called, built-in ones too."""
    count = 0

    def counted(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(counted)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def test_a_text_of_four_times_the_length_takes_four_times_the_work() -> None:
    for short, long in zip(long_texts(2_000), long_texts(8_000), strict=True):
        assert calls_made(lambda: read_text(long)) < 4.5 * calls_made(lambda: read_text(short)), short[:9]  # noqa: B023


def test_long_texts_are_read_on_a_small_stack() -> None:
    """256 KiB, of which Python's parser would need more."""
    found: list[Node] = []
    before = threading.stack_size(256 * 1024)
    try:
        thread = threading.Thread(target=lambda: found.extend(map(read_text, long_texts(20_000))))
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    assert len(found) == 6


def test_sixty_brackets_are_still_read_where_the_stack_is_in_use_already() -> None:
    def below(frames: int) -> Node:
        return below(frames - 1) if frames else read_text("[" * 60 + "]" * 60)

    assert isinstance(below(200), Several)
