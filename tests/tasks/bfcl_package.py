"""bfcl-eval's environment for tests: made on first use where a package index can be reached."""

import os
from functools import cache

import pytest

from spadework.harness.errors import InputError
from spadework.harness.sidecar_home import OFFLINE, SidecarHome
from spadework.tasks.bfcl_data import bfcl_home


@cache
def _home() -> SidecarHome | str:
    kept = os.environ.pop(OFFLINE, None)
    try:
        return bfcl_home()
    except InputError as error:
        return str(error)
    finally:
        if kept is not None:
            os.environ[OFFLINE] = kept


def home_or_skip() -> SidecarHome:
    found = _home()
    if isinstance(found, str):
        pytest.skip(f"bfcl-eval is not here: {found}")
    return found
