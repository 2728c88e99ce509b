"""Opening a model in this process: weights into transformers, conversations over `LocalEngine`."""

from importlib import metadata
from typing import Any

from ..dialect import Dialect
from ..engine import LocalEngine
from .chat import ChatModel
from .gathering import Gathered
from .gguf_folder import converted
from .identity import Identity, config_digest, files_digest, tokenizer_digest
from .located import Located
from .opening import OpenModel
from .organisms import organism
from .settings import TransformersSettings, VllmSettings, json_object
from .template import ChatTemplate
from .weights import end_ids, load_network, load_tokenizer, model_config


class Parts:
    """What both of our engines read of a model's folder beside its weights."""

    def __init__(self, located: Located, settings: TransformersSettings | VllmSettings) -> None:
        self.weights, self.tokenizer_folder = located.weights, located.tokenizer
        if located.weights.suffix == ".gguf":
            self.weights = self.tokenizer_folder = converted(located.weights)
        self.dialect: Dialect | None = None
        if located.organism:
            self.dialect = organism(located.organism).dialect(located.checkpoint)
        self.tokenizer: Any = load_tokenizer(self.tokenizer_folder, settings.chat_template)
        config = model_config(self.weights)
        self.stops = end_ids(self.weights, self.tokenizer)
        self.template = ChatTemplate(
            self.tokenizer,
            model_type=str(config["model_type"]),
            stops=self.stops,
            options=json_object("template_options", settings.template_options),
        )
        self.located = located

    def identity(self, engine: str, version: str, dtype: str, told: dict[str, object]) -> Identity:
        """Everything that makes the model what it is under this engine."""
        return Identity(
            engine=engine,
            engine_version=version,
            weights=files_digest(self.located.files),
            config=config_digest(self.weights),
            tokenizer=tokenizer_digest(self.tokenizer_folder),
            template=self.template.digest or "",
            generation={"stops": sorted(self.stops), "tools": self.template.tool_format},
            dtype=dtype,
            told=told,
        )


def open_local(text: str, located: Located, settings: TransformersSettings) -> OpenModel:
    """See the module."""
    parts = Parts(located, settings)
    network = load_network(parts.weights, settings.dtype, settings.device)
    pad = parts.tokenizer.pad_token_id
    decode = parts.template.text if parts.dialect is None else parts.dialect.decode
    engine = LocalEngine(
        network,
        pad_id=0 if pad is None else int(pad),
        decode=decode,
        max_rows=settings.max_rows,
        session_mb=settings.session_mb,
    )
    context = int(network.config.get_text_config().max_position_embeddings)
    chat = ChatModel(Gathered(engine), parts.template, context)
    dtype = str(network.dtype).removeprefix("torch.")
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in ("transformers", "torch"))
    return OpenModel(
        model=chat,
        name=text,
        identity=parts.identity("transformers", versions, dtype, {"device": network.device.type}),
        context=context,
        dialect=parts.dialect,
        count_tokens=chat.count_tokens,
    )
