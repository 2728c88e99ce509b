"""ACEBench's verdict on an episode: the end state against the possible answer, and the share of milestones passed.

Two scorers. `upstream-faithful` is upstream's rule with its gaps: a class that the possible answer misspells takes the
verdict of the class before it, and what is there beyond the expected entries goes unseen. `fixed` compares all of it.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

State = Sequence[Mapping[str, Mapping[str, Any]]]
"""Classes in order, each with its attributes."""
CLASSES = {"ReminderAPI": "ReminderApi", "Reminderpi": "ReminderApi", "BaseAPI": "BaseApi"}
"""Misspelt in the possible answers of multi_step 0 and 1, multi_turn 7 and 9."""
_TYPOGRAPHIC = str.maketrans("\u2018\u2019\u201c\u201d", "''\"\"")


@dataclass(frozen=True)
class AnyOf:
    """An expected value that may be written in several ways."""

    values: tuple[Any, ...]


def faithful(expected: State, found: State) -> str:
    """What is wrong with the end state, or an empty text."""
    if len(expected) != len(found):
        return "no call was executed" if not found else "wrong number of classes"
    fault, faults = "", []
    for answer in expected:
        matched = next((one for one in found if one.keys() == answer.keys()), None)
        if matched is not None:
            (name,) = answer
            fault = _subset(name, answer[name], matched[name])
        faults.append(fault)
    return next((one for one in faults if one), "")


def _subset(name: str, expected: Mapping[str, Any], found: Mapping[str, Any]) -> str:
    for attribute, value in found.items():
        if attribute not in expected:
            return f"{name}.{attribute} is not in the possible answer"
        wanted = expected[attribute]
        if isinstance(wanted, Mapping):
            keys = [key for key, one in wanted.items() if key not in value or value[key] != one]
            if keys:
                return f"{name}.{attribute}: {', '.join(keys)} differ"
        elif wanted != value:
            return f"{name}.{attribute} differs"
    return ""


def fixed(expected: State, found: State) -> str:
    """What is wrong with the end state, or an empty text."""
    states = {name: attributes for one in found for name, attributes in one.items()}
    answers = {CLASSES.get(name, name): attributes for one in expected for name, attributes in one.items()}
    if states.keys() != answers.keys():
        return f"the classes differ: {', '.join(sorted(states.keys() ^ answers.keys()))}"
    for name, attributes in answers.items():
        fault = _difference(attributes, states[name], name)
        if fault:
            return fault
    return ""


def _difference(expected: Any, found: Any, where: str) -> str:
    """Where two states differ first. Texts are told apart by more than case, quotation marks and a closing stop."""
    if isinstance(expected, AnyOf):
        faults = [_difference(one, found, where) for one in expected.values]
        return "" if "" in faults else faults[0]
    if isinstance(expected, Mapping) and isinstance(found, Mapping):
        if expected.keys() != found.keys():
            return f"{where}: {', '.join(sorted(expected.keys() ^ found.keys()))} on one side only"
        pairs = [(f"{where}.{key}", value, found[key]) for key, value in expected.items()]
    elif isinstance(expected, list) and isinstance(found, list):
        if len(expected) != len(found):
            return f"{where}: {len(found)} entries, not {len(expected)}"
        pairs = [(f"{where}[{at}]", *pair) for at, pair in enumerate(zip(expected, found, strict=True))]
    else:
        return "" if _plain(expected) == _plain(found) else f"{where} differs"
    return next((fault for name, one, other in pairs if (fault := _difference(one, other, name))), "")


def _plain(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    return " ".join(value.translate(_TYPOGRAPHIC).casefold().split()).rstrip(".,! ")


SCORERS: dict[str, Callable[[State, State], str]] = {"upstream-faithful": faithful, "fixed": fixed}


def process_accuracy(milestones: Sequence[Any], said: Sequence[str], resume: bool) -> float:
    """The share of milestones that were said in their order, of the best path where there are several.

    What is no text is never passed; no milestones are all passed. Without `resume` nothing after a missed one counts,
    as upstream.
    """
    paths = milestones if milestones and isinstance(milestones[0], list) else [milestones]
    return max(_passed(path, said, resume) for path in paths)


def _passed(path: Sequence[Any], said: Sequence[str], resume: bool) -> float:
    at, passed = 0, 0
    spoken = [_tight(one) for one in said]
    for stone in path:
        wanted = _tight(stone) if isinstance(stone, str) else None
        if wanted is not None and wanted in spoken[at:]:
            at = spoken.index(wanted, at) + 1
            passed += 1
        elif not resume:
            break
    return passed / len(path) if path else 1.0


def _tight(text: str) -> str:
    return re.sub(r"\s+", " ", text.strip())
