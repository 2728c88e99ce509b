"""A model folder on disk: what must lie in it, and loading it without a gap.

Only safetensors are read: a pickle may run code, and remote code is never trusted. A weight that the files lack is an
error here, where transformers would draw it at random and go on.
"""

import json
from pathlib import Path
from typing import Any, Mapping

import msgspec

from ..errors import InputError

INDEX = "model.safetensors.index.json"
SINGLE = "model.safetensors"
PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt")
TOKENIZERS = ("tokenizer.json", "tokenizer.model", "vocab.json", "vocab.txt")


class _Index(msgspec.Struct):
    weight_map: dict[str, str]


def weight_names(folder: Path) -> list[str]:
    """The weight files that a folder must hold: those of its index, or the single one."""
    if not (folder / INDEX).is_file():
        return [SINGLE]
    try:
        index = msgspec.json.decode((folder / INDEX).read_bytes(), type=_Index)
    except msgspec.DecodeError as error:
        raise InputError(f"{folder / INDEX} is damaged ({error}); download the model again.") from None
    return sorted(set(index.weight_map.values()))


def weight_files(folder: Path) -> list[Path]:
    """The weight files of a folder, whole and sorted. InputError says what is missing and what to do."""
    names = weight_names(folder)
    missing = [name for name in names if not (folder / name).is_file()]
    if missing == [SINGLE]:
        raise InputError(_without_weights(folder))
    if missing:
        raise InputError(f"{folder} lacks {', '.join(missing)}; download the model again.")
    return [folder / name for name in names]


def _without_weights(folder: Path) -> str:
    pickled = sorted(path.name for pattern in PICKLES for path in folder.glob(pattern))
    if pickled:
        return (
            f"{folder} holds its weights as a pickle only ({pickled[0]}), which could run code; "
            "save the model with save_pretrained as safetensors."
        )
    names = sorted(path.name for path in folder.iterdir())[:4]
    holds = f"only {', '.join(names)}" if names else "nothing"
    return f"{folder} holds no weights ({SINGLE}; it holds {holds}); give a folder that save_pretrained wrote."


def check_folder(folder: Path) -> list[Path]:
    """The weight files, after a look that config and tokenizer lie beside them. Reads no weight."""
    files = weight_files(folder)
    model_config(folder)
    return files


def check_tokenizer(folder: Path) -> None:
    """InputError when a folder holds no tokenizer, or a damaged one."""
    if not any((folder / name).is_file() for name in TOKENIZERS):
        raise InputError(f"{folder} holds no tokenizer ({TOKENIZERS[0]}); save the model's tokenizer beside it.")
    path = folder / TOKENIZERS[0]
    try:
        parts = json.loads(path.read_bytes()) if path.is_file() else {"model": {}}
    except ValueError as error:
        raise InputError(f"{path} is damaged ({error}); download the model again.") from None
    if not isinstance(parts, dict) or not isinstance(parts.get("model"), dict):
        raise InputError(f"{path} describes no tokenizer; save the model's tokenizer again.")


def model_config(folder: Path) -> Mapping[str, Any]:
    """config.json. InputError when it is missing, damaged or of no model."""
    path = folder / "config.json"
    try:
        config = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise InputError(f"{folder} holds no config.json; give a folder that save_pretrained wrote.") from None
    except ValueError as error:
        raise InputError(f"{path} is damaged ({error}); download the model again.") from None
    if not isinstance(config, dict) or not isinstance(config.get("model_type"), str):
        raise InputError(f"{path} describes no model (it has no model_type); give a model's folder.")
    return config


def load_network(folder: Path, dtype: str, device: str) -> Any:
    """The causal language model of a folder, every weight from its files. InputError when that cannot be."""
    import torch
    from safetensors import SafetensorError
    from transformers import AutoModelForCausalLM
    from transformers.utils import logging

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    kind = "auto" if dtype == "auto" else getattr(torch, dtype)
    try:
        loaded: Any = AutoModelForCausalLM.from_pretrained(
            folder, dtype=kind, output_loading_info=True, local_files_only=True, use_safetensors=True
        )
    except SafetensorError as error:
        raise InputError(f"the weights in {folder} are damaged ({error}); download the model again.") from None
    except (ValueError, KeyError, OSError, RuntimeError) as error:
        raise InputError(
            f"transformers cannot open {folder} ({_first_line(error)}); give a causal language model it knows."
        ) from None
    model, told = loaded
    wrong = sorted(map(str, (*told["missing_keys"], *told["mismatched_keys"])))
    if wrong:
        raise InputError(f"the weights in {folder} lack {wrong[0]}; give a whole checkpoint.")
    return _placed(model.eval(), device if device != "auto" else "cuda" if torch.cuda.is_available() else "cpu")


def _placed(model: Any, device: str) -> Any:
    """The model on a device. torch asserts that it was built for that kind."""
    try:
        return model.to(device)
    except (RuntimeError, AssertionError) as error:
        raise InputError(f"the model does not load on {device} ({_first_line(error)}); set another device.") from None


def load_tokenizer(folder: Path, chat_template: str = "") -> Any:
    """The tokenizer of a folder, with another chat template where one is named."""
    from transformers import AutoTokenizer

    try:
        tokenizer: Any = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    except (ValueError, KeyError, OSError, ImportError) as error:
        raise InputError(
            f"the tokenizer in {folder} cannot be opened ({_first_line(error)}); save it again with save_pretrained."
        ) from None
    if chat_template:
        try:
            tokenizer.chat_template = Path(chat_template).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"cannot read the template {chat_template} ({error}); give a .jinja file.") from None
    return tokenizer


def end_ids(folder: Path, tokenizer: Any) -> set[int]:
    """The ids that end a turn: of generation_config.json, config.json and the tokenizer, all of them."""
    found: set[int] = set() if tokenizer.eos_token_id is None else {int(tokenizer.eos_token_id)}
    for name in ("generation_config.json", "config.json"):
        path = folder / name
        value = json.loads(path.read_bytes()).get("eos_token_id") if path.is_file() else None
        found |= {int(one) for one in (value if isinstance(value, list) else [value]) if one is not None}
    return found


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(".") if lines else type(error).__name__
