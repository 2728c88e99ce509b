"""Words of Python in a text that a model wrote: names, numbers, strings and signs. Neither compiled nor evaluated.

It is one pass by one expression, so a text costs time in proportion to its length. What Python would not take as a word
raises NotPython; f-strings are words of a kind of their own, since they would have to be evaluated.
"""

import re
import unicodedata
from typing import NamedTuple

ESCAPES = {"\n": "", "\\": "\\", "'": "'", '"': '"', "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t",
           "v": "\v"}  # fmt: skip
DIGITS = 4300
"""Of a number; Python takes no longer ones."""
_NUMBER = (
    r"0[xX](?:_?[0-9a-fA-F])+|0[bB](?:_?[01])+|0[oO](?:_?[0-7])+"
    r"|(?:[0-9](?:_?[0-9])*\.?(?:[0-9](?:_?[0-9])*)?|\.[0-9](?:_?[0-9])*)(?:[eE][-+]?[0-9](?:_?[0-9])*)?[jJ]?"
)
_WORD = re.compile(
    rf"""(?P<space>(?:[ \t\f\n]|\\\n|\#[^\n]*)+)
    |(?P<string>(?P<prefix>(?i:br|rb|fr|rf|[rubf])?)(?P<quote>'''|\"\"\"|'|\"))
    |(?P<number>{_NUMBER})
    |(?P<name>[^\W\d]\w*)
    |(?P<sign>\*\*|//|<<|>>|<=|>=|==|!=|->|:=|\.\.\.|[-+*/%@&|^~<>()\[\]{{}},:.=])""",
    re.VERBOSE,
)
_ENDS = {
    "'": re.compile(r"((?:[^'\\\n]|\\.)*)'", re.DOTALL), '"': re.compile(r'((?:[^"\\\n]|\\.)*)"', re.DOTALL),
    "'''": re.compile(r"((?:[^'\\]|\\.|'(?!''))*)'''", re.DOTALL),
    '"""': re.compile(r'((?:[^"\\]|\\.|"(?!""))*)"""', re.DOTALL),
}  # fmt: skip
_ESCAPE = re.compile(
    r"\\(?:(?P<octal>[0-7]{1,3})|x(?P<two>[0-9a-fA-F]{2})|u(?P<four>[0-9a-fA-F]{4})|U(?P<eight>[0-9a-fA-F]{8})"
    r"|N\{(?P<named>[^}]+)\}|(?P<one>[\s\S]))"
)


class NotPython(ValueError):
    """A text that Python's own reader would refuse."""


class Word(NamedTuple):
    """`kind` is name, number, string, formatted (an f-string) or sign; `value` that of a number or string."""

    kind: str
    text: str
    value: object = None


def words(text: str) -> list[Word]:
    """All words of a text. Raises NotPython."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise NotPython("a character that Python does not take")
    found, at = [], 0
    while at < len(text):
        match = _WORD.match(text, at)
        if match is None:
            raise NotPython("a sign that Python does not have")
        at = match.end()
        if match["string"] is not None:
            word, at = _string(text, match)
            found.append(word)
        elif match["number"] is not None:
            found.append(Word("number", match["number"], _number(match["number"])))
        elif match["name"] is not None:
            found.append(_name(match["name"]))
        elif match["sign"] is not None:
            found.append(Word("sign", match["sign"]))
    return found


def _name(text: str) -> Word:
    name = unicodedata.normalize("NFKC", text)
    if not name.isidentifier():
        raise NotPython("a name that is none")
    return Word("name", name)


def _number(text: str) -> object:
    if len(text) > DIGITS:
        raise NotPython("a number without end")
    try:
        if text[-1] in "jJ":
            return complex(text)
        whole = text[:2].lower() in ("0x", "0b", "0o") or not set(text) & set(".eE")
        number = int(text, 0) if whole else float(text)
        str(number)  # a long one in another base than ten is refused here
    except ValueError:
        raise NotPython("a number that is none") from None
    return number


def _string(text: str, match: "re.Match[str]") -> tuple[Word, int]:
    """The string that begins here, and where it ends."""
    prefix = match["prefix"].lower()
    whole = _ENDS[match["quote"]].match(text, match.end())
    if whole is None:
        raise NotPython("a string without end")
    inside, kind = whole[1], "formatted" if "f" in prefix else "string"
    value: object = inside
    if kind == "string" and "r" not in prefix:
        value = _unescaped(inside, bytes_="b" in prefix)
    if "b" in prefix:
        if any(character >= "\x80" for character in inside):
            raise NotPython("bytes with letters that are none")
        value = str(value).encode("latin-1")
    return Word(kind, text[match.start() : whole.end()], value), whole.end()


def _unescaped(inside: str, *, bytes_: bool) -> str:
    def one(found: "re.Match[str]") -> str:
        if found["octal"] is not None:
            return chr(int(found["octal"], 8) & (0xFF if bytes_ else 0x1FF))
        if found["two"] is not None:
            return chr(int(found["two"], 16))
        if found["one"] is None and not bytes_:
            return _character(found)
        sign = found["one"] or ""
        if sign == "x" or (not bytes_ and sign in ("u", "U", "N")):
            raise NotPython("an escape that is cut short")
        return ESCAPES.get(sign, found[0])

    return _ESCAPE.sub(one, inside) if "\\" in inside else inside


def _character(found: "re.Match[str]") -> str:
    """The one that an escape names by number or by name."""
    try:
        if found["named"] is not None:
            return unicodedata.lookup(found["named"])
        return chr(int(found["four"] or found["eight"], 16))
    except (KeyError, ValueError, OverflowError):
        raise NotPython("an escape for no character") from None
