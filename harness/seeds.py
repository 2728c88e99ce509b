"""Seeds and ids derived by hashing; never the global generators, never Python's salted `hash()`."""

import random
from hashlib import blake2b, sha256


def derive(seed: int, *parts: int | str) -> int:
    """A 63-bit seed from a run's seed and a path such as ("step", 12, "plays", 3). Neighbours share nothing."""
    text = "\x1f".join([str(seed), *map(str, parts)])
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big") >> 1


def generator(seed: int, *parts: int | str) -> random.Random:
    """A private `random.Random` for one purpose."""
    return random.Random(derive(seed, *parts))


def text_id(text: str) -> str:
    """First 16 hex digits of a text's sha256: the id of a program."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
