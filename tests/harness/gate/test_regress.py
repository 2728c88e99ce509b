"""The project's own gate: its reference is one, and a checkpoint that was damaged does not get through."""

from importlib.resources import files
from pathlib import Path

import numpy as np
import torch
from commands import spadework
from safetensors.torch import load_file, save_file

from spadework.harness.gate.decision import Evidence, Verdict, decide
from spadework.harness.gate.reference import read_reference
from spadework.harness.means import Floats
from spadework.tasks.nano import known_suite
from spadework.tasks.nano_benchmark import NOUNS

REFERENCE = Path(__file__).parents[3] / "results" / "reference" / "regress.json"


def damaged(folder: Path, noise: float) -> Path:
    """The shipped checkpoint with noise on every weight, in units of the spread of its tensor."""
    folder.mkdir()
    generator = torch.Generator().manual_seed(1)
    for source in files("spadework.training.nano").joinpath("base").iterdir():
        (folder / source.name).write_bytes(source.read_bytes())
    weights = load_file(folder / "model.safetensors")
    for name, tensor in weights.items():
        weights[name] = tensor + noise * tensor.std() * torch.randn(tensor.shape, generator=generator)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    return folder


def means() -> Floats:
    (column,) = read_reference(REFERENCE).columns.values()
    return np.array([[entry.means[0] for entry in column.items.values()]])


def test_equal_answers_pass_its_margin_and_twice_the_margin_fails() -> None:
    reference = read_reference(REFERENCE)
    (name,) = reference.columns
    margin = reference.margins[name] / 100
    same_KI, worse_SI = means(), means()
    right_I = worse_SI[0].nonzero()[0]
    worse_SI[0, right_I[: round(2 * margin * worse_SI.size)]] = 0
    for run_SI, verdict in ((same_KI, Verdict.PASS), (worse_SI, Verdict.FAIL)):
        one = Evidence(name=name, run_SI=run_SI, reference_KI=same_KI, strata_I=None, margin=margin)
        assert decide([one], 0.05)[0].verdict is verdict


def test_the_reference_holds_the_items_of_its_preset() -> None:
    (column,) = read_reference(REFERENCE).columns.values()
    nouns = files("spadework.tasks").joinpath(NOUNS).read_text(encoding="utf-8").split()
    assert sorted(item.id for item in known_suite(nouns)) == sorted(column.items)
    assert column.preset == "regress" and column.protocol["slice.items"] == len(column.items) > 1000


def test_a_damaged_checkpoint_is_caught(tmp_path: Path) -> None:
    out, model = tmp_path / "run", damaged(tmp_path / "model", noise=0.5)
    words = ("--suite", "nano", "--preset", "regress", "--offline", "--no-preflight", "--out", str(out))
    played = spadework("eval", "--model", str(model), *words)
    assert played.returncode == 0, played.stderr
    done = spadework("check", str(out), "--reference", str(REFERENCE))
    assert done.returncode == 1 and "nano: FAIL" in done.stdout and "model.weights" in done.stdout
