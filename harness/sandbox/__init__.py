"""The runner of untrusted programs: a fork server in a jail, one process per program, answers as checked data."""

from .batch import load_all, reset_all, step_all
from .host import Sandbox
from .launch import SandboxUnavailable
from .layers import DEFAULT_MODULES, REQUIRED, WANTED, Layer, LayerState, Policy, SandboxReport
from .limits import EnvError, ErrorKind, Isolation, Limits, Step
from .process import EnvProcess, close_all

__all__ = [
    "DEFAULT_MODULES", "REQUIRED", "WANTED", "EnvError", "EnvProcess", "ErrorKind", "Isolation", "Layer", "LayerState",
    "Limits", "Policy", "Sandbox", "SandboxReport", "SandboxUnavailable", "Step", "close_all", "load_all", "reset_all",
    "step_all",
]  # fmt: skip
