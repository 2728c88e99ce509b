"""A GGUF file as a model folder: converted once to float32 safetensors, kept in the user's cache by its digest.

Every engine then opens the same bytes. transformers reads GGUF and dequantises it; nothing is quantised again. The
folder appears whole or not at all. It needs the package `gguf`.
"""

import importlib.util
import logging
import os
import shutil
import struct
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path
from typing import Any

from ..atomic import disk_refused
from ..errors import InputError
from .identity import file_digest

log = logging.getLogger(__name__)


def cache_root() -> Path:
    """Where converted models are kept: SPADEWORK_CACHE, else spadework/ in the user's cache."""
    own = os.environ.get("SPADEWORK_CACHE")
    return Path(own) if own else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "spadework"


def gguf_file(path: Path) -> Path | None:
    """The GGUF file that a path is or alone holds; None when it holds none. InputError when it holds several."""
    if path.suffix == ".gguf":
        return path if path.is_file() else None
    found = sorted(path.glob("*.gguf")) if path.is_dir() else []
    if len(found) > 1:
        raise InputError(f"{path} holds {len(found)} GGUF files; name one of them, for example {found[0]}.")
    return found[0] if found else None


def converted(path: Path) -> Path:
    """The folder of a GGUF file, made now where it was not yet."""
    folder = cache_root() / "gguf" / file_digest(path)[:32]
    if (folder / "config.json").is_file():
        return folder
    if importlib.util.find_spec("gguf") is None:
        raise InputError(f"opening {path.name} needs the package gguf; pip install 'spadework[gguf]'.")
    partial = folder.with_name(f".{folder.name}.{os.getpid()}")
    log.info("converting %s to safetensors, once; it is kept in %s", path.name, folder.parent)
    try:
        partial.mkdir(parents=True, exist_ok=True)
        with redirect_stderr(StringIO()):
            _convert(path, partial)
        if not folder.exists():
            partial.rename(folder)
    except OSError as error:
        raise disk_refused(folder, error) from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return folder


def _convert(path: Path, folder: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from transformers.utils import logging

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    where = {"pretrained_model_name_or_path": str(path.parent), "gguf_file": path.name}
    try:
        model: Any = AutoModelForCausalLM.from_pretrained(**where, dtype=torch.float32)
        tokenizer: Any = AutoTokenizer.from_pretrained(**where)
    except (ValueError, LookupError, OverflowError, RuntimeError, struct.error) as error:
        raise InputError(
            f"transformers cannot read {path} ({' '.join(str(error).split())[:200]}); give a safetensors folder."
        ) from None
    model.hf_quantizer = None
    del model.config.quantization_config
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
