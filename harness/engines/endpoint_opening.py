"""Opening an endpoint: the server is asked for its models first, so that a wrong name, key or address is told at once.

What it says of itself is recorded as told, never as verified.
"""

from contextlib import ExitStack
from importlib import metadata
from typing import Mapping

import httpx2

from ..errors import InputError, nearest
from .address import Address, read_address
from .endpoint import CONNECT_S, Endpoint
from .hiding import told
from .identity import Identity
from .opening import OpenModel
from .settings import EndpointSettings, json_object, words
from .wire import Manner, unsent

ASK_S = 30.0
SAID = ("id", "owned_by", "root", "max_model_len")
"""What is kept of a model's entry. Not `created`: vLLM gives the time of the question there."""
SHOWN = 8
"""Most names listed in a sentence."""


def open_endpoint(text: str, settings: EndpointSettings, *, offline: bool = False) -> OpenModel:
    """See the module."""
    address = read_address(text, settings.key_variable)
    if offline and not address.loopback:
        raise InputError(f"{address.base} is on the network, and this is to run offline; name a model on this machine.")
    key = address.key()
    models = _models(address, key) if settings.listed else None
    address = _named(address, models)
    entry = (models or {}).get(address.model, {})
    manner = _manner(address, settings, str(entry.get("owned_by", "")))
    endpoint = Endpoint(address, settings, manner, key=key)
    said = {name: entry[name] for name in SAID if name in entry}
    asked = {"server": address.base, "kind": manner.kind, "not_sent": sorted(manner.not_sent), "extra": settings.extra}
    closing = ExitStack()
    closing.callback(endpoint.close)
    context = entry.get("max_model_len")
    return OpenModel(
        model=endpoint,
        name=text,
        identity=Identity(
            engine="openai",
            engine_version=f"httpx2 {metadata.version('httpx2')}",
            verified=False,
            told={**asked, "model": address.model, "says": said},
        ),
        context=context if isinstance(context, int) else None,
        unsent=lambda sampling: unsent(sampling, manner),
        answered_as=lambda: sorted(endpoint.answered_as),
        _closing=closing,
    )


def _manner(address: Address, settings: EndpointSettings, owner: str) -> Manner:
    kind: str = settings.kind
    if kind == "auto":
        kind = "vllm" if owner == "vllm" else "openai" if address.host == "api.openai.com" else "other"
    length = settings.length_key
    if length == "auto":
        length = "max_completion_tokens" if address.host == "api.openai.com" else "max_tokens"
    return Manner(
        model=address.model,
        kind=kind,
        not_sent=frozenset(words(settings.not_sent)),
        length_key=length,
        logprobs=settings.logprobs,
        extra=json_object("extra", settings.extra),
    )


def _named(address: Address, models: Mapping[str, Mapping[str, object]] | None) -> Address:
    """The address with a model that the server has, as far as it tells."""
    names = sorted(models or {})
    shown = ", ".join(names[:SHOWN]) + ", ..." * (len(names) > SHOWN)
    if not address.model:
        if len(names) == 1:
            return Address(base=address.base, model=names[0], key_variable=address.key_variable)
        has = f"it has {shown}" if names else "it does not say which it has"
        raise InputError(f"{address.base} is asked for no model ({has}); write {address.base}#MODEL.")
    if names and address.model not in names:
        raise InputError(
            f"{address.base} has no model {address.model!r}{nearest(address.model, names)}; "
            f"it has {shown} (set listed = false if it does not list all)."
        )
    return address


def _models(address: Address, key: str | None) -> Mapping[str, Mapping[str, object]] | None:
    """The server's models by name; None when it does not list them. InputError when it cannot be spoken to."""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    timeout = httpx2.Timeout(ASK_S, connect=CONNECT_S)
    try:
        with httpx2.Client(headers=headers, timeout=timeout, trust_env=not address.loopback) as client:
            answer = client.get(f"{address.base}/models")
    except httpx2.HTTPError as error:
        why = told(f"{type(error).__name__}: {error}", secrets=[key or ""])
        raise InputError(f"no server answers at {address.base} ({why}); start it or correct the address.") from None
    if answer.status_code in (401, 403):
        where = f"the key in {address.key_variable}" if key else "requests without a key (name one with ?key=VARIABLE)"
        raise InputError(f"{address.base} refuses {where} (status {answer.status_code}); give another.")
    if answer.status_code >= 500 or answer.status_code == 429:
        raise InputError(f"{address.base} does not serve now (status {answer.status_code}); try again later.")
    if answer.status_code != 200:
        return None
    try:
        rows = answer.json().get("data")
    except (ValueError, AttributeError):
        return None
    if not isinstance(rows, list):
        return None
    return {str(row["id"]): row for row in rows if isinstance(row, dict) and row.get("id")} or None
