"""Source texts that hurt whoever parses or compiles them: long, deep, or growing while they are compiled.

Some are harmless to this or that version of Python, which is why their kinds are sets: `CONTRACT` says that the text
was compiled in time and holds no environment.
"""

from spadework.harness.sandbox import ErrorKind

from .hostile import bomb

K = ErrorKind
SLOW = (K.TIMEOUT, K.HANG)
DEEP = (K.SYNTAX, K.MEMORY, K.LOAD, K.CONTRACT)
"""Too deep for the parser (SyntaxError, MemoryError) or the compiler (RecursionError), or just not."""


def nested_finally(levels: int) -> str:
    """Every `finally` is compiled twice, so each level doubles the code."""
    lines = [f"{' ' * n}try: pass\n{' ' * n}finally:" for n in range(levels)]
    return "\n".join([*lines, " " * levels + "x = 1"])


def nested_fstrings(levels: int) -> str:
    """Formats of formats, in alternating quotes as far as they last, line after line."""
    text = "1"
    for quote in ("'", '"', "'''", '"""')[:levels]:
        text = f"f{quote}{{{text}}}{quote}"
    return f"x = {text}\n" * 1500


BOMBS = (
    bomb("parentheses", DEEP, "(" * 30_000 + ")" * 30_000),
    bomb("open_parentheses", (K.SYNTAX, K.MEMORY), "(" * 60_000),
    bomb("brackets_within_limit", (*DEEP, *SLOW), ("x = " + "[" * 150 + "]" * 150 + "\n") * 200),
    bomb("minus_chain", (*DEEP, K.CRASH), "x = " + "-" * 60_000 + "1"),
    bomb("not_chain", (*DEEP, K.CRASH), "x = " + "not " * 15_000 + "1"),
    bomb("lambda_chain", (*DEEP, K.CRASH), "x = " + "lambda: " * 7_000 + "1"),
    bomb("ternary_chain", (*DEEP, K.CRASH), "x = " + "1 if 1 else " * 5_000 + "1"),
    bomb("sum_chain", (*DEEP, K.CRASH), "x = " + "1 + " * 15_000 + "1"),
    bomb("text_sum_chain", (*DEEP, K.CRASH), "x = " + "'a' + " * 10_000 + "'a'"),
    bomb("attribute_chain", (*DEEP, K.CRASH), "x = y" + ".y" * 30_000),
    bomb("call_chain", (*DEEP, *SLOW, K.CRASH), "x = y" + "()" * 30_000),
    bomb("await_chain", (*DEEP, K.CRASH), "async def f(): " + "await " * 10_000 + "x"),
    bomb("comparison_chain", (*DEEP, K.CRASH), "x = " + "1 < " * 15_000 + "1"),
    bomb("else_if_chain", (*DEEP, K.CRASH), "x = 1\nif x: pass\n" + "elif x: pass\n" * 4_500),
    bomb("decorator_chain", (*DEEP, *SLOW, K.CRASH), "@a\n" * 20_000 + "def f(): pass"),
    bomb("import_dots", (*DEEP, K.FORBIDDEN_MODULE), "from " + "." * 60_000 + " import a"),
    bomb("indents", (K.SYNTAX,), "\n".join(" " * n + "if 1:" for n in range(150)) + " pass"),
    bomb("nested_functions", (*DEEP, K.CRASH), "\n".join(
        " " * n + f"def f{n}():" for n in range(95)) + " pass"),
    bomb("nested_classes", (*DEEP, K.CRASH), "\n".join(
        " " * n + f"class C{n}:" for n in range(95)) + " pass"),
    bomb("nested_comprehensions", DEEP, "x = " + "[" * 150 + "1" + " for a in y]" * 150),
    bomb("comprehension_loops", (*DEEP, *SLOW), "x = [1 " + "for a in range(99) " * 18 + "]"),
    bomb("nested_finally", (K.SYNTAX, K.MEMORY, *SLOW), nested_finally(30)),
    bomb("nested_finally_within_limit", (K.MEMORY, K.CONTRACT, *SLOW), nested_finally(19)),
    bomb("nested_fstrings", (*DEEP, *SLOW), nested_fstrings(4)),
    bomb("fstring_depth", DEEP, "x = " + "f'{" * 200 + "1" + "}'" * 200),
    bomb("fstring_fields", (*DEEP, *SLOW), "y = 1\nx = f'" + "{y}" * 20_000 + "'"),
    bomb("format_width", (K.MEMORY,), "x = f'{1:{10**10}}'"),
    bomb("power_tower", SLOW, "x = 9**9**9"),
    bomb("shift", (K.MEMORY, K.LOAD), "x = 1 << (1 << 40)"),
    bomb("factorial", SLOW, "import math\nx = math.factorial(10**7)"),
    bomb("digits", (K.SYNTAX,), "x = " + "9" * 60_000),
    bomb("hex_digits", (K.CONTRACT,), "x = 0x" + "f" * 60_000),
    bomb("float_digits", (K.CONTRACT,), "x = " + "9" * 30_000 + "." + "9" * 30_000),
    bomb("text_times", (K.MEMORY,), "x = 'a' * 10**10"),
    bomb("text_times_folded", (K.MEMORY, K.CONTRACT), "x = ('a' * 4096) * 4096 * 4096"),
    bomb("tuple_times", (K.MEMORY,), "x = ((0,) * 10**5,) * 10**9"),
    bomb("tuples_folded", (K.MEMORY, K.CONTRACT, *SLOW), "x = " + "(" * 20 + "1" + ",) * 9" * 20),
    bomb("percent_width", (K.MEMORY,), "x = '%10000000000d' % 1"),
    bomb("names", DEEP, "".join(f"a{n} = {n}\n" for n in range(4_500))),
    bomb("unpacking", (*DEEP, K.CRASH), ",".join(f"a{n}" for n in range(8_000)) + " = range(8000)"),
    bomb("big_dict", DEEP, "x = {" + ",".join(f"{n}: {n}" for n in range(5_000)) + "}"),
    bomb("globals", DEEP, "def f():\n global " + ",".join(f"a{n}" for n in range(8_000))),
    bomb("unicode_names", DEEP, "\ufdfa" * 5_000 + " = 1"),
    bomb("name_escapes", DEEP, "x = '" + "\\N{ARABIC LIGATURE SALLALLAHOU ALAYHE WASALLAM}" * 1_000 + "'"),
    bomb("patterns", (*DEEP, K.CRASH), "match 1:\n case " + "(" * 150 + "1" + ")" * 150 + ": pass"),
    bomb("with_items", (*DEEP, K.CRASH), "with " + ",".join("a as b" for _ in range(5_000)) + ": pass"),
    bomb("annotations", (*DEEP, K.CRASH), "x: " + "a[" * 150 + "1" + "]" * 150),
    bomb("other_encoding", (K.SYNTAX, K.CONTRACT, K.LOAD), "# -*- coding: utf-7 -*-\n+AHgAPQAx-"),
    bomb("null", (K.ENCODING,), "x = 1\0" * 5_000),
    bomb("too_long", (K.SOURCE_TOO_LARGE,), "#" * 10_000_000),
    bomb("lines", (K.EMPTY,), "\n" * 60_000),
    bomb("continued_lines", DEEP, "x = 1" + "\\\n" * 30_000),
    bomb("recursion", (K.LOAD, K.CRASH, K.MEMORY), "def f(): return f()\nf()"),
    bomb("own_metaclass", (*SLOW, K.CONTRACT), (
        "class M(type):\n def __instancecheck__(c, o):\n  while 1: pass\n __subclasscheck__ = __instancecheck__\n"
        "class AEnv(metaclass=M):\n def reset(self, seed=None): pass\n def step(self, action): pass\n"
        "class BEnv(AEnv): pass"
    )),
    bomb("own_signature", (*SLOW, K.CONTRACT), (
        "class F:\n def __call__(self): pass\n @property\n def __signature__(self):\n  while 1: pass\n"
        "class AEnv:\n reset = step = F()"
    )),
)  # fmt: skip
