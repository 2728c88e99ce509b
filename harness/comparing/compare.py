"""`spadework compare BASE NEW [NEW ...]`: what changed between runs, and what may be concluded from it.

The first run named is the reference; every other is compared with it, item by item. Exit code 0 when a comparison was
made, whatever it says; 2 for wrong input, 4 when a column that both runs hold could not be computed. A verdict on what
is good enough is the business of a gate, not of this.
"""

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec

from ..atomic import write_atomic
from ..errors import ExitCode, InputError, nearest
from .columns import Metric, Subject
from .document import document
from .pairing import ALLOWANCES
from .printing import markdown, print_comparison
from .rows import Question, compare
from .subjects import held_out, read_subject


def compare_command(arguments: Namespace) -> ExitCode:
    """Read, compare, print."""
    if len(arguments.runs) < 2:
        raise InputError("one run has nothing to be compared with; give the reference first, then one run or more.")
    allow, n_flips = allowed(arguments.allow), wanted_flips(arguments.flips)
    margin = margin_of(arguments.margin, arguments.metric)
    subjects = distinct([read_subject(word) for word in arguments.runs])
    question = Question(
        columns=chosen_columns(subjects, arguments), metric=arguments.metric, allow=allow,
        by_category=arguments.by_category, margin=margin, n_flips=n_flips,
    )  # fmt: skip
    comparison = compare(subjects, question)
    if arguments.json:
        data = msgspec.json.format(msgspec.json.encode(document(comparison)), indent=2) + b"\n"
        if arguments.json == "-":
            print(data.decode(), end="")
        else:
            write_atomic(Path(arguments.json), data)
    if arguments.json != "-":
        if arguments.format == "md":
            print(markdown(comparison), end="")
        else:
            print_comparison(comparison)
    return ExitCode.INCOMPLETE if comparison.lacking else ExitCode.OK


def distinct(subjects: Sequence[Subject]) -> list[Subject]:
    """The subjects under labels that differ. Raises InputError for one that is named twice."""
    seen: dict[frozenset[Path], str] = {}
    for subject in subjects:
        runs = frozenset(Path(run).resolve() for run in subject.runs)
        if runs in seen:
            raise InputError(f"{subject.runs[0]} is named twice; name every run once.")
        seen[runs] = subject.label
    labels = [subject.label for subject in subjects]
    if len(set(labels)) == len(labels):
        return list(subjects)
    longer = [_longer(subject) if labels.count(subject.label) > 1 else subject.label for subject in subjects]
    if len(set(longer)) < len(longer):
        longer = [f"{label} ({number})" for number, label in enumerate(labels, start=1)]
    return [replace(subject, label=label) for subject, label in zip(subjects, longer, strict=True)]


def _longer(subject: Subject) -> str:
    """The label with the folder that it lies in."""
    place = Path(subject.runs[0]).resolve()
    parents = [part.name for part in (place, *place.parents)]
    above = parents.index(subject.label.partition("/")[0]) + 1 if subject.label.partition("/")[0] in parents else 1
    return f"{parents[above]}/{subject.label}" if above < len(parents) and parents[above] else subject.label


def chosen_columns(subjects: Sequence[Subject], arguments: Namespace) -> tuple[str, ...]:
    """Names in the reference's order: those asked for, else all benchmarks, of training runs one held-out column."""
    known = list(dict.fromkeys(name for subject in subjects for name in subject.columns))
    if arguments.column:
        if arguments.mode or arguments.checkpoint:
            raise InputError("--column names columns, --mode and --checkpoint choose one; give one or the other.")
        for pattern in arguments.column:
            if not any(fnmatchcase(name, pattern) for name in known):
                raise InputError(
                    f"no run holds a column {pattern!r}{nearest(pattern, known)}; they hold {', '.join(known)}."
                )
        return tuple(name for name in known if any(fnmatchcase(name, pattern) for pattern in arguments.column))
    if any(subject.kind == "training" for subject in subjects):
        name = held_out(arguments.mode or "greedy", arguments.checkpoint or "chosen")
        return (name, *(other for other in known if not other.startswith(held_out("greedy", "chosen"))))
    if arguments.mode or arguments.checkpoint:
        raise InputError("--mode and --checkpoint choose among the columns of training runs; use --column here.")
    return tuple(known)


def allowed(words: Sequence[str]) -> frozenset[str]:
    """What may differ. Raises InputError with the nearest word."""
    found = [word.strip() for given in words for word in given.split(",") if word.strip()]
    for word in found:
        if word not in ALLOWANCES:
            raise InputError(
                f"--allow {word!r} is unknown{nearest(word, ALLOWANCES)}; it takes {', '.join(ALLOWANCES)}."
            )
    return frozenset(found)


def wanted_flips(text: str) -> int | None:
    """A number, or None for all of them."""
    if text != "all" and not text.isdecimal():
        raise InputError(f"--flips {text!r} is neither a number nor all; give for example --flips 20.")
    return None if text == "all" else int(text)


def margin_of(given: float | None, metric: Metric) -> float | None:
    """In the unit of the values: points are hundredths."""
    if given is None:
        return None
    largest = 100.0 if metric == "right" else 2.0
    if not 0 < given <= largest:
        raise InputError(f"--margin {given:g} must be above 0 and at most {largest:g}; give for example --margin 2.")
    return given / 100 if metric == "right" else given
