"""ACEBench-Agent's data files: found in any of three layouts, checked against their digests, read into items.

The English questions are those of ACEBench/ACEBench at e6db74b; the possible answers are its own or those of
chenchen0103/ACEBench at 56dd66c, which changed multi_step 14 to 17.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..harness.benchmark import Preset, TaskItem
from ..harness.errors import InputError, nearest
from ..harness.evaluation.datafiles import DataFile, read_files
from ..harness.seeds import text_id
from .acebench_episode import Problem

KINDS = ("multi_step", "multi_turn")
BASE = "e6db74b"
_SOURCE = "github.com/ACEBench/ACEBench at e6db74b, data_all/data_en"
_FORK = "github.com/chenchen0103/ACEBench at 56dd66c, data_all/data_en"
_QUESTIONS = {
    "multi_step": "c04b7561a2a5b31b3c4fd3067807ab4e0a7907f5a72cd5ec987da3469eac1fe9",
    "multi_turn": "0380631f379510fad4aab885b9679cfe99e66cf3a01e92f570f9180141f637d0",
}
_TURNS = "ad077af54920d614438c28b3c7483d556b1a732d0dd0973c867e497c7c0a828b"
ANSWERS = {
    "e6db74b": {"multi_step": "7086bf7d704e1ce2426cfbd63606a7a00fc92aab77d9973517a5536883e3c179", "multi_turn": _TURNS},
    "56dd66c": {"multi_step": "5081e9b5be93d8f9a52b91ee013250f1ae64a10d3edbe2d1225bb0beb99b160e", "multi_turn": _TURNS},
}
"""sha256 of the possible answers, by commit."""


def load_items(preset: Preset, data: Path | None) -> list[TaskItem]:
    """The items of a preset's slice, multi_step first. Raises InputError for a file that is missing or another one."""
    commit = str(preset.slice.get("commit", BASE))
    if commit not in ANSWERS:
        raise InputError(f"no commit {commit!r}{nearest(commit, ANSWERS)}; the slice may say {', '.join(ANSWERS)}.")
    if preset.slice.get("language", "en") != "en":
        raise InputError("the worlds are those of the English data; set language = 'en' in the preset's slice.")
    files = {file.name: part for part, file in _files(commit, data)}
    read = {files[name]: content for name, content in read_files(_root(data), _named(commit, data)).items()}
    items = []
    for kind in KINDS:
        if kind not in preset.exclude:
            answers = {row["id"]: row for row in _rows(read[kind, "answers"])}
            items += [_item(row, answers[row["id"]], kind, commit) for row in _rows(read[kind, "questions"])]
    wanted = preset.slice.get("items", len(items))
    if len(items) != wanted:
        raise InputError(f"the slice has {len(items)} items where the preset wants {wanted}; correct the preset.")
    return items


def problem_of(item: TaskItem) -> Problem:
    """What an item holds."""
    assert isinstance(item.payload, Problem)
    return item.payload


def _root(data: Path | None) -> Path | None:
    if data is None:
        return None
    return next((place for place in (data / "acebench", data / "data_all" / "data_en") if place.is_dir()), data)


def _files(commit: str, data: Path | None) -> Iterator[tuple[tuple[str, str], DataFile]]:
    """What each file is, and the file; by commit where the folder has it so, else as in upstream's repository."""
    root = _root(data)
    sorted_out = root is None or (root / BASE).is_dir() or (root / commit).is_dir()
    for kind in KINDS:
        name = f"data_agent_{kind}.json"
        of = commit if kind == "multi_step" else BASE
        below = {"questions": f"{BASE}/" if sorted_out else "", "answers": f"{of}/" if sorted_out else ""}
        yield (kind, "questions"), DataFile(
            name=f"{below['questions']}{name}", digests=(_QUESTIONS[kind],), source=_SOURCE
        )  # fmt: skip
        yield (kind, "answers"), DataFile(
            name=f"{below['answers']}possible_answer/{name}", digests=(ANSWERS[commit][kind],),
            source=_SOURCE if of == BASE else _FORK,
        )  # fmt: skip


def _named(commit: str, data: Path | None) -> list[DataFile]:
    return [file for _, file in _files(commit, data)]


def _rows(content: bytes) -> list[Any]:
    return [json.loads(line) for line in content.decode("utf-8").split("\n") if line.strip()]


def _item(row: Any, answer: Any, kind: str, commit: str) -> TaskItem:
    expected = answer["ground_truth"]
    problem = Problem(
        name=row["id"], several_turns=kind == "multi_turn", question=row["question"],
        involved=tuple(row["involved_classes"]), config=row["initial_config"], functions=row["function"],
        expected=expected if isinstance(expected, list) else [expected], milestones=answer["mile_stone"],
        commit=commit,
    )  # fmt: skip
    return TaskItem(
        id=text_id(json.dumps(row, sort_keys=True)), category=kind,
        gold=text_id(json.dumps([row["id"], answer["ground_truth"], answer["mile_stone"]], sort_keys=True)),
        payload=problem,
    )  # fmt: skip
