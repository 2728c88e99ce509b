"""The house rules, held by reading the sources: layers, purity, budgets, names, paths, and what the README promises.

Each list of exceptions is literal and short; an entry that is no longer needed fails its test, so lists only shrink.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from spadework.harness.cli import VERBS

ROOT = Path(__file__).resolve().parent.parent
LAYERS = ("harness", "tasks", "training", "baselines")
"""From the lowest to the highest: a module imports its own layer and those before it."""

PURE = (
    "baselines/rlve.py",
    "harness/answers.py",
    "harness/benchmark.py",
    "harness/requirements.py",
    "harness/boxed.py",
    "harness/comparing/columns.py",
    "harness/comparing/flips.py",
    "harness/comparing/groups.py",
    "harness/comparing/needs.py",
    "harness/comparing/pairing.py",
    "harness/comparing/rows.py",
    "harness/comparison.py",
    "harness/config.py",
    "harness/correlation.py",
    "harness/dialect.py",
    "harness/engines/calls.py",
    "harness/engines/hiding.py",
    "harness/engines/messages.py",
    "harness/engines/retrying.py",
    "harness/engines/settings.py",
    "harness/engines/wire.py",
    "harness/errors.py",
    "harness/evaluation/due.py",
    "harness/evaluation/forecast.py",
    "harness/evaluation/quotes.py",
    "harness/evaluation/records.py",
    "harness/evaluation/scores.py",
    "harness/evaluation/settings.py",
    "harness/evaluation/suites.py",
    "harness/lines.py",
    "harness/gate/bound.py",
    "harness/gate/decision.py",
    "harness/gate/outcome.py",
    "harness/hierarchy.py",
    "harness/intervals.py",
    "harness/means.py",
    "harness/pass_at_k.py",
    "harness/numbers.py",
    "harness/planning.py",
    "harness/report/curves.py",
    "harness/report/drawing.py",
    "harness/report/environments.py",
    "harness/report/numbers.py",
    "harness/report/questions.py",
    "harness/report/samples.py",
    "harness/report/scores.py",
    "harness/report/settings.py",
    "harness/report/values.py",
    "harness/returns.py",
    "harness/sampling.py",
    "harness/sandbox/layers.py",
    "harness/sandbox/limits.py",
    "harness/sandbox/runs.py",
    "harness/scripted.py",
    "harness/score_bounds.py",
    "harness/seeds.py",
    "harness/statistics.py",
    "harness/stopping.py",
    "harness/types.py",
    "tasks/acebench_calls.py",
    "tasks/acebench_check.py",
    "tasks/acebench_episode.py",
    "tasks/acebench_food.py",
    "tasks/acebench_gold.py",
    "tasks/acebench_phone.py",
    "tasks/acebench_prompts.py",
    "tasks/acebench_travel.py",
    "tasks/acebench_verdict.py",
    "tasks/acebench_world.py",
    "tasks/bfcl_calls.py",
    "tasks/call_text.py",
    "tasks/call_tokens.py",
    "tasks/letters.py",
    "tasks/livecodebench_text.py",
    "tasks/livecodebench_verdict.py",
    "tasks/math_answers.py",
    "tasks/nano_world.py",
    "tasks/reasoning_gym_answers.py",
    "tasks/tex_numbers.py",
    "tasks/tex_text.py",
    "tasks/thinking.py",
    "training/advantages.py",
    "training/batch.py",
    "training/health.py",
    "training/loss.py",
    "training/memory.py",
    "training/potential.py",
    "training/proposal.py",
    "training/rewards.py",
    "training/skills.py",
    "training/source.py",
    "training/update_settings.py",
    "training/update_stats.py",
    "training/window.py",
)
"""Modules that are functions of values: they import no effect and no module of ours that does."""

EFFECTS = frozenset(
    "asyncio fcntl http io logging multiprocessing os pathlib requests rich select shutil signal socket subprocess sys "
    "tempfile threading time urllib accelerate transformers".split()
)
EFFECT_CALLS = frozenset({"open", "print", "input", "exec", "eval"})
PURE_EXCEPTIONS = {("harness/config.py", "pathlib"), ("harness/benchmark.py", "pathlib")}
"""config reads one file in `read_table`; everything else in it is pure. benchmark only names the type of a folder."""

MODULE_LINES, FUNCTION_LINES, PARAMETERS = 300, 40, 6
LONG_MODULES: frozenset[str] = frozenset()
LONG_FUNCTIONS: frozenset[str] = frozenset()
MANY_PARAMETERS: frozenset[str] = frozenset()

BROAD_CATCHES = {"harness/evaluation/boundary.py", "harness/sandbox/script.py", "harness/sandbox/worker.py"}
"""Where code that a model wrote runs, in each of its two roles; and around one benchmark's packages, so that one that
breaks is a failed cell and the others run."""

VAGUE = {"utils.py", "util.py", "common.py", "misc.py", "helpers.py"}
TEXT = {".py", ".md", ".toml", ".json", ".jsonl", ".yml", ".yaml", ".txt", ".cfg", ".csv", ".html", ".tex", ""}


def sources() -> list[Path]:
    """Our own modules; the programs of a pool are data that a model wrote."""
    return sorted(path for layer in LAYERS for path in (ROOT / layer).rglob("*.py") if "pools" not in path.parts)


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=name(path))


def imports(path: Path) -> Iterator[str]:
    """Every module that is imported, in full: relative ones as spadework.layer.module; imported names are appended."""
    package = ("spadework", *path.relative_to(ROOT).with_suffix("").parts)[:-1]
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join((*base, *filter(None, [node.module])))
            yield from (f"{module}.{alias.name}" for alias in node.names)


def functions(path: Path) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{name(path)}:{node.name}", node


def body_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a function without its docstring."""
    assert node.end_lineno is not None
    whole = node.end_lineno - node.lineno + 1
    first = node.body[0]
    if ast.get_docstring(node) is not None:
        assert first.end_lineno is not None
        whole -= first.end_lineno - first.lineno + 1
    return whole


def parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    return sum(argument.arg not in ("self", "cls") for argument in given)


def over(found: dict[str, int], budget: int, excepted: frozenset[str], what: str) -> None:
    beyond = {key: value for key, value in found.items() if value > budget}
    assert not beyond.keys() - excepted, f"over {budget} {what}: { {k: beyond[k] for k in beyond.keys() - excepted} }"
    assert not excepted - beyond.keys(), f"no exception needed any more: {sorted(excepted - beyond.keys())}"


def test_a_module_imports_its_own_layer_and_those_below_only() -> None:
    wrong = []
    for path in sources():
        own = LAYERS.index(path.relative_to(ROOT).parts[0])
        for module in imports(path):
            parts = module.split(".")
            assert parts[0] not in LAYERS, f"{name(path)} imports the bare name {module}"
            if parts[0] == "spadework" and LAYERS.index(parts[1]) > own:
                wrong.append(f"{name(path)} imports {module}")
    assert not wrong


@pytest.mark.parametrize("module", PURE)
def test_a_pure_module_imports_no_effect_and_calls_none(module: str) -> None:
    path = ROOT / module
    assert path.is_file(), f"{module} is listed as pure and is not there"
    for imported in imports(path):
        root, _, rest = imported.partition(".")
        assert root not in EFFECTS or (module, root) in PURE_EXCEPTIONS, f"{module} imports {imported}"
        if root == "spadework":
            own = [f"{'/'.join(rest.split('.')[:n])}.py" for n in (2, 3)]
            assert any(candidate in PURE for candidate in own), f"{module} imports {imported}, which is not pure"
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in EFFECT_CALLS, f"{module}, line {node.lineno}: calls {node.func.id}"


def test_modules_functions_and_parameter_lists_keep_their_budget() -> None:
    paths = [*sources(), ROOT / "noxfile.py"]
    lengths = {name(path): len(path.read_text(encoding="utf-8").splitlines()) for path in paths}
    over(lengths, MODULE_LINES, LONG_MODULES, "lines")
    bodies = {key: body_lines(node) for path in paths for key, node in functions(path)}
    over(bodies, FUNCTION_LINES, LONG_FUNCTIONS, "lines")
    counts = {key: parameters(node) for path in paths for key, node in functions(path)}
    over(counts, PARAMETERS, MANY_PARAMETERS, "parameters")


def test_every_module_says_what_it_is() -> None:
    assert not [name(path) for path in sources() if not ast.get_docstring(tree(path))]


def test_no_module_has_a_name_that_says_nothing() -> None:
    assert not [name(path) for path in sources() if path.name in VAGUE]


def test_broad_catches_stand_at_the_one_boundary_only() -> None:
    """A handler for `Exception` or `BaseException` that does not raise again, or a bare `except`."""
    found = set()
    for path in sources():
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.ExceptHandler) and broad(node):
                found.add(name(path))
    assert found == {entry for entry in BROAD_CATCHES if (ROOT / entry).is_file()}


def broad(handler: ast.ExceptHandler) -> bool:
    caught = (
        {node.id for node in ast.walk(handler.type) if isinstance(node, ast.Name)} if handler.type else {"Exception"}
    )
    raises = any(isinstance(node, ast.Raise) for node in ast.walk(ast.Module(handler.body, [])))
    return bool(caught & {"Exception", "BaseException"}) and not raises


def test_nobody_uses_a_global_generator_or_the_salted_hash() -> None:
    wrong = []
    for path in sources():
        for node in ast.walk(tree(path)):
            if not isinstance(node, ast.Call):
                continue
            call = ast.unparse(node.func)
            if call == "hash" or re.fullmatch(
                r"random\.[a-z]\w*|(np|numpy)\.random\.(?!default_rng|Generator)\w+", call
            ):
                wrong.append(f"{name(path)}, line {node.lineno}: {call}")
    assert not wrong


def test_nothing_names_a_folder_of_the_machine_it_was_made_on() -> None:
    places = [str(ROOT) + "/", "/" + "work/", "/" + "root/", "/" + "home/"]
    wrong = [f"{name(path)}: {place}" for path, text in texts() for place in places if place in text]
    assert not wrong


def texts() -> Iterator[tuple[Path, str]]:
    """What git would keep of the text files (the folders named here hold outputs and caches)."""
    outputs = {".git", ".nox", ".venv", "build", "dist", "__pycache__", "runs", "cache", "spadework.egg-info"}
    for path in sorted(ROOT.rglob("*")):
        relative = path.relative_to(ROOT)
        if outputs.intersection(relative.parts) or any(part.endswith("_cache") for part in relative.parts):
            continue
        if path.is_file() and path.suffix in TEXT:
            yield path, path.read_text(encoding="utf-8")


def test_the_readme_names_only_sessions_verbs_and_files_that_exist() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    sessions = {node.name for node in tree(ROOT / "noxfile.py").body if is_session(node)}
    named = set(re.findall(r"nox -s ((?:\w+ ?)+)", readme))
    assert named and {word for words in named for word in words.split()} <= sessions
    verbs = set(re.findall(r"^\s*spadework (\w+)", readme, re.MULTILINE)) | set(re.findall(r"`spadework (\w+)", readme))
    assert verbs and verbs <= set(VERBS)
    links = [target for target in re.findall(r"\]\(([^)#]+)\)", readme) if "://" not in target]
    assert not [target for target in links if not (ROOT / target).exists()]


def is_session(node: ast.stmt) -> bool:
    return isinstance(node, ast.FunctionDef) and any("nox.session" in ast.unparse(d) for d in node.decorator_list)


def test_the_top_level_holds_only_what_was_asked_for() -> None:
    allowed = {
        *LAYERS, "results", "tests", "docs", "noxfile.py", "README.md", "pyproject.toml", "CHANGELOG.md", "LICENSE",
        ".ci", ".gitignore", ".git", "build", "dist", "spadework.egg-info",
    }  # fmt: skip
    caches = re.compile(r"\.(nox|venv|\w+_cache)|__pycache__")
    assert not [path.name for path in ROOT.iterdir() if path.name not in allowed and not caches.fullmatch(path.name)]
