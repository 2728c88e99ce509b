"""All gold conversations through the whole path, and the same with a call left out.

    python -m spadework.tasks.bfcl_parity [--every] [--preset NAME]

The gold player goes through `BfclMultiTurn.run` and must be right on all 800. Then the checker sees each gold
trajectory without one of its calls (`--every`: without each of them in its turn) and must say wrong. What it calls
right is listed with the reason that can be seen: the call changed no state, and another one returned the same.
"""

import argparse
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import NamedTuple

from ..harness.benchmark import Due, Players, Scored
from ..harness.evaluation.players import BySeed
from ..harness.evaluation.registry import resolve
from ..harness.sandbox import SandboxReport
from ..harness.scripted import ScriptedChat
from ..harness.seeds import generator
from ..harness.types import Completion, Outcome
from .bfcl import BFCL_MULTI_TURN, entry_of
from .bfcl_data import Entry, bfcl_home, package
from .bfcl_judge import BfclJudge, Failure, Verdict
from .bfcl_modes import gold_turns


class Dropped(NamedTuple):
    """A gold trajectory without one of its calls."""

    entry: Entry
    turn: int
    position: int

    @property
    def call(self) -> str:
        """The one that is left out."""
        return gold_turns(self.entry)[self.turn][0][self.position]


@dataclass
class Kept:
    """A sink in memory."""

    results: list[Scored] = field(default_factory=list)

    def put(self, scored: Scored, completions: Sequence[Completion]) -> None:
        """See `Sink`."""
        self.results.append(scored)

    def sandboxed(self, report: SandboxReport) -> None:
        """Say in which sandbox."""
        print(f"sandbox: {report.describe()}")


def main() -> int:
    """0 when every gold conversation is right and every exception has a reason."""
    parser = argparse.ArgumentParser(prog="bfcl_parity", description="BFCL: gold against gold.")
    parser.add_argument("--every", action="store_true", help="leave out each call in its turn, not one of each item")
    parser.add_argument("--preset", default="official")
    parser.add_argument("--limit", type=int, default=800, help="items, in the package's order")
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()
    wrong = gold(arguments.preset, arguments.limit)
    with BfclJudge(bfcl_home()) as judge, ThreadPoolExecutor(arguments.workers) as pool:
        items = BFCL_MULTI_TURN.load(resolve(BFCL_MULTI_TURN.name).protocols.preset(arguments.preset), None)
        cases = [one for item in items[: arguments.limit] for one in dropped(entry_of(item), arguments.every)]
        began = time.monotonic()
        verdicts = list(pool.map(lambda one: judge.check(one.entry, turns_without(one)), cases))
        spent = time.monotonic() - began
        differing = unlike_official(cases, verdicts)
        right = [one for one, verdict in zip(cases, verdicts, strict=True) if _right(verdict)]
        failed = sum(isinstance(verdict, Failure) for verdict in verdicts)
        print(
            f"one call left out: {len(cases)} trajectories, {len(cases) - len(right) - failed} wrong, "
            f"{len(right)} right, {failed} failures; {1000 * spent / max(1, len(cases)):.1f} ms each"
        )
        for kind, count in Counter(v.kind for v in verdicts if isinstance(v, Verdict) and not v.right).most_common():
            print(f"  {kind}: {count}")
        reasons = [why_right(one, judge) for one in right]
        for one, reason in zip(right, reasons, strict=True):
            print(f"  right: {one.entry.id} turn {one.turn} without {one.call}: {reason or 'NO REASON FOUND'}")
    return int(bool(wrong or failed or differing or not all(reasons)))


def gold(name: str, limit: int) -> int:
    """Play the gold calls through the benchmark; how many were not right."""
    preset = resolve(BFCL_MULTI_TURN.name).protocols.preset(name)
    items = BFCL_MULTI_TURN.load(preset, None)[:limit]
    due = [Due(item=item, repeat=0, seed=number) for number, item in enumerate(items)]
    model = ScriptedChat(BySeed({one.seed: BFCL_MULTI_TURN.gold_replies(one.item) for one in due}))
    sink, began = Kept(), time.monotonic()
    BFCL_MULTI_TURN.run(due, preset, Players(model=model), sink)
    spent = time.monotonic() - began
    outcomes = Counter(result.outcome for result in sink.results)
    told = ", ".join(f"{outcome} {count}" for outcome, count in outcomes.items())
    print(f"gold ({name}): {len(due)} items, {told}; {1000 * spent / len(due):.1f} ms each")
    wrong = [result for result in sink.results if result.outcome is not Outcome.RIGHT]
    for result in wrong:
        print(f"  {result.facts['entry']}: {result.outcome} {result.detail}")
    return len(due) - outcomes[Outcome.RIGHT]


def unlike_official(cases: Sequence[Dropped], verdicts: Sequence[Verdict | Failure]) -> int:
    """In how many cases bfcl-eval's own checker, untouched and outside of the jail, says something else."""
    differing = 0
    with package(bfcl_home()) as sidecar:
        for one, verdict in zip(cases, verdicts, strict=True):
            official = sidecar.ask({"entry": one.entry.told, "turns": turns_without(one), "gold": one.entry.gold})
            ours = {"valid": verdict.right, "kind": verdict.kind} if isinstance(verdict, Verdict) else verdict
            if ours != official:
                differing += 1
                print(f"  {one.entry.id} without {one.call}: official {official}, ours {ours}")
    print(f"bfcl-eval's own checker: {differing} of {len(cases)} verdicts differ")
    return differing


def dropped(entry: Entry, every: bool) -> Iterator[Dropped]:
    """Gold trajectories without one call: each of them, or one that the entry's name chooses."""
    found = [
        Dropped(entry, number, position)
        for number, turn in enumerate(entry.gold)
        for position in range(len(turn))
    ]  # fmt: skip
    yield from found if every else [generator(0, "dropped call", entry.id).choice(found)]


def turns_without(one: Dropped) -> list[list[tuple[str, ...]]]:
    """The gold calls but for one; a turn that has no call left has no step."""
    turns = gold_turns(one.entry)
    left = tuple(call for position, call in enumerate(turns[one.turn][0]) if position != one.position)
    turns[one.turn] = [left] if left else []
    return turns


def why_right(one: Dropped, judge: BfclJudge) -> str:
    """Why the checker may call it right: other calls return all that it asks for. Empty when that is not so."""
    turns = gold_turns(one.entry)
    full = _returned(one.entry, turns, judge)
    less = _returned(one.entry, turns_without(one), judge)
    if full is None or less is None:
        return ""
    missing = full[one.turn][one.position]
    found = [turn for turn in range(one.turn + 1) if missing in less[turn]]
    return f"the states are equal without it, and turn {found[-1]} returns the same" if found else ""


def _returned(entry: Entry, turns: list[list[tuple[str, ...]]], judge: BfclJudge) -> list[list[str]] | None:
    """What the calls of each turn return."""
    returned: list[list[str]] = []
    steps: list[tuple[str, ...]] = []
    for turn in turns:
        steps += turn
        answer = judge.execute(entry, steps) if turn else []
        if isinstance(answer, Failure):
            return None
        returned.append(answer)
    return returned


def _right(verdict: Verdict | Failure) -> bool:
    return isinstance(verdict, Verdict) and verdict.right


if __name__ == "__main__":
    raise SystemExit(main())
