"""`bench fuzz`: frames that no honest worker writes, at the host's decoder. Nothing may come out but ProtocolError.

    python -m spadework.harness.bench fuzz [--frames 1000000] [--seed 0]

A frame is random bytes, an honest answer with bytes, numbers or words changed, or a tree of JSON values of random
shape. The same seed gives the same frames. What is accepted must be within the limits, and writable again. Prints how
many of each sort were refused; the command fails with the first frame that breaks the decoder.
"""

import argparse
import random
import time
from dataclasses import dataclass
from typing import Callable, Iterator

import msgspec

from .errors import ExitCode
from .sandbox import ErrorKind, Limits, Step
from .sandbox.frames import ProtocolError, decode_reply
from .sandbox.limits import HOST_KINDS
from .seeds import generator

FRAMES = 1_000_000
LIMITS = Limits(obs_chars=200, info_bytes=400)
EXPECTED = [0, 7]
PROGRAM_KINDS = [kind for kind in ErrorKind if kind not in HOST_KINDS]

TOKENS = (
    b'""', b'"', b"\\", b"\\u0000", b"\\ud800", b"\\udfff\\ud800", b"\\u00e9", b"\xff", b"\xc3\xa9", b"\xed\xa0\x80",
    b"\xf4\x90\x80\x80", b"\0", b"[", b"]", b"{", b"}", b"[[[[[[[[", b"]]]]]]]]", b",", b":", b"null", b"true",
    b"false", b"NaN", b"Infinity", b"-Infinity", b"-", b"-0", b"-0.0", b"0", b"7", b"1e999", b"-1e999", b"1e-999",
    b"1e4", b"10001", b"9223372036854775808", b"18446744073709551616", b"9" * 400, b"9" * 5000, b"0." + b"3" * 400,
    b'{"a":1}', b'{"a":{"a":{"a":[]}}}', b'{"":[' + b"[" * 40 + b"]" * 40 + b"]}", b"[" * 3000, b'{"a":' * 3000,
    b'"' + b"x" * 201 + b'"', b'"' + b"x" * 500 + b'"', b" " * 100, b"\r\n", b"\xef\xbb\xbf", b"/* */", b"'x'",
    *(f'"{kind}"'.encode() for kind in ErrorKind),
)  # fmt: skip
"""What JSON readers stumble over, and the words that mean something to this one."""
SLACK = 400
"""Bytes; JSON has shorter spellings than ours (`1e4` is written as `10000.0`)."""
_encode = msgspec.json.Encoder().encode


@dataclass(slots=True)
class Tally:
    """How the frames of one sort ended."""

    refused: int = 0
    accepted: int = 0


def honest(rng: random.Random) -> bytes:
    """An answer that a worker could give to the question about `EXPECTED`."""
    if rng.random() < 0.1:
        return _encode((rng.choice(PROGRAM_KINDS), "why", []))
    steps = []
    for number in EXPECTED:
        text = "".join(rng.choice("ab é\n\"\\\U0001f600") for _ in range(rng.randint(0, 30)))
        reward, flags, info = rng.uniform(-1, 1), (rng.random() < 0.2, False), {"turn": rng.randint(0, 9), "k": [text]}
        kind = (rng.choice(PROGRAM_KINDS), text) if rng.random() < 0.1 else ("", "")
        steps.append((number, text, reward, *flags, info if rng.random() < 0.5 else {}, *kind))
    return _encode(("", "", steps))


def noise(rng: random.Random) -> bytes:
    """Any bytes."""
    return rng.randbytes(rng.randint(0, 120))


def changed(rng: random.Random) -> bytes:
    """An honest answer after one to four accidents."""
    frame = bytearray(honest(rng))
    for _ in range(rng.randint(1, 4)):
        place, other = rng.randrange(len(frame) + 1), rng.randrange(len(frame) + 1)
        match rng.randrange(6):
            case 0 if frame:
                frame[place % len(frame)] ^= 1 << rng.randrange(8)
            case 1:
                del frame[min(place, other) : max(place, other)]
            case 2:
                frame[place:place] = rng.choice(TOKENS)
            case 3:
                frame[place:place] = frame[min(place, other) : max(place, other)]
            case 4:
                del frame[place:]
            case _:
                frame[place : place + rng.randint(0, 4)] = rng.choice(TOKENS)
    return bytes(frame)


def words(rng: random.Random) -> bytes:
    """An honest answer in which one whole value is another one."""
    frame = honest(rng)
    parts = frame.split(b",")
    parts[rng.randrange(len(parts))] = rng.choice(TOKENS)
    return b",".join(parts)


def infos(rng: random.Random) -> bytes:
    """An answer whose infos hold a word or two, or nested ones."""
    steps = []
    for number in EXPECTED:
        word = rng.choice(TOKENS)
        for _ in range(rng.choice((0, 0, 1, 2, 40))):
            word = rng.choice((b"[%b]", b'{"a":%b}', b"[1,%b]")) % word
        steps.append(b'[%d,"text",0.5,false,false,{"a":%b},"",""]' % (number, word))
    return b'["","",[%b]]' % b",".join(steps)


def shaped(rng: random.Random) -> bytes:
    """Well-formed JSON of a random shape, often nearly an answer."""
    steps = [_value(rng, 3) if rng.random() < 0.3 else _step(rng, number) for number in EXPECTED]
    answer = [_or_other(rng, ""), _or_other(rng, ""), steps if rng.random() < 0.9 else _value(rng, 3)]
    return _encode(answer if rng.random() < 0.9 else _value(rng, 4))


def _step(rng: random.Random, number: int) -> list[object]:
    usual: tuple[object, ...] = (number, "text", 0.5, False, False, {}, "", "")
    return [_or_other(rng, value) for value in usual][: rng.choice((8, 8, 8, 8, 6, 7, 3))]


def _or_other(rng: random.Random, value: object) -> object:
    return value if rng.random() < 0.9 else _value(rng, 3)


def _value(rng: random.Random, depth: int) -> object:
    plain: tuple[object, ...] = (
        None, True, False, 0, -1, 2**63, 0.0, 1e300, -1e4, 10001.0, "", "x" * 201, "hang", "misuse", "\0", "é",
    )  # fmt: skip
    if depth == 0 or rng.random() < 0.5:
        return rng.choice(plain)
    parts = [_value(rng, depth - 1) for _ in range(rng.randint(0, 4))]
    return parts if rng.random() < 0.5 else {str(number): part for number, part in enumerate(parts)}


SORTS: dict[str, Callable[[random.Random], bytes]] = {
    "honest answers": honest, "random bytes": noise, "accidents": changed, "other words": words, "other infos": infos,
    "other shapes": shaped,
}  # fmt: skip


def frames(count: int, seed: int) -> Iterator[tuple[str, bytes]]:
    """That many frames, each with its sort; the sorts take turns."""
    rng = generator(seed, "bench", "fuzz")
    names = list(SORTS)
    for number in range(count):
        sort = names[number % len(names)]
        yield sort, SORTS[sort](rng)


def fuzz(count: int, seed: int) -> dict[str, Tally]:
    """Decode them all. Raises AssertionError, with the frame, for anything but an answer within the limits or
    ProtocolError."""
    tallies = {sort: Tally() for sort in SORTS}
    for sort, frame in frames(count, seed):
        try:
            _, steps = decode_reply(frame, EXPECTED, LIMITS)
        except ProtocolError:
            tallies[sort].refused += 1
        except BaseException as error:
            raise AssertionError(f"{type(error).__name__}: {error}; the frame is {frame!r}") from error
        else:
            tallies[sort].accepted += 1
            broken = [unsound(step) for step in steps if unsound(step)]
            assert not broken, f"accepted, but {broken[0]}; the frame is {frame!r}"
    return tallies


def unsound(step: Step) -> str:
    """What an accepted step holds that the limits do not allow; empty when it is sound."""
    if step.error is not None:
        return "" if step.error.fault == "program" and len(step.error.message) <= LIMITS.message_chars else "an error"
    try:
        size = len(_encode(step.info))
        step.observation.encode()
    except (ValueError, TypeError, OverflowError) as error:
        return f"not writable again: {error}"
    if len(step.observation) > LIMITS.obs_chars or not abs(step.reward) <= LIMITS.abs_reward:
        return "beyond the limits"
    return "" if size <= LIMITS.info_bytes + SLACK and type(step.terminated) is bool is type(step.truncated) else "odd"


def main() -> int:
    """Print the counts; exit code 1 when a frame broke the decoder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--frames", type=int, default=FRAMES)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    began = time.perf_counter()
    try:
        tallies = fuzz(args.frames, args.seed)
    except AssertionError as broken:
        print(f"the decoder broke: {broken}")
        return int(ExitCode.VERDICT_FAIL)
    refused = sum(tally.refused for tally in tallies.values())
    for sort, tally in tallies.items():
        print(f"{sort:<16}{tally.refused:>9} refused {tally.accepted:>9} accepted")
    print(f"{args.frames} frames, {refused} refused, nothing else raised ({time.perf_counter() - began:.0f} s)")
    return int(ExitCode.OK)


if __name__ == "__main__":
    raise SystemExit(main())
