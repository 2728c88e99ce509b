"""One process of several: updates on the same samples as its siblings, each one's gradient and report to files.

    python rank_worker.py FOLDER        (RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT in the environment)
"""

import json
import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file

sys.path.insert(0, str(Path(__file__).parent))
from test_policy import drawn, model  # type: ignore[import-not-found]  # noqa: E402

from spadework.training.policy import Policy  # noqa: E402
from spadework.training.update_settings import UpdateSettings  # noqa: E402


def updated(settings: dict[str, Any]) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """Gradient (read back from AdamW's first moment) with the weights after the step, and the report."""
    net = model()
    policy = Policy(net, UpdateSettings(betas=(0.5, 0.9), **settings))
    stats = policy.update(drawn(model(), 9))
    moments = policy.state().optimizer["state"]
    tensors = {f"gradient.{index}": moment["exp_avg"] * 2 for index, moment in moments.items()}
    tensors |= {f"weight.{name}": tensor.detach().clone() for name, tensor in net.named_parameters()}
    return tensors, asdict(stats)


if __name__ == "__main__":
    torch.set_num_threads(1)
    folder = Path(sys.argv[1])
    for number, settings in enumerate(json.loads((folder / "settings.json").read_text())):
        tensors, stats = updated(settings)
        out = folder / f"{number}-{os.environ['RANK']}"
        save_file(tensors, out.with_suffix(".safetensors"))
        out.with_suffix(".json").write_text(json.dumps(stats))
