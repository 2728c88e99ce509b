"""`spadework play ENV`: a person plays a generated environment in the terminal.

The program runs in the sandbox, as it does for a model; here are only the reading and the printing. It scores as the
method does: the last reward when the environment ended the episode, clamped to [-1, 1], else 0.
"""

from argparse import Namespace
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from . import jsonl
from .console import printable
from .errors import ExitCode, InputError, nearest
from .returns import episode_return
from .sandbox import EnvProcess, Policy, Sandbox, Step
from .store import ENVIRONMENTS, find_run

QUIT = ("quit", "exit")
POOL_MANIFEST = "manifest.jsonl"
"""Where a pool of environments keeps the hint of each file."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Playable:
    """A program's source and the hint that goes with it, if one is known."""

    source: str
    hint: str | None


def play_command(arguments: Namespace) -> ExitCode:
    """Play `arguments.env` (a file, or an id of `arguments.run`) on instance `arguments.seed`."""
    found = from_run(arguments.run, arguments.env) if arguments.run else from_file(Path(arguments.env))
    if arguments.hint and not found.hint:
        raise InputError(f"no hint is known for {arguments.env}; play it without --hint.")
    with Sandbox(policy=Policy(insecure=arguments.insecure)) as sandbox:
        environment = sandbox.open(found.source)
        if arguments.hint:
            print(printable(f"hint: {found.hint}"))
        play(environment, arguments.seed, ask=input, tell=print)
    return ExitCode.OK


def from_file(path: Path) -> Playable:
    """The program in `path`; its hint where the file lies in a pool whose manifest gives one."""
    if not path.is_file():
        names = [entry.name for entry in path.parent.glob("*.py")] if path.parent.is_dir() else []
        raise InputError(f"no file {path}{nearest(path.name, names)}; give an environment's Python file.")
    try:
        source = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise InputError(f"{path} is not UTF-8 text; give an environment's Python file.") from None
    lines = jsonl.read(path.with_name(POOL_MANIFEST))
    hints = [line["hint"] for line in lines if line.get("file") == path.name and line.get("hint")]
    return Playable(source=source, hint=str(hints[0]) if hints else None)


def from_run(run: str, program_id: str) -> Playable:
    """The program of a run whose id begins with `program_id`."""
    folder = find_run(run)
    rows = {str(row["id"]): row for row in jsonl.read(folder / ENVIRONMENTS)}
    matches = [row for name, row in rows.items() if name.startswith(program_id)]
    if len(matches) != 1:
        known = f"{len(matches)} environments begin with" if matches else "no environment begins with"
        raise InputError(f"{known} {program_id!r} in {folder}; `spadework envs {run}` lists them.")
    hint = matches[0].get("hint")
    return Playable(source=str(matches[0]["source"]), hint=str(hint) if hint else None)


def play(environment: EnvProcess, seed: int, *, ask: Callable[[str], str], tell: Callable[[str], None]) -> float:
    """One episode between a person and a program; returns its final reward. `quit` or the end of input leaves it."""
    step = _sound(environment.reset([(0, seed)])[0])
    tell(f"{printable(step.observation)}\n(type an action; `quit` leaves)")
    turns = 0
    while not (step.terminated or step.truncated):
        action = _asked(ask)
        if action is None:
            tell("left.")
            return 0.0
        step, turns = _sound(environment.step([(0, action)])[0]), turns + 1
        tell(f"{printable(step.observation)}\n[reward {step.reward:g}]")
    reward = episode_return([step.reward], step.terminated)
    how = "ended" if step.terminated else "cut off"
    tell(f"{how} after {turns} turn{'' if turns == 1 else 's'}; final reward {reward:g}")
    return reward


def _asked(ask: Callable[[str], str]) -> str | None:
    try:
        action = ask("> ").strip()
    except EOFError:
        return None
    return None if action in QUIT else action


def _sound(step: Step) -> Step:
    if step.error is not None:
        raise InputError(
            f"the environment failed ({step.error.kind}: {printable(step.error.message)}); play another one."
        )
    return step
