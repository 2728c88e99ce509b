"""What both of our engines read of a model's folder beside its weights: tokenizer, template, ends, prompt format."""

from typing import Any

from ..dialect import Dialect
from ..stopping import Decode
from .gguf_folder import converted
from .identity import Identity, config_digest, files_digest, tokenizer_digest
from .located import Located
from .organisms import organism
from .settings import TransformersSettings, VllmSettings, json_object
from .template import ChatTemplate
from .weights import end_ids, load_tokenizer, model_config


class Parts:
    """See the module. A GGUF file is converted first, so that every engine opens the same folder."""

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

    @property
    def decode(self) -> Decode:
        """Generated ids as text, by the model's own prompt format where it has one."""
        return self.template.text if self.dialect is None else self.dialect.decode

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
