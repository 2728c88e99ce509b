"""A folder's chat template: conversations to token ids, and a model's tokens back to text and calls.

What the template cannot express is refused with one sentence, never bent. Tools are the exception, since benchmarks
need them: a template that shows none of them, or whose calls nobody here can read, gets them in words (`messages`);
`tool_format` says which it is and enters the digest. No template, no conversation: such a model serves token ids only.
"""

import json
from hashlib import sha256
from types import SimpleNamespace
from typing import Any, Collection, Mapping, NamedTuple, Sequence

from jinja2.exceptions import TemplateError

from ..errors import InputError
from ..seeds import derive
from ..types import Message, Request, Tool, ToolCall
from .calls import CLOSE, OPEN, THINK_CLOSE, THINK_OPEN, Reply, Written, split_calls
from .messages import function_tools, template_messages, tools_in_words

_MARKS = (THINK_OPEN, THINK_CLOSE, OPEN, CLOSE)
"""Special tokens that a reader needs; all others are left out of the text."""
_XML_CALL = "<function="
_PROBE_TOOL = Tool(name="probe_tool", description="x", parameters={"type": "object", "properties": {}})
_PROBE = (
    Message(role="user", content="x"),
    Message(role="assistant", content="", calls=(ToolCall(id="probecall", name="probe_called", arguments="{}"),)),
    Message(role="tool", content="probe_result", call_id="probecall"),
)


class CannotRender(InputError):
    """The template does not express this conversation."""


class Prompt(NamedTuple):
    """A conversation up to the model's turn."""

    ids: list[int]
    text: str
    opened: str
    """The thinking that the template itself opened in the model's turn; it belongs to the reply."""


class ChatTemplate:
    """See the module. `stops` are the ids that end a turn; `options` are handed to the template."""

    def __init__(
        self, tokenizer: Any, *, model_type: str, stops: Collection[int], options: Mapping[str, object] | None = None
    ) -> None:
        self._tokenizer = tokenizer
        self._options = dict(options or {})
        self.stops = tuple(sorted(stops))
        added = tokenizer.added_tokens_decoder
        special = {*tokenizer.all_special_ids, *(token for token, one in added.items() if one.special)}
        self._silent = frozenset(token for token in special if str(added.get(token, "")) not in _MARKS)
        self._schema = _response_template(tokenizer, model_type)
        self.tool_format = self._tool_format()

    @property
    def digest(self) -> str | None:
        """sha256 of everything that shapes a prompt; None without a template."""
        if self._tokenizer.chat_template is None:
            return None
        whole = [self._tokenizer.chat_template, self._options, self.tool_format]
        return sha256(json.dumps(whole, sort_keys=True, ensure_ascii=False).encode()).hexdigest()

    def render(self, messages: Sequence[Message], tools: Sequence[Tool] = ()) -> Prompt:
        """The prompt for the model's next turn. CannotRender says why there is none."""
        if self._tokenizer.chat_template is None:
            raise CannotRender(
                "this model has no chat template, so it takes no conversations; "
                "give one (transformers.chat_template = a .jinja file) or a chat model."
            )
        if self.tool_format == "words":
            messages, tools = tools_in_words(messages, tools), ()
        text = self._text_of(messages, tools)
        ids = self.encode(text)
        stripped = text.rstrip()
        opened = text[len(stripped) - len(THINK_OPEN) :] if stripped.endswith(THINK_OPEN) else ""
        return Prompt(ids, text, opened)

    def _text_of(self, messages: Sequence[Message], tools: Sequence[Tool]) -> str:
        try:
            text: str = self._tokenizer.apply_chat_template(
                template_messages(messages),
                tools=function_tools(tools) or None,
                add_generation_prompt=True,
                tokenize=False,
                **self._options,
            )
        except (TemplateError, TypeError, ValueError, LookupError, AttributeError) as error:
            roles = ", ".join(message.role for message in messages[:6]) + ", ..." * (len(messages) > 6)
            raise CannotRender(
                f"the chat template does not express this conversation of {roles or 'no messages'} "
                f"({' '.join(str(error).split()) or type(error).__name__}); use a preset without what it refuses."
            ) from None
        return text.encode("utf-8", "replace").decode()

    def encode(self, text: str) -> list[int]:
        """The ids of rendered text; special tokens in it are single ids."""
        return list(self._tokenizer.encode(text, add_special_tokens=False))

    def written(self, token: int) -> str:
        """How the template writes a token."""
        return str(self._tokenizer.convert_ids_to_tokens(token))

    def text(self, ids: Sequence[int]) -> str:
        """Generated ids as text, without special tokens but those that mark thinking and calls."""
        kept = [i for i in ids if i not in self._silent]
        return str(self._tokenizer.decode(kept, clean_up_tokenization_spaces=False))

    def calls(
        self, text: str, ids: Sequence[int], request: Request, prompt: Prompt
    ) -> tuple[str, tuple[ToolCall, ...]]:
        """The text without the calls in it, and the calls; a request without tools has none."""
        if not request.tools:
            return text, ()
        declared = self.tool_format == "response template"
        text, written = self._by_schema(text, ids, request, prompt) if declared else split_calls(text)
        return text, tuple(
            ToolCall(id=_call_id(request, prompt, at), name=call.name, arguments=call.arguments)
            for at, call in enumerate(written)
        )

    def _by_schema(self, text: str, ids: Sequence[int], request: Request, prompt: Prompt) -> Reply:
        """What transformers' own parser makes of it; what it cannot read is one malformed call."""
        try:
            parsed = self._tokenizer.parse_response(
                self._tokenizer.decode(list(ids)), self._schema, prefix=prompt.text, tools=function_tools(request.tools)
            )
            made = [call["function"] for call in parsed.get("tool_calls") or []]
            calls = tuple(Written(str(call["name"]), _json(call["arguments"])) for call in made)
        except (ValueError, TypeError, LookupError):
            return Reply("", (Written("", text),))
        thought = parsed.get("thinking")
        content = str(parsed.get("content") or "")
        return Reply(f"{THINK_OPEN}{thought}{THINK_CLOSE}{content}" if thought else content, calls)

    def _tool_format(self) -> str:
        """ "template" or "response template" where the template shows tools and calls, else "words"; "none" without."""
        if self._tokenizer.chat_template is None:
            return "none"
        try:
            shown = self._text_of(_PROBE, (_PROBE_TOOL,))
        except CannotRender:
            return "words"
        if not all(word in shown for word in ("probe_tool", "probe_called", "probe_result")):
            return "words"
        source = self._tokenizer.get_chat_template(None, function_tools([_PROBE_TOOL]))
        if OPEN in source and _XML_CALL not in source:
            return "template"
        return "words" if self._schema is None else "response template"


def _response_template(tokenizer: Any, model_type: str) -> Any:
    """The format of replies that the tokenizer declares, or transformers knows for this kind of model."""
    from transformers.cli.serving.utils import get_response_template

    kind: Any = SimpleNamespace(config=SimpleNamespace(model_type=model_type))
    return get_response_template(tokenizer, kind)


def _json(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _call_id(request: Request, prompt: Prompt, at: int) -> str:
    """Nine letters and digits, as the strictest templates want them; the same for the same request."""
    return f"{derive(request.seed, 'call', len(prompt.ids), at):016x}"[-9:]
