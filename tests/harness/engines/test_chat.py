"""Conversations with a tiny folder through the engine in this process."""

import json
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any, Callable, Sequence

import pytest
import torch

from spadework.harness.engines.chat import ChatModel
from spadework.harness.engines.gathering import Gathered
from spadework.harness.engines.opening import OpenModel, open_model
from spadework.harness.engines.template import CannotRender, ChatTemplate
from spadework.harness.errors import InputError
from spadework.harness.scripted import ScriptedModel
from spadework.harness.types import Completion, Finish, Message, Request, Sampling, Tool, ToolCall, Usage

from . import tiny_folder

torch.set_num_threads(1)
PATIENCE_S = 120.0
"""The most a crowded machine may take for what takes a moment."""
USER = Message(role="user", content="Hello, how are you?")
ADD = Tool(name="add", description="Adds.", parameters={"type": "object", "properties": {"a": {"type": "integer"}}})


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with open_model(str(tiny_folder.write(tmp_path_factory.mktemp("model")))) as model:
        yield model


def asked(*messages: Message, seed: int = 1, tools: tuple[Tool, ...] = (), **sampling: Any) -> Request:
    settings = Sampling(**{"max_new_tokens": 24} | sampling)
    return Request(messages=messages or (USER,), tools=tools, sampling=settings, seed=seed)


def template(source: str | None) -> ChatTemplate:
    words = tiny_folder.tokenizer(source)
    return ChatTemplate(words, model_type="llama", stops={words.eos_token_id})


def saying(reply: str, source: str, *, stop: bool = True, context: int = 4096) -> ChatModel:
    """A conversation model whose engine draws exactly this reply."""
    made = template(source)
    words = tiny_folder.tokenizer(source)
    ids = [*words.encode(reply, add_special_tokens=False), *([words.eos_token_id] if stop else [])]
    return ChatModel(ScriptedModel(lambda request: ids, made.text), made, context)


def test_a_conversation_is_what_the_template_says_and_nothing_is_added(opened: OpenModel) -> None:
    """Report P191: the ids of the first prompt are the template's, with its own opening marks and no others."""
    words = tiny_folder.tokenizer()
    prompt = template(tiny_folder.CHATML).render([USER])
    assert prompt.text == "<|im_start|>user\nHello, how are you?<|im_end|>\n<|im_start|>assistant\n"
    assert prompt.ids == words.encode(prompt.text, add_special_tokens=False)
    assert prompt.ids.count(words.convert_tokens_to_ids("<|im_start|>")) == 2
    by_messages, by_ids = opened.model.generate(
        [asked(), Request(ids=prompt.ids, sampling=Sampling(max_new_tokens=24, stop=(258, 256)), seed=1)]
    )
    assert by_messages.ids == by_ids.ids
    assert by_messages.usage == Usage(prompt_tokens=len(prompt.ids), completion_tokens=len(by_messages.ids))
    assert opened.count_tokens is not None and opened.count_tokens(asked()) == len(prompt.ids)


def test_completions_do_not_depend_on_their_batch(opened: OpenModel) -> None:
    requests = [
        asked(Message(role="user", content="word " * (seed % 5)), seed=seed, temperature=(0.0, 1.0, 0.7)[seed % 3])
        for seed in range(9)
    ]
    together = opened.model.generate(requests)
    alone = [opened.model.generate([request])[0] for request in requests]
    assert [(one.ids, one.text, one.finish) for one in together] == [(one.ids, one.text, one.finish) for one in alone]
    assert len({one.ids for one in together}) == 9


def test_in_half_precision_the_batch_is_left_out_where_it_is_asked_for(tmp_path: Path) -> None:
    """Report P216: which mode it was stands in the identity."""
    requests = [
        replace(asked(Message(role="user", content="word " * seed), seed=seed, max_new_tokens=100), session=seed)
        for seed in range(12)
    ]
    options = {"dtype": "bfloat16", "batch_invariant": True}
    with open_model(str(tiny_folder.write(tmp_path)), options=options) as model:
        together = model.model.generate(requests)
        assert together == [model.model.generate([request])[0] for request in requests]
        assert model.identity.told["batch_invariant"] is True


def test_the_end_of_a_turn_is_every_id_that_the_folder_names(opened: OpenModel) -> None:
    assert opened.identity.generation["stops"] == [256, 258]
    many = opened.model.generate([asked(seed=seed, max_new_tokens=400) for seed in range(40)])
    stopped = [one for one in many if one.finish is Finish.STOP]
    assert {one.ids[-1] for one in stopped} == {256, 258}
    assert not any("<|" in one.text for one in stopped)


def test_a_prompt_without_room_overflows_and_its_siblings_are_answered(opened: OpenModel) -> None:
    long, short = asked(Message(role="user", content="x" * 600)), asked()
    overflowed, answered = opened.model.generate([long, short])
    assert overflowed.finish is Finish.CONTEXT and "context 512" in overflowed.error
    assert overflowed.usage is not None and overflowed.usage.completion_tokens == 0
    assert answered.finish in (Finish.STOP, Finish.LENGTH) and answered.ids


def test_a_prompt_with_little_room_is_cut_by_length(opened: OpenModel) -> None:
    (answer,) = opened.model.generate([asked(Message(role="user", content="x" * 450), max_new_tokens=500)])
    assert answer.usage is not None
    assert answer.usage.prompt_tokens + answer.usage.completion_tokens <= 512


def test_requests_by_ids_pass_through(opened: OpenModel) -> None:
    (answer,) = opened.model.generate([Request(ids=[5, 6], sampling=Sampling(max_new_tokens=7), seed=1)])
    assert len(answer.ids) == 7 and answer.finish is Finish.LENGTH
    (full,) = opened.model.generate([Request(ids=[5] * 512, sampling=Sampling(max_new_tokens=7), seed=1)])
    assert (full.ids, full.finish) == ((), Finish.LENGTH)


def test_a_stop_text_ends_a_conversation_too(opened: OpenModel) -> None:
    (free,) = opened.model.generate([asked()])
    (cut,) = opened.model.generate([asked(stop_texts=(free.text[10:12],))])
    assert cut.text == free.text[: free.text.index(free.text[10:12])] and cut.finish is Finish.STOP


def test_what_the_template_refuses_is_one_sentence_and_stops_nobody(tmp_path: Path) -> None:
    with open_model(str(tiny_folder.write(tmp_path, tiny_folder.STRICT))) as strict:
        system = asked(Message(role="system", content="Secret words."), USER)
        refused, answered = strict.model.generate([system, asked()])
    assert refused.finish is Finish.FAILED and refused.text == ""
    assert "does not express this conversation of system, user (System role not supported)" in refused.error
    assert "Secret" not in refused.error and "\n" not in refused.error
    assert answered.finish is not Finish.FAILED


def test_a_model_without_a_template_takes_ids_and_says_so(tmp_path: Path) -> None:
    with open_model(str(tiny_folder.write(tmp_path, None))) as base:
        refused, drawn = base.model.generate([asked(), Request(ids=[5], sampling=Sampling(max_new_tokens=3), seed=0)])
        assert "has no chat template" in refused.error and len(drawn.ids) == 3
        assert base.identity.template == "" and base.identity.generation["tools"] == "none"


def test_tools_go_through_a_template_that_shows_them() -> None:
    made = template(tiny_folder.HERMES)
    assert made.tool_format == "template"
    prompt = made.render([USER], [ADD])
    assert '"name": "add"' in prompt.text and "<tools>" not in prompt.text


@pytest.mark.parametrize("source", [tiny_folder.CHATML, tiny_folder.STRICT])
def test_a_template_without_tools_gets_them_in_words(source: str) -> None:
    """Report P084: which of the two it is stands in the identity."""
    made = template(source)
    assert made.tool_format == "words"
    assert made.digest != template(tiny_folder.HERMES).digest
    if source == tiny_folder.CHATML:
        assert "<tools>" in made.render([USER], [ADD]).text


def test_a_call_that_the_model_writes_is_taken_apart() -> None:
    reply = 'Let me add.\n<tool_call>\n{"name": "add", "arguments": {"a": 1}}\n</tool_call>'
    (answer,) = saying(reply, tiny_folder.HERMES).generate([asked(tools=(ADD,), max_new_tokens=500)])
    assert (answer.text, answer.finish) == ("Let me add.", Finish.CALLS)
    (call,) = answer.calls
    assert (call.name, json.loads(call.arguments), len(call.id)) == ("add", {"a": 1}, 9)


def test_the_same_words_without_tools_are_text() -> None:
    reply = '<tool_call>{"name": "add", "arguments": {}}</tool_call>'
    (answer,) = saying(reply, tiny_folder.HERMES).generate([asked(max_new_tokens=500)])
    assert (answer.text, answer.calls, answer.finish) == (reply, (), Finish.STOP)


def test_calls_of_a_completion_that_was_cut_do_not_hide_the_cut() -> None:
    reply = '<tool_call>{"name": "add", "arguments": {}}</tool_call><tool_call>{"name": "a'
    (answer,) = saying(reply, tiny_folder.HERMES, stop=False).generate([asked(tools=(ADD,), max_new_tokens=500)])
    assert answer.finish is Finish.LENGTH and [call.name for call in answer.calls] == ["add", ""]


def test_thinking_that_the_template_opened_belongs_to_the_reply() -> None:
    (answer,) = saying("it is 4</think>4", tiny_folder.THINKING).generate([asked(max_new_tokens=500)])
    assert answer.text == "<think>\nit is 4</think>4"
    (cut,) = saying("it is", tiny_folder.THINKING, stop=False).generate([asked(max_new_tokens=500)])
    assert cut.text == "<think>\nit is" and cut.finish is Finish.LENGTH


CALLING = """{% for t in tools or [] %}<decl>{{ t.function.name }}</decl>{% endfor %}{% for m in messages %}<|im_start|>
{{- m.role }}
{{ m.content }}{% for c in m.tool_calls or [] %}<call>{{ c.function | tojson }}</call>{% endfor %}<|im_end|>
{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""
DECLARED = {
    "defaults": {"role": "assistant"},
    "start_anchor": "<|im_start|>assistant\n",
    "fields": {
        "thinking": {"open": "<think>", "close": "</think>", "content": "text"},
        "tool_calls": {
            "open": "<call>", "close": "</call>", "repeats": True, "content": "json",
            "transform": {"type": "function", "function": "{content}"},
        },
        "content": {"close": "<|im_end|>", "content": "text"},
    },
}  # fmt: skip


def test_a_format_of_calls_that_the_tokenizer_declares_is_read_by_transformers() -> None:
    words = tiny_folder.tokenizer(CALLING)
    words.response_template = DECLARED
    made = ChatTemplate(words, model_type="llama", stops={words.eos_token_id})
    assert made.tool_format == "response template"
    assert template(CALLING).tool_format == "words", "nobody could read its calls"

    def said(reply: str) -> Completion:
        ids = [*words.encode(reply, add_special_tokens=False), words.eos_token_id]
        model = ChatModel(ScriptedModel(lambda request: ids, made.text), made, 4096)
        return model.generate([asked(tools=(ADD,), max_new_tokens=500)])[0]

    answer = said('<think>hm</think>I add.<call>{"name": "add", "arguments": {"a": 1}}</call>')
    assert (answer.text, answer.finish) == ("<think>hm</think>I add.", Finish.CALLS)
    assert [(call.name, call.arguments) for call in answer.calls] == [("add", '{"a": 1}')]
    broken = said('<call>{"name": "add", "arguments": {"a": }}</call>')
    assert [(call.name, call.arguments) for call in broken.calls] == [
        ("", '<call>{"name": "add", "arguments": {"a": }}</call>')
    ]
    assert said("Nothing to add.").text == "Nothing to add."


def test_a_conversation_with_calls_and_results_is_rendered_whole() -> None:
    call = ToolCall(id="c", name="add", arguments='{"a": 1}')
    talk = [USER, Message(role="assistant", content="", calls=(call,)), Message(role="tool", content="42", call_id="c")]
    for source in (tiny_folder.HERMES, tiny_folder.CHATML):
        text = template(source).render(talk, [ADD]).text
        assert text.count('"arguments": {"a": 1}') == 1 and "42" in text


def test_texts_that_are_no_unicode_do_not_stop_a_batch(opened: OpenModel) -> None:
    (answer,) = opened.model.generate([asked(Message(role="user", content="bad \ud800 text"))])
    assert answer.finish is not Finish.FAILED


def test_an_empty_conversation_is_refused_in_words() -> None:
    with pytest.raises(CannotRender, match="conversation of no messages"):
        template(tiny_folder.CHATML).render([])


class _Slow:
    """An engine that counts its batches and refuses ids below 0, as the real one does."""

    def __init__(self) -> None:
        self.batches: list[int] = []
        self.entered, self.go = threading.Event(), threading.Event()

    def generate(self, requests: Sequence[Request]) -> list[Completion]:
        self.batches.append(len(requests))
        self.entered.set()
        assert self.go.wait(PATIENCE_S)
        if any(request.ids[0] < 0 for request in requests):
            raise InputError("an id is negative.")
        return [Completion(ids=(request.ids[0],), logprobs=(0.0,), text="", finish=Finish.STOP) for request in requests]

    def forget(self) -> None:
        pass


def in_threads(work: Callable[[int], object], count: int, gathered: Gathered, engine: _Slow) -> list[object]:
    """Thread 0 first; the others while it works."""
    results: list[object] = [None] * count

    def keep(at: int) -> None:
        try:
            results[at] = work(at)
        except InputError as error:
            results[at] = error

    threads = [threading.Thread(target=keep, args=(at,)) for at in range(count)]
    threads[0].start()
    assert engine.entered.wait(PATIENCE_S)
    for thread in threads[1:]:
        thread.start()
    while len(gathered._waiting) < count - 1:
        threading.Event().wait(0.001)
    engine.go.set()
    for thread in threads:
        thread.join(PATIENCE_S)
    return results


def by_id(number: int) -> Request:
    return Request(ids=[number], sampling=Sampling(), seed=0)


def test_what_is_asked_while_the_engine_works_is_one_batch() -> None:
    engine = _Slow()
    gathered = Gathered(engine)
    answers = in_threads(lambda at: gathered.generate([by_id(at), by_id(at + 100)]), 6, gathered, engine)
    assert engine.batches == [2, 10]
    assert [[one.ids[0] for one in pair] for pair in answers] == [[at, at + 100] for at in range(6)]  # type: ignore[attr-defined]


def test_a_fault_stays_with_the_caller_who_made_it() -> None:
    engine = _Slow()
    gathered = Gathered(engine)
    answers = in_threads(lambda at: gathered.generate([by_id(-1 if at == 3 else at)]), 6, gathered, engine)
    assert isinstance(answers[3], InputError)
    assert [one[0].ids[0] for at, one in enumerate(answers) if at != 3] == [0, 1, 2, 4, 5]  # type: ignore[index]


def test_a_request_keeps_its_session_through_a_conversation(opened: OpenModel) -> None:
    first = replace(asked(), session=4)
    (answer,) = opened.model.generate([first])
    talk = (USER, Message(role="assistant", content=answer.text), Message(role="user", content="And?"))
    (again,), (fresh,) = (
        opened.model.generate([replace(asked(*talk, seed=9), session=session)]) for session in (4, None)
    )
    assert again.ids == fresh.ids
    opened.model.forget()
