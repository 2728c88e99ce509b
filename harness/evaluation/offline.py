"""`--offline`: no package that loads from the Hub may ask the network."""

import os

OFFLINE = ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE", "TRANSFORMERS_OFFLINE")


def go_offline() -> None:
    """Set what those packages read when they are imported, so call it before any benchmark is resolved."""
    os.environ.update(dict.fromkeys(OFFLINE, "1"))
