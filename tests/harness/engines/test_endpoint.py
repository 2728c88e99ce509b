"""The endpoint engine against a real server that answers well, badly, slowly, or not at all."""

import json
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from spadework.harness.engines.opening import OpenModel, open_model
from spadework.harness.errors import InputError
from spadework.harness.types import Completion, Finish, Message, Request, Sampling, Tool, ToolCall, Usage

from .misbehaving import Answer, Asked, Script, Server, elapsed, error, hang, listed, said, serving

TOOL = Tool(name="add", description="Adds.", parameters={"type": "object"})
SECRET = "sk-very-secret-9f2"
PATIENCE_S = 120.0
"""The most a crowded machine may take for what takes a moment."""


def ask(text: str = "What is the capital of France?", *, limit: float | None = None, **changes: Any) -> Request:
    tools, sampling = changes.pop("tools", ()), Sampling(**changes)
    return Request(
        messages=(Message(role="user", content=text),), tools=tools, sampling=sampling, seed=2**40 + 5,
        time_limit_s=limit,
    )  # fmt: skip


def opened(server: Server, **options: Any) -> OpenModel:
    return open_model(f"{server.base}#m", options={"longest_wait_s": 0.05, "retries": 3} | options)


def one(script: Script, request: Request | None = None, **options: Any) -> tuple[Completion, list[Asked]]:
    with serving(script) as server, opened(server, **options) as model:
        (completion,) = model.model.generate([request or ask()])
        return completion, server.asked


def test_an_answer_is_a_completion_with_its_usage() -> None:
    completion, (asked,) = one(lambda asked: said("Paris."))
    assert (completion.text, completion.finish, completion.error) == ("Paris.", Finish.STOP, "")
    assert completion.usage == Usage(prompt_tokens=7, completion_tokens=3)
    assert asked.path == "/v1/chat/completions"
    assert asked.body["messages"] == [{"role": "user", "content": "What is the capital of France?"}]


@pytest.mark.parametrize(
    ("reason", "finish"),
    [("stop", Finish.STOP), ("length", Finish.LENGTH), ("content_filter", Finish.REFUSED)],
)
def test_the_reason_of_the_end_is_kept(reason: str, finish: Finish) -> None:
    assert one(lambda asked: said("x", reason))[0].finish is finish


def test_a_refusal_of_the_model_is_refused_with_its_words() -> None:
    completion, _ = one(lambda asked: said("", message={"content": None, "refusal": "I will not."}))
    assert (completion.finish, completion.text) == (Finish.REFUSED, "I will not.")


@pytest.mark.parametrize("reason", ["tool_calls", "stop"])
def test_tool_calls_come_with_their_arguments_as_written(reason: str) -> None:
    calls = [{"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a": 1,}'}}]
    completion, (asked,) = one(
        lambda asked: said("", reason, message={"content": None, "tool_calls": calls}), ask(tools=(TOOL,))
    )
    assert completion.finish is Finish.CALLS
    assert completion.calls == (ToolCall(id="c1", name="add", arguments='{"a": 1,}'),)
    assert asked.body["tools"][0]["function"]["name"] == "add"


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b'{"error": {"message": "model busy", "code": 503}}', "the body is an error: 503: model busy"),
        (b'{"error": "busy"}', "the body is an error: busy"),
        (b"", "the body is empty"),
        (b"<html>gateway</html>", "the body is no JSON: <html>gateway"),
        (b'{"choices": [{"mess', "the body is no JSON"),
        (b"[" * 20_000, "the body is no JSON"),
        (b"[]", "the body is no JSON object"),
        (b'"Paris"', "the body is no JSON object"),
        (b"{}", "the body holds no choices"),
        (b'{"choices": []}', "the body holds no choices"),
        (b'{"choices": [{"text": "Paris", "finish_reason": "stop"}]}', "the choice holds no message"),
        (b'{"choices": [{"message": {"content": "Par"}, "finish_reason": null}]}', "unknown reason None"),
        (b'{"choices": [{"message": {"content": "Par"}, "finish_reason": "error"}]}', "unknown reason 'error'"),
        (b'{"choices": [{"error": {"message": "upstream"}, "message": {"content": ""}}]}', "an error: upstream"),
        (b'{"choices": [{"message": {"content": 5}, "finish_reason": "stop"}]}', "the content is no text"),
        (b'{"choices": [{"message": {"content": "x"}, "finish_reason": "tool_calls"}]}', "tool calls and holds none"),
        (
            b'{"choices": [{"message": {"tool_calls": [{"id": 1}]}, "finish_reason": "tool_calls"}]}',
            "a tool call names no function",
        ),
    ],
)
def test_a_status_of_200_without_a_completion_is_a_failure_and_never_a_text(body: bytes, why: str) -> None:
    """Report P076."""
    completion, asked = one(lambda asked: Answer(body=body))
    assert completion.finish is Finish.FAILED and completion.text == ""
    assert completion.error.startswith("status 200, but") and why in completion.error
    assert len(asked) == 1


def test_content_in_parts_is_one_text_and_no_content_is_an_empty_one() -> None:
    parts = [{"type": "text", "text": "Pa"}, {"type": "text", "text": "ris"}]
    assert one(lambda asked: said(message={"content": parts}))[0].text == "Paris"
    silent, _ = one(lambda asked: said(finish="length", message={"content": None}))
    assert (silent.text, silent.finish) == ("", Finish.LENGTH)


@pytest.mark.parametrize("status", [429, 500, 502, 503, 529])
def test_overload_is_tried_again_until_there_is_an_answer(status: int) -> None:
    completion, asked = one(lambda asked: said("at last") if asked.number == 2 else error(status))
    assert (completion.text, len(asked)) == ("at last", 3)


def test_tries_end_and_the_last_reason_is_told() -> None:
    completion, asked = one(lambda asked: error(503, "still loading"))
    assert completion.finish is Finish.FAILED and len(asked) == 4
    assert completion.error == 'status 503: {"error": {"message": "still loading", "type": "x"}} (tried 4 times)'


@pytest.mark.parametrize("status", [301, 400, 401, 403, 404, 405, 409, 422, 501])
def test_a_refusal_is_never_tried_again(status: int) -> None:
    completion, asked = one(lambda asked: error(status, "no such thing"))
    assert completion.finish is Finish.FAILED and f"status {status}: " in completion.error
    assert len(asked) == 1


@pytest.mark.parametrize(
    "message",
    [
        "This model's maximum context length is 8192 tokens, however you requested 9000 tokens",
        "context_length_exceeded",
        "prompt is too long: 210000 tokens > 200000 maximum",
        "Please reduce the length of the messages",
    ],
)
def test_a_prompt_that_is_too_long_is_an_overflow_and_no_failure(message: str) -> None:
    assert one(lambda asked: error(400, message))[0].finish is Finish.CONTEXT


def test_a_providers_filter_is_a_refusal() -> None:
    assert one(lambda asked: error(400, "triggering Azure's content management policy"))[0].finish is Finish.REFUSED


def test_retry_after_is_obeyed_and_a_longer_one_than_allowed_ends_the_request() -> None:
    def busy_once(seconds: str) -> Script:
        return lambda asked: said() if asked.number else error(429, Retry_After=seconds)

    assert elapsed(lambda: one(busy_once("0.4"), longest_wait_s=5.0)) > 0.4
    completion, asked = one(busy_once("3600"), longest_wait_s=5.0)
    assert completion.finish is Finish.FAILED and "status 429" in completion.error and len(asked) == 1


def test_a_server_that_hangs_costs_its_time_limit_and_is_tried_again() -> None:
    started = time.monotonic()
    completion, asked = one(lambda asked: said("woke") if asked.number else hang(asked), time_limit_s=2.0)
    assert (completion.text, len(asked)) == ("woke", 2)
    assert 2.0 < time.monotonic() - started < PATIENCE_S


def test_a_requests_own_limit_bounds_all_its_tries() -> None:
    def slow() -> None:
        completion, _ = one(hang, ask(limit=0.5), time_limit_s=0.2)
        assert completion.finish is Finish.FAILED and "no answer within" in completion.error

    assert elapsed(slow) < PATIENCE_S


def test_an_answer_that_drips_does_not_outlive_the_limit() -> None:
    drip = said("x" * 200)
    drip.drip_s = 0.05
    started = time.monotonic()
    completion, _ = one(lambda asked: drip, time_limit_s=0.4, retries=0)
    assert completion.finish is Finish.FAILED and completion.error == "no answer within 0.4 s"
    assert time.monotonic() - started < PATIENCE_S


def test_a_connection_that_breaks_off_is_tried_again() -> None:
    whole = said("whole")
    broken = Answer(body=whole.body, cut=20)
    completion, asked = one(lambda asked: whole if asked.number else broken)
    assert (completion.text, len(asked)) == ("whole", 2)


def test_a_server_that_went_away_is_a_failure_with_its_reason() -> None:
    with serving(lambda asked: said()) as server:
        model = opened(server, retries=1)
    (completion,) = model.model.generate([ask()])
    model.close()
    assert completion.finish is Finish.FAILED
    assert "ConnectError" in completion.error and "(tried 2 times)" in completion.error


def test_an_endless_answer_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    from spadework.harness.engines import endpoint

    monkeypatch.setattr(endpoint, "LARGEST_BODY", 1000)
    completion, asked = one(lambda asked: said("x" * 2000))
    assert completion.finish is Finish.FAILED and "larger than" in completion.error and len(asked) == 1


def test_concurrency_is_bounded_over_all_threads_and_answers_keep_their_order() -> None:
    def echo(asked: Asked) -> Answer:
        answer = said(asked.body["messages"][0]["content"])
        answer.after_s = 0.02
        return answer

    with serving(echo) as server, opened(server, concurrency=5) as model:
        answers: dict[int, list[str]] = {}

        def work(number: int) -> None:
            texts = [f"{number} {at}" for at in range(8)]
            answers[number] = [one.text for one in model.model.generate([ask(text) for text in texts])]

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert server.most_together == 5
    assert answers == {number: [f"{number} {at}" for at in range(8)] for number in range(4)}


def test_a_failed_request_leaves_its_siblings_alone() -> None:
    def picky(asked: Asked) -> Answer:
        return error(400, "bad") if asked.body["messages"][0]["content"] == "bad" else said()

    with serving(picky) as server, opened(server) as model:
        finishes = [one.finish for one in model.model.generate([ask("good"), ask("bad"), ask("good")])]
    assert finishes == [Finish.STOP, Finish.FAILED, Finish.STOP]


def test_every_parameter_is_sent_where_the_server_takes_it() -> None:
    request = ask(temperature=0.7, top_p=0.8, top_k=20, max_new_tokens=99, stop_texts=("END",))
    _, (asked,) = one(lambda asked: said(), request, logprobs=True, extra='{"reasoning_effort": "low"}')
    body = {name: value for name, value in asked.body.items() if name not in ("messages", "model")}
    assert body == {
        "temperature": 0.7, "top_p": 0.8, "top_k": 20, "max_tokens": 99, "stop": ["END"], "seed": 5,
        "logprobs": True, "reasoning_effort": "low",
    }  # fmt: skip


def test_a_vllm_server_gets_ours_and_never_the_models_defaults() -> None:
    with serving(lambda asked: said(), listed("m", owner="vllm")) as server, opened(server) as model:
        model.model.generate([ask(temperature=0.0, stop=(3, 4))])
        body = server.asked[0].body
    assert (body["top_k"], body["repetition_penalty"], body["min_p"]) == (0, 1.0, 0.0)
    assert body["stop_token_ids"] == [3, 4] and body["return_token_ids"] is True


def test_what_a_server_does_not_take_is_not_sent_and_told(caplog: pytest.LogCaptureFixture) -> None:
    request = ask(temperature=0.7, top_k=20, stop=(1,))
    with (
        serving(lambda asked: said()) as server,
        opened(server, kind="openai", not_sent="seed, temperature", length_key="max_completion_tokens") as model,
        caplog.at_level(logging.WARNING),
    ):
        assert model.unsent(request.sampling) == ("temperature", "top_k", "seed", "stop_token_ids")
        assert model.unsent(Sampling(temperature=0.0)) == ("temperature",)
        model.model.generate([request, request])
        body = server.asked[0].body
        assert model.identity.told["not_sent"] == ["seed", "temperature"]
    assert not {"top_k", "seed", "temperature", "stop_token_ids", "max_tokens"} & body.keys()
    assert body["max_completion_tokens"] == 64
    assert [record.getMessage().split("does not get ")[1] for record in caplog.records] == [
        f"{name}: the server does not take it." for name in ("temperature", "top_k", "seed", "stop_token_ids")
    ]


def test_log_probs_and_ids_are_taken_where_given_and_fit() -> None:
    rows = [{"token": "a", "logprob": -0.5}, {"token": "b", "logprob": -1}]
    choice = {"logprobs": {"content": rows}, "token_ids": [4, 5]}
    given, _ = one(lambda asked: said(choice=choice), ask(temperature=0.0))
    assert (given.ids, given.logprobs) == ((4, 5), (-0.5, -1.0))
    other, _ = one(lambda asked: said(choice=choice), ask(temperature=0.5))
    assert (other.ids, other.logprobs) == ((4, 5), ())
    unfit, _ = one(lambda asked: said(choice={**choice, "token_ids": [4, 5, 6]}), ask(temperature=0.0))
    assert unfit.logprobs == ()


def test_token_ids_are_refused_where_only_conversations_are_taken() -> None:
    refused = pytest.raises(InputError, match="takes conversations, not token ids")
    with serving(lambda asked: said()) as server, opened(server) as model, refused:
        model.model.generate([Request(ids=[1], sampling=Sampling(), seed=0)])


def test_the_key_is_sent_and_appears_nowhere_else(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("MY_KEY", SECRET)
    with caplog.at_level(logging.DEBUG), serving(lambda asked: error(401, f"bad key {SECRET}")) as server:
        with open_model(f"{server.base}?key=MY_KEY#m") as model:
            (completion,) = model.model.generate([ask()])
            shown = repr(model) + repr(model.model) + json.dumps(model.identity.record()) + completion.error
        assert server.asked[0].headers["Authorization"] == f"Bearer {SECRET}"
    assert SECRET not in shown + caplog.text
    assert "bad key ***" in completion.error and "the key comes from MY_KEY" in completion.error


def test_no_key_is_sent_to_a_host_it_is_not_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    _, (asked,) = one(lambda asked: said())
    assert "Authorization" not in asked.headers


def test_what_a_server_repeats_of_the_prompt_is_not_recorded() -> None:
    text = "Find the number of ordered pairs of positive integers whose sum is nine"
    body = json.dumps({"error": {"message": f"bad input: {text.upper()}, sorry"}}).encode()
    for answer in (Answer(200, body), Answer(400, body), Answer(503, body)):
        completion, _ = one(lambda asked, answer=answer: answer, ask(text), retries=0)
        assert "ordered" not in completion.error.lower() and "[prompt]" in completion.error
        assert "bad input" in completion.error


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("htps://x/v1#m", r"not 'htps' \(did you mean 'https'\?\)"),
        ("http:///v1#m", r"names no host"),
        ("http://[::1/v1#m", r"is no URL"),
        ("http://localhost:99999/v1#m", r"is no URL"),
        ("http://me:pw@localhost/v1#m", r"holds a password"),
        ("http://localhost/v1?kye=X#m", r"parameter 'kye' \(did you mean 'key'\?\)"),
        (f"http://localhost/v1?key={SECRET}#m", r"names no environment variable"),
        ("http://localhost/v1?key=NO_SUCH_VARIABLE_HERE#m", r"NO_SUCH_VARIABLE_HERE is not set; export it"),
    ],
)
def test_a_wrong_address_is_one_sentence_and_repeats_no_key(address: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence) as caught:
        open_model(address)
    assert SECRET not in str(caught.value) and "pw" not in str(caught.value)


def test_a_wrong_model_offers_the_nearest_and_one_alone_needs_no_name() -> None:
    with serving(lambda asked: said(), listed("qwen3-8b", "qwen3-4b")) as server:
        with pytest.raises(InputError, match=r"no model 'qwen3-8B' \(did you mean 'qwen3-8b'\?\); it has qwen3-4b, qw"):
            open_model(f"{server.base}#qwen3-8B")
        with pytest.raises(InputError, match=r"asked for no model \(it has qwen3-4b, qwen3-8b\); write .*#MODEL"):
            open_model(server.base)
    with serving(lambda asked: said(), listed("only")) as server, open_model(server.base) as model:
        assert model.identity.told["model"] == "only" and model.context == 99
        model.model.generate([ask()])
        assert server.asked[0].body["model"] == "only"
        assert model.answered_as() == ["m-1"]


def test_a_server_that_lists_nothing_is_taken_at_its_name() -> None:
    for models in (error(404), Answer(body=b"hello"), Answer(body=b"[]"), Answer(body=b'{"data": 5}')):
        with serving(lambda asked: said("fine"), models) as server, open_model(f"{server.base}#any") as model:
            assert model.model.generate([ask()])[0].text == "fine"


def test_opening_says_what_is_wrong_with_the_server() -> None:
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        port = nobody.getsockname()[1]
    with pytest.raises(InputError, match=rf"no server answers at http://127.0.0.1:{port}/v1 .*start it or correct"):
        open_model(f"http://127.0.0.1:{port}#m")
    refused = pytest.raises(InputError, match=r"refuses requests without a key \(name one with \?key=VARIABLE\)")
    with serving(lambda asked: said(), error(401)) as server, refused:
        open_model(f"{server.base}#m")
    with serving(lambda asked: said(), error(503)) as server, pytest.raises(InputError, match="does not serve now"):
        open_model(f"{server.base}#m")


def test_offline_refuses_what_is_on_the_network_and_allows_this_machine() -> None:
    with pytest.raises(InputError, match="is on the network, and this is to run offline"):
        open_model("https://api.example.com/v1#m", offline=True)
    with serving(lambda asked: said()) as server, open_model(f"{server.base}#m", offline=True) as model:
        assert model.model.generate([ask()])[0].text == "hi"


def test_what_a_server_says_of_itself_is_not_verified() -> None:
    with serving(lambda asked: said()) as server, opened(server) as model:
        identity = model.identity
    assert not identity.verified and identity.weights == ""
    assert identity.told["says"] == {"id": "m", "owned_by": "somebody", "max_model_len": 99}


def test_the_same_server_is_the_same_model_whenever_it_is_asked() -> None:
    """vLLM says that its model was created when it was asked for it."""
    def at(created: int) -> Answer:
        return Answer(body=json.dumps({"data": [{"id": "m", "owned_by": "vllm", "created": created}]}).encode())

    with serving(lambda asked: said(), at(1)) as server:
        with opened(server) as first:
            pass
        server.models = at(2)
        with opened(server) as second:
            assert first.identity.digest == second.identity.digest


def test_an_interrupt_ends_the_waiting_at_once(tmp_path: Path) -> None:
    script = """
import signal, sys
from spadework.harness.engines.opening import open_model
from spadework.harness.types import Message, Request, Sampling
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job begins without it
request = Request(messages=(Message(role="user", content="x"),), sampling=Sampling(), seed=0)
with open_model(sys.argv[1]) as model:
    print("ready", flush=True)
    model.model.generate([request] * 40)
"""
    with serving(hang) as server:
        command = [sys.executable, "-c", script, f"{server.base}#m"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            assert process.stdout is not None and process.stdout.readline() == b"ready\n"
            while not server.asked:
                time.sleep(0.01)
            os.kill(process.pid, signal.SIGINT)
            assert process.wait(PATIENCE_S) != 0
            assert process.stderr is not None and b"KeyboardInterrupt" in process.stderr.read()
