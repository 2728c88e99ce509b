"""Names of models: what opens, and the one sentence for what does not, before torch is imported."""

import json
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from spadework.harness.config import Section
from spadework.harness.engines.located import locate
from spadework.harness.engines.opening import open_model
from spadework.harness.errors import InputError
from spadework.harness.store import RunFolder
from spadework.harness.types import Finish, Message, Request, Sampling
from spadework.training.organism import resolve

from . import tiny_folder

torch.set_num_threads(1)
GREET = Request(
    messages=(Message(role="user", content="Hello"),), sampling=Sampling(temperature=0.0, max_new_tokens=12), seed=0
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_folder.write(tmp_path_factory.mktemp("models") / "tiny-chat")


def copied(folder: Path, to: Path) -> Path:
    return Path(shutil.copytree(folder, to / "copy"))


def test_a_folder_opens_and_its_identity_is_what_lies_in_it(folder: Path, tmp_path: Path) -> None:
    with open_model(str(folder)) as first, open_model(str(copied(folder, tmp_path))) as second:
        assert first.identity == second.identity
        assert first.model.generate([GREET])[0].ids == second.model.generate([GREET])[0].ids
        told = first.identity
    summed = subprocess.run(["sha256sum", folder / "model.safetensors"], capture_output=True, text=True, check=True)
    assert told.weights == summed.stdout.split()[0]
    assert (told.engine, told.dtype, told.verified) == ("transformers", "float32", True)
    assert "transformers " in told.engine_version
    assert len(told.digest) == 16 and json.loads(json.dumps(told.record())) == told.record()


def test_a_change_of_any_part_changes_the_identity(folder: Path, tmp_path: Path) -> None:
    def digest(change: Any = None, **options: Any) -> str:
        to = tmp_path / "copy"
        shutil.rmtree(to, ignore_errors=True)
        shutil.copytree(folder, to)
        if change is not None:
            change(to)
        with open_model(str(to), options=options) as opened:
            return opened.identity.digest

    def edit(name: str, old: str, new: str) -> Any:
        return lambda to: (to / name).write_text((to / name).read_text().replace(old, new))

    def other_weights(to: Path) -> None:
        shutil.rmtree(to)
        tiny_folder.write(to, seed=4)

    seen = [
        digest(),
        digest(other_weights),
        digest(edit("chat_template.jinja", "assistant", "helper")),
        digest(edit("config.json", '"rope_theta": 10000.0', '"rope_theta": 20000.0')),
        digest(edit("tokenizer_config.json", "<|endoftext|>", "<|im_start|>")),
        digest(lambda to: (to / "generation_config.json").unlink()),
        digest(dtype="bfloat16"),
        digest(template_options='{"enable_thinking": true}'),
    ]
    assert len(set(seen)) == len(seen)
    assert digest(edit("config.json", '"transformers_version"', '"once"')) != ""


def test_a_template_of_ones_own_replaces_the_models(folder: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.jinja"
    own.write_text("{{ messages[0].content }}!")
    with open_model(str(folder), options={"chat_template": str(own)}) as opened:
        assert opened.count_tokens is not None and opened.count_tokens(GREET) == len("Hello!")
    with pytest.raises(InputError, match=r"none\.jinja.*give a \.jinja file"):
        open_model(str(folder), options={"chat_template": str(tmp_path / "none.jinja")})


def damaged(folder: Path, to: Path, what: str) -> Path:
    copy = copied(folder, to)
    match what:
        case "no weights":
            (copy / "model.safetensors").unlink()
        case "pickle":
            (copy / "model.safetensors").rename(copy / "pytorch_model.bin")
        case "shard":
            (copy / "model.safetensors").rename(copy / "model-00001-of-00002.safetensors")
            names = {"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"}
            (copy / "model.safetensors.index.json").write_text(json.dumps({"weight_map": names}))
        case "half":
            data = (copy / "model.safetensors").read_bytes()
            (copy / "model.safetensors").write_bytes(data[: len(data) // 2])
        case "no config":
            (copy / "config.json").unlink()
        case "broken config":
            (copy / "config.json").write_text("{")
        case "no kind":
            (copy / "config.json").write_text("{}")
        case "unknown kind":
            (copy / "config.json").write_text('{"model_type": "nosuchmodel"}')
        case "no tokenizer":
            (copy / "tokenizer.json").unlink()
        case "broken tokenizer":
            (copy / "tokenizer.json").write_text("[]")
        case "half a tokenizer":
            (copy / "tokenizer.json").write_text((copy / "tokenizer.json").read_text()[:900])
        case "larger":
            config = json.loads((copy / "config.json").read_text())
            (copy / "config.json").write_text(json.dumps(config | {"num_hidden_layers": 3}))
    return copy


@pytest.mark.parametrize(
    ("what", "sentence"),
    [
        ("no weights", r"holds no weights \(model\.safetensors; it holds only chat_template\.jinja"),
        ("pickle", r"a pickle only \(pytorch_model\.bin\).*save_pretrained"),
        ("shard", r"lacks model-00002-of-00002\.safetensors; download"),
        ("half", r"weights in .* are damaged .*download"),
        ("no config", r"holds no config\.json; give a folder"),
        ("broken config", r"config\.json is damaged .*download"),
        ("no kind", r"no model_type\); give"),
        ("unknown kind", r"transformers cannot open .*give a causal language model"),
        ("no tokenizer", r"holds no tokenizer \(tokenizer\.json\); save"),
        ("broken tokenizer", r"tokenizer\.json describes no tokenizer; save"),
        ("half a tokenizer", r"tokenizer\.json is damaged .*download"),
        ("larger", r"lack model\.layers\.2\..*give a whole checkpoint"),
    ],
)
def test_a_folder_that_is_no_whole_model_is_one_sentence(
    folder: Path, tmp_path: Path, what: str, sentence: str
) -> None:
    with pytest.raises(InputError, match=sentence) as caught:
        open_model(str(damaged(folder, tmp_path, what)))
    assert "\n" not in str(caught.value) and str(caught.value).endswith(".")


def test_a_misspelt_path_offers_the_nearest_and_imports_nothing_heavy(folder: Path) -> None:
    script = f"""
import sys
from spadework.harness.engines.opening import open_model
from spadework.harness.errors import InputError
wrong = (({str(folder.parent)!r} + "/tiny-chta", None), ({str(folder)!r}, "transfomers"), ("nan:base", None))
for text, engine in wrong:
    try:
        open_model(text, engine)
    except InputError as error:
        print(error)
print([name for name in ("torch", "transformers", "httpx2") if name in sys.modules])
"""
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    path, engine, organism, heavy = told.splitlines()
    assert "holds no 'tiny-chta' (did you mean 'tiny-chat'?); give the folder" in path
    assert engine == (
        "no engine 'transfomers' (did you mean 'transformers'?); the engines are transformers, vllm, openai."
    )
    assert "no organism 'nan' (did you mean 'nano'?)" in organism
    assert heavy == "[]"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"dtyp": "float32"}, r"unknown key 'dtyp' \(did you mean 'dtype'\?\)"),
        ({"dtype": "float23"}, r"'float23' is no choice \(did you mean 'float32'\?\)"),
        ({"max_rows": 0}, r"max_rows is 0; set it to 1 or more"),
        ({"template_options": "{"}, r"template_options is no JSON"),
        ({"template_options": "[]"}, r"template_options is no JSON object"),
        ({"device": "cuda:99"}, r"does not load on cuda:99 .*set another device"),
    ],
)
def test_a_wrong_option_is_one_sentence(folder: Path, options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        open_model(str(folder), options=options)


def test_an_engine_that_cannot_open_a_name_says_which_can(folder: Path) -> None:
    with pytest.raises(InputError, match="engine openai cannot open what lies on a disk; take engine transformers"):
        open_model(str(folder), "openai")
    with pytest.raises(InputError, match="engine vllm cannot open an address; take engine openai"):
        open_model("http://localhost:1/v1#m", "vllm")


@pytest.mark.parametrize("text", ["no model!", "a:b:c", "package:nosuchpackage", "package:a.b", ""])
def test_what_names_nothing_is_one_sentence(text: str) -> None:
    with pytest.raises(InputError, match=r"^[^\n]*;[^\n]*\.$"):
        locate(text, offline=True)


def test_offline_names_each_missing_file_of_a_hub_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    snapshot = tmp_path / "models--owner--small" / "snapshots" / "abc"
    snapshot.mkdir(parents=True)
    (tmp_path / "models--owner--small" / "refs").mkdir()
    (tmp_path / "models--owner--small" / "refs" / "main").write_text("abc")
    (snapshot / "config.json").write_text("{}")
    with pytest.raises(InputError, match=r"the cache lacks model\.safetensors, tokenizer\.json of owner/small"):
        locate("owner/small", offline=True)
    near = r"lacks config\.json, model\.safetensors, tokenizer\.json of owner/smal \(did you mean 'owner/small'\?\)"
    with pytest.raises(InputError, match=near):
        locate("owner/smal", offline=True)


def test_a_cached_hub_model_opens_offline(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    home = tmp_path / "models--owner--small"
    shutil.copytree(folder, home / "snapshots" / "abc")
    (home / "refs").mkdir()
    (home / "refs" / "main").write_text("abc")
    with open_model("owner/small", offline=True) as opened, open_model(str(folder)) as plain:
        assert opened.identity == plain.identity


def test_a_hub_that_cannot_be_reached_is_one_sentence() -> None:
    """In a process of its own: the Hub's address is read when its package is imported. Nobody listens there."""
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        port = nobody.getsockname()[1]
    script = (
        "from spadework.harness.engines.located import locate\n"
        "from spadework.harness.errors import InputError\n"
        "try: locate('owner/model')\nexcept InputError as error: print(error)"
    )
    environment = {"HF_ENDPOINT": f"http://127.0.0.1:{port}", "HF_HUB_OFFLINE": "0", "PATH": "/usr/bin:/bin"}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment)
    assert "lacks config.json, model.safetensors, tokenizer.json of owner/model" in done.stdout
    assert "hf download owner/model" in done.stdout and done.stdout.count("\n") == 1


class _Config(Section, frozen=True, kw_only=True):
    organism: str = "nano"
    checkpoint: str = "base"


def a_run(path: Path, *steps: int, chosen: int | None = None) -> Path:
    """A run folder with checkpoints, the weights of step n being the base's with one number changed."""
    from safetensors.torch import load_file, save_file

    base = resolve("nano").folder("base")
    with RunFolder(path, _Config()) as run:
        for step in steps:
            to = path / "checkpoint" / f"step-{step:06d}"
            to.mkdir(parents=True)
            shutil.copy(base / "config.json", to)
            weights = load_file(base / "model.safetensors")
            weights["model.norm.weight"][0] += step
            save_file(weights, to / "model.safetensors", {"format": "pt"})
            sums = subprocess.run(["sha256sum", "config.json", "model.safetensors"], cwd=to, capture_output=True)
            (to / "SHA256SUMS").write_bytes(sums.stdout)
        if chosen is not None:
            run.write_summary({"checkpoints": {"chosen": chosen, "last": max(steps, default=0)}})
    return path


def test_a_shipped_checkpoint_opens_by_name_and_brings_its_prompt_format() -> None:
    with open_model("nano:base") as named, open_model(str(resolve("nano").folder("base"))) as by_folder:
        assert named.identity == by_folder.identity and named.dialect is not None and by_folder.dialect is not None
        ids = named.dialect.agent_first("lamp 7", None)
        request = Request(ids=ids, sampling=Sampling(max_new_tokens=4, stop=named.dialect.stops("agent")), seed=1)
        (drawn,) = named.model.generate([request])
        assert drawn.text == named.dialect.decode(drawn.ids) and drawn.finish is Finish.STOP
        assert "no chat template" in named.model.generate([GREET])[0].error
    with pytest.raises(InputError, match=r"no nano checkpoint 'bsae' \(did you mean 'base'\?\)"):
        open_model("nano:bsae")


def test_a_run_opens_at_the_step_it_chose_else_at_its_newest(tmp_path: Path) -> None:
    def step(path: Path) -> str:
        return locate(str(path)).weights.name

    assert step(a_run(tmp_path / "finished", 5, 10, chosen=5)) == "step-000005"
    assert step(a_run(tmp_path / "running", 5, 10)) == "step-000010"
    assert step(a_run(tmp_path / "untrained", chosen=0)) == "base"
    assert step(tmp_path / "finished" / "checkpoint" / "step-000010") == "step-000010"
    with pytest.raises(InputError, match="has no checkpoint yet"):
        locate(str(a_run(tmp_path / "young")))


def test_a_run_brings_the_tokenizer_and_prompt_format_it_started_from(tmp_path: Path) -> None:
    with open_model(str(a_run(tmp_path / "run", 5, chosen=5))) as trained, open_model("nano:base") as base:
        assert trained.dialect is not None
        assert trained.identity.tokenizer == base.identity.tokenizer
        assert trained.identity.weights != base.identity.weights


def test_a_damaged_or_foreign_run_is_one_sentence(tmp_path: Path) -> None:
    run = a_run(tmp_path / "run", 5, chosen=5)
    weights = run / "checkpoint" / "step-000005" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"x")
    with pytest.raises(InputError, match=r"model\.safetensors is not what was written"):
        locate(str(run))
    (tmp_path / "eval").mkdir()
    (tmp_path / "eval" / "config.json").write_text('{"digest": "x", "config": {"kind": "evaluation"}}')
    (tmp_path / "eval" / "summary.json").write_text('{"checkpoints": {"chosen": 0}}')
    with pytest.raises(InputError, match="is no training run"):
        locate(str(tmp_path / "eval"))


def test_a_run_opens_by_its_id(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    a_run(tmp_path / "results" / "runs" / "nano" / "spade", 5, chosen=5)
    monkeypatch.chdir(tmp_path)
    assert locate("nano/spade").weights.name == "step-000005"
    with pytest.raises(InputError, match=r"did you mean 'nano/spade'"):
        locate("nano/spaed", offline=True)
