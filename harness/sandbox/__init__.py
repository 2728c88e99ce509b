"""The runner of untrusted programs: a fork server in a jail, one process per program, answers as checked data."""

from .batch import load_all, reset_all, step_all
from .host import Sandbox
from .launch import SandboxUnavailable
from .layers import DEFAULT_MODULES, REQUIRED, WANTED, Layer, LayerState, Policy, SandboxReport
from .limits import EnvError, ErrorKind, Isolation, Limits, Step
from .process import EnvProcess, close_all
from .runner import Runner, call, run_python
from .runs import CallResult, RunLimits, RunResult
from .validation import validate
from .verdict import Disturbance, Gate, Rejected, ValidationSettings, ValidEnvironment, Verdict

__all__ = [
    "DEFAULT_MODULES", "REQUIRED", "WANTED", "CallResult", "Disturbance", "EnvError", "EnvProcess", "ErrorKind", "Gate",
    "Isolation", "Layer", "LayerState", "Limits", "Policy", "Rejected", "RunLimits", "RunResult", "Runner", "Sandbox",
    "SandboxReport", "SandboxUnavailable", "Step", "ValidEnvironment", "ValidationSettings", "Verdict", "call",
    "close_all", "load_all", "reset_all", "run_python", "step_all", "validate",
]  # fmt: skip
