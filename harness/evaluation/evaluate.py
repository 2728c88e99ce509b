"""`spadework eval`: one model on some benchmarks, into a run folder; the same command goes on with a stopped run.

    resolve and load everything -> run folder -> forecast, preflight -> models -> samples -> scores.json

What is missing is told at once and before a model loads. A cap, a kill or a full disk keeps what is finished.
"""

import re
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec

from .. import config, jsonl
from ..console import Terminal
from ..errors import ExitCode, InputError, SpadeworkError
from ..progress import ProgressDisplay
from ..sandbox import Policy
from ..store import CONFIG, METRICS, MODELS, RunFolder, read_document
from .cache import CompletionCache
from .check import check_before
from .meter import NO_PRICE, Caps, Meter, Tally
from .offline import go_offline
from .opening import Backing, Cast, check_engine, check_model
from .origins import origins
from .plan import Plan, Wish, make_plan, refusal
from .report import Scores, print_scores, print_spent, stamp_line
from .run import Run, Terms
from .scores import TaskScore
from .settings import EvaluationSettings, from_document, is_evaluation

OUT = Path("results/runs/eval")


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """A command line, resolved and loaded."""

    arguments: Namespace
    plan: Plan
    settings: EvaluationSettings
    out: Path


def eval_command(arguments: Namespace) -> ExitCode:
    """Evaluate `arguments.model`."""
    evaluation = prepare(arguments)
    refuse_other_scorer(evaluation)
    beside = {**origins(evaluation.plan.cells), "engine_options": engine_options(arguments.engine_set)}
    with RunFolder(evaluation.out, evaluation.settings, fresh=arguments.fresh, origins=beside) as folder:
        scores = run(evaluation, folder)
    print_scores(scores, Terminal())
    print_spent(evaluation.out, Terminal())
    print(f"{evaluation.out}: {'complete' if scores.complete else 'NOT complete; the same command goes on with it'}.")
    return ExitCode.OK if scores.complete or arguments.allow_missing else ExitCode.INCOMPLETE


def prepare(arguments: Namespace) -> Evaluation:
    """Everything that can be wrong before a model is needed. Raises InputError naming all that is missing at once."""
    if arguments.offline:
        go_offline()
    check_engine(arguments.model, arguments.engine, engine_options(arguments.engine_set))
    if arguments.chunk < 1:
        raise InputError("--chunk takes a number from 1 on.")
    plan = make_plan(
        Wish(
            suites=arguments.suite, tasks=arguments.task, presets=arguments.preset, data=arguments.data,
            limit=arguments.limit, repeats=arguments.repeats, user=arguments.user, judge=arguments.judge,
        )
    )  # fmt: skip
    if plan.missing and not (arguments.allow_missing and plan.cells):
        raise InputError(refusal(plan))
    check_model(arguments.model, arguments.engine, offline=arguments.offline)
    settings = EvaluationSettings(
        model=arguments.model, engine=arguments.engine, seed=arguments.seed, missing=plan.missing,
        tasks={cell.name: cell.settings for cell in plan.cells},
    )  # fmt: skip
    return Evaluation(
        arguments=arguments, plan=plan, settings=settings, out=arguments.out or default_out(settings)
    )  # fmt: skip


def run(evaluation: Evaluation, folder: RunFolder) -> Scores:
    """Play what is due and write the scores."""
    arguments, settings = evaluation.arguments, evaluation.settings
    caps = Caps(
        requests=arguments.cap_requests, tokens=arguments.cap_tokens, hours=arguments.cap_hours, cost=arguments.cap_cost
    )
    meter = Meter(caps=caps)
    with ProgressDisplay() as display, ExitStack() as open_things:
        terms = Terms(
            seed=settings.seed, meter=meter, display=display, chunk=arguments.chunk,
            keep_completions=arguments.keep_completions,
        )  # fmt: skip
        work = Run(folder=folder, terms=terms, cells=evaluation.plan.cells)
        _tell_plan(display, evaluation, work)
        if work.n_due:
            cache = open_things.enter_context(CompletionCache(arguments.cache)) if arguments.cache else None
            backing = Backing(
                meter=meter, cache=cache, sandbox=Policy(insecure=arguments.insecure), offline=arguments.offline,
                options=engine_options(arguments.engine_set), price=arguments.price or NO_PRICE,
                other_price=arguments.other_price or NO_PRICE,
            )  # fmt: skip
            cast = open_things.enter_context(Cast(settings=settings, folder=folder, backing=backing))
            with nothing_begun(folder):
                check_before(arguments, work, display)
                cast.open_model()
            try:
                work.play(cast.players)
            finally:
                _note_usage(folder, meter, cast)
    return write_scores(folder, settings, work.scores())


@contextmanager
def nothing_begun(folder: RunFolder) -> Iterator[None]:
    """When what goes before the first sample fails, a folder that was made for it is taken away again."""
    try:
        yield
    except SpadeworkError:
        if folder.new:
            folder.discard()
        raise


def write_scores(folder: RunFolder, settings: EvaluationSettings, tasks: Sequence[TaskScore]) -> Scores:
    """`scores.json`, written last."""
    models = folder.path / MODELS
    scores = Scores(
        digest=folder.digest, complete=all(task.overall.complete for task in tasks) and not settings.missing,
        tasks=list(tasks), missing=settings.missing,
        models=msgspec.convert(read_document(models), dict[str, dict[str, object]]) if models.is_file() else {},
    )  # fmt: skip
    folder.write_scores(msgspec.structs.asdict(scores))
    return scores


def refuse_other_scorer(evaluation: Evaluation) -> None:
    """Raises InputError when all that differs from the run in the folder is the version of a scorer."""
    path = evaluation.out / CONFIG
    if evaluation.arguments.fresh or not path.is_file() or not is_evaluation(document := read_document(path)):
        return
    theirs = from_document(document, str(evaluation.out))
    keys = config.difference(theirs, evaluation.settings)
    if keys and all(key.endswith(".scorer_version") for key in keys):
        raise InputError(
            f"{evaluation.out} was scored by another version ({', '.join(keys)}); "
            f"`spadework score {evaluation.out}` scores it again, then the same command goes on."
        )


def default_out(settings: EvaluationSettings) -> Path:
    """The same command has the same folder, a newer scorer too: the model's last name and a digest of the rest."""
    tasks = {name: msgspec.structs.replace(task, scorer_version="") for name, task in settings.tasks.items()}
    settings = msgspec.structs.replace(settings, tasks=tasks)
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", settings.model.rstrip("/").rpartition("/")[2]).strip("-.") or "model"
    return OUT / f"{name}-{config.digest(settings)[:8]}"


def engine_options(words: Sequence[str]) -> dict[str, str | int | float | bool]:
    """`KEY=VALUE` texts as options; no part of the settings, since what they change of a model is in its identity."""
    options: dict[str, str | int | float | bool] = {}
    for name, value in config.override({}, words).items():
        if not isinstance(value, str | int | float | bool):
            raise InputError(f"--engine-set {name}: an option is a text, a number or true or false; correct it.")
        options[name] = value
    return options


def _tell_plan(display: ProgressDisplay, evaluation: Evaluation, work: Run) -> None:
    display.note(f"{evaluation.out}: {work.n_due:,} of {work.n_samples:,} samples are to be played.")
    for name, task in evaluation.settings.tasks.items():
        display.note(stamp_line(name, task))


def _note_usage(folder: RunFolder, meter: Meter, cast: Cast) -> None:
    """One line for this process; not part of the scores, which do not depend on how often a run was stopped."""
    answered = {role: opened.answered_as() for role, opened in cast.opened.items()}
    line = {
        "seconds": meter.seconds(), "cached": cast.hits, "stopped": meter.exhausted,
        "usage": _usage(meter.tallies),
        "tasks": {name: {"seconds": part.seconds, **_usage(part.tallies)} for name, part in meter.parts.items()},
        "answered_as": {role: names for role, names in answered.items() if names},
    }  # fmt: skip
    jsonl.append(folder.path / METRICS, [line])


def _usage(tallies: Mapping[str, Tally]) -> dict[str, object]:
    return {
        role: {
            "requests": tally.requests, "failed": tally.failed, "prompt_tokens": tally.prompt_tokens,
            "completion_tokens": tally.completion_tokens, "cost": tally.cost(),
        }
        for role, tally in tallies.items()
    }  # fmt: skip
