r"""Exact arithmetic on numbers as people write them: `1,250`, `072`, `72.0`, `1/2`, `\frac{1}{2}`, `2^{10}`, `5!`.

A small grammar over fractions, nothing of symbols: what it cannot read is None and left to a computer algebra system.
It never computes a number of more than `MOST_BITS`. Its input is tidied text (`tex_text.tidied`).
"""

import math
import re
from fractions import Fraction

MOST_BITS = 20_000
MOST_DIGITS = 4_000
"""Of one numeral; Python itself reads no more than 4300."""
_DEEPEST = 40
_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\d,])|\d+(?:\.\d*)?|\.\d+)(?P<power>[eE][+-]?\d+(?![\dA-Za-z.]))?"
    r"|(?P<word>\\[A-Za-z]+|\*\*|[-+*/^!(){}\[\]]))"
)
_SIGNS = {"\\cdot": "*", "\\times": "*", "\\div": "/", "**": "^", "\\dfrac": "\\frac", "\\tfrac": "\\frac"}
_FUNCTIONS = {"\\frac": 2, "\\binom": 2, "\\sqrt": 1}
_CLOSING = {"(": ")", "{": "}", "[": "]"}


class TooLarge(Exception):
    """The text stands for a number that nobody computes, such as a tower of powers."""


class Undefined(Exception):
    """A division by zero, or a root of a negative number."""


def exact(text: str) -> Fraction | None:
    """The number that the whole text stands for; None when it is not plain arithmetic. Raises TooLarge, Undefined."""
    tokens = _tokens(text)
    if not tokens:
        return None
    reader = _Reader(tokens)
    try:
        value = reader.sum(0)
    except _Unreadable:
        return None
    return value if reader.position == len(tokens) else None


class _Unreadable(Exception):
    """Not in the grammar."""


def _tokens(text: str) -> list[str | Fraction] | None:
    """Numbers as fractions, everything else as it is written; None where a character has no place in arithmetic."""
    found: list[str | Fraction] = []
    text, position, depth = text.rstrip(), 0, 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            return None
        number = match.group("number")
        if number is None:
            word = match.group("word")
            depth += (word in "([") - (word in ")]")
            found.append(_SIGNS.get(word, word))
        elif depth and "," in number:
            return None  # a pair in parentheses, not a thousand
        else:
            found.append(_value(number.replace(",", ""), match.group("power")))
        position = match.end()
    return found


def _value(digits: str, power: str | None) -> Fraction:
    if len(digits) > MOST_DIGITS or len(power or "") > 6 or abs(int((power or "e0")[1:])) > MOST_DIGITS:
        raise TooLarge
    whole, _, rest = digits.partition(".")
    return Fraction(int(whole + rest or "0"), 10 ** len(rest)) * Fraction(10) ** int((power or "e0")[1:])


class _Reader:
    """Recursive descent: sums of products of powers of atoms."""

    def __init__(self, tokens: list[str | Fraction]) -> None:
        self.tokens, self.position = tokens, 0

    def peek(self) -> str | Fraction | None:
        return self.tokens[self.position] if self.position < len(self.tokens) else None

    def take(self) -> str | Fraction:
        token = self.peek()
        if token is None:
            raise _Unreadable
        self.position += 1
        return token

    def sum(self, depth: int) -> Fraction:
        if depth > _DEEPEST:
            raise _Unreadable
        value = self.product(depth)
        while self.peek() in ("+", "-"):
            sign = 1 if self.take() == "+" else -1
            value = _checked(value + sign * self.product(depth))
        return value

    def product(self, depth: int) -> Fraction:
        value = self.signed(depth)
        while True:
            token = self.peek()
            if token in ("*", "/"):
                self.take()
                other = self.signed(depth)
                value = _checked(value * other if token == "*" else _quotient(value, other))
            elif token in ("(", "[", *_FUNCTIONS):
                value = self.beside(value, depth)
            else:
                return value

    def beside(self, value: Fraction, depth: int) -> Fraction:
        r"""What stands beside a factor without a sign multiplies it, but `3\frac{1}{2}` is a mixed number."""
        mixed = self.peek() == "\\frac" and isinstance(self.tokens[self.position - 1], Fraction)
        other = self.power(depth)
        proper = mixed and value.denominator == 1 and 0 < other < 1
        return _checked(value + other if proper else value * other)

    def signed(self, depth: int) -> Fraction:
        sign = 1
        while self.peek() in ("+", "-"):
            sign = sign if self.take() == "+" else -sign
        return sign * self.power(depth)

    def power(self, depth: int) -> Fraction:
        value = self.atom(depth)
        while self.peek() == "!":
            self.take()
            value = _factorial(value)
        if self.peek() != "^":
            return value
        self.take()
        if depth > _DEEPEST:
            raise _Unreadable
        return _power(value, self.signed(depth + 1))

    def atom(self, depth: int) -> Fraction:
        token = self.take()
        if isinstance(token, Fraction):
            return token
        if token in _CLOSING:
            value = self.sum(depth + 1)
            if self.take() != _CLOSING[token]:
                raise _Unreadable
            return value
        if token not in _FUNCTIONS or self.peek() == "[":
            raise _Unreadable
        return _applied(token, [self.argument(depth) for _ in range(_FUNCTIONS[token])])

    def argument(self, depth: int) -> Fraction:
        if self.peek() not in ("{", "("):
            raise _Unreadable
        return self.atom(depth)


def _applied(function: str, arguments: list[Fraction]) -> Fraction:
    if function == "\\frac":
        return _quotient(*arguments)
    if function == "\\sqrt":
        return _root(arguments[0], 2)
    upper, lower = arguments
    if upper.denominator != 1 or lower.denominator != 1 or not 0 <= lower <= upper:
        raise _Unreadable
    if upper > 2000:
        raise TooLarge
    return Fraction(math.comb(int(upper), int(lower)))


def _quotient(value: Fraction, other: Fraction) -> Fraction:
    if not other:
        raise Undefined
    return value / other


def _factorial(value: Fraction) -> Fraction:
    if value.denominator != 1 or value < 0:
        raise _Unreadable
    if value > 1000:
        raise TooLarge
    return Fraction(math.factorial(int(value)))


def _power(base: Fraction, exponent: Fraction) -> Fraction:
    if exponent.denominator != 1:
        return _power(_root(base, exponent.denominator), Fraction(exponent.numerator))
    if not base and exponent < 0:
        raise Undefined
    if base in (0, 1, -1):
        return base ** int(exponent % 2 + 2) if exponent else Fraction(1)
    if _bits(base) * abs(exponent) > MOST_BITS:
        raise TooLarge
    return base ** int(exponent)


def _root(value: Fraction, degree: int) -> Fraction:
    """The exact root; not in the grammar where it is no fraction."""
    if value < 0 and degree % 2 == 0:
        raise Undefined
    if degree > 64:
        raise _Unreadable
    parts = [_whole_root(abs(part), degree) for part in (value.numerator, value.denominator)]
    return Fraction(parts[0], parts[1]) * (-1 if value < 0 else 1)


def _whole_root(value: int, degree: int) -> int:
    low, high = 0, 1 << (value.bit_length() // degree + 1)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if middle**degree <= value else (low, middle - 1)
    if low**degree != value:
        raise _Unreadable
    return low


def _checked(value: Fraction) -> Fraction:
    if _bits(value) > MOST_BITS:
        raise TooLarge
    return value


def _bits(value: Fraction) -> int:
    return max(value.numerator.bit_length(), value.denominator.bit_length())
