"""The workflow in the docs and the sessions of the project's own CI: they parse, and they call what exists."""

import ast
import re
import shlex
from pathlib import Path
from typing import Any

import yaml

from spadework.harness.cli import parse
from spadework.harness.evaluation.suites import SUITES

ROOT = Path(__file__).parents[3]
WORKFLOW = ROOT / "docs" / "github-workflow.yml"


def workflow() -> dict[Any, Any]:
    """YAML 1.1 reads the key `on` as true; GitHub does not."""
    found: dict[Any, Any] = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))
    return {("on" if key is True else key): value for key, value in found.items()}


def steps() -> list[dict[str, Any]]:
    return [step for job in workflow()["jobs"].values() for step in job["steps"]]


def commands() -> list[list[str]]:
    """Every line that calls `spadework`, with the variables filled in, up to the shell's own words."""
    variables: dict[str, str] = workflow()["env"]
    lines = [line.strip() for step in steps() for line in str(step.get("run", "")).splitlines()]
    filled = [re.sub(r"\$(\w+)", lambda m: variables.get(m[1], m[0]), line) for line in lines]
    return [shlex.split(line.partition("||")[0])[1:] for line in filled if line.startswith("spadework ")]


def test_the_workflow_parses_and_every_step_does_one_thing() -> None:
    document = workflow()
    assert {"name", "on", "jobs", "env", "permissions"} <= document.keys()
    assert document["permissions"] == {"contents": "read"}
    for step in steps():
        assert ("run" in step) != ("uses" in step), step
        assert "uses" not in step or re.fullmatch(r"[\w./-]+@v\d+", step["uses"])


def test_every_command_of_the_workflow_is_one_that_the_parser_takes() -> None:
    verbs = [parse(words).verb for words in commands()]
    assert verbs == ["doctor", "eval", "check", "check"]
    assert workflow()["env"]["SUITE"] in SUITES
    evaluated, gate, update = (parse(words) for words in commands()[1:])
    assert str(evaluated.out) == gate.run == update.run and gate.reference == update.reference
    assert update.update and not gate.update


def test_what_the_workflow_installs_is_the_torch_of_the_project() -> None:
    torch = re.search(r"torch==[\d.]+", (ROOT / "noxfile.py").read_text(encoding="utf-8"))
    assert torch is not None and torch[0] in WORKFLOW.read_text(encoding="utf-8")


def test_the_projects_own_ci_runs_sessions_that_exist_and_the_gate_is_one_of_them() -> None:
    nodes = ast.parse((ROOT / "noxfile.py").read_text(encoding="utf-8")).body
    sessions = {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    named = re.findall(r"^nox -s ([\w ]+?)(?: --.*)?$", script, re.MULTILINE)
    run = {word for line in named for word in line.split()}
    assert run <= sessions and {"regress", "tests"} <= run
