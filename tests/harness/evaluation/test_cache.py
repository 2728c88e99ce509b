"""Completions drawn before: by what determines them, safely, and never a failure."""

import resource
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from spadework.harness.errors import InputError
from spadework.harness.evaluation.cache import CachedModel, CompletionCache, identity_digest, request_key
from spadework.harness.scripted import ScriptedChat
from spadework.harness.types import Completion, Finish, Message, Request, Sampling, Tool, ToolCall

REQUEST = Request(messages=(Message(role="user", content="2 + 2"),), sampling=Sampling(), seed=1)


def test_every_part_that_changes_a_completion_changes_the_key_and_nothing_else_does() -> None:
    """Case P168 and wish 7 of the users."""
    tool = Tool(name="f", description="", parameters={})
    calls = (ToolCall(id="1", name="f", arguments="{}"),)
    others = [
        replace(REQUEST, seed=2),
        replace(REQUEST, sampling=Sampling(temperature=0.5)),
        replace(REQUEST, sampling=Sampling(stop_texts=("x",))),
        replace(REQUEST, tools=(tool,)),
        replace(REQUEST, messages=(Message(role="system", content="2 + 2"),)),
        replace(REQUEST, messages=(Message(role="user", content="2 + 2", calls=calls),)),
        Request(ids=(1, 2), sampling=Sampling(), seed=1),
    ]
    keys = {request_key("a", one) for one in [REQUEST, *others]} | {request_key("b", REQUEST)}
    assert len(keys) == len(others) + 2
    assert request_key("a", replace(REQUEST, session=7, time_limit_s=3.0)) == request_key("a", REQUEST)


def test_an_identity_without_weights_is_never_cached() -> None:
    weights = {"weights": "ab", "template": "cd", "engine": "vllm"}
    assert identity_digest({**weights, "weights": ""}) is None
    assert len({identity_digest({**weights, key: "other"}) for key in weights}) == 3


def test_a_completion_comes_back_whole_and_the_model_is_asked_once(tmp_path: Path) -> None:
    calls = (ToolCall(id="1", name="f", arguments='{"a": "\u00e9\\ud800"}'),)
    drawn = Completion(ids=(1, 2), logprobs=(-0.5, -1e-9), text="four \u00e9", finish=Finish.CALLS, calls=calls)
    model = ScriptedChat(lambda request: drawn)
    for number in range(3):
        with CompletionCache(tmp_path / "cache" / "c.sqlite") as cache:
            cached = CachedModel(model, cache, "a")
            assert cached.generate([REQUEST, replace(REQUEST, seed=9)]) == [drawn, drawn]
            assert cached.hits == (0 if number == 0 else 2)
    assert len(model.requests) == 2


def test_a_failure_is_asked_again(tmp_path: Path) -> None:
    failed = Completion(ids=(), logprobs=(), text="", finish=Finish.FAILED, error="429")
    model = ScriptedChat(lambda request: failed if len(model.requests) < 2 else "four")
    with CompletionCache(tmp_path / "c.sqlite") as cache:
        cached = CachedModel(model, cache, "a")
        assert [cached.generate([REQUEST])[0].finish for _ in range(3)] == [Finish.FAILED, Finish.STOP, Finish.STOP]
        assert cached.hits == 1


def test_a_file_that_is_no_cache_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite"
    path.write_text("something else " * 100)
    with pytest.raises(InputError, match="no cache"), CompletionCache(path) as cache:
        cache.get(b"x")
    assert path.read_text().startswith("something else")


FILL = """
import sys
from pathlib import Path
from spadework.harness.errors import IncompleteError
from spadework.harness.evaluation.cache import CompletionCache
from spadework.harness.types import Completion, Finish

with CompletionCache(Path(sys.argv[1])) as cache:
    try:
        for number in range(1000):
            drawn = Completion(ids=(), logprobs=(), text=str(number) * 300, finish=Finish.STOP)
            cache.put([(bytes([number % 256, number // 256]), drawn)])
    except IncompleteError as error:
        print(number, error)
"""


def test_a_full_disk_is_one_sentence_and_what_was_kept_stays_readable(tmp_path: Path) -> None:
    """Case P175."""
    path = tmp_path / "c.sqlite"

    def small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (60000, 60000))

    words = [sys.executable, "-c", FILL, str(path)]
    done = subprocess.run(words, capture_output=True, text=True, preexec_fn=small_files, timeout=60)
    assert done.returncode == 0 and "cannot write" in done.stdout, done.stderr
    kept = int(done.stdout.split()[0])
    with CompletionCache(path) as cache:
        found = [cache.get(bytes([number % 256, number // 256])) for number in range(kept)]
    assert kept > 20 and all(one is not None and one.text.startswith(str(n)) for n, one in enumerate(found))
