"""Reads a list of calls, `[f(a=1), g(b=['x'])]`, without Python's own parser: values of literals, and what is none.

A model's text may nest so deep, or be so long, that Python's parser needs all of the C stack or quadratic time; here
time is proportional to the length and brackets go `DEEPEST` deep. Calls are read as Python reads them; an expression
that is no literal is `Other`. What a benchmark makes of it is the benchmark's affair.
"""

import keyword
from dataclasses import dataclass

from .call_tokens import NotPython, Word, words

DEEPEST = 60
"""Brackets within brackets."""
ENDS = frozenset({",", ")", "]", "}", ""})
"""What may follow an expression; the last is the end of the text."""
CONSTANTS = {"None": None, "True": True, "False": False}
OPERATORS = frozenset(
    "and or not in is if else for async await lambda yield from + - * / % @ & | ^ ~ < > ** // << >> <= >= == != := :"
    .split()
)
"""What stands between operands, or before one."""


@dataclass(frozen=True, slots=True)
class Constant:
    """A number, a text, bytes, None, True, False or an ellipsis."""

    value: object


@dataclass(frozen=True, slots=True)
class Name:
    """A name that would have to be looked up."""

    text: str


@dataclass(frozen=True, slots=True)
class Several:
    """A list, or a tuple."""

    items: "tuple[Node, ...]"
    is_list: bool


@dataclass(frozen=True, slots=True)
class Pairs:
    """A dictionary."""

    pairs: "tuple[tuple[Node, Node], ...]"


@dataclass(frozen=True, slots=True)
class CallNode:
    """A call. A keyword without a name is a dictionary that would be unpacked."""

    function: str
    """Its name, with dots; empty where an expression is called."""
    given: "tuple[Node, ...]" = ()
    """By position."""
    named: "tuple[tuple[str | None, Node], ...]" = ()


@dataclass(frozen=True, slots=True)
class Other:
    """Something that would have to be evaluated."""


Node = Constant | Name | Several | Pairs | CallNode | Other


def read_text(text: str) -> Node:
    """The expression that a text is. Raises NotPython for one that is none, or is nested too deep."""
    reading = _Reading(words(text))
    items, comma = reading.items("")
    if reading.at < len(reading.words) or not items:
        raise NotPython("words behind the expression, or none at all")
    return items[0] if len(items) == 1 and not comma else Several(items, is_list=False)


@dataclass(slots=True)
class _Reading:
    """Words, and how far they have been read."""

    words: list[Word]
    at: int = 0
    depth: int = 0

    @property
    def next(self) -> Word:
        """The word that comes; a sign without text at the end."""
        return self.words[self.at] if self.at < len(self.words) else Word("sign", "")

    @property
    def sign(self) -> str:
        """The next word where it is a sign or an operator in letters; else a text that is none."""
        word = self.next
        return word.text if word.kind == "sign" or word.text in OPERATORS else "operand"

    def taken(self, sign: str) -> bool:
        """Whether the next word is this sign, which is then behind us."""
        found = self.sign == sign
        self.at += found
        return found

    def items(self, end: str) -> tuple[tuple[Node, ...], bool]:
        """What commas part, up to a sign that ends it; and whether the last one has a comma."""
        found: list[Node] = []
        while self.sign != end:
            found.append(self.starred() if self.taken("*") else self.element())
            if not self.taken(","):
                return tuple(found), False
        return tuple(found), bool(found)

    def starred(self) -> Node:
        """What would be unpacked."""
        self.element()
        return Other()

    def element(self, ends: frozenset[str] = ENDS) -> Node:
        """One expression, up to what may follow one."""
        minus = self.taken("-")
        found = self.operand() if self.operand_comes() else None
        if self.sign in ends and found is not None:
            return _negated(found) if minus else found
        self.rest(ends, found is not None)
        return Other()

    def rest(self, ends: frozenset[str], operand: bool) -> None:
        """The other words of an expression that is none of ours: operands with operators between them."""
        last = ""
        while self.sign not in ends:
            if self.operand_comes():
                if operand:
                    raise NotPython("two expressions side by side")
                self.operand()
                operand = True
            elif self.sign in OPERATORS:
                last, operand = self.sign, False
                self.at += 1
            else:
                raise NotPython("a sign out of its place")
        if not operand and last != ":":
            raise NotPython("an expression that is missing")

    def operand_comes(self) -> bool:
        """Whether a literal, a name or a bracket begins here."""
        return self.sign in ("operand", "(", "[", "{", "...")

    def operand(self) -> Node:
        """A literal, a name or something in brackets, with what is called or taken of it."""
        found = self.atom()
        dotted = found.text if isinstance(found, Name) else ""
        while self.sign in (".", "(", "["):
            if self.taken("."):
                name = self.name()
                found, dotted = Other(), f"{dotted}.{name}" if dotted else ""
            elif self.sign == "(":
                found, dotted = self.bracket(dotted), ""
            else:
                self.bracket("")
                found, dotted = Other(), ""
        return found

    def atom(self) -> Node:
        """A literal, a name or something in brackets."""
        word = self.next
        if word.kind in ("string", "formatted"):
            return self.strings()
        if self.sign in ("(", "[", "{"):
            return self.bracket(None)
        self.at += 1
        if word.kind == "number":
            return Constant(word.value)
        if word.text == "...":
            return Constant(...)
        if word.text in CONSTANTS:
            return Constant(CONSTANTS[word.text])
        self.at -= 1
        return Name(self.name())

    def name(self) -> str:
        """A name that is no keyword."""
        word = self.next
        if word.kind != "name" or keyword.iskeyword(word.text):
            raise NotPython("a name that is missing")
        self.at += 1
        return word.text

    def strings(self) -> Node:
        """Strings side by side are one."""
        found: list[Word] = []
        while self.next.kind in ("string", "formatted"):
            found.append(self.next)
            self.at += 1
        if len({isinstance(word.value, bytes) for word in found}) > 1:
            raise NotPython("bytes and a text side by side")
        if any(word.kind == "formatted" for word in found):
            return Other()
        values = [word.value for word in found]
        if isinstance(values[0], bytes):
            return Constant(b"".join(value for value in values if isinstance(value, bytes)))
        return Constant("".join(map(str, values)))

    def bracket(self, called: str | None) -> Node:
        """What stands in brackets, which are then behind us; `called` is whose arguments these are, if anybody's."""
        begin = self.next.text
        end = {"(": ")", "[": "]", "{": "}"}[begin]
        self.at, self.depth = self.at + 1, self.depth + 1
        if self.depth > DEEPEST:
            raise NotPython("brackets too deep in each other")
        found = self.inside(end, called)
        if not self.taken(end):
            raise NotPython("a bracket that is not closed")
        self.depth -= 1
        return found

    def inside(self, end: str, called: str | None) -> Node:
        """A dictionary, arguments, a list, a tuple, or one thing in brackets."""
        if end == "}":
            return self.pairs()
        if end == ")" and called is not None:
            return self.arguments(called)
        items, comma = self.items(end)
        if end == ")" and len(items) == 1 and not comma:
            return items[0]
        return Several(items, is_list=end == "]")

    def pairs(self) -> Node:
        """A dictionary; a set is none."""
        found: list[tuple[Node, Node]] = []
        plain = True
        while self.sign != "}":
            unpacked = self.taken("**") or self.taken("*")
            key = self.element(ENDS | {":"})
            if self.taken(":"):
                found.append((key, self.element()))
            else:
                plain = False
            plain &= not unpacked
            if not self.taken(","):
                break
        return Pairs(tuple(found)) if plain else Other()

    def arguments(self, function: str) -> Node:
        """What a function is given."""
        given: list[Node] = []
        named: list[tuple[str | None, Node]] = []
        while self.sign != ")":
            following = self.words[self.at + 1] if self.at + 1 < len(self.words) else Word("sign", "")
            if self.taken("**"):
                named.append((None, self.element()))
            elif self.taken("*"):
                given.append(self.starred())
            elif self.next.kind == "name" and following == Word("sign", "="):
                name = self.name()
                self.at += 1
                named.append((name, self.element()))
            elif named:
                raise NotPython("an argument by position behind one by name")
            else:
                given.append(self.element())
            if not self.taken(","):
                break
        return CallNode(function, tuple(given), tuple(named))


def _negated(node: Node) -> Node:
    value = node.value if isinstance(node, Constant) else None
    number = isinstance(value, int | float | complex) and not isinstance(value, bool)
    return Constant(-value) if number else Other()  # type: ignore[operator]
