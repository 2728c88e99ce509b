"""What `spadework doctor` says of the sandbox: it starts one, runs a program in it, and tells of every layer.

The remedies name what usually takes a layer away: a container's profile, a setting of the kernel, a kernel without it.
"""

import platform
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

from .sandbox import REQUIRED, Layer, Sandbox, SandboxReport, SandboxUnavailable, Step, run_python

PROGRAM = '''
class DoctorEnv:
    def reset(self, seed=None):
        return f"seed {seed}", {}

    def step(self, action):
        return action[::-1], 1.0, True, False, {}
'''

SCRIPT = ("print(int(input()) * 6)", "7")
"""A script and its standard input."""
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
    script_ms: float | None = None
    """From starting a server for scripts, which has modules to import, to the output of one."""


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
        found = Trial(report=sandbox.report, start_ms=(started - began) * 1e3)
        try:
            if refusal := _refusal(_played(sandbox)):
                return replace(found, refusal=refusal)
            answered = time.perf_counter()
            found = replace(found, answer_ms=(answered - started) * 1e3)
            if (said := run_python(*SCRIPT)).stdout != "42\n":
                reason = said.message or said.stderr or "it says nothing"
                return replace(found, refusal=f"programs run in the sandbox, scripts do not ({reason})")
            return replace(found, script_ms=(time.perf_counter() - answered) * 1e3)
        except (SandboxUnavailable, OSError) as error:
            return replace(found, refusal=f"the sandbox starts, but nothing runs in it ({error})")


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
    return f"the sandbox starts, but nothing runs in it ({error or 'a program answers wrongly'})"


def _nothing() -> SandboxReport:
    return SandboxReport(machine=platform.machine(), kernel=platform.release())
