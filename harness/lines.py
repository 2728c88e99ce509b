"""Lines of JSON as typed values, from the bytes of a file of records: pure. Files themselves are `jsonl`'s."""

from typing import TypeVar

import msgspec

from .errors import InputError

T = TypeVar("T")


def decoded(data: bytes, kind: type[T], where: object, remedy: str) -> list[T]:
    """Every whole line of a file's bytes as a `kind`, at the speed of the decoder. Raises `InputError` that names the
    line of a damaged one and ends with what to do."""
    data = data[: data.rfind(b"\n") + 1]
    decoder = msgspec.json.Decoder(kind)
    try:
        return decoder.decode_lines(data)
    except msgspec.DecodeError:
        for number, line in enumerate(data.splitlines(), start=1):
            try:
                decoder.decode(line)
            except msgspec.DecodeError as error:
                raise InputError(f"{where}, line {number}: {error}; {remedy}.") from None
        raise
