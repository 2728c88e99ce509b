"""When a request is tried again, and after how long: only the network's failures and overload, never a refusal.

Waits double from one second, with jitter over the upper half, so that requests that failed together do not come back
together. A server's Retry-After is obeyed where it asks for more. Values only.
"""

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from random import Random

FIRST_S, FACTOR = 1.0, 2.0


def worth_another_try(status: int) -> bool:
    """Overload (429) and the server's own failures (5xx, but not 501: it will never know how)."""
    return status == 429 or (status >= 500 and status != 501)


def wait_s(tried: int, asked: float | None, longest: float, jitter: Random) -> float | None:
    """Seconds before try number `tried` + 1; None when the server asks for more than `longest`."""
    if asked is not None and asked > longest:
        return None
    backoff = min(FIRST_S * FACTOR ** (tried - 1), longest) * (0.5 + 0.5 * jitter.random())
    return max(backoff, asked or 0.0)


def retry_after(header: str | None, now: datetime) -> float | None:
    """The seconds a Retry-After header asks for, as a number or a date; None when it asks for nothing readable."""
    if not header:
        return None
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        date = parsedate_to_datetime(header)
    except ValueError:
        return None
    return max(0.0, ((date if date.tzinfo else date.replace(tzinfo=UTC)) - now).total_seconds())
