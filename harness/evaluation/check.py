"""The check before a run that is long or paid for, and the verb `spadework preflight`: players, forecast, verdict."""

from argparse import Namespace

from ..console import Terminal
from ..errors import ExitCode, InputError, VerdictFailed
from ..progress import ProgressDisplay
from . import forecast as forecasts
from .forecast import Rates
from .offline import go_offline
from .plan import Wish, make_plan, refusal
from .preflight import Finding, preflight
from .registry import listed, protocols_of
from .report import forecast_line, forecast_table, print_findings, verdict
from .run import Cell, Run

LONG_REQUESTS = 500
"""An evaluation with more requests than this is checked first."""
AUTOMATIC_ITEMS = 20
"""Items of each task in that check; the verb takes all."""


def check_before(arguments: Namespace, work: Run, display: ProgressDisplay) -> None:
    """Tell the forecast; check the graders when it is long or paid for. Raises VerdictFailed."""
    due = {name: one for name, one in work.progress.items() if one.due}
    parts = [forecasts.forecast(name, one.cell.settings.preset, len(one.due)) for name, one in due.items()]
    whole = forecasts.total(parts)
    display.note(forecast_line(whole, rates_of(arguments)))
    if arguments.no_preflight or not (is_paid(arguments, work) or whole.requests > LONG_REQUESTS):
        return
    findings = [finding for one in due.values() for finding in check(one.cell, AUTOMATIC_ITEMS)]
    faults = [verdict(one) for one in findings if not one.sound]
    if faults:
        raise VerdictFailed(
            "the graders do not know right from wrong:\n  " + "\n  ".join(faults) + "\n"
            "`spadework preflight` tells all; mend the task, or give --no-preflight."
        )
    display.note(f"preflight: {len(findings)} players of {len(parts)} tasks end as they should.")
    for one in findings:
        if one.note:
            display.note(f"preflight: {one.task}, {one.player}: {one.note}")


def is_paid(arguments: Namespace, work: Run) -> bool:
    """Whether prices are named, or anybody who is asked (the model, a user, a judge) sits behind an address."""
    presets = [cell.settings.preset for cell in work.cells]
    asked = [arguments.model, *(one.user for one in presets), *(one.judge for one in presets)]
    priced = arguments.price is not None or arguments.other_price is not None
    return priced or arguments.engine == "openai" or any("://" in name for name in asked)


def check(cell: Cell, limit: int | None) -> list[Finding]:
    """The preflight of one task with the exceptions of its presets' file."""
    protocols = protocols_of(cell.benchmark, cell.settings.reference)
    return preflight(cell, protocols.known, limit, protocols.unsolved)


def preflight_command(arguments: Namespace) -> ExitCode:
    """Check the graders of `arguments.tasks` on all their items and say what an evaluation would cost."""
    if arguments.offline:
        go_offline()
    tasks = [*arguments.tasks, *arguments.task]
    if not tasks and not arguments.suite:
        tasks = list(listed())
    plan = make_plan(
        Wish(
            suites=arguments.suite, tasks=tasks, presets=arguments.preset, data=arguments.data, limit=arguments.limit
        )
    )  # fmt: skip
    if plan.missing and not (arguments.allow_missing and plan.cells):
        raise InputError(refusal(plan))
    console = Terminal()
    findings: list[Finding] = []
    for cell in plan.cells:
        findings += check(cell, None)
    print_findings(findings, console)
    for cell in plan.cells:
        if cell.settings.unverified:
            print(f"{cell.name}: data NOT verified, {cell.settings.unverified}")
    parts = [forecasts.forecast(cell.name, cell.settings.preset, cell.settings.n_samples) for cell in plan.cells]
    console.print(forecast_table([*parts, forecasts.total(parts)] if len(parts) > 1 else parts, rates_of(arguments)))
    for name, reason in plan.missing.items():
        print(f"{name} cannot run: {reason}")
    return ExitCode.OK if all(finding.sound for finding in findings) else ExitCode.VERDICT_FAIL


def rates_of(arguments: Namespace) -> Rates:
    """What the command line says of speed and price."""
    return Rates(tokens_per_second=arguments.rate, price=arguments.price, other_price=arguments.other_price)
