"""The validator in the trainer's words: the sandbox's verdicts with the reasons that a run counts.

What is looked at, and how, stands in harness/sandbox/validation.py.
"""

from typing import Sequence

from ..harness.sandbox import ErrorKind, Gate, Rejected, Sandbox, ValidationSettings, ValidEnvironment
from ..harness.sandbox import validate as examine
from .proposal import Reason, Rejection

REASONS = {
    ErrorKind.EMPTY: Reason.EMPTY, ErrorKind.ENCODING: Reason.DOES_NOT_LOAD,
    ErrorKind.OBSERVATION: Reason.CONTRACT, ErrorKind.REWARD: Reason.CONTRACT, ErrorKind.INFO: Reason.CONTRACT,
    ErrorKind.FORBIDDEN: Reason.RAISES, ErrorKind.CPU_EXHAUSTED: Reason.TOO_SLOW, ErrorKind.EARLY_EXIT: Reason.RAISES,
    ErrorKind.NONDETERMINISTIC: Reason.NONDETERMINISTIC, ErrorKind.ACTION: Reason.HOST, ErrorKind.KILLED: Reason.HOST,
    ErrorKind.SOURCE_TOO_LARGE: Reason.TOO_LARGE, ErrorKind.SYNTAX: Reason.DOES_NOT_LOAD,
    ErrorKind.FORBIDDEN_MODULE: Reason.DOES_NOT_LOAD, ErrorKind.LOAD: Reason.DOES_NOT_LOAD,
    ErrorKind.CONTRACT: Reason.CONTRACT, ErrorKind.EXCEPTION: Reason.RAISES, ErrorKind.EXIT: Reason.RAISES,
    ErrorKind.TIMEOUT: Reason.TOO_SLOW, ErrorKind.HANG: Reason.TOO_SLOW, ErrorKind.MEMORY: Reason.TOO_SLOW,
    ErrorKind.CRASH: Reason.RAISES, ErrorKind.PROTOCOL: Reason.RAISES, ErrorKind.MISUSE: Reason.HOST,
    ErrorKind.SERVER_DIED: Reason.HOST, ErrorKind.CLOSED: Reason.HOST,
}  # fmt: skip
"""Any other kind is a lie of the program's process, which then counts as raising."""
GATES = {
    Gate.REWARD_RANGE: Reason.REWARD_RANGE, Gate.TERMINATION: Reason.NO_TERMINATION, Gate.SPEED: Reason.TOO_SLOW,
    Gate.VARIETY: Reason.ONE_INSTANCE, Gate.FREE_WIN: Reason.FREE_WIN,
}  # fmt: skip
"""Gates that reject without an error of the sandbox."""


def validate(
    sources: Sequence[str], sandbox: Sandbox, settings: ValidationSettings | None = None
) -> list[ValidEnvironment | Rejection]:
    """The verdict on every candidate, in order; equal sources are examined once."""
    return [
        rejection(verdict) if isinstance(verdict, Rejected) else verdict
        for verdict in examine(sources, sandbox, settings)
    ]


def rejection(rejected: Rejected) -> Rejection:
    """A rejection as a run counts it."""
    reason = GATES[rejected.gate] if rejected.kind is None else REASONS.get(rejected.kind, Reason.RAISES)
    return Rejection(reason=reason, detail=rejected.detail)
