"""Appending to a conversation: the chat templates of many families, read from the package trl where it is installed."""

import importlib.util
import random
from pathlib import Path
from typing import Any

import pytest

from spadework.harness.engines.template import CannotRender, ChatTemplate
from spadework.harness.engines.turns import Turns
from spadework.harness.errors import InputError
from spadework.harness.types import Message, Tool, ToolCall

from . import tiny_folder

TRL = importlib.util.find_spec("trl")
ENDS: dict[str, tuple[str, ...]] = {
    "qwen3": ("<|im_end|>",),
    "qwen3_instruct_2507": ("<|im_end|>",),
    "qwen2_5": ("<|im_end|>",),
    "qwen3_5_think": ("<|im_end|>",),
    "lfm2": ("<|im_end|>",),
    "nemotron_3_nano": ("<|im_end|>",),
    "llama3": ("<|eot_id|>",),
    "llama3_2": ("<|eot_id|>",),
    "deepseek_r1_distill": ("<｜end▁of▁sentence｜>",),
    "gemma3": ("<end_of_turn>",),
    "phi3": ("<|end|>",),
    "glm4moe": ("<|user|>", "<|observation|>"),
    "gptoss": ("<|end|>", "<|return|>", "<|call|>"),
}
"""A template of trl and the tokens that end a reply of its models."""
THINKING = ("qwen3", "qwen3_5_think", "nemotron_3_nano", "deepseek_r1_distill", "glm4moe")
"""Those that take the thinking out of earlier turns."""
DRAWN = {"gptoss": "<|channel|>final<|message|>"}
"""What a model draws before its words, where the template does not open them."""
TOOLS = (
    Tool(name="look", description="Looks.", parameters={"type": "object", "properties": {"at": {"type": "string"}}}),
    Tool(name="wait", description="Waits.", parameters={"type": "object", "properties": {}}),
)
CALLS = (
    ToolCall(id="call00001", name="look", arguments='{"at": "door"}'),
    ToolCall(id="call00002", name="wait", arguments="{}"),
)
RESULTS = (
    Message(role="tool", content="a red door", call_id="call00001"),
    Message(role="tool", content="time goes by", call_id="call00002"),
)


def family(name: str) -> ChatTemplate:
    """A byte-level tokenizer with the family's template and special tokens."""
    if TRL is None or TRL.origin is None:
        pytest.skip("the package trl, whose chat templates these are, is not installed")
    source = (Path(TRL.origin).parent / "chat_templates" / f"{name}.jinja").read_text()
    marks = [word for word in EVERY_MARK if word in source]
    words: Any = tiny_folder.tokenizer(source)
    words.add_special_tokens({"additional_special_tokens": marks, "bos_token": "<|endoftext|>"})
    ends = {int(words.convert_tokens_to_ids(end)) for end in ENDS[name]}
    return ChatTemplate(words, model_type="llama", stops={words.eos_token_id, *ends})


EVERY_MARK = (
    "<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>", "<｜User｜>", "<｜Assistant｜>",
    "<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>", "<start_of_turn>", "<end_of_turn>", "<|user|>", "<|assistant|>",
    "<|system|>", "<|end|>", "<|observation|>", "<|start|>", "<|message|>", "<|channel|>", "<|return|>", "<|call|>",
    "[gMASK]", "<sop>",
)  # fmt: skip


def said(text: str, role: Any = "user") -> Message:
    return Message(role=role, content=text)


def words_of(rng: random.Random) -> str:
    alphabet = ["red", "door", "42", "{x}", "1.5", "né", "a\nb", '"q"', "<b>", "☃"]
    return " ".join(rng.choices(alphabet, k=rng.randint(1, 8)))


@pytest.mark.parametrize("name", ENDS)
def test_what_is_appended_is_what_the_template_would_have_rendered(name: str) -> None:
    """Opening, reply, its stop token, the appended part, and again: the same ids as the whole conversation rendered
    at once, for replies without thinking."""
    template = family(name)
    turns = Turns(template)
    first = template.encode(ENDS[name][0])[0]
    for seed in range(20):
        rng = random.Random(seed)
        told = [said(words_of(rng))]
        ids = turns.opening(told)
        opened = template.render(told).text.endswith("<think>\n") or name in THINKING
        for _ in range(3):
            reply, observation = words_of(rng), said(words_of(rng))
            ids += [*template.encode(DRAWN.get(name, "") + reply), first]
            ids += turns.following([observation], ids[-1])
            told += [said(reply, "assistant"), observation]
        if not opened:
            assert ids == turns.opening(told), f"seed {seed}: {template.text(ids)!r}"
        assert ids[: len(turns.opening(told[:1]))] == turns.opening(told[:1])


@pytest.mark.parametrize("name", THINKING)
def test_a_template_that_takes_thinking_out_is_known_and_the_drawn_thinking_stays_where_it_was_drawn(name: str) -> None:
    template = family(name)
    turns = Turns(template)
    assert turns.drops_thinking
    thought = template.encode("<think>\nit is red\n</think>\n\ndoor") + template.encode(ENDS[name][0])
    seen = turns.opening([said("which?")]) + thought
    grown = seen + turns.following([said("and now?")], thought[-1])
    assert grown[: len(seen)] == seen
    reply = said("<think>\nit is red\n</think>\n\ndoor", "assistant")
    rendered = turns.opening([said("which?"), reply, said("and now?")])
    assert len(rendered) < len(grown) and "it is red" not in template.text(rendered)


@pytest.mark.parametrize("name", sorted(set(ENDS) - set(THINKING)))
def test_a_template_that_keeps_what_was_said_is_known(name: str) -> None:
    assert not Turns(family(name)).drops_thinking


@pytest.mark.parametrize("name", ["qwen3", "qwen3_instruct_2507", "qwen2_5", "glm4moe"])
def test_parallel_results_are_written_as_the_template_wants_them(name: str) -> None:
    template = family(name)
    turns = Turns(template)
    end = template.encode(ENDS[name][-1])[0] if name == "glm4moe" else template.encode(ENDS[name][0])[0]
    both = turns.following(RESULTS, end, TOOLS, CALLS)
    one = turns.following(RESULTS[:1], end, TOOLS, CALLS[:1])
    text = template.text(both)
    assert text.index("a red door") < text.index("time goes by") and "time goes by" not in template.text(one)
    history = (said("go"), Message(role="assistant", content="I look.", calls=CALLS), *RESULTS)
    rendered = template.render(history, TOOLS).ids
    assert rendered[-len(both) :] == both, "the tail of the conversation rendered at once"
    assert text.count("I look.") == 0 and "look" not in text.replace("I look.", "")


def test_the_next_turn_of_a_template_that_opens_the_thinking_opens_it_again() -> None:
    template = family("qwen3_5_think")
    turns = Turns(template)
    appended = turns.following([said("y")], template.encode("<|im_end|>")[0])
    assert template.text(appended).endswith("assistant\n<think>\n")


def test_a_reply_that_ended_with_another_token_is_ended_as_the_template_ends_it() -> None:
    template = family("glm4moe")
    turns = Turns(template)
    user, other = template.encode("<|user|>")[0], template.encode("<|observation|>")[0]
    after_user, after_other = (turns.following([said("y")], last) for last in (user, other))
    assert after_other == [user, *after_user] and after_user[0] != user


def test_a_reply_cut_off_in_the_middle_is_ended_before_anything_follows() -> None:
    template = ChatTemplate(tiny_folder.tokenizer(), model_type="llama", stops={258})
    turns = Turns(template)
    whole = turns.following([said("y")], template.encode("x")[0])
    assert whole[0] == 258 and whole[1:] == turns.following([said("y")], 258)


@pytest.mark.parametrize("source", [None, "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}"])
def test_a_template_without_ends_cannot_be_appended_to(source: str | None) -> None:
    turns = Turns(ChatTemplate(tiny_folder.tokenizer(source), model_type="llama", stops={258}))
    assert not turns.appendable
    with pytest.raises(CannotRender):
        turns.following([said("y")], 258)


def test_a_template_that_changes_what_was_said_cannot_be_appended_to() -> None:
    source = tiny_folder.CHATML.replace("m.content", "m.content | upper")
    assert not Turns(ChatTemplate(tiny_folder.tokenizer(source), model_type="llama", stops={258})).appendable


def test_nothing_cannot_follow() -> None:
    turns = Turns(ChatTemplate(tiny_folder.tokenizer(), model_type="llama", stops={258}))
    with pytest.raises(InputError, match="nothing follows"):
        turns.following([], 258)
