"""The runner of untrusted environments: a fork server, one process per program, answers as checked data."""

from .host import Sandbox, SandboxUnavailable
from .limits import EnvError, ErrorKind, Limits, Step
from .process import EnvProcess, close_all, load_all, reset_all, step_all

__all__ = [
    "EnvError", "EnvProcess", "ErrorKind", "Limits", "Sandbox", "SandboxUnavailable", "Step", "close_all", "load_all",
    "reset_all", "step_all",
]  # fmt: skip
