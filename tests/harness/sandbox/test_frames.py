"""What the host does with bytes that are no answer: the decoder, and the channel below it, with real pipes."""

import os
import random
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest

from spadework.harness.bench_fuzz import SORTS, frames, fuzz
from spadework.harness.sandbox import Limits
from spadework.harness.sandbox.channel import Channel, exchange
from spadework.harness.sandbox.frames import HEADER, ProtocolError, decode_reply, pack

LIMITS = Limits()
ANSWER_LIMIT = 100
WALL_S = 0.3
LONGER_S = 20.0
"""A deadline that is not reached."""


@contextmanager
def channel() -> Iterator[tuple[Channel, int, int, "subprocess.Popen[bytes]"]]:
    """A channel to a process that lives but says nothing, and the other ends of its pipes: questions, answers."""
    with subprocess.Popen(["sleep", "600"]) as child:
        questions, asking = os.pipe()
        answers, answering = os.pipe()
        one = Channel(asking, answers, pidfd=os.pidfd_open(child.pid), number=child.pid)
        try:
            yield one, questions, answering, child
        finally:
            one.close()
            for end in (questions, answering):
                with suppress(OSError):
                    os.close(end)


def outcome(stream: bytes, chunks: list[int], end: bool) -> str:
    """What a stream of bytes, written in pieces, comes to; the process dies at its `end`."""
    with channel() as (one, _questions, answering, child):
        one.ask(b"[]", ANSWER_LIMIT)
        place = 0
        for size in chunks:
            os.write(answering, stream[place : place + size])
            place += size
            if one.waiting:
                one.read()
        os.write(answering, stream[place:])
        if end:
            child.kill()
            os.close(answering)
        exchange([one], WALL_S)
        return one.failure or one.answer().decode("latin-1")


def expected(stream: bytes, end: bool) -> set[str]:
    """What may come of a stream; bytes after a whole answer are noticed now or at the next question."""
    if len(stream) >= HEADER.size:
        size = HEADER.unpack_from(stream)[0]
        if size > ANSWER_LIMIT:
            return {"protocol"}
        payload = stream[HEADER.size :]
        if len(payload) >= size:
            answer = payload[:size].decode("latin-1")
            return {answer} if len(payload) == size else {answer, "protocol"}
    return {"crash" if end else "hang"}


def test_fifty_thousand_mutated_frames_raise_nothing_but_the_typed_error() -> None:
    tallies = fuzz(50_000, seed=1)
    assert sum(tally.refused + tally.accepted for tally in tallies.values()) == 50_000
    assert tallies["honest answers"].refused == 0 and tallies["random bytes"].accepted == 0
    assert all(tallies[sort].refused for sort in SORTS if sort != "honest answers")
    assert all(tallies[sort].accepted for sort in SORTS if sort != "random bytes")


def test_the_same_seed_gives_the_same_frames() -> None:
    assert list(frames(200, 3)) == list(frames(200, 3)) != list(frames(200, 4))


@pytest.mark.parametrize("frame", [
    b"", b"\0", b"[]", b"null", b'["","",[]]', b'["","",[[1,"x",0,true,false,{}]]]',
    b'["","",[[0,"x",0,true,false,{}],[0,"x",0,true,false,{}]]]', b'["","",[[0,"x",0,true,false,{},"","",""]]]',
    b'["","",[[0,"x",0,1,false,{}]]]', b'["","",[[0,"x",true,true,false,{}]]]', b'["","",[[0,7,0,true,false,{}]]]',
    b'["","",[[0,"x",1e5,true,false,{}]]]', b'["","",[[0,"x",NaN,true,false,{}]]]', b'["closed","x",[]]',
    b'["no such kind","x",[]]', b'["","",[[0,"x",0,true,false,[]]]]', b'["","",[[0,"\\ud800",0,true,false,{}]]]',
    b'["","",[[0,"\xff",0,true,false,{}]]]', b'["","",[[0,"x",0,true,false,{"a":"\xff"}]]]', b"[" * 100_000,
    b'["","",[[0,"x",0,true,false,{"a":' + b"[" * 50 + b"]" * 50 + b"}]]]", b"\x80\x04K\x01.", b"9" * 10_000,
    b'["","",[[0,"' + b"x" * 16_385 + b'",0,true,false,{}]]]',
    b'["","",[[0,"x",0,true,false,{"a":"' + b"x" * 5_000 + b'"}]]]',
])  # fmt: skip
def test_what_an_honest_worker_would_not_write_is_refused(frame: bytes) -> None:
    with pytest.raises(ProtocolError):
        decode_reply(frame, [0], LIMITS)


def test_streams_of_random_bytes_in_random_pieces_end_as_their_first_frame_says() -> None:
    rng = random.Random(5)
    for _ in range(150):
        answer = pack(rng.randbytes(rng.choice((0, 1, 30, ANSWER_LIMIT, ANSWER_LIMIT + 1))))
        stream = rng.choice((answer, rng.randbytes(rng.randint(4, 40)), answer + rng.randbytes(3), answer * 2))
        chunks = [rng.randint(1, 9) for _ in range(rng.randint(0, 6))]
        found = outcome(stream, chunks, end=True)
        assert found in expected(stream, end=True), (stream, chunks, found)


def test_a_truncated_frame_ends_with_the_pipe_or_with_the_deadline() -> None:
    for stream in (b"", b"\x05", pack(b"hello")[:-1]):
        assert outcome(stream, [], end=True) == "crash"
        assert outcome(stream, [], end=False) == "hang"


@pytest.mark.parametrize("size", [ANSWER_LIMIT + 1, 2**20, 2**31, 2**32 - 1])
def test_an_announced_length_beyond_the_limit_ends_the_exchange_before_anything_is_read(size: int) -> None:
    assert outcome(HEADER.pack(size), [], end=False) == "protocol"


def test_an_answer_that_trickles_in_is_taken_whole_or_not_at_all() -> None:
    def trickle(stream: bytes, answering: int, pause_s: float) -> None:
        with suppress(OSError):
            for place in range(len(stream)):
                os.write(answering, stream[place : place + 1])
                time.sleep(pause_s)

    for pause_s, wall_s, wanted in ((0.001, LONGER_S, ""), (0.02, WALL_S, "hang")):
        with channel() as (one, _questions, answering, _child):
            one.ask(b"[]", ANSWER_LIMIT)
            writer = threading.Thread(target=trickle, args=(pack(b"x" * ANSWER_LIMIT), answering, pause_s))
            writer.start()
            started = time.monotonic()
            exchange([one], wall_s)
            assert one.failure == wanted
            assert time.monotonic() - started < 2.0 or not wanted
            assert wanted or one.answer() == b"x" * ANSWER_LIMIT
            writer.join()


def test_a_question_larger_than_the_pipe_is_written_as_the_worker_reads() -> None:
    question = os.urandom(1 << 20)
    heard = bytearray()

    def listen(questions: int, answering: int) -> None:
        while len(heard) < HEADER.size + len(question):
            heard.extend(os.read(questions, 10_000))
        os.write(answering, pack(b"heard"))

    with channel() as (one, questions, answering, _child):
        reader = threading.Thread(target=listen, args=(questions, answering))
        one.ask(question, ANSWER_LIMIT)
        assert one.outgoing, "the pipe holds less"
        reader.start()
        exchange([one], LONGER_S)
        assert one.answer() == b"heard" and heard == pack(question)
        reader.join()


def test_a_question_to_a_worker_that_never_reads_ends_at_the_deadline() -> None:
    with channel() as (one, _questions, _answering, _child):
        one.ask(b"x" * (1 << 20), ANSWER_LIMIT)
        exchange([one], WALL_S)
        assert one.failure == "hang"


@pytest.mark.parametrize(("dead", "failure"), [(True, "crash"), (False, "protocol")])
def test_a_closed_pipe_is_a_crash_of_the_dead_and_a_breach_of_the_living(dead: bool, failure: str) -> None:
    with channel() as (one, questions, answering, child):
        os.close(questions)
        os.close(answering)
        if dead:
            child.kill()
        one.ask(b"x" * (1 << 20), ANSWER_LIMIT)
        exchange([one], LONGER_S)
        assert one.failure == failure


def test_every_failure_kills_the_process() -> None:
    for stream, end in ((b"", True), (b"", False), (HEADER.pack(2**31), False)):
        with channel() as (one, _questions, answering, child):
            one.ask(b"[]", ANSWER_LIMIT)
            os.write(answering, stream)
            if end:
                os.close(answering)
            exchange([one], WALL_S)
            assert one.failure and child.wait(5) == -9


def test_many_channels_are_served_together_and_a_silent_one_delays_no_answer() -> None:
    pairs = [channel() for _ in range(5)]
    with pairs[0] as silent, pairs[1] as a, pairs[2] as b, pairs[3] as c, pairs[4] as broken:
        for one, _questions, _answering, _child in (silent, a, b, c, broken):
            one.ask(b"[]", ANSWER_LIMIT)
        for number, (_one, _questions, answering, _child) in enumerate((a, b, c)):
            os.write(answering, pack(b"%d" % number))
        os.write(broken[2], b"\xff" * 10)
        exchange([one for one, *_ in (silent, a, b, c, broken)], WALL_S)
        assert [one.failure for one, *_ in (silent, a, b, c, broken)] == ["hang", "", "", "", "protocol"]
        assert [one.answer() for one, *_ in (a, b, c)] == [b"0", b"1", b"2"]
