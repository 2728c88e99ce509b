"""Where an endpoint is: `https://HOST/v1#MODEL`, with `?key=VARIABLE` for the environment variable of its key.

The key itself never stands in an address, so that an address can be written down: in configs, records and logs. Only
the variable known for a host is taken unasked; a key is never sent to another host than its own.
"""

import os
import re
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit, urlunsplit

from ..errors import InputError, nearest

KEYS = {
    "api.openai.com": "OPENAI_API_KEY",
    "openrouter.ai": "OPENROUTER_API_KEY",
    "api.together.xyz": "TOGETHER_API_KEY",
    "api.fireworks.ai": "FIREWORKS_API_KEY",
    "api.deepseek.com": "DEEPSEEK_API_KEY",
    "api.mistral.ai": "MISTRAL_API_KEY",
    "api.groq.com": "GROQ_API_KEY",
    "dashscope-intl.aliyuncs.com": "DASHSCOPE_API_KEY",
}
_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]{0,63}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Address:
    """A server and the model asked for there."""

    base: str
    """Up to and including the version, without a slash at its end."""
    model: str
    """Empty when the address names none."""
    key_variable: str
    """Empty when no key is sent."""

    @property
    def host(self) -> str:
        """The host's name."""
        return urlsplit(self.base).hostname or ""

    @property
    def loopback(self) -> bool:
        """Whether the server is on this machine: no proxy lies between."""
        return self.host in ("localhost", "127.0.0.1", "::1")

    def key(self) -> str | None:
        """The key, read now; None when none is sent. InputError when its variable is not set."""
        if not self.key_variable:
            return None
        value = os.environ.get(self.key_variable, "").strip()
        if not value:
            raise InputError(f"{self.base} wants a key and {self.key_variable} is not set; export it.")
        return value


def read_address(text: str, key_variable: str = "") -> Address:
    """The address a text spells. InputError with the remedy when it spells none; a pasted key is never repeated."""
    try:
        parts = urlsplit(text.strip())
        port = parts.port
    except ValueError as error:
        raise InputError(f"the address is no URL ({error}); write it as https://HOST/v1#MODEL.") from None
    if parts.scheme not in ("http", "https"):
        raise InputError(
            f"an endpoint is reached by http or https, not {parts.scheme!r}{nearest(parts.scheme, ('http', 'https'))}; "
            "write it as https://HOST/v1#MODEL."
        )
    if not parts.hostname or port == 0:
        raise InputError("the address names no host; write it as https://HOST/v1#MODEL.")
    if parts.username or parts.password:
        raise InputError("the address holds a password; put it into a variable and write ?key=VARIABLE instead.")
    query = parse_qs(parts.query, keep_blank_values=True)
    wrong = sorted(query.keys() - {"key"})
    if wrong:
        raise InputError(f"the address has the parameter {wrong[0]!r}{nearest(wrong[0], ('key',))}; only key is known.")
    variable = query.get("key", [""])[-1] or key_variable or KEYS.get(parts.hostname, "")
    if variable and not _VARIABLE.fullmatch(variable):
        raise InputError("key names no environment variable; export the key and write ?key=THE_VARIABLE.")
    path = parts.path.rstrip("/").removesuffix("/chat/completions")
    base = urlunsplit((parts.scheme, parts.netloc, path or "/v1", "", ""))
    return Address(base=base, model=parts.fragment, key_variable=variable)
