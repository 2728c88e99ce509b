"""Tasks of tau2-bench: airline, retail and telecom, in version 0.2 and 1.0.1, as items in memory.

The wheel of inspect-evals holds the tasks of 0.2 for airline and retail, whatever its changelog says, and those of
telecom, which 1.0.1 left alone; the tasks that 1.0.1 changed come from a data folder. Databases are the same in both.
"""

import gzip
import importlib.util
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..harness.benchmark import Preset, TaskItem
from ..harness.errors import InputError, nearest
from ..harness.evaluation.datafiles import DataFile, read_files
from ..harness.seeds import text_id

VERSIONS = ("1.0.1", "0.2")
DOMAINS = ("airline", "retail", "telecom")
CHANGED = ("airline", "retail")
"""Domains whose tasks 1.0.1 changed."""
BASIS = ("DB", "COMMUNICATE")
"""What counts where a task does not say it."""
SOURCE = "sierra-research/tau2-bench at a2c0247, data/tau2/domains"
DIGESTS = {
    "airline": "ccd8ba737b4cc371415af70151187788f728d6108d0916e73bb4317b40542052",
    "retail": "8e03ebce7901bd6218e7a7dc3105faa9324091a68058f7fe61c65262868812e8",
}
"""sha256 of the tasks of 1.0.1."""


@dataclass(frozen=True, kw_only=True)
class Problem:
    """One task."""

    name: str
    """Upstream's id."""
    domain: str
    version: str
    task: Mapping[str, Any]
    """The row of the data, as inspect-evals reads it."""

    @property
    def criteria(self) -> Mapping[str, Any]:
        """What is expected of the agent."""
        criteria: Mapping[str, Any] = self.task["evaluation_criteria"]
        return criteria

    @property
    def basis(self) -> tuple[str, ...]:
        """The parts whose product is the reward."""
        return tuple(self.criteria.get("reward_basis") or BASIS)

    @property
    def actions(self) -> list[Mapping[str, Any]]:
        """The gold actions, the agent's and the user's."""
        return list(self.criteria.get("actions") or ())

    @property
    def told(self) -> list[str]:
        """What the agent must tell the user, where that counts."""
        return list(self.criteria.get("communicate_info") or ()) if "COMMUNICATE" in self.basis else []

    @property
    def judged(self) -> list[str]:
        """Assertions in words, where they count: a judge decides them."""
        return list(self.criteria.get("nl_assertions") or ()) if "NL_ASSERTION" in self.basis else []


def problem_of(item: TaskItem) -> Problem:
    """The payload."""
    assert isinstance(item.payload, Problem)
    return item.payload


def load_items(preset: Preset, data: Path | None) -> list[TaskItem]:
    """The base split of the slice's domains. Raises InputError for what is missing."""
    version = str(preset.slice.get("version", VERSIONS[0]))
    if version not in VERSIONS:
        raise InputError(f"no tau2 {version!r}{nearest(version, VERSIONS)}; the slice may say {', '.join(VERSIONS)}.")
    domains = [name for name in str(preset.slice.get("domains", "")).split() if name not in preset.exclude]
    unknown = [name for name in domains if name not in DOMAINS]
    if unknown:
        raise InputError(f"no domain {', '.join(unknown)}; the slice may say {', '.join(DOMAINS)}.")
    if importlib.util.find_spec("inspect_evals") is None:
        raise InputError("tau2 needs 'inspect_evals', which is not installed; run pip install 'spadework[eval]'.")
    files = _changed([name for name in domains if name in CHANGED], data) if version == "1.0.1" else {}
    problems = [
        Problem(name=str(row["id"]), domain=domain, version=version, task=row)
        for domain in domains
        for row in _base(domain, files.get(domain))
    ]
    if not preset.judge and any(one.judged for one in problems):
        raise InputError(
            f"{sum(bool(one.judged) for one in problems)} retail tasks of tau2 {version} need a judge and the preset "
            f"{preset.name} names none; take a preset with a judge, or one without retail."
        )
    return [_item(one) for one in problems]


def policy(domain: str) -> str:
    """What the agent must follow, as inspect-evals words it."""
    from .tau2_package import airline_policy, retail_policy, telecom_policy

    if domain == "telecom":
        return str(telecom_policy(workflow=False))
    return str({"airline": airline_policy, "retail": retail_policy}[domain]())


def _changed(domains: Sequence[str], data: Path | None) -> dict[str, list[Mapping[str, Any]]]:
    """Tasks by domain, from the data folder."""
    if not domains:
        return {}
    names = {domain: f"tau2/v1.0.1/{domain}/tasks.json" for domain in domains}
    files = [DataFile(name=name, digests=(DIGESTS[domain],), source=SOURCE) for domain, name in names.items()]
    read = read_files(data, files)
    return {domain: json.loads(read[name]) for domain, name in names.items()}


def _base(domain: str, rows: Sequence[Mapping[str, Any]] | None) -> list[Mapping[str, Any]]:
    """The rows of the base split, those of the wheel where none are given."""
    base, packaged = _packaged(domain)
    return [row for row in (packaged if rows is None else rows) if row["id"] in base]


@lru_cache(maxsize=len(DOMAINS))
def _packaged(domain: str) -> tuple[frozenset[str], list[Mapping[str, Any]]]:
    from .tau2_package import TAU2_DATA_DIR

    folder = Path(TAU2_DATA_DIR) / "domains" / domain
    base = frozenset(json.loads((folder / "split_tasks.json").read_bytes())["base"])
    whole = folder / "tasks.json"
    text = whole.read_bytes() if whole.exists() else gzip.decompress((folder / "tasks.json.gz").read_bytes())
    return base, [row for row in json.loads(text) if row["id"] in base]


def _item(problem: Problem) -> TaskItem:
    task = {key: value for key, value in problem.task.items() if key != "annotations"}
    return TaskItem(
        id=text_id(json.dumps([problem.domain, problem.version, task], sort_keys=True)), category=problem.domain,
        gold=text_id(json.dumps(problem.criteria, sort_keys=True)), payload=problem,
    )  # fmt: skip
