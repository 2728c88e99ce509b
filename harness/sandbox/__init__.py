"""The runner of untrusted programs: a fork server in a jail, one process per program, answers as checked data."""

from .batch import load_all, reset_all, step_all
from .host import Sandbox
from .launch import SandboxUnavailable
from .layers import DEFAULT_MODULES, REQUIRED, WANTED, Layer, LayerState, Policy, SandboxReport
from .limits import EnvError, ErrorKind, Isolation, Limits, Step
from .process import EnvProcess, close_all
from .validation import validate
from .verdict import Disturbance, Gate, Rejected, ValidationSettings, ValidEnvironment, Verdict

__all__ = [
    "DEFAULT_MODULES", "REQUIRED", "WANTED", "Disturbance", "EnvError", "EnvProcess", "ErrorKind", "Gate", "Isolation",
    "Layer", "LayerState", "Limits", "Policy", "Rejected", "Sandbox", "SandboxReport", "SandboxUnavailable", "Step",
    "ValidEnvironment", "ValidationSettings", "Verdict", "close_all", "load_all", "reset_all", "step_all", "validate",
]  # fmt: skip
