"""Opening a model in this process: weights into transformers, conversations over `LocalEngine`."""

from importlib import metadata

from ..engine import LocalEngine
from .chat import ChatModel
from .gathering import Gathered
from .located import Located
from .opening import OpenModel
from .parts import Parts
from .settings import TransformersSettings
from .weights import load_network


def open_local(text: str, located: Located, settings: TransformersSettings) -> OpenModel:
    """See the module."""
    parts = Parts(located, settings)
    network = load_network(parts.weights, settings.dtype, settings.device)
    pad = parts.tokenizer.pad_token_id
    decode = parts.decode
    alone = settings.batch_invariant
    engine = LocalEngine(
        network,
        pad_id=0 if pad is None else int(pad),
        decode=decode,
        max_rows=1 if alone else settings.max_rows,
        cache_mb=settings.cache_mb,
        session_mb=0 if alone else settings.session_mb,
    )
    context = int(network.config.get_text_config().max_position_embeddings)
    chat = ChatModel(Gathered(engine), parts.template, context, decode)
    dtype = str(network.dtype).removeprefix("torch.")
    told: dict[str, object] = {"device": network.device.type, "batch_invariant": alone}
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in ("transformers", "torch"))
    return OpenModel(
        model=chat,
        name=text,
        identity=parts.identity("transformers", versions, dtype, told),
        context=context,
        dialect=parts.dialect,
        count_tokens=chat.count_tokens,
    )
