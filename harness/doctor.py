"""`spadework doctor`: what this machine gives, and whether programs that a model wrote can be run safely on it.

It starts the sandbox and runs a program in it, so what it says of the layers is the self-test's result; then it looks
at machine, devices, engines, packages and data. What is missing is told, with what to do about it, and is no error.
The last line is the verdict: exit code 0 when a sandbox can be started safely, else 1. Printing needs the standard
library alone.
"""

import json
import shutil
import textwrap
from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from . import doctor_machine
from .devices import look
from .doctor_machine import Finding
from .errors import ExitCode

if TYPE_CHECKING:
    from .doctor_sandbox import LayerFinding, Trial

WIDEST = 100
"""Columns; a longer line is hard to read."""
NAME = 20
"""Columns of a finding's name."""
Sections = Mapping[str, Sequence[Finding]]


def doctor_command(arguments: Namespace) -> ExitCode:
    """Print all of it, as text or with `arguments.json` as JSON."""
    try:
        from .doctor_sandbox import layers, trial
    except ImportError as error:
        tried, found = None, []
        verdict = f"No sandbox can be started: {error}; {doctor_machine.REINSTALL}."
    else:
        tried = trial()
        found = layers(tried.report)
        verdict = judged(tried)
    code = ExitCode.OK if tried is not None and not tried.refusal else ExitCode.VERDICT_FAIL
    if arguments.json:
        told = {"sandbox": _record(tried, found), **sections(), "verdict": verdict, "exit_code": int(code)}
        print(json.dumps(told, indent=2, default=asdict))
    else:
        width = min(WIDEST, shutil.get_terminal_size().columns)
        lines = [*sandbox_lines(tried, found, width), *section_lines(sections(), width), *_wrapped("", verdict, width)]
        print("\n".join(lines))
    return code


def sections() -> Sections:
    """Everything beside the sandbox."""
    torch = look()
    return {
        "machine": doctor_machine.machine(), "devices": doctor_machine.devices(torch),
        "engines": doctor_machine.engines(torch), "packages": doctor_machine.packages(), "data": doctor_machine.data(),
    }  # fmt: skip


def judged(tried: "Trial") -> str:
    """The verdict in one sentence."""
    if tried.refusal:
        return f"No sandbox can be started safely here: {tried.refusal}."
    if tried.report.missing:
        return f"A sandbox can be started safely here, {tried.report.describe()}."
    return "A sandbox can be started safely here; all layers hold."


def sandbox_lines(tried: "Trial | None", found: Sequence["LayerFinding"], width: int) -> list[str]:
    """A line a layer; under one that does not hold, what to do."""
    if tried is None:
        return ["sandbox: cannot be loaded", ""]
    times = "does not start" if tried.start_ms is None else f"started and tried out in {tried.start_ms:.0f} ms"
    if tried.answer_ms is not None:
        times += f"; a program answered after another {tried.answer_ms:.0f} ms"
    if tried.script_ms is not None:
        times += f"; a server for scripts started and ran one in {tried.script_ms:.0f} ms"
    lines = [*_wrapped("sandbox: ", times, width), f"  {'layer':<14}{'needed':<10}{'state':<9}detail"]
    for one in found:
        head = f"  {one.layer:<14}{'required' if one.required else 'wanted':<10}{one.state:<9}"
        lines += _wrapped(head, one.detail, width)
        lines += _wrapped(" " * 4, f"to do: {one.remedy}", width) if one.remedy else []
    return [*lines, ""]


def section_lines(all_of_it: Sections, width: int) -> list[str]:
    """Name and detail of every finding; `-` stands before what is missing."""
    lines = []
    for title, findings in all_of_it.items():
        lines.append(title)
        for one in findings:
            lines += _wrapped(f"{' ' if one.there else '-'} {one.name:<{NAME}}", one.detail, width)
            lines += _wrapped(" " * 4, f"to do: {one.remedy}", width) if one.remedy else []
        lines.append("")
    return lines


def _wrapped(head: str, text: str, width: int) -> list[str]:
    hung = " " * len(head)
    lines = textwrap.wrap(text, width, initial_indent=head, subsequent_indent=hung, break_on_hyphens=False)
    return lines or [head.rstrip()]


def _record(tried: "Trial | None", found: Sequence["LayerFinding"]) -> dict[str, object] | None:
    if tried is None:
        return None
    return {
        "safe": not tried.refusal, "refusal": tried.refusal,
        "start_ms": tried.start_ms, "answer_ms": tried.answer_ms, "script_ms": tried.script_ms,
        "machine": tried.report.machine, "kernel": tried.report.kernel, "describe": tried.report.describe(),
        "layers": [asdict(one) for one in found],
    }  # fmt: skip
