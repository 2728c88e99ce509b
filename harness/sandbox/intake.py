"""Source text as it comes in: what can be refused before any process is started. Pure; nothing is parsed here."""

from .limits import EnvError, ErrorKind, error_of


def decoded(source: str | bytes) -> str:
    """UTF-8 bytes as text, without a byte order mark; what is no UTF-8 becomes lone surrogates, and `unfit`."""
    text = source if isinstance(source, str) else source.decode("utf-8", "surrogateescape")
    return text.removeprefix("\ufeff")


def unfit(source: str, source_bytes: int) -> EnvError | None:
    """Why a source text cannot be a program; None when a worker has to look at it."""
    try:
        size, sound = len(source.encode("utf-8")), True
    except UnicodeEncodeError:
        size, sound = len(source), False  # at least: every byte that is no UTF-8 is one character here
    if size > source_bytes:
        return error_of(ErrorKind.SOURCE_TOO_LARGE, f"{size} bytes of source are more than {source_bytes}")
    if not source.strip():
        return error_of(ErrorKind.EMPTY, "there is no source text")
    if "\0" in source:
        return error_of(ErrorKind.ENCODING, "the source holds NUL characters")
    if not sound:
        return error_of(ErrorKind.ENCODING, "the source is not UTF-8 text")
    return None


def plain(text: str) -> str:
    """Text that can be written as UTF-8: lone surrogates become question marks."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
