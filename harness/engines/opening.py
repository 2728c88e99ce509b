"""Opening a model by its name: `open_model(text, engine)` gives the model, what it is, and a way to close it.

    with open_model("nano:base") as opened:
        (answer,) = opened.model.generate([request])

`text` is what `located` or `address` reads. Everything that is wrong with it is one sentence, told before torch is
imported. The engine is `transformers` for what lies on a disk and `openai` for an address, unless another is asked for.
"""

import importlib.util
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Callable, Self

from ..dialect import Dialect
from ..errors import InputError
from ..types import Model, Request, Sampling
from .identity import Identity
from .settings import (
    ENGINES,
    EndpointSettings,
    Options,
    TransformersSettings,
    VllmSettings,
    engine_settings,
)


@dataclass(frozen=True, kw_only=True)
class OpenModel:
    """An opened model. Close it, or use it in a `with` block."""

    model: Model
    name: str
    """As it was asked for; for people, never for a key."""
    identity: Identity
    context: int | None = None
    """Most tokens of prompt and completion together; None where nobody says."""
    dialect: Dialect | None = None
    """Of a model with a prompt format of its own: it is played by token ids."""
    count_tokens: Callable[[Request], int] | None = None
    """Tokens of a request's prompt, where they can be counted without a server."""
    unsent: Callable[[Sampling], tuple[str, ...]] = lambda sampling: ()
    """What of these settings the engine does not honour, by name; to be stamped on a score."""
    answered_as: Callable[[], list[str]] = list
    """What the server has called the models that answered so far."""
    _closing: ExitStack = field(default_factory=ExitStack)

    def close(self) -> None:
        """Give back what was opened: a server is stopped, connections are dropped. Twice is once."""
        self._closing.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_model(
    text: str,
    engine: str | None = None,
    options: Options | None = None,
    *,
    offline: bool = False,
    log: Path | None = None,
) -> OpenModel:
    """See the module. `log` is the file for a server's output; without it one is made and removed at the end.

    Raises InputError for what the user can correct, IncompleteError when a server does not come up.
    """
    is_address = "://" in text
    chosen = engine or ("openai" if is_address else "transformers")
    settings = engine_settings(chosen, options or {})
    if is_address != isinstance(settings, EndpointSettings):
        raise InputError(
            f"engine {chosen} cannot open {'an address' if is_address else 'what lies on a disk'}; "
            f"take engine {'openai' if is_address else 'transformers or vllm'}"
            + ("." if is_address else ", or write an endpoint as https://HOST/v1#MODEL.")
        )
    if not isinstance(settings, TransformersSettings) and importlib.util.find_spec("httpx2") is None:
        raise InputError(f"engine {chosen} needs the package httpx2; pip install 'spadework[endpoint]'.")
    if isinstance(settings, EndpointSettings):
        from .endpoint_opening import open_endpoint

        return open_endpoint(text, settings, offline=offline)
    from .located import locate

    assert isinstance(settings, TransformersSettings | VllmSettings)
    located = locate(text, offline=offline, revision=settings.revision)
    if isinstance(settings, VllmSettings):
        from .vllm_opening import open_vllm

        return open_vllm(text, located, settings, log=log)
    from .local_opening import open_local

    return open_local(text, located, settings)


__all__ = ["ENGINES", "OpenModel", "open_model"]
