"""A model of the Hugging Face Hub as a local folder: from its cache, or downloaded; offline never asks the network.

What is missing is named file by file before anything is loaded. Only safetensors, JSON and tokenizer files are fetched.
"""

import re
from pathlib import Path
from typing import Sequence

from ..errors import InputError, nearest
from .weights import INDEX, SINGLE, TOKENIZERS, weight_names

HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?")
DOUBLES = ("consolidated*", "original/*")
"""The same weights a second time, in their makers' own format."""
FETCHED = ("*.safetensors", "*.json", "*.jinja", "*.txt", "tokenizer.model")


def hub_folder(name: str, revision: str, *, offline: bool, known: Sequence[str] = ()) -> Path:
    """The snapshot of a Hub model. InputError with one sentence when there is none; `known` are names to offer."""
    from huggingface_hub import constants, errors, snapshot_download

    network: type[Exception] = errors.HTTPError  # type: ignore[attr-defined]  # the HTTP library's, whichever it is
    near = nearest(name, [*known, *cached_models()])
    if offline or constants.HF_HUB_OFFLINE:
        return _cached(name, revision, "offline", near)
    try:
        folder = Path(
            snapshot_download(
                name, revision=revision or None, allow_patterns=list(FETCHED), ignore_patterns=list(DOUBLES)
            )
        )
    except errors.GatedRepoError:
        raise InputError(f"the Hub gives {name} to registered users only; ask there and run `hf auth login`.") from None
    except errors.RevisionNotFoundError:
        raise InputError(f"{name} has no revision {revision!r} on the Hub; give a branch, tag or commit.") from None
    except (errors.RepositoryNotFoundError, errors.HFValidationError):
        raise InputError(f"there is no model {name} here or on the Hub{near}; give a folder or a Hub id.") from None
    except (network, OSError) as error:
        told = " ".join(str(error).split())[:120] or type(error).__name__
        return _cached(name, revision, f"the Hub cannot be reached ({told})", near)
    return folder


def _cached(name: str, revision: str, why: str, near: str) -> Path:
    """What the Hub's cache holds of a model, if it is whole."""
    missing, folder = _missing(name, revision)
    if missing or folder is None:
        raise InputError(
            f"{why}, and the cache lacks {', '.join(missing)} of {name}{near}; "
            f"run `hf download {name}` where there is a network, or give a folder."
        )
    return folder


def _missing(name: str, revision: str) -> tuple[Sequence[str], Path | None]:
    """The names of missing files, and the folder where the others lie."""
    from huggingface_hub import try_to_load_from_cache

    def there(file: str) -> Path | None:
        found = try_to_load_from_cache(name, file, revision=revision or None)
        return Path(found) if isinstance(found, str) else None

    files = {file: there(file) for file in ("config.json", INDEX, SINGLE, *TOKENIZERS)}
    folder = next((path.parent for path in files.values() if path is not None), None)
    wanted = ["config.json", *(weight_names(folder) if folder is not None else [SINGLE])]
    missing = [file for file in wanted if there(file) is None]
    if not any(files[file] for file in TOKENIZERS):
        missing.append(TOKENIZERS[0])
    return missing, folder


def cached_models() -> list[str]:
    """Ids of the models in the Hub's cache."""
    from huggingface_hub import constants

    root = Path(constants.HF_HUB_CACHE)
    folders = root.glob("models--*") if root.is_dir() else []
    return sorted(folder.name.removeprefix("models--").replace("--", "/") for folder in folders)
