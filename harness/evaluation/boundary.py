"""The one place of an evaluation where whatever is raised is caught: around one benchmark's own code and its packages.

A benchmark that breaks is a failed cell with a reason, and the others still run. What a closed benchmark's exception
says may quote a problem, so only its class and place are told then. An interrupt passes through.
"""

import logging
import traceback
from collections.abc import Callable

from ..errors import SpadeworkError

LOG = logging.getLogger(__name__)


def attempt(work: Callable[[], None], *, closed: bool) -> str:
    """Why the work broke off; empty when it did not."""
    try:
        work()
    except SpadeworkError as error:
        return str(error)
    except Exception as error:  # noqa: BLE001  a benchmark's packages may raise anything
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{type(error).__name__} in {place.filename.rpartition('/')[2]}, line {place.lineno}"
        LOG.error("%s", "".join(traceback.format_tb(error.__traceback__)).rstrip())
        return where if closed else f"{where}: {error}"
    return ""
