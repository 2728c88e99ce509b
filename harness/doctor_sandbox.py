"""What `spadework doctor` says of the sandbox: it starts one, runs a program in it, and tells of every layer.

The remedies name what usually takes a layer away: a container's profile, a setting of the kernel, a kernel without it.
"""

import platform
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from .sandbox import REQUIRED, Layer, Sandbox, SandboxReport, SandboxUnavailable, Step

PROGRAM = '''
class DoctorEnv:
    def reset(self, seed=None):
        return f"seed {seed}", {}

    def step(self, action):
        return action[::-1], 1.0, True, False, {}
'''

SETTINGS = {
    "kernel.unprivileged_userns_clone": "0",
    "kernel.apparmor_restrict_unprivileged_userns": "1",
    "user.max_user_namespaces": "0",
}
"""Settings of the kernel that forbid user namespaces, with the value that does."""

KEEPS_AWAY = {
    Layer.INTERPRETER: "nothing of the host's memory",
    Layer.CLEAN_ENV: "no environment variable of the host",
    Layer.CLOSED_FDS: "no descriptor but two pipes",
    Layer.NO_NEW_PRIVS: "a set-uid program gives nothing",
    Layer.RLIMITS: "memory, CPU time, processes, files",
    Layer.SECCOMP: "about thirty system calls get through",
    Layer.LANDLOCK: "no file, no TCP port",
    Layer.NAMESPACES: "empty root folder, no network",
    Layer.UID: "not root",
}
REMEDIES = {
    Layer.INTERPRETER: "install Python and spadework again",
    Layer.CLEAN_ENV: "report it as a bug: the server's environment is ours to choose",
    Layer.CLOSED_FDS: "report it as a bug: the server's descriptors are ours to close",
    Layer.NO_NEW_PRIVS: "use Linux 3.5 or newer",
    Layer.RLIMITS: "look for a security module or a container runtime that ignores setrlimit",
    Layer.SECCOMP: (
        "the kernel needs CONFIG_SECCOMP_FILTER, the machine must be x86-64 or aarch64; in a container take the "
        "runtime's default profile, or --security-opt seccomp=unconfined"
    ),
    Layer.LANDLOCK: (
        "the kernel needs version 5.13, CONFIG_SECURITY_LANDLOCK, and landlock among lsm= on its command line; an old "
        "container runtime hides it: --security-opt seccomp=unconfined"
    ),
    Layer.NAMESPACES: (
        "in a container: --security-opt seccomp=unconfined --security-opt apparmor=unconfined, which weakens the "
        "container itself; seccomp and Landlock hold without this layer"
    ),
    Layer.UID: "give root the capabilities SETUID and SETGID, or start as an ordinary user (--user 1000)",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Trial:
    """What came of starting a sandbox and running one program in it."""

    report: SandboxReport
    refusal: str = ""
    """Why no sandbox can be had; empty when a program ran in one."""
    start_ms: float | None = None
    answer_ms: float | None = None
    """From opening a program to its answer to one step."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LayerFinding:
    """One layer as it is told to people."""

    layer: Layer
    required: bool
    state: str
    detail: str
    remedy: str
    """Empty for a layer that holds, and outside Linux, where nothing helps."""


def trial() -> Trial:
    """Start the sandbox that a run would start. Raises nothing for what is missing."""
    began = time.perf_counter()
    try:
        sandbox = Sandbox()
    except SandboxUnavailable as unavailable:
        return Trial(report=unavailable.report or _nothing(), refusal=str(unavailable))
    except OSError as error:
        return Trial(report=_nothing(), refusal=f"the sandbox server could not be started ({error})")
    with sandbox:
        started = time.perf_counter()
        try:
            refusal = _refusal(_played(sandbox))
        except (SandboxUnavailable, OSError) as error:
            refusal = f"the sandbox starts, but no program runs in it ({error})"
        answered = time.perf_counter()
        return Trial(
            report=sandbox.report, refusal=refusal, start_ms=(started - began) * 1e3,
            answer_ms=None if refusal else (answered - started) * 1e3,
        )  # fmt: skip


def layers(report: SandboxReport) -> list[LayerFinding]:
    """Every layer, in the order in which they are listed."""
    return [_layer(report, layer) for layer in Layer]


def forbidding() -> list[str]:
    """The settings of this kernel that forbid user namespaces, as `name=value`."""
    found = []
    for name, value in SETTINGS.items():
        path = Path("/proc/sys") / name.replace(".", "/")
        if path.is_file() and path.read_text().strip() == value:
            found.append(f"{name}={value}")
    return found


def _layer(report: SandboxReport, layer: Layer) -> LayerFinding:
    state = report.state(layer)
    held = state.state == "held"
    remedy = REMEDIES[layer] if not held and sys.platform == "linux" else ""
    if remedy and layer is Layer.NAMESPACES and (settings := forbidding()):
        remedy = f"the kernel forbids them by {', '.join(settings)}; {remedy}"
    told = f"{KEEPS_AWAY[layer]}{f' ({state.detail})' if state.detail else ''}" if held else state.detail
    return LayerFinding(layer=layer, required=layer in REQUIRED, state=state.state, detail=told, remedy=remedy)


def _played(sandbox: Sandbox) -> list[Step]:
    process = sandbox.open(PROGRAM)
    return [*process.reset([(0, 7)]), *process.step([(0, "ab")])]


def _refusal(steps: list[Step]) -> str:
    error = next((step.error for step in steps if step.error is not None), None)
    if error is None and [step.observation for step in steps] == ["seed 7", "ba"]:
        return ""
    return f"the sandbox starts, but no program runs in it ({error or 'it answers wrongly'})"


def _nothing() -> SandboxReport:
    return SandboxReport(machine=platform.machine(), kernel=platform.release())
